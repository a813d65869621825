"""The certified course of an arm, over the measured one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron.figures import printed
from neurotron.figures.chart import ERROR, STEPS, Chart, Line, Panel, line_of
from neurotron.figures.styles import PLAIN, Style
from neurotron.figures.trajectory import run_lines
from neurotron.figures.view import View, evenly
from neurotron.results.summary import certified

if TYPE_CHECKING:
    from neurotron.theory import Certificate
    from neurotron.trajectories import Trajectories

__all__ = ["certificate_chart", "certified_lines", "plot_certificate", "study_certificates"]

ROOT = Style("#4D4D4D", "square", "solid")
SURE = Style("#000000", "diamond", "dash")
MOST_PANELS = 6


def certified_lines(certificate: Certificate) -> list[Line]:
    """Return the lines of a certificate: root mean square, radius at its confidence, limit."""
    steps = certificate.record
    root = np.sqrt(certificate.trajectory)
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


def certificate_chart(certificate: Certificate, run: Trajectories | None = None) -> Chart:
    """Return the chart of a certificate, over the arms of a run if given."""
    lines = certified_lines(certificate)
    for line in [] if run is None else run_lines(run):
        name = f"measured: {line.name}"
        lines.append(Line(name, line.x, line.y, line.style))
    caption = "What is certified of the error after each number of steps."
    return Chart("certificate", "", caption, STEPS, ERROR, (Panel("", tuple(lines)),))


def plot_certificate(
    certificate: Certificate, path: str | Path | None = None, *, run: Trajectories | None = None
) -> Any:
    """Draw it on log axes; return the matplotlib figure, saved to `path` if given."""
    if path is not None:
        printed.check_picture("path", path)
    figure = printed.draw(certificate_chart(certificate, run))
    if path is not None:
        printed.save(figure, path)
    return figure


def study_certificates(view: View) -> Iterator[Chart]:
    """Yield the certified course over the measured one, where a study certifies something.

    Of each cohort, the run that came closest to its radius: its problem is drawn and certified
    again.
    """
    import polars as pl

    runs = certified(view.results)
    attacked = pl.col("bound") * pl.col("probability") > 0.0
    chosen = (
        runs.with_columns(attacked=attacked)
        .sort("attacked", "part", descending=True, nulls_last=True)
        .unique("cohort", keep="first", maintain_order=True)
    )
    rows = sorted(chosen.iter_rows(named=True), key=lambda row: view.cohorts.index(row["cohort"]))
    panels = [_panel(view, row) for row in evenly(rows, MOST_PANELS)]
    if panels:
        outside = runs.filter(pl.col("part") > 1.0)
        yield Chart(
            "certificate", "Certified and measured",
            "Of each setting the run that came closest to its certified radius, under attack if "
            f"there is one, out of {len(runs):,} runs whose certificate says more than the start; "
            f"{len(outside):,} ended outside of theirs. The certificate is of the network of that "
            "run and of every attacker within the budget, not of this one.",
            STEPS, ERROR, tuple(panels), "one run of each setting, the closest to its radius",
        )  # fmt: skip


def _panel(view: View, row: dict[str, Any]) -> Panel:
    import polars as pl

    from neurotron.studies import Study, building
    from neurotron.theory import certify

    study = Study.model_validate({**view.results.spec, "replicates": 1}, strict=False)
    cohort = study.cohort(row["cohort"])
    problem = building.build_problem(study, cohort, row["replicate"])
    arms = building.build_arms(study, cohort, problem, row["replicate"])
    arm = next(arm for arm in arms if arm.name == row["arm"])
    certificate = certify(
        problem, arm, batch_size=cohort.batch_size, steps=study.steps, failure=study.failure
    )
    course = view.courses.filter(
        pl.col("cohort") == row["cohort"], pl.col("replicate") == row["replicate"],
        pl.col("arm") == row["arm"],
    )  # fmt: skip
    name, style = f"measured: {row['trainer']}", view.styles[row["trainer"]]
    measured = line_of(name, course["step"].to_numpy(), course["error"].to_numpy(), style)
    title = f"{cohort.heading}, θ = {row['bound']:g}, β = {row['probability']:g}"
    return Panel(title, (*certified_lines(certificate), measured))
