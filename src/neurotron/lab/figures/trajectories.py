"""Errors over steps, measured and certified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Line, Panel, line_of
from neurotron.lab.figures.one_result import certified_lines
from neurotron.lab.figures.styles import Style, shades
from neurotron.lab.figures.view import BANDS, LevelSweep, RunsView, select_at_most
from neurotron.lab.training.columns import COURSES
from neurotron.lab.training.summary import certified

MOST_PANELS = 12
MOST_LINES = 8
MOST_CERTIFIED = 6
"""Panels of certified runs."""


def levels_of(
    view: RunsView, name: str, title: str, sweeps: Sequence[LevelSweep], about: str
) -> Chart:
    """Return a chart of the first trainer of each sweep at all levels, one panel per setting."""
    shown, left_out = select_at_most("settings", sweeps, MOST_PANELS)
    said, titles = settings_said(view, shown)
    panels = []
    for sweep, heading in zip(shown, titles, strict=True):
        levels, fewer = select_at_most("levels", sweep.levels, MOST_LINES)
        left_out += fewer if fewer not in left_out else ""
        panels.append(panel_of_levels(view, heading, sweep._replace(levels=tuple(levels))))
    settings = [sweep.setting for sweep in shown]
    return over_steps(view, name, title, f"{about}{said}{left_out}", panels, settings)


def panel_of_levels(
    view: RunsView, title: str, sweep: LevelSweep, base: Style | None = None
) -> Panel:
    """Return the trajectories of the first trainer of a sweep at its levels, from light to dark."""
    trainer = sweep.trainers[0]
    looks = shades(view.styles[trainer] if base is None else base, len(sweep.levels))
    lines = [
        view.line(sweep.label(level), look, sweep.setting, trainer, sweep.attack, level)
        for level, look in zip(sweep.levels, looks, strict=True)
    ]
    return Panel(title, present(lines))


def compare(view: RunsView, name: str, title: str, sweep: LevelSweep, about: str) -> Chart:
    """Return a chart that compares all trainers of a sweep, one panel per level."""
    levels, fewer_levels = select_at_most("levels", sweep.levels, MOST_PANELS)
    trainers, fewer_trainers = select_at_most("trainers", sweep.trainers, MOST_LINES)
    panels = []
    for level in levels:
        lines = [
            view.line(who, view.styles[who], sweep.setting, who, sweep.attack, level)
            for who in trainers
        ]
        panels.append(Panel(sweep.label(level), present(lines)))
    said, _ = settings_said(view, [sweep])
    caption = f"{about}{said}{fewer_levels}{fewer_trainers}"
    return over_steps(view, name, title, caption, panels, [sweep.setting])


def over_steps(
    view: RunsView, name: str, title: str, about: str, panels: list[Panel], settings: Sequence[str]
) -> Chart:
    """Return a chart of trajectories; its caption is `about`, and what the lines and bands are."""
    over = view.replicates(settings)
    caption = (
        f"{about} Lines are medians over {over}, {view.what_is_their_own(settings)}. "
        "Bands hold the middle 80 % of them. The error of a run that diverged counts as infinite."
    )
    note = f"{BANDS} of {over}"
    return Chart(name, title, caption, STEPS, ERROR, tuple(panels), note, interval="80 % band")


def settings_said(view: RunsView, sweeps: Sequence[LevelSweep]) -> tuple[str, list[str]]:
    """Return a sentence about what all sweeps share, and titles of panels with what differs."""
    fixed = [sweep.fixed for sweep in sweeps]
    titles = [view.results.titles[sweep.setting] for sweep in sweeps]
    if len(set(fixed)) == 1:
        said = f" Throughout, {fixed[0]}." if fixed[0] else ""
    else:
        said = ""
        titles = [f"{title}, {word}" for title, word in zip(titles, fixed, strict=True)]
    unseen = max(sweep.unseen for sweep in sweeps)
    if unseen:
        said += f" {unseen} more levels of this attack are not drawn here; they are in the results."
    return said, titles


def present(lines: Sequence[Line | None]) -> tuple[Line, ...]:
    """Return the lines that are present, without the missing ones."""
    return tuple(line for line in lines if line is not None)


def certified_runs(view: RunsView, settings: Sequence[str]) -> Iterator[Chart]:
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
    shown, left_out = select_at_most("settings", rows, MOST_CERTIFIED)
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


def _panel(view: RunsView, row: dict[str, Any]) -> Panel:
    """Return the course of a run: what was certified, and what was measured."""
    setting = row["setting"]
    unit = {name: row[name] for name in ("setting", "replicate", "arm")}
    stored = view.results.table.filter(**unit).row(0, named=True)
    steps, roots, radii = (np.asarray(stored[name] or ()) for name in COURSES)
    limit, sure = stored["certified_limit"] or 0.0, view.results.confidence_text
    lines = certified_lines(steps, roots, radii, limit, sure)
    name, style = f"measured: {row['trainer']}", view.styles[row["trainer"]]
    here = view.results.runs.filter(setting=setting)
    is_this = (here["arm"] == row["arm"]) & (here["replicate"] == row["replicate"])
    errors = view.errors[setting][is_this.to_numpy()][0]
    measured = line_of(name, view.steps[setting], errors, style)
    level = f"{row['attack']} θ = {row['bound']:g}, β = {row['probability']:g}"
    return Panel(f"{view.results.titles[setting]}, {level}", (*lines, measured))
