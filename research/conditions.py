"""What settings must share to be compared."""

from __future__ import annotations

from typing import Any

CONDITIONS = ("law", "network", "n_inputs", "filter_size", "batch_size", "noise", "steps")
"""Keys of settings. Step sizes may differ."""


def conditions_but(setting: dict[str, Any], key: str) -> tuple[Any, ...]:
    """Return the conditions of a setting, but for its law or network."""
    return tuple(setting[other] for other in CONDITIONS if other != key)
