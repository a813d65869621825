"""A study as a TOML file that reads back as the same study."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["to_toml"]


def to_toml(spec: dict[str, Any]) -> str:
    """Return a study, given as plain values, as the text of a TOML file; None is left out.

    >>> print(to_toml({"name": "mine", "steps": 10, "trainers": {"Neuro-Tron": "neuro-tron"},
    ...                "settings": [{"name": "a", "sweeps": [{"bound": [0.5]}]}]}))
    name = "mine"
    steps = 10
    <BLANKLINE>
    [trainers]
    "Neuro-Tron" = "neuro-tron"
    <BLANKLINE>
    [[settings]]
    name = "a"
    <BLANKLINE>
    [[settings.sweeps]]
    bound = [0.5]
    <BLANKLINE>
    """
    parts = [_values({key: value for key, value in spec.items() if not _is_table(value)})]
    for key in ("trainers", "methods"):
        named: dict[str, str] = spec.get(key, {})
        labels = {json.dumps(label, ensure_ascii=False): text for label, text in named.items()}
        if labels:
            parts.append(f"[{key}]\n{_values(labels)}")
    for setting in spec["settings"]:
        inside = {key: value for key, value in setting.items() if not _is_table(value)}
        parts.append(f"[[settings]]\n{_values(inside)}")
        parts += [f"[[settings.sweeps]]\n{_values(sweep)}" for sweep in setting["sweeps"]]
    return "\n".join(parts)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, dict) for item in value)
    )


def _values(table: dict[str, Any]) -> str:
    """Return the lines of a table; strings, numbers and lists look the same in JSON and TOML."""
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
        for key, value in table.items()
        if value is not None
    ]
    return "\n".join(lines) + "\n"
