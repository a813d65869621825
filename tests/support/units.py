"""Studies of one's own, which are no training runs and take no time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import neurotron as nt

SETTINGS = [{"name": "few", "count": 3}, {"name": "many", "title": "Many", "count": 5}]
COLUMNS = {"drawn": list[float], "sum": float, "kind": str, "even": bool}
begun = threading.Event()
tried: Counter[tuple[str, int]] = Counter()
"""How often each unit was tried since the last `fails`."""
failing: dict[tuple[str, int], int] = {}


def sums(setting: dict[str, Any], replicate: int, seed: int) -> list[dict[str, Any]]:
    """Return two rows: numbers that were drawn, and their sum."""
    draw = np.random.default_rng(seed)
    drawn = [draw.standard_normal(setting["count"]) for _ in range(2)]
    return [{"drawn": x, "sum": x.sum(), "kind": "normal", "even": None} for x in drawn]


def unlucky(setting: dict[str, Any], replicate: int, seed: int) -> list[dict[str, Any]]:
    """Return the same, unless `failing` says that it fails."""
    unit = setting["name"], replicate
    tried[unit] += 1
    if tried[unit] <= failing.get(unit, 0):
        raise ArithmeticError("bad\nluck")
    return sums(setting, replicate, seed)


def fails(*units: tuple[str, int], times: int) -> None:
    """Let the next tries of these units fail, and no others."""
    tried.clear()
    failing.clear()
    failing.update(dict.fromkeys(units, times))


def weighted(setting: dict[str, Any], replicate: int, seed: int, weights: Any) -> dict[str, float]:
    """Return the sum of an array that the study has."""
    return {"sum": float(weights.sum())}


def seen(setting: dict[str, Any], replicate: int, seed: int) -> dict[str, Any]:
    """Return the seed."""
    return {"seed": seed}


def telling(
    setting: dict[str, Any], replicate: int, seed: int, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Tell its progress twice."""
    for step in (1, 2):
        progress(step, 2)
    return {"seed": seed}


def endless(
    setting: dict[str, Any], replicate: int, seed: int, progress: Callable[[int, int], None]
) -> None:
    """Tell its progress for ever."""
    step = 0
    while True:
        step += 1
        progress(step, 10)
        begun.set()


def study(unit: Callable[..., Any] = sums, **changes: Any) -> nt.Study:
    """Return a study of two settings and two replicates."""
    given = {"name": "sums", "settings": SETTINGS, "columns": COLUMNS, "replicates": 2} | changes
    return nt.Study(unit=unit, **given)


def of_seeds(unit: Callable[..., Any] = seen, **changes: Any) -> nt.Study:
    """Return a study whose column is the seed of each unit."""
    return study(unit, columns={"seed": int}, **changes)
