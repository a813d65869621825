"""Errors over steps."""

from __future__ import annotations

from collections.abc import Sequence

from neurotron.lab.figures.chart import ERROR, STEPS, Chart, Line, Panel
from neurotron.lab.figures.styles import Style, shades
from neurotron.lab.figures.view import BANDS, LevelSweep, View, select_at_most

__all__ = ["compare", "levels_of", "over_steps", "panel_of_levels", "present", "settings_said"]

MOST_PANELS = 12
MOST_LINES = 8


def levels_of(view: View, name: str, title: str, sweeps: Sequence[LevelSweep], about: str) -> Chart:
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


def panel_of_levels(view: View, title: str, sweep: LevelSweep, base: Style | None = None) -> Panel:
    """Return the trajectories of the first trainer of a sweep at its levels, from light to dark."""
    trainer = sweep.trainers[0]
    looks = shades(view.styles[trainer] if base is None else base, len(sweep.levels))
    lines = [
        view.line(sweep.label(level), look, sweep.setting, trainer, sweep.attack, level)
        for level, look in zip(sweep.levels, looks, strict=True)
    ]
    return Panel(title, present(lines))


def compare(view: View, name: str, title: str, sweep: LevelSweep, about: str) -> Chart:
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
    view: View, name: str, title: str, about: str, panels: list[Panel], settings: Sequence[str]
) -> Chart:
    """Return a chart of trajectories; its caption is `about`, and what the lines and bands are."""
    over = view.replicates(settings)
    caption = (
        f"{about} Lines are medians over {over}, {view.what_is_their_own(settings)}. "
        "Bands hold the middle 80 % of them. The error of a run that diverged counts as infinite."
    )
    note = f"{BANDS} of {over}"
    return Chart(name, title, caption, STEPS, ERROR, tuple(panels), note, interval="80 % band")


def settings_said(view: View, sweeps: Sequence[LevelSweep]) -> tuple[str, list[str]]:
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
