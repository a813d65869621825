"""A study as a TOML file that reads back as the same study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

OURS = "neurotron."
"""The beginning of the names of our own functions, which a study of training runs has anyway."""

OWN = (
    "name", "title", "description", "unit", "columns", "seed", "replicates", "claims", "charts",
    "tables", "headline", "settings", "paired_with",
)  # fmt: skip
"""Keys that mean something else in the study than in a setting."""


def to_toml(spec: Mapping[str, Any], replicates: int) -> str:
    """Return a study, given as plain values, as the text of a TOML file; None is left out.

    Keys that all settings share are written once.

    >>> spec = {"name": "mine", "seed": 0, "unit": "mine:unit", "columns": {"error": "float"},
    ...         "settings": [{"name": "a", "n": 1, "all": True},
    ...                      {"name": "b", "n": 2, "all": True}]}
    >>> print(to_toml(spec, 5))
    name = "mine"
    seed = 0
    replicates = 5
    unit = "mine:unit"
    columns = {error = "float"}
    all = true
    <BLANKLINE>
    [[settings]]
    name = "a"
    n = 1
    <BLANKLINE>
    [[settings]]
    name = "b"
    n = 2
    <BLANKLINE>
    """
    own = {name: spec[name] for name in ("name", "title", "description", "seed") if name in spec}
    own["replicates"] = replicates
    ours = spec["unit"].startswith(OURS)
    if not ours:
        own |= {"unit": spec["unit"], "columns": spec["columns"]}
    for name in ("claims", "charts", "tables"):
        listed = [one for one in spec.get(name, ()) if not one.startswith(OURS)]
        own |= {name: listed} if listed or (name == "claims" and name in spec) else {}
    if not (spec.get("headline") or OURS).startswith(OURS):
        own["headline"] = spec["headline"]
    first, *others = spec["settings"]
    shared = {
        key: value
        for key, value in first.items()
        if key not in OWN and all(repr(one.get(key, ...)) == repr(value) for one in others)
    }
    if ours:  # whose settings take over the seed of the study
        shared["seed"] = spec["seed"]
    parts = [_lines(own | shared)]
    for setting in spec["settings"]:
        rest = {key: v for key, v in setting.items() if key not in shared or v != shared[key]}
        parts.append(f"[[settings]]\n{_lines(rest)}")
    return "\n".join(parts)


def _lines(table: Mapping[str, Any]) -> str:
    lines = [f"{_key(key)} = {_value(v)}" for key, v in table.items() if v is not None]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Return a value; text, numbers and truth values look the same in JSON and TOML."""
    if isinstance(value, dict):
        keys = {_key(key): item for key, item in value.items() if item is not None}
        return "{" + ", ".join(f"{key} = {_value(item)}" for key, item in keys.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _value(key)
