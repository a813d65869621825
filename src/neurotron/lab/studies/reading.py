"""Reads a study from a TOML file, or from the catalog; every error is one sentence."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron._references import code_allowed
from neurotron.lab.studies.completion import TOO_DEEP, completed
from neurotron.work.study import Study

CATALOG = resources.files("neurotron.lab.studies") / "catalog"
MOST_BYTES = 1_000_000


def catalog() -> dict[str, str]:
    """Return the names of the studies that come with the package, with their titles."""
    return {name: _own(name)["title"] for name in _names()}


def _names() -> list[str]:
    """Return the names in the catalog; files that begin with _ are not studies to run."""
    files = [entry.name for entry in CATALOG.iterdir() if entry.name.endswith(".toml")]
    return sorted(name.removesuffix(".toml") for name in files if not name.startswith("_"))


def _own(name: str) -> dict[str, Any]:
    """Return the keys of a study of the catalog, as its file has them."""
    return tomllib.loads((CATALOG / f"{name}.toml").read_text("utf-8"))


def template() -> str:
    """Return the text of a study with comments, to start your own study from."""
    return (CATALOG / "_template.toml").read_text("utf-8")


def read(name_or_file: str | Path, *, allow_code: bool = False) -> Study:
    """Return the study in a TOML file, or a study of the catalog by its name.

    Parameters
    ----------
    name_or_file
        The path of a TOML file, or a name in `catalog`, such as "paper".
    allow_code
        Whether the file may name code of its own, as in ``unit = "mine:measure"``, which is then
        imported, from the folder of the file first. Allow it only for files that you trust.

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.lab.read("paper").replicates
    20
    """
    text = str(name_or_file) if isinstance(name_or_file, Path) else name_or_file
    _check.text("name_or_file", text)
    _check.instance("allow_code", allow_code, bool)
    is_name = not text.endswith(".toml") and "/" not in text and "\\" not in text
    if is_name and text in _names():
        return parse((CATALOG / f"{text}.toml").read_bytes(), text)
    try:
        with open(text, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, ValueError):  # a name with NUL is a ValueError
        if is_name:
            raise _check.unknown("study", text, _names()) from None
        raise _check.InputError(f"there is no file {_check.shown(text)}") from None
    except OSError as error:
        raise _check.InputError(
            f"{_check.printable(text[:300])}: cannot be read: {error.strerror}"
        ) from None
    code = str(Path(text).resolve().parent) if allow_code else None
    return parse(content, text, code)


def parse(content: bytes, origin: str, code: str | None = None) -> Study:
    """Return the study in the content of a TOML file.

    Parameters
    ----------
    content
        The content of the file, as bytes of UTF-8 text.
    origin
        The name of the file, for error messages.
    code
        The folder from which the study may import code, if it may.
    """
    if not isinstance(content, bytes):
        raise _check.InputError(
            f"`content` must be the bytes of a TOML file, got {_check.shown(content)}"
        )
    _check.text("origin", origin)
    try:
        raw = _plain(content)
        catalogued = _own(raw["name"]) if raw.get("name") in _names() else None
        if code is None:
            return completed(raw, catalogued)
        with code_allowed(code):
            return completed(raw, catalogued, code)
    except RecursionError:
        raise _check.InputError(f"{_check.printable(origin[:300])}: {TOO_DEEP}") from None
    except _check.InputError as error:
        raise _check.InputError(f"{_check.printable(origin[:300])}: {error}") from None


def _plain(content: bytes) -> dict[str, Any]:
    """Return TOML as plain values; dates become tables, which no key accepts."""
    if len(content) > MOST_BYTES:
        raise _check.InputError(f"a study must have at most {MOST_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _check.InputError(f"this is not UTF-8 text ({error.reason})") from None
    _require_short_keys(text)
    try:
        raw = tomllib.loads(text)
        plain: dict[str, Any] = json.loads(
            json.dumps(raw, default=lambda date: {"date": str(date)}, allow_nan=True)
        )
        return plain
    except tomllib.TOMLDecodeError as error:
        raise _check.InputError(f"this is not TOML: {error}") from None
    except ValueError:  # Python's limit on digits
        raise _check.InputError("a whole number has too many digits (thousands)") from None
    except RecursionError:
        raise _check.InputError(TOO_DEEP) from None


STRINGS_AND_COMMENTS = re.compile(
    r""""{3}(?:\\(?:.|\Z)|[^\\])*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)"""
    r"""|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|\#[^\n]*""",
    re.DOTALL,
)
BETWEEN_KEYS = re.compile(r"[\n,=\[\]{}]")
MOST_DOTS = 5


def _require_short_keys(text: str) -> None:
    """Refuse keys of many parts, because tomllib takes hours for a.a.a.… of 100,000 parts.

    A study needs keys of at most two parts. The expression also matches strings that do not end, so
    that the time is proportional to the length of the text.
    """
    bare = STRINGS_AND_COMMENTS.sub("s", text)
    if any(part.count(".") > MOST_DOTS for part in BETWEEN_KEYS.split(bare)):
        raise _check.InputError(TOO_DEEP)
