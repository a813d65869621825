"""The certified course of an arm, over the measured one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron._extras import require
from neurotron.figures.trajectory import COLOURS, Series, check_picture, series

if TYPE_CHECKING:
    from neurotron.theory import Certificate
    from neurotron.trajectories import Trajectories

__all__ = ["certified_series", "plot_certificate"]


def certified_series(certificate: Certificate) -> list[Series]:
    """Return the lines of a certificate: root mean square, and radius at its confidence."""
    shown = (certificate.record > 0) & np.isfinite(certificate.trajectory)
    x = certificate.record[shown].astype(float)
    root = np.sqrt(certificate.trajectory[shown])
    if certificate.kind == "empirical":
        return [Series("measured root mean square", x, root)]
    sure = f"certified with chance {certificate.confidence:g}"
    return [
        Series("certified root mean square", x, root),
        Series(sure, x, root / math.sqrt(certificate.failure)),
    ]


def plot_certificate(
    certificate: Certificate, path: str | Path | None = None, *, run: Trajectories | None = None
) -> Any:
    """Draw it on log axes; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        check_picture("path", path)
    figures = require("matplotlib.figure")
    figure = figures.Figure(figsize=(7.0, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for line, style in zip(certified_series(certificate), ("-", "--"), strict=False):
        axes.loglog(line.x, line.y, style, color=COLOURS[0], label=line.name)
    if 0.0 < certificate.limit < math.inf:
        label = "limit of every step size"
        axes.axhline(certificate.limit, color=COLOURS[-1], linestyle=":", label=label)
    if run is not None:
        for i, line in enumerate(series(run), 1):
            colour = COLOURS[i % len(COLOURS)]
            axes.loglog(line.x, line.y, color=colour, alpha=0.8, label=f"measured: {line.name}")
    axes.set(xlabel="steps", ylabel="recovery error ‖w − w*‖")
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", frameon=False, loc="outside lower center")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
