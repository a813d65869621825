"""The share of fresh rows that a filter explains, over the level up to which residuals count."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import MOST_POINTS, SMALLEST, Chart, Line, Panel
from neurotron.lab.figures.styles import PLAIN, Style

if TYPE_CHECKING:
    from neurotron.guarantees.verify import Verification

__all__ = ["plot_verification", "verification_chart"]

ROWS = Style("#0072B2", "circle", "solid")
CHOSEN = Style("#000000", "diamond", "dash")
CELLS = "The two shares that are marked are among the rows in the filter's own cells only."
MOST_NEEDED = 1.5
"""A larger share that would be needed is drawn at this height: no rows reach it anyway."""


def verification_chart(verification: Verification) -> Chart:
    """Return the chart of a verification: shares of rows, the share needed, the level chosen."""
    levels = np.maximum(verification.levels, SMALLEST)
    shares, needed = verification.shares, min(verification.threshold, MOST_NEEDED)
    shown = np.isfinite(levels)
    levels, shares = levels[shown], shares[shown]
    places = np.unique(np.linspace(0, len(levels) - 1, MOST_POINTS).astype(int))
    lines = list[Line]()
    if len(levels):
        lines.append(Line("rows within the level", levels[places], shares[places], ROWS))
        if not math.isnan(needed):
            ends, words = levels[[0, -1]], "share to exceed"
            lines.append(Line(words, ends, np.full(2, needed), PLAIN))
    if verification.holds:
        chosen = np.full(2, max(verification.level, SMALLEST))
        lines.append(
            Line("level of the radius", chosen, np.array([0.0, verification.share]), CHOSEN)
        )
    caption = (
        "The share of fresh rows whose labels are at most the level away from the filter's output. "
        "Where it exceeds the share that is marked, the filter is verified."
    )
    return Chart(
        "verification", "", caption, "level, the largest |residual| that counts as explained",
        "share of rows explained", (Panel("", tuple(lines)),), y_log=False,
        y_range=(0.0, 1.05 * max(1.0, needed)), note=CELLS * (verification.theorem == "cells"),
    )  # fmt: skip


def plot_verification(verification: Verification, path: str | Path | None = None) -> Any:
    """Draw it over a log axis; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        render_matplotlib.check_picture("path", path)
    figure = render_matplotlib.draw(verification_chart(verification))
    if path is not None:
        render_matplotlib.save(figure, path)
    return figure
