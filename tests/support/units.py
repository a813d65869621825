"""Pure functions of text that are no training runs: what a `Work` computes."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

SPEC = {
    "name": "sums",
    "title": "Sums of random numbers",
    "settings": [{"name": "few", "count": 3}, {"name": "many", "title": "Many", "count": 5}],
}
begun = threading.Event()
UNITS = [("few", 0), ("many", 0), ("few", 1)]


def sums(text: str, setting: str, replicate: int, progress: Any = None) -> list[dict[str, Any]]:
    """Return two rows: numbers that were drawn, and their sum."""
    counts = {one["name"]: one["count"] for one in json.loads(text)["settings"]}
    draw = np.random.default_rng([replicate, counts[setting]])
    drawn = [draw.standard_normal(counts[setting]) for _ in range(2)]
    return [{"drawn": x, "sum": x.sum(), "kind": "normal", "even": None} for x in drawn]


def echo(text: str, setting: str, replicate: int, progress: Any = None) -> dict[str, list[str]]:
    """Return the text."""
    return {"text": [text]}


def nothing(text: str, setting: str, replicate: int, progress: Any = None) -> Any:
    """Return nothing, which is no table."""
    return None


def mixture(text: str, setting: str, replicate: int, progress: Any = None) -> Any:
    """Return other columns in each setting, and no rows in later replicates."""
    return {"few": [{"x": 1}], "many": [{"x": 0.5, "y": "θ"}]}[setting] if replicate == 0 else []


def at_odds(text: str, setting: str, replicate: int, progress: Any = None) -> Any:
    """Return text or a number."""
    return [{"x": "text" if setting == "many" else 1.0}]


def endless(text: str, setting: str, replicate: int, progress: Any = None) -> Any:
    """Tell its progress for ever."""
    step = 0
    while True:
        step += 1
        progress(step, 10)
        begun.set()
