"""How many labels are how far from a fitted model, and how many honest noise explains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import Chart, Line, Panel, line_of
from neurotron.lab.figures.styles import PLAIN, Style

if TYPE_CHECKING:
    from neurotron.estimators import Diagnosis

__all__ = ["diagnosis_chart", "plot_diagnosis"]

ROWS = Style("#0072B2", "circle", "solid")
HONEST = Style("#000000", "diamond", "dash")
POINTS = 200
"""Of the line of honest noise."""
NEAREST = 0.05
"""The share of labels nearest to the model that is not drawn: on a log axis they would take most of
the room."""


def diagnosis_chart(diagnosis: Diagnosis) -> Chart:
    """Return the chart of a diagnosis: the share of labels that are further off than each size."""
    sizes, exact = diagnosis.sizes, diagnosis.noise.scale == 0.0
    shares = 1.0 - (np.arange(len(sizes)) + 0.5) / len(sizes)
    hidden = diagnosis.exact / diagnosis.rows if exact else NEAREST
    seen = (sizes > 0.0) & (shares < 1.0 - hidden)
    title, lines = "How far the labels are from the model", list[Line]()
    if exact:
        title = f"{diagnosis.exact:,} of {diagnosis.rows:,} labels are exact"
    if seen.any():
        ends = sizes[seen][[0, -1]]
        lines.append(line_of("labels of the table", sizes[seen], shares[seen], ROWS))
        if not exact:
            grid = np.geomspace(ends[0], ends[1], POINTS)
            honest = diagnosis.noise.shares_beyond(grid) * (1.0 - diagnosis.attacked_fraction)
            shown = honest >= 0.1 / diagnosis.rows
            lines.append(line_of("honest noise", grid[shown], honest[shown], HONEST))
        if diagnosis.attacked_fraction > 0.0:
            level = np.full(2, diagnosis.attacked_fraction)
            lines.append(line_of("estimated share of attacked labels", ends, level, PLAIN))
    caption = (
        "The share of labels that are further from the model than each distance. Where the labels "
        "lie above honest noise, they are suspicious."
    )
    if exact:
        caption = f"{title}. The others are as far from the model as shown."
    return Chart(
        "diagnosis", title, caption, "distance from the model, |residual|",
        "share of labels further off", (Panel("", tuple(lines)),),
    )  # fmt: skip


def plot_diagnosis(diagnosis: Diagnosis, path: str | Path | None = None) -> Any:
    """Draw it on log axes; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        render_matplotlib.check_picture("path", path)
    figure = render_matplotlib.draw(diagnosis_chart(diagnosis))
    if path is not None:
        render_matplotlib.save(figure, path)
    return figure
