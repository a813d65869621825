"""From a TOML file to a checked study: every complaint is one sentence."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import resources
from pathlib import Path

from neurotron import _check
from neurotron.studies.claim_names import check_claims
from neurotron.studies.completion import TOO_DEEP, complete
from neurotron.studies.spec import Study

__all__ = ["CATALOG", "catalog", "parse", "read", "template"]

CATALOG = resources.files("neurotron.studies") / "catalog"
MOST_BYTES = 1_000_000


def catalog() -> dict[str, str]:
    """Return the studies that come with the package, each with its title."""
    return {name: read(name).title for name in _names()}


def _names() -> list[str]:
    """Return the names of the catalog: files that begin with _ are for other purposes."""
    files = [entry.name for entry in CATALOG.iterdir() if entry.name.endswith(".toml")]
    return sorted(name.removesuffix(".toml") for name in files if not name.startswith("_"))


def template() -> str:
    """Return a commented study to begin with."""
    return (CATALOG / "_template.toml").read_text("utf-8")


def read(name_or_file: str | Path) -> Study:
    """Return the study of a TOML file, or one of the catalog by its name.

    >>> import neurotron as nt
    >>> nt.studies.read("paper").replicates
    20
    """
    text = str(name_or_file) if isinstance(name_or_file, Path) else name_or_file
    _check.text("name_or_file", text)
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
    return parse(content, text)


def parse(content: bytes, origin: str) -> Study:
    """Return the study of the text of a TOML file that is called `origin` in complaints."""
    if not isinstance(content, bytes):
        raise _check.InputError(
            f"`content` must be the bytes of a TOML file, got {_check.shown(content)}"
        )
    _check.text("origin", origin)
    try:
        study = complete(_as_json(content))
        check_claims(study.claims)
    except _check.InputError as error:
        raise _check.InputError(f"{_check.printable(origin[:300])}: {error}") from None
    return study


def _as_json(content: bytes) -> str:
    """Return TOML as JSON, where lists can become tuples; a date becomes what no key takes."""
    if len(content) > MOST_BYTES:
        raise _check.InputError(f"a study of more than {MOST_BYTES:,} bytes is not read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _check.InputError(f"not UTF-8 text ({error.reason})") from None
    _require_short_keys(text)
    try:
        raw = tomllib.loads(text)
        return json.dumps(raw, default=lambda date: {"date": str(date)})
    except tomllib.TOMLDecodeError as error:
        raise _check.InputError(f"not TOML: {error}") from None
    except ValueError:  # Python's limit
        raise _check.InputError("a whole number has thousands of digits") from None
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
    """Refuse keys of many parts: tomllib takes hours for a.a.a.… of a hundred thousand.

    A study has keys of two parts. The expression matches wherever a string begins, also one that
    does not end, so that this takes time in proportion to the text.
    """
    bare = STRINGS_AND_COMMENTS.sub("s", text)
    if any(part.count(".") > MOST_DOTS for part in BETWEEN_KEYS.split(bare)):
        raise _check.InputError(TOO_DEEP)
