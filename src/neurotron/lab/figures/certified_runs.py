"""The certified errors of the runs of a study, drawn together with the measured ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from neurotron.guarantees.certify import certify
from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Panel, line_of
from neurotron.lab.figures.one_result import certified_lines
from neurotron.lab.figures.view import View, select_at_most
from neurotron.lab.training import building
from neurotron.lab.training.summary import certified

__all__ = ["certified_runs"]

MOST_PANELS = 6


def certified_runs(view: View, settings: Sequence[str]) -> Iterator[Chart]:
    """Yield the chart of certified and measured trajectories, if something is certified.

    A panel shows the run of one of the settings that came closest to its radius. The problem of
    that run is drawn and certified again.
    """
    runs = certified(view.results)
    attacked = pl.col("bound") * pl.col("probability") > 0.0
    closest = (
        runs.with_columns(attacked=attacked)
        .sort("attacked", "part", descending=True, nulls_last=True)
        .unique("setting", keep="first", maintain_order=True)
    )
    rows = sorted(
        closest.filter(pl.col("setting").is_in(settings)).iter_rows(named=True),
        key=lambda row: settings.index(row["setting"]),
    )
    shown, left_out = select_at_most("settings", rows, MOST_PANELS)
    if shown:
        outside = int((runs["part"] > 1.0).sum())
        yield Chart(
            "certificate", "Certified and measured errors",
            "What was guaranteed before training, and what was measured. A certificate holds for "
            "the network of its run and for every attacker within the budget; the measured line is "
            "the run under the attack that it met. Each panel shows the run of its setting that "
            "came closest to its radius, under attack if there is one. The dotted line is the best "
            "possible bound, for a step size that goes to zero and ever more steps; a run can end "
            f"below it. Of {len(runs):,} runs whose certificate is better than their starting "
            f"point, {outside:,} ended outside their radius, which allows for rounding errors."
            f"{left_out}",
            STEPS, ERROR, tuple(_panel(view, row) for row in shown),
            "for each setting, the run that came closest to its certified radius",
        )  # fmt: skip


def _panel(view: View, row: dict[str, Any]) -> Panel:
    setting = view.results.specs[row["setting"]]
    problem = building.build_problem(setting, row["replicate"])
    arms = building.build_arms(setting, problem, row["replicate"])
    (arm,) = (one for one in arms if one.name == row["arm"])
    certificate = certify(
        problem, arm, batch_size=setting.batch_size, steps=setting.steps, failure=setting.failure
    )
    name, style = f"measured: {row['trainer']}", view.styles[row["trainer"]]
    ends = view.ends[row["setting"], row["arm"]]
    errors = view.errors[setting.name][ends.rows[ends.replicates == row["replicate"]]][0]
    measured = line_of(name, view.steps[setting.name], errors, style)
    level = f"{row['attack']} θ = {row['bound']:g}, β = {row['probability']:g}"
    title = f"{view.results.titles[row['setting']]}, {level}"
    return Panel(title, (*certified_lines(certificate), measured))
