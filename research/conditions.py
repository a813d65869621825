"""Settings that differ in one number of their law or network."""

from __future__ import annotations

from typing import Any

from neurotron._registry import parse

CONDITIONS = ("law", "network", "n_inputs", "filter_size", "batch_size", "noise", "steps")
"""What settings must share to be compared. Step sizes may differ."""


def conditions_but(setting: dict[str, Any], key: str, number: str) -> tuple[Any, ...]:
    """Return what settings share that differ only in a number of their law or network."""
    name, given = parse(setting[key])
    given.pop(number, None)
    rest = (setting.get(other) for other in CONDITIONS if other != key)
    return (name, *sorted(given.items()), *rest)
