"""The guaranteed error of an arm over the steps, and the measured one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Line, Panel, line_of
from neurotron.lab.figures.one_run import run_lines
from neurotron.lab.figures.styles import PLAIN, Style

if TYPE_CHECKING:
    from neurotron.guarantees import TrainingCertificate
    from neurotron.trajectories import Trajectories

__all__ = ["certificate_chart", "certified_lines", "plot_certificate"]

ROOT = Style("#4D4D4D", "square", "solid")
SURE = Style("#000000", "diamond", "dash")


def certified_lines(certificate: TrainingCertificate) -> list[Line]:
    """Return the lines of a certificate: root mean square, radius and best possible bound."""
    steps = certificate.at_steps
    root = np.sqrt(certificate.mean_square_bounds)
    if certificate.kind == "measured":
        return [line_of("measured, root mean square", steps, root, ROOT)]
    sure = f"guaranteed with probability {certificate.confidence_text}"
    lines = [
        line_of("guaranteed, root mean square", steps, root, ROOT),
        line_of(sure, steps, certificate.radii, SURE),
    ]
    if 0.0 < certificate.limit < math.inf:
        limit = np.full(len(steps), certificate.limit)
        lines.append(line_of("best possible bound (step size → 0)", steps, limit, PLAIN))
    return lines


def certificate_chart(certificate: TrainingCertificate, run: Trajectories | None = None) -> Chart:
    """Return the chart of a certificate, with the arms of a run if given."""
    lines = certified_lines(certificate)
    if run is not None and not run.has_errors:
        raise _check.InputError(
            "`run` has no errors to draw with a certificate, because its problem has no "
            "`true_weights`: leave it out, or plot the run alone"
        )
    measured = [] if run is None else run_lines(run)
    for line in measured:
        name = f"measured: {line.name}" if measured[1:] else "measured"
        lines.append(Line(name, line.x, line.y, line.style))
    caption = "The guaranteed error after each number of steps."
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
