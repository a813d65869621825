"""How the cost of a step grows with the sizes of a run, measured and drawn.

One size is changed at a time; the others are those of the paper's first setting, with its 28 arms.
All sizes take turns in every round, so that a busy minute does not hit one of them alone.
"""

from __future__ import annotations

import csv
import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks.workloads import FOUR_LAWS, GeneralSetting, fewer
from neurotron._threads import one_blas_thread

__all__ = ["GRIDS", "Slopes", "draw", "measure", "read", "slopes", "write"]

Curves = Mapping[str, Mapping[int, np.ndarray]]
"""Microseconds per step of every round, by what is changed and by its value."""

GRIDS: dict[str, tuple[int, ...]] = {
    "arms": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "inputs n": (25, 50, 100, 200, 400, 800),
    "weights r": (3, 6, 12, 25, 50, 100),
    "gates k": (2, 4, 10, 20, 50, 100, 200),
    "general gates k": (2, 4, 10, 20, 50),
    "batch size b": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "steps": (500, 1000, 2000, 4000, 8000, 16_000, 32_000),
}
FIELDS = {
    "inputs n": "n_inputs", "weights r": "filter_size", "gates k": "width",
    "general gates k": "width", "batch size b": "batch_size",
}  # fmt: skip
BLUE, GREY = "#0072B2", "#777777"
ROUNDS = 5
STEPS = 4000
PAPER = dataclasses.replace(FOUR_LAWS[0], step_size=1e-12)
"""With steps so small that no arm diverges at any size, because such an arm costs nothing."""
GENERAL = GeneralSetting(**vars(PAPER))


class Slopes(NamedTuple):
    """How much a doubling costs, as powers of 2: 1 is twice the time, 0 the same."""

    all: np.ndarray
    """Fitted to the whole grid, one for every round."""
    end: np.ndarray
    """Fitted to the three largest values, one for every round."""


def measure(rounds: int = ROUNDS) -> Curves:
    """Return the curves; the first round is not counted, because it compiles."""
    found: dict[str, dict[int, list[float]]] = {
        name: {value: [] for value in grid} for name, grid in GRIDS.items()
    }
    for number in range(1 + rounds):
        for name, grid in GRIDS.items():
            for value in grid:
                seconds = _seconds_per_step(name, value)
                if number:
                    found[name][value].append(1e6 * seconds)
    return {
        name: {value: np.array(found[name][value]) for value in grid}
        for name, grid in GRIDS.items()
    }


def _seconds_per_step(name: str, value: int) -> float:
    """Return the CPU time of a step when training is under way, without setting up the run."""
    changed: dict[str, Any] = {FIELDS[name]: value} if name in FIELDS else {}
    paper = GENERAL if name == "general gates k" else PAPER
    setting = dataclasses.replace(paper, **changed)
    count = value if name == "arms" else len(PAPER.arms())
    steps = fewer(value if name == "steps" else _enough(name, value))
    arms = [
        dataclasses.replace(PAPER.arms()[i % len(PAPER.arms())], name=str(i)) for i in range(count)
    ]
    with one_blas_thread():  # idle threads of BLAS would use time after the set-up
        run = setting.start(steps, arms)
    began = time.process_time()
    for _ in run:
        pass
    seconds = time.process_time() - began
    assert "diverged" not in run.trajectories().status
    return seconds / steps


def _enough(name: str, value: int) -> int:
    """Return fewer steps for sizes above the middle of a grid, which take longer."""
    middle = GRIDS[name][len(GRIDS[name]) // 2]
    return max(200, STEPS * middle // max(value, middle))


def slopes(curve: Mapping[int, np.ndarray]) -> Slopes:
    """Return the slopes of log time against log size, round by round."""
    sizes = np.log([float(value) for value in curve])
    times = np.log(np.array(list(curve.values())))
    return Slopes(*(np.polyfit(sizes[-n:], times[-n:], 1)[0] for n in (len(sizes), 3)))


# ---- files ---------------------------------------------------------------------------------------

COLUMNS = ("changed", "value", "round", "microseconds")


def write(path: Path, curves: Curves) -> None:
    """Write every round as a row."""
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, curve in curves.items():
            for value, rounds in curve.items():
                table.writerows((name, value, i, f"{one:.4g}") for i, one in enumerate(rounds))


def read(path: Path) -> Curves:
    """Return the curves of a file."""
    found: dict[str, dict[int, list[float]]] = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            curve = found.setdefault(row["changed"], {})
            curve.setdefault(int(row["value"]), []).append(float(row["microseconds"]))
    return {
        name: {value: np.array(rounds) for value, rounds in curve.items()}
        for name, curve in found.items()
    }


# ---- the picture ---------------------------------------------------------------------------------


def draw(curves: Curves) -> Any:
    """Return the figure: a panel for each size, on the same logarithmic scale of time."""
    figure = Figure(figsize=(12.0, 5.8), layout="constrained")
    panels = figure.subplots(2, 4, sharey=True).ravel()
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    for axes, (name, curve) in zip(panels, curves.items(), strict=False):
        values = np.array(list(curve), dtype=float)
        least, median, most = (
            np.array([f(rounds) for rounds in curve.values()]) for f in (np.min, np.median, np.max)
        )
        proportional = median[-1] * values / values[-1]
        shown = proportional > 0.7 * median.min()
        axes.loglog(values[shown], proportional[shown], ":", color=GREY, label="proportional")
        axes.vlines(values, least, most, color=BLUE, linewidth=1.0)
        axes.loglog(values, median, "o-", color=BLUE, markersize=4.0, label="measured")
        axes.set_title(f"slope {np.median(slopes(curve).end):.2f} at the end")
        axes.set_xticks(values[::2], [f"{value:,.0f}" for value in values[::2]])
        axes.set_xticks([], minor=True)
        axes.set_xlabel(name)
        axes.grid(alpha=0.3)
    for axes in panels[::4]:
        axes.set_ylabel("CPU time per step, µs")
    panels[0].legend(frameon=False, fontsize="small")
    return figure
