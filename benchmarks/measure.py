"""Timers, and what needs a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measured", "child", "seconds"]


@dataclass(frozen=True)
class Measured:
    """A figure with its spread over rounds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure."""
        return statistics.median(self.values)

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        if len(self.values) == 1:
            return f"{self.median:.3g}"
        return f"{self.median:.3g} ({low:.3g} … {high:.3g})"


def seconds(work: Callable[[], object]) -> float:
    """Return how long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def child(code: str, cache: str | None = None) -> dict[str, float]:
    """Run code in a new process; return the JSON it prints last, and its "seconds" in all."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as fresh:
        environment["NUMBA_CACHE_DIR"] = cache or fresh
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        passed = time.perf_counter() - began
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": passed}
