"""The certified trajectory of an arm, over the measured one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron.figures import render_matplotlib
from neurotron.figures.chart import ERROR, STEPS, Chart, Line, Panel, line_of
from neurotron.figures.one_run import run_lines
from neurotron.figures.styles import PLAIN, Style

if TYPE_CHECKING:
    from neurotron.guarantees import TrainingCertificate
    from neurotron.trajectories import Trajectories

__all__ = ["certificate_chart", "certified_lines", "plot_certificate"]

ROOT = Style("#4D4D4D", "square", "solid")
SURE = Style("#000000", "diamond", "dash")


def certified_lines(certificate: TrainingCertificate) -> list[Line]:
    """Return the lines of a certificate: root mean square, radius at its confidence, limit."""
    steps = certificate.at_steps
    root = np.sqrt(certificate.mean_square_bounds)
    if certificate.kind == "empirical":
        return [line_of("measured root mean square", steps, root, ROOT)]
    sure = f"certified with chance {certificate.confidence:g}"
    lines = [
        line_of("certified root mean square", steps, root, ROOT),
        line_of(sure, steps, root / math.sqrt(certificate.failure), SURE),
    ]
    if 0.0 < certificate.limit < math.inf:
        limit = np.full(len(steps), certificate.limit)
        lines.append(line_of("limit of every step size", steps, limit, PLAIN))
    return lines


def certificate_chart(certificate: TrainingCertificate, run: Trajectories | None = None) -> Chart:
    """Return the chart of a certificate, over the arms of a run if given."""
    lines = certified_lines(certificate)
    if run is not None and not run.has_errors:
        raise _check.InputError(
            "`run` has no errors to draw beside a certificate, since its problem has no "
            "`true_weights`: leave it out, or plot the run alone"
        )
    for line in [] if run is None else run_lines(run):
        name = f"measured: {line.name}"
        lines.append(Line(name, line.x, line.y, line.style))
    caption = "What is certified of the error after each number of steps."
    return Chart("certificate", "", caption, STEPS, ERROR, (Panel("", tuple(lines)),))


def plot_certificate(
    certificate: TrainingCertificate,
    path: str | Path | None = None,
    *,
    run: Trajectories | None = None,
) -> Any:
    """Draw it on log axes; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        render_matplotlib.check_picture("path", path)
    figure = render_matplotlib.draw(certificate_chart(certificate, run))
    if path is not None:
        render_matplotlib.save(figure, path)
    return figure
