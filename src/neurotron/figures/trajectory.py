"""The course of a run: error (or loss) of every arm against steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neurotron._extras import require
from neurotron._types import Array

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = ["Series", "plot", "series"]

# Okabe–Ito: told apart by colour-blind readers; line styles tell them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")


class Series(NamedTuple):
    """One line of a figure."""

    name: str
    x: Array
    y: Array


def series(run: Trajectories) -> list[Series]:
    """Return one line per arm: steps from 1 on (for a log axis), error or else loss.

    A diverged arm's line ends where it diverged.
    """
    values = run.losses if run.errors is None else run.errors
    lines = []
    for arm, value in zip(run.arms, values, strict=True):
        shown = (run.steps > 0) & np.isfinite(value)
        lines.append(Series(arm.name, run.steps[shown].astype(float), value[shown]))
    return lines


def plot(run: Trajectories, path: str | Path | None = None) -> Any:
    """Draw the run on log axes; return the matplotlib figure, saved to `path` if given."""
    figures = require("matplotlib.figure")
    figure = figures.Figure(figsize=(7.0, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for i, line in enumerate(series(run)):
        colour, style = COLOURS[i % len(COLOURS)], STYLES[i % len(STYLES)]
        axes.loglog(line.x, line.y, style, color=colour, label=line.name)
    measure = "batch loss" if run.errors is None else "recovery error ‖w − w*‖"
    axes.set(xlabel="steps", ylabel=measure)
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", frameon=False, loc="outside lower center")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
