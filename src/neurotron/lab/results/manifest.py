"""`manifest.json`, which says what is computed, by which function, with which versions."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neurotron import _check, _files
from neurotron.lab.results.rows import Row

__all__ = [
    "DAMAGING", "FITTING", "TRAINING", "differences", "is_spec", "manifest_of", "read", "reworded",
    "study_hash", "without_words",
]  # fmt: skip

FORMAT = 6
TRAINING = "neurotron.lab.studies.unit:train"
"""The function whose units are training runs: `Results` reads them."""
FITTING = "neurotron.lab.studies.fit:fit"
"""The function whose units are fits to rows: `Fits` reads them."""
DAMAGING = "neurotron.lab.studies.table_unit:damage"
"""The function whose units are splits of public tables: `Damages` reads them."""
WORDS = ("title", "description", "claims")
UNIT = re.compile(r"[\w.]{1,200}:[\w.]{1,200}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The names that a setting may have, as its name is also the name of a folder."""
CHANGED = (
    "it was changed after it was written, so it may not describe the results: restore the original "
    "file, or choose another folder"
)


def manifest_of(
    spec: dict[str, Any], arms: dict[str, list[Row]], environment: dict[str, str], unit: str
) -> dict[str, Any]:
    """Return the content of a manifest.

    `unit` is the name of the function that computes a unit, as in "module:function". Only training
    runs have `arms`.
    """
    manifest = {
        "format": FORMAT,
        "study": study_hash(spec),
        "unit": unit,
        "spec": spec,
        "arms": arms,
        "environment": environment,
    }
    return manifest | {"seal": _hash(manifest)}


def reworded(manifest: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the titles, descriptions and claims of another spec of its study."""
    return manifest_of(spec, manifest["arms"], manifest["environment"], manifest["unit"])


def read(file: Path) -> dict[str, Any]:
    """Return the manifest in a file, after checking that it is as this package writes it."""
    try:
        return _read(file)
    except RecursionError:
        raise _check.InputError(
            f"{file}: this is not a manifest of neurotron (nested too deeply)"
        ) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        manifest = dict(json.loads(_files.read(file), parse_constant=_refuse))
        missing = [name for name in KINDS if name not in manifest]
    except (ValueError, TypeError):
        missing = ["JSON"]
    if missing:
        raise _check.InputError(
            f"{file}: this is not a manifest of neurotron ({missing[0]} is missing)"
        )
    _require_format(file, manifest["format"])
    if manifest["seal"] != _hash(manifest):
        raise _check.InputError(f"{file}: {CHANGED}")
    for name, fits in KINDS.items():
        if not fits(manifest[name]):
            raise _check.InputError(f"{file}: `{name}` is not as neurotron writes it; {CHANGED}")
    settings = [setting["name"] for setting in manifest["spec"]["settings"]]
    with_arms = settings if manifest["unit"] == TRAINING else []
    if manifest["study"] != study_hash(manifest["spec"]) or with_arms != [*manifest["arms"]]:
        raise _check.InputError(f"{file}: its parts do not match; {CHANGED}")
    return manifest


def _require_format(file: Path, found: Any) -> None:
    """Refuse manifests of other versions, with a message that says what to do."""
    if type(found) is int and 0 < found < FORMAT:
        raise _check.InputError(
            f"{file}: these results were written by an earlier version (format {found}; this "
            f"version needs {FORMAT}): run the study again into another folder"
        )
    if type(found) is not int or found != FORMAT:
        shown = _check.shorten(repr(found))
        raise _check.InputError(
            f"{file}: format {shown} is unknown, this version reads only {FORMAT}: use the version "
            "that wrote it"
        )


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Return the differences between two JSON values, one phrase each."""
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        changes = []
        for key in [*old, *(key for key in new if key not in old)]:
            inside = f"{place}.{key}" if place else str(key)
            if key in old and key in new:
                changes += differences(old[key], new[key], inside)
            else:
                changes.append(f"{inside} is {'missing' if key in old else 'new'}")
        return changes
    if old == new:
        return []
    was, now = (_check.shorten(json.dumps(value, ensure_ascii=False)) for value in (old, new))
    return [f"{place} was {was}, is now {now}"]


def without_words(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec without titles, descriptions and claims, which do not affect results.

    Only the spec's own and those of its settings are removed: a trainer may be labelled "title".
    """
    settings = [_but_words(setting) for setting in spec["settings"]]
    return _but_words(spec) | {"settings": settings}


def _but_words(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in WORDS}


def _by_name(value: Any) -> Any:
    """Return a list of tables as a table whose keys are their names, or else their numbers."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    names = [item.get("name") for item in value]
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        return dict(enumerate(value))
    return {item["name"]: item for item in value}


def study_hash(spec: dict[str, Any]) -> str:
    """Return the hash of a study without titles, descriptions and claims."""
    return _hash(without_words(spec))[:16]


def _hash(content: dict[str, Any]) -> str:
    """Return the hash of JSON content without its seal."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _refuse(word: str) -> None:
    """Refuse NaN and infinities, which are not JSON."""
    raise ValueError(word)


# --- checks of the parts of a manifest; the study itself is checked by `neurotron.lab.studies`


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def is_spec(value: Any) -> bool:
    """Return whether a value has a name and settings with valid names, as every spec has."""
    return (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and isinstance(value.get("settings"), list)
        and all(map(_is_setting, value["settings"]))
        and len({setting["name"] for setting in value["settings"]}) == len(value["settings"])
    )


def _is_setting(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and NAME.fullmatch(value["name"]) is not None
        and (value.get("title") is None or _is_text(value["title"]))
    )


ARM: dict[str, Callable[[Any], bool]] = dict.fromkeys(
    ("arm", "trainer", "trainer_text", "algorithm", "attack", "attack_text", "law"), _is_text
) | dict.fromkeys(("bound", "probability", "outer_weights"), _is_number)
ARM["step_size"] = lambda value: value is None or _is_number(value)
"""The columns of `Results.arms`."""


def _is_arm(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == ARM.keys()
        and all(fits(value[name]) for name, fits in ARM.items())
    )


def _are_arms(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(rows, list)
        and rows
        and all(map(_is_arm, rows))
        and len({row["arm"] for row in rows}) == len(rows)
        for rows in value.values()
    )


def _is_environment(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


KINDS: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: isinstance(value, int),
    "study": _is_text,
    "unit": lambda value: _is_text(value) and UNIT.fullmatch(value) is not None,
    "spec": is_spec,
    "arms": _are_arms,
    "environment": _is_environment,
    "seal": _is_text,
}
"""The check of each part of a manifest."""
