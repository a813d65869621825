"""Where runs end: over the levels of an attack, in pairs, and on which side of the origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from neurotron._types import Array
from neurotron.claims.setups import divided, over_levels
from neurotron.figures.chart import ERROR, SMALLEST, Chart, Line, Panel
from neurotron.figures.courses import MOST_LINES, MOST_PANELS, left_out, there
from neurotron.figures.view import Encounter, Level, Sweep, View, evenly
from neurotron.results.summary import Interval, bootstrap, rate

__all__ = ["final_errors", "mirror", "paired_errors", "success_rates"]

MOST_DOTS = 400
X_LABELS = {
    None: "level of the attack",
    0: "bound θ of the attack",
    1: "probability β of the attack",
}
Measure = Callable[[Any], Interval | None]


def final_errors(view: View, name: str, title: str, sweeps: Sequence[Sweep], about: str) -> Chart:
    """Return the final errors of all trainers over the levels of an attack."""

    def measure(runs: Any) -> Interval | None:
        middle = bootstrap(runs["error"].to_numpy())
        found = Interval(*(float(end) for end in np.maximum(middle, SMALLEST)))
        return found if np.isfinite(found.estimate) else None

    panels, cohorts = _over_levels(view, sweeps, measure)
    caption = (
        f"{about} Points are medians of the final error over {view.replicates(cohorts)}, bars "
        "their 95 % bootstrap intervals. Where half of the runs diverged there is no point."
    )
    note = f"medians of {view.replicates(cohorts)}, bars: 95 % intervals"
    caption += left_out("settings", len(cohorts), len(sweeps))
    return Chart(
        name, title, caption, X_LABELS[sweeps[0].axis], ERROR, panels, note, x_log=False
    )  # fmt: skip


def success_rates(view: View, name: str, title: str, sweeps: Sequence[Sweep], about: str) -> Chart:
    """Return how often each trainer recovers the filter, over the levels of an attack."""

    def measure(runs: Any) -> Interval:
        return rate(int((runs["outcome"] == "recovered").sum()), len(runs))

    panels, cohorts = _over_levels(view, sweeps, measure)
    caption = (
        f"{about} Share of {view.replicates(cohorts)} that end within ‖w*‖/2 of the true filter, "
        "with exact 95 % (Clopper–Pearson) intervals."
    )
    caption += left_out("settings", len(cohorts), len(sweeps))
    return Chart(
        name, title, caption, X_LABELS[sweeps[0].axis], "share of runs that recover w*", panels,
        f"of {view.replicates(cohorts)}, bars: exact 95 % intervals", x_log=False, y_log=False,
        y_range=(-0.04, 1.04),
    )  # fmt: skip


def _over_levels(
    view: View, sweeps: Sequence[Sweep], measure: Measure
) -> tuple[tuple[Panel, ...], list[str]]:
    """Return a panel per cohort of what is measured of every trainer at every level."""
    shown, panels = evenly(sweeps, MOST_PANELS), []
    for sweep in shown:
        levels, trainers = evenly(sweep.levels, 2 * MOST_LINES), evenly(sweep.trainers, MOST_LINES)
        beside = 0.07 * (np.arange(len(trainers)) - 0.5 * (len(trainers) - 1))  # not on each other
        lines = [
            _line(view, sweep, levels, who, offset, measure)
            for who, offset in zip(trainers, beside, strict=True)
        ]
        words = (level if sweep.axis is None else level[sweep.axis] for level in levels)
        ticks = tuple(
            f"{word:g}" if isinstance(word, float) else sweep.label(word) for word in words
        )
        panels.append(Panel(view.results.titles[sweep.cohort], there(lines), ticks))
    return tuple(panels), [sweep.cohort for sweep in shown]


def _line(
    view: View, sweep: Sweep, levels: list[Level], trainer: str, offset: float, measure: Measure
) -> Line | None:
    points = []
    for i, level in enumerate(levels):
        arm = view.arms[sweep.cohort].get(Encounter(trainer, sweep.attack, level))
        runs = view.runs.get((sweep.cohort, arm))
        found = None if runs is None else measure(runs)
        if found is not None:
            points.append((i + offset, *found))
    if not points:
        return None
    x, y, low, high = np.array(points, dtype=np.float64).T
    return Line(trainer, x, y, view.styles[trainer], low, high)


def paired_errors(view: View, name: str, title: str, about: str) -> Chart | None:
    """Return the final errors of the first trainer of each cohort over those of the others.

    A pair is two runs on the same network, data and attack; a replicate counts with its median
    over the levels of the attack.
    """
    panels, cohorts = [], []
    for cohort in view.cohorts:
        lead, *rivals = view.trainers(cohort)
        ratios = {rival: _ratios(view, cohort, lead, rival) for rival in rivals}
        ratios = {rival: values for rival, values in ratios.items() if values.size}
        if ratios:
            ticks = tuple(f"over {rival}" for rival in ratios)
            lines = [
                line
                for i, (rival, values) in enumerate(ratios.items())
                for line in _dots_and_middle(view, rival, i, values)
            ]
            panels.append(Panel(f"{view.results.titles[cohort]}: {lead}", tuple(lines), ticks))
            cohorts.append(cohort)
    if not panels:
        return None
    shown = evenly(panels, MOST_PANELS)
    caption = (
        f"{about} Dots are replicates, {view.replicates(cohorts)}, each the median over the levels "
        "of the attack; the bar is the 95 % bootstrap interval of their median. Pairs in which a "
        "run diverged are not drawn."
    )
    caption += left_out("settings", len(shown), len(panels))
    note = f"below 1 the first is better; dots: {view.replicates(cohorts)}; bars: 95 % intervals"
    return Chart(
        name, title, caption, "", "ratio of final errors", tuple(shown), note, x_log=False,
        reference=1.0,
    )  # fmt: skip


def _ratios(view: View, cohort: str, lead: str, rival: str) -> Array:
    table, arms = [], view.arms[cohort]
    for met, arm in arms.items():
        other = arms.get(met._replace(trainer=rival))
        if met.trainer == lead and other is not None and met.level[0] * met.level[1] > 0.0:
            errors = (view.runs[cohort, one]["error"].to_numpy() for one in (arm, other))
            table.append(divided(*errors))
    values = over_levels(table) if table else np.empty(0)
    return values[(values > 0.0) & np.isfinite(values)]


def _dots_and_middle(view: View, rival: str, place: int, values: Array) -> list[Line]:
    style = view.styles[rival]
    chosen = np.array(evenly(sorted(values), MOST_DOTS))
    offsets = np.linspace(-0.25, 0.25, len(chosen)) if len(chosen) > 1 else np.zeros(1)
    y, low, high = (np.array([number]) for number in bootstrap(values))
    return [
        Line(rival, place + offsets, chosen, style, joined=False),
        Line(rival, np.array([float(place)]), y, style, low, high, joined=False),
    ]


def mirror(view: View, name: str, title: str, about: str) -> Chart | None:
    """Return the cosine of the final weights of every run with −w*, trainer by trainer."""
    panels, cohorts, cut = [], [], False
    for cohort in view.cohorts:
        trainers = evenly(view.trainers(cohort), MOST_LINES)
        lines = []
        for i, trainer in enumerate(trainers):
            line, all_drawn = _cosines(view, cohort, trainer, i)
            cut |= not all_drawn
            lines.append(line)
        panels.append(Panel(view.results.titles[cohort], tuple(lines), tuple(trainers)))
        cohorts.append(cohort)
    if not panels:
        return None
    shown = evenly(panels, MOST_PANELS)
    caption = (
        f"{about} One dot per run, {view.replicates(cohorts)} at every level of the attack, from "
        "the first level on the left to the last on the right of its column. Runs that diverged "
        "are not drawn."
    )
    if cut:
        caption += f" Of more than {MOST_DOTS} runs of a trainer, as many are shown."
    caption += left_out("settings", len(shown), len(panels))
    return Chart(
        name, title, caption, "", "cosine with −w*", tuple(shown),
        "−1: the filter w*; +1: its mirror −w*; one dot per run", x_log=False, y_log=False,
        y_range=(-1.08, 1.08), reference=0.0,
    )  # fmt: skip


def _cosines(view: View, cohort: str, trainer: str, place: int) -> tuple[Line, bool]:
    """Return the dots of a trainer, and whether they are all."""
    arms = [(met, arm) for met, arm in view.arms[cohort].items() if met.trainer == trainer]
    dots = []
    for i, (met, arm) in enumerate(arms):
        offset = 0.6 * (i / (len(arms) - 1) - 0.5) if len(arms) > 1 else 0.0
        level = f"θ = {met.level[0]:g}, β = {met.level[1]:g}"
        runs = view.runs[cohort, arm]
        ended = runs.filter(runs["outcome"] != "diverged").select("replicate", "cosine")
        for replicate, cosine in ended.iter_rows():
            if np.isfinite(cosine):
                dots.append((place + offset, cosine, f"replicate {replicate}, {level}"))
    shown = evenly(dots, MOST_DOTS)
    x, y = (np.array([dot[j] for dot in shown], dtype=np.float64) for j in (0, 1))
    notes = tuple(dot[2] for dot in shown)
    style = view.styles[trainer]
    return Line(trainer, x, y, style, joined=False, notes=notes), len(shown) == len(dots)
