"""Results as plain values for JSON, which has no infinite numbers: they become None."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value as JSON has it, with None for every number that is not finite.

    Arrays and tuples become lists. Named tuples and data classes become dictionaries, unless they
    have a method `to_dict`, which is asked instead.

    >>> plain({"radius": math.inf, "steps": np.arange(2), "ends": (0.5, math.nan)})
    {'radius': None, 'steps': [0, 1], 'ends': [0.5, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value):
        return record(value, *(field.name for field in dataclasses.fields(value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return record(value, *value._fields)
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def record(value: object, *names: str) -> dict[str, Any]:
    """Return attributes of an object by their names, as plain values."""
    return {name: plain(getattr(value, name)) for name in names}
