"""From a TOML file to a checked study: every complaint is one sentence."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from neurotron import _check
from neurotron.studies.spec import Cohort, Study, Sweep

__all__ = ["CATALOG", "catalog", "parse", "read", "template"]

CATALOG = resources.files("neurotron.studies") / "catalog"
MOST_BYTES = 1_000_000


def catalog() -> dict[str, str]:
    """Return the studies that come with the package, each with its title."""
    names = sorted(
        entry.name.removesuffix(".toml")
        for entry in CATALOG.iterdir()
        if entry.name.endswith(".toml") and not entry.name.startswith("_")
    )
    return {name: read(name).title for name in names}


def template() -> str:
    """Return a commented study to begin with."""
    return (CATALOG / "_template.toml").read_text("utf-8")


def read(name_or_file: str | Path) -> Study:
    """Return the study of a TOML file, or one of the catalog by its name.

    >>> import neurotron as nt
    >>> nt.studies.read("paper").replicates
    20
    """
    text = str(name_or_file)
    is_name = not text.endswith(".toml") and "/" not in text and "\\" not in text
    if is_name and not text.startswith(("_", ".")) and (CATALOG / f"{text}.toml").is_file():
        return parse((CATALOG / f"{text}.toml").read_bytes(), text)
    path = Path(text)
    if not path.is_file():
        known = [name.name.removesuffix(".toml") for name in CATALOG.iterdir()]
        if is_name:
            raise _check.unknown("study", text, [name for name in known if name[0].isalpha()])
        raise _check.InputError(f"there is no file {text!r}")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise _check.InputError(f"{text}: a study of more than {MOST_BYTES:,} bytes is not read")
    return parse(content, text)


def parse(content: bytes, origin: str) -> Study:
    """Return the study of the text of a TOML file that is called `origin` in complaints."""
    try:
        raw = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _check.InputError(f"{origin}: not UTF-8 text ({error.reason})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _check.InputError(
            f"{origin}: not TOML: {str(error) or 'nested too deeply'}"
        ) from None
    try:
        study = Study.model_validate_json(json.dumps(raw, default=str))
        study = _without_likes(study)
        _check_names(study)
    except ValidationError as error:
        raise _check.InputError(f"{origin}: {_sentence(error)}") from None
    except (_check.InputError, RecursionError) as error:
        raise _check.InputError(f"{origin}: {str(error) or 'nested too deeply'}") from None
    return study


def _without_likes(study: Study) -> Study:
    """Return the study with everything filled in that a cohort takes from another one."""
    by_name = {cohort.name: cohort for cohort in study.cohorts}
    if len(by_name) < len(study.cohorts):
        names = [cohort.name for cohort in study.cohorts]
        twice = next(name for name in names if names.count(name) > 1)
        raise _check.InputError(f"two cohorts are called {twice!r}")

    def filled(cohort: Cohort, path: tuple[str, ...]) -> Cohort:
        if cohort.like is None:
            return cohort
        if cohort.like in path:
            raise _check.InputError(f"`like` goes in a circle: {' → '.join([*path, cohort.like])}")
        if cohort.like not in by_name:
            raise _check.unknown(f"cohort in `like` of {cohort.name!r}", cohort.like, by_name)
        model = filled(by_name[cohort.like], (*path, cohort.like))
        own = {name: getattr(cohort, name) for name in cohort.model_fields_set}
        own.setdefault("title", None)
        return model.model_copy(update=own | {"like": None})

    cohorts = tuple(filled(cohort, (cohort.name,)) for cohort in study.cohorts)
    return study.model_copy(update={"cohorts": cohorts})


def _check_names(study: Study) -> None:
    """Refuse trainers that are named by a cohort or a sweep, and that the study does not have."""
    for cohort in study.cohorts:
        for named in (cohort.trainers, *(sweep.trainers for sweep in cohort.sweeps)):
            for label in named or ():
                if label not in study.trainers:
                    where = f"trainer of cohort {cohort.name!r}"
                    raise _check.unknown(where, label, study.trainers)


def _sentence(error: ValidationError) -> str:
    """Return the first complaint of pydantic as one sentence of ours."""
    first = error.errors()[0]
    place = [
        part for part in first["loc"] if part not in ("literal['log','all']", "constrained-int")
    ]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
    if first["type"] == "extra_forbidden":
        *table, key = place
        inside = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in table)
        return str(_check.unknown(f"key in {inside[1:] or 'the study'}", key, _keys(table)))
    if first["type"] == "missing":
        return f"`{where}` is missing"
    message = first["msg"][0].lower() + first["msg"][1:]
    return f"`{where}`: {message}, got {_short(first['input'])}"


def _keys(table: list[Any]) -> list[str]:
    """Return the keys that the table at this place may have."""
    names = [part for part in table if isinstance(part, str)]
    models: dict[str, type[BaseModel]] = {"cohorts": Cohort, "sweeps": Sweep}
    return list(models.get(names[-1] if names else "", Study).model_fields)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
