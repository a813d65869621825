"""Errors over steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized

from neurotron.figures.chart import ERROR, STEPS, Chart, Line, Panel
from neurotron.figures.styles import shades
from neurotron.figures.view import BANDS, Sweep, View, evenly

__all__ = [
    "compare", "course_caption", "left_out", "levels_of", "over_steps",
    "panel_of_levels", "there",
]  # fmt: skip

MOST_PANELS = 12
MOST_LINES = 8


def levels_of(
    view: View, name: str, title: str, trainer: str, sweeps: Sequence[Sweep], about: str
) -> Chart:
    """Return one trainer at every level of an attack, a panel per cohort."""
    shown = evenly(sweeps, MOST_PANELS)
    panels = [
        panel_of_levels(view, view.results.titles[sweep.cohort], trainer, sweep) for sweep in shown
    ]
    caption = f"{about} {course_caption(view, [sweep.cohort for sweep in shown])}"
    caption += left_out("settings", len(shown), len(sweeps))
    caption += left_out("levels", *_most(sweep.levels for sweep in shown))
    return over_steps(view, name, title, caption, panels, [sweep.cohort for sweep in shown])


def panel_of_levels(view: View, title: str, trainer: str, sweep: Sweep) -> Panel:
    """Return the courses of a trainer at the levels of a sweep, from light to dark."""
    levels = evenly(sweep.levels, MOST_LINES)
    lines = [
        view.line(sweep.label(level), style, sweep.cohort, trainer, sweep.attack, level)
        for level, style in zip(levels, shades(view.styles[trainer], len(levels)), strict=True)
    ]
    return Panel(title, there(lines))


def compare(view: View, name: str, title: str, sweep: Sweep, about: str) -> Chart:
    """Return all trainers of a sweep against each other, a panel per level."""
    shown, trainers = evenly(sweep.levels, MOST_PANELS), evenly(sweep.trainers, MOST_LINES)
    panels = []
    for level in shown:
        lines = [
            view.line(who, view.styles[who], sweep.cohort, who, sweep.attack, level)
            for who in trainers
        ]
        panels.append(Panel(sweep.label(level), there(lines)))
    caption = f"{about} {course_caption(view, [sweep.cohort])}"
    caption += left_out("levels", len(shown), len(sweep.levels))
    caption += left_out("trainers", len(trainers), len(sweep.trainers))
    return over_steps(view, name, title, caption, panels, [sweep.cohort])


def course_caption(view: View, cohorts: Sequence[str]) -> str:
    """Return what lines and bands are."""
    return (
        f"Lines are medians over {view.replicates(cohorts)}, each with its own network, true "
        "weights and data; bands hold the middle 80 % of them. Runs that diverged count as "
        "infinite."
    )


def over_steps(
    view: View, name: str, title: str, caption: str, panels: list[Panel], cohorts: Sequence[str]
) -> Chart:
    """Return a chart of courses."""
    note = f"{BANDS} of {view.replicates(cohorts)}"
    return Chart(name, title, caption, STEPS, ERROR, tuple(panels), note)


def there(lines: Sequence[Line | None]) -> tuple[Line, ...]:
    """Return the lines that there are."""
    return tuple(line for line in lines if line is not None)


def _most(lists: Iterable[Sized]) -> tuple[int, int]:
    """Return how many lines are drawn of the longest list, and how long it is."""
    longest = max(map(len, lists), default=0)
    return min(longest, MOST_LINES), longest


def left_out(what: str, shown: int, there: int) -> str:
    """Return the sentence of a caption that not all are shown, if so."""
    return f" Shown are {shown} of {there} {what}." if shown < there else ""
