"""`manifest.json`, which says what is computed, by which function, with which versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neurotron import _check, _files
from neurotron.work.study import is_spec, without_words

FORMAT = 8
CHANGED = (
    "it was changed after it was written, so it may not describe the results: restore the original "
    "file, or choose another folder"
)


def manifest_of(spec: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    """Return the content of a manifest."""
    manifest = {
        "format": FORMAT,
        "study": study_hash(spec),
        "spec": spec,
        "environment": environment,
    }
    return manifest | {"seal": _hash(manifest)}


def reworded(manifest: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the titles, claims and charts of another spec of its study."""
    return manifest_of(spec, manifest["environment"])


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
    if manifest["study"] != study_hash(manifest["spec"]):
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


def _by_name(value: Any) -> Any:
    """Return a list of tables as a table whose keys are their names, or else their numbers."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    names = [item.get("name") for item in value]
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        return dict(enumerate(value))
    return {item["name"]: item for item in value}


def study_hash(spec: dict[str, Any]) -> str:
    """Return the hash of what the numbers of a study depend on."""
    return _hash(without_words(spec))[:16]


def _hash(content: dict[str, Any]) -> str:
    """Return the hash of JSON content without its seal."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _refuse(word: str) -> None:
    """Refuse NaN and infinities, which are not JSON."""
    raise ValueError(word)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


KINDS: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: isinstance(value, int),
    "study": _is_text,
    "spec": is_spec,
    "environment": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "seal": _is_text,
}
"""The check of each part of a manifest."""
