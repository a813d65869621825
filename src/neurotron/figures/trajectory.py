"""The course of a run: error (or loss) of every arm against steps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._extras import require
from neurotron._types import Array

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = ["Series", "check_picture", "plot", "series"]

# Okabe–Ito: told apart by colour-blind readers; line styles tell them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
FORMATS = (".png", ".pdf", ".svg")


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


def check_picture(name: str, path: str | Path) -> None:
    """Refuse a picture that could not be saved, before any work."""
    if not isinstance(path, (str, Path)) or Path(path).suffix.lower() not in FORMATS:
        raise _check.InputError(
            f"`{name}` must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {str(path)!r}"
        )
    folder = Path(path).parent
    if not folder.is_dir():
        raise _check.InputError(f"`{name}`: there is no folder {str(folder)!r}")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise _check.InputError(f"`{name}`: {str(path)!r} cannot be written")


def plot(run: Trajectories, path: str | Path | None = None) -> Any:
    """Draw the run on log axes; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        check_picture("path", path)
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
