"""The certified errors of the runs of a study, drawn together with the measured ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Panel, line_of
from neurotron.lab.figures.one_result import certified_lines
from neurotron.lab.figures.view import View, select_at_most
from neurotron.lab.training.columns import COURSES
from neurotron.lab.training.summary import certified

__all__ = ["certified_runs"]

MOST_PANELS = 6


def certified_runs(view: View, settings: Sequence[str]) -> Iterator[Chart]:
    """Yield the chart of certified and measured trajectories, if something is certified.

    A panel shows the run of one of the settings that came closest to its radius.
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
    """Return the course of a run: what was certified, and what was measured."""
    setting = row["setting"]
    unit = {name: row[name] for name in ("setting", "replicate", "arm")}
    stored = view.results.table.filter(**unit).row(0, named=True)
    steps, roots, radii = (np.asarray(stored[name] or ()) for name in COURSES)
    limit, sure = stored["certified_limit"] or 0.0, view.results.confidence_text
    lines = certified_lines(steps, roots, radii, limit, sure)
    name, style = f"measured: {row['trainer']}", view.styles[row["trainer"]]
    ends = view.ends[setting, row["arm"]]
    errors = view.errors[setting][ends.rows[ends.replicates == row["replicate"]]][0]
    measured = line_of(name, view.steps[setting], errors, style)
    level = f"{row['attack']} θ = {row['bound']:g}, β = {row['probability']:g}"
    return Panel(f"{view.results.titles[setting]}, {level}", (*lines, measured))
