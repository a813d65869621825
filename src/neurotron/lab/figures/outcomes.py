"""Where runs end: over the levels of an attack, in pairs, and on which side of the origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from neurotron._intervals import Interval
from neurotron._types import Array
from neurotron.lab.figures.chart import ERROR, SMALLEST, Chart, Line, Panel
from neurotron.lab.figures.trajectories import MOST_LINES, MOST_PANELS, present, settings_said
from neurotron.lab.figures.view import ArmKey, Ends, LevelSweep, RunsView, evenly, select_at_most
from neurotron.lab.results.summary import bootstrap, median, rate
from neurotron.lab.training.runs import EXACT
from neurotron.lab.training.summary import Level, divided, over_levels

MOST_DOTS = 400
X_LABELS = {
    None: "level of the attack",
    0: "bound θ of the attack",
    1: "probability β of the attack",
}
Measure = Callable[[Ends], Interval | None]


def final_errors(
    view: RunsView, name: str, title: str, sweeps: Sequence[LevelSweep], about: str
) -> Chart:
    """Return the final errors of all trainers over the levels of an attack."""

    def measure(ended: Ends) -> Interval | None:
        middle = bootstrap(ended.errors)
        found = Interval(*(float(end) for end in np.maximum(middle, SMALLEST)))
        return found if np.isfinite(found.estimate) else None

    panels, over, said = _over_levels(view, sweeps, measure)
    caption = (
        f"{about}{said} Points are medians of the final error over {over}, and bars are "
        "their 95 % bootstrap intervals. There is no point where more than half of the runs "
        "diverged."
    )
    note = f"medians of {over}, bars: 95 % intervals"
    return Chart(name, title, caption, X_LABELS[sweeps[0].axis], ERROR, panels, note, x_log=False)


def success_rates(
    view: RunsView, name: str, title: str, sweeps: Sequence[LevelSweep], about: str
) -> Chart:
    """Return how often each trainer recovers the filter, over the levels of an attack."""

    def measure(ended: Ends) -> Interval:
        return rate(ended.count("recovered"), len(ended.errors))

    panels, over, said = _over_levels(view, sweeps, measure)
    caption = (
        f"{about}{said} The share of {over} that ended within ‖w*‖/2 of the true filter w*, "
        "with exact 95 % (Clopper–Pearson) intervals."
    )
    return Chart(
        name, title, caption, X_LABELS[sweeps[0].axis], "share of runs that found w*", panels,
        f"of {over}, bars: exact 95 % intervals", x_log=False, y_log=False, y_range=(-0.04, 1.04),
    )  # fmt: skip


def _over_levels(
    view: RunsView, sweeps: Sequence[LevelSweep], measure: Measure
) -> tuple[tuple[Panel, ...], str, str]:
    """Return one panel per setting, which shows a measure of every trainer at every level.

    Also over how many replicates, and what the caption must say.
    """
    shown, left_out = select_at_most("settings", sweeps, MOST_PANELS)
    said, titles = settings_said(view, shown)
    panels = []
    for sweep, title in zip(shown, titles, strict=True):
        levels, fewer_levels = select_at_most("levels", sweep.levels, 2 * MOST_LINES)
        trainers, fewer_trainers = select_at_most("trainers", sweep.trainers, MOST_LINES)
        left_out += "".join(it for it in (fewer_levels, fewer_trainers) if it not in left_out)
        beside = 0.07 * (np.arange(len(trainers)) - 0.5 * (len(trainers) - 1))  # not on each other
        lines = [
            _line(view, sweep, levels, who, offset, measure)
            for who, offset in zip(trainers, beside, strict=True)
        ]
        axis = sweep.axis
        ticks = [sweep.label(lv) if axis is None else f"{lv[axis]:g}" for lv in levels]
        panels.append(Panel(title, present(lines), tuple(ticks)))
    return tuple(panels), view.replicates([sweep.setting for sweep in shown]), said + left_out


def _line(
    view: RunsView,
    sweep: LevelSweep,
    levels: list[Level],
    trainer: str,
    offset: float,
    measure: Measure,
) -> Line | None:
    points = []
    for i, level in enumerate(levels):
        ended = view.ends[sweep.setting].get(ArmKey(trainer, sweep.attack, level))
        found = None if ended is None else measure(ended)
        if found is not None:
            points.append((i + offset, *found))
    if not points:
        return None
    x, y, low, high = np.array(points, dtype=np.float64).T
    return Line(trainer, x, y, view.styles[trainer], low, high)


def paired_errors(view: RunsView, settings: Sequence[str]) -> Iterator[Chart]:
    """Yield the final errors of the first trainer of each of some settings over the others'.

    A pair is two runs on the same network, data and attack; a replicate counts with its median
    over the levels of the attack. Trainers that are exact, where the first one is not, are left
    out: ratios to rounding errors say nothing, and would flatten all others.
    """
    panels, paired, undrawn, left_out = [], [], 0, ""
    exact: dict[str, None] = {}
    for setting in settings:
        lead, *others = view.trainers(setting)
        if not _is_exact(view, setting, lead):
            exact |= dict.fromkeys(who for who in others if _is_exact(view, setting, who))
            others = [who for who in others if not _is_exact(view, setting, who)]
        rivals, fewer = select_at_most("trainers", others, MOST_LINES)
        ratios = {rival: _ratios(view, setting, lead, rival) for rival in rivals}
        ratios = {rival: values for rival, values in ratios.items() if _drawn(values).size}
        if ratios:
            undrawn += sum(len(values) - len(_drawn(values)) for values in ratios.values())
            left_out += fewer if fewer not in left_out else ""
            lines = [
                line
                for i, (rival, values) in enumerate(ratios.items())
                for line in _dots_and_middle(view, rival, i, values)
            ]
            ticks = tuple(f"÷ {rival}" for rival in ratios)
            panels.append(Panel(f"{view.results.titles[setting]}: {lead}", tuple(lines), ticks))
            paired.append(setting)
    if panels:
        shown, fewer = select_at_most("settings", panels, MOST_PANELS)
        over = view.replicates(paired)
        caption = (
            "The final error of the first trainer of each setting divided by that of each other "
            "trainer, on the same network and data and under the same attack. Below 1 the first "
            f"trainer is better. Each dot is the median of a replicate ({over}) over the levels of "
            "the attack. The marker is the median of the dots, and the bar is its 95 % bootstrap "
            f"interval.{left_out}{fewer}"
        )
        if exact:
            caption += (
                f" Left out, because its median error is below {EXACT:g}, which is rounding: "
                f"{', '.join(exact)}."
            )
        if undrawn:
            caption += (
                f" {undrawn} replicates in which a run diverged, or had no error at all, have no "
                "dot; they count as infinite or zero."
            )
        note = f"below 1 the first trainer is better; dots: {over}; bars: 95 % intervals"
        yield Chart(
            "paired-errors", "Trainer against trainer on the same data", caption, "",
            "ratio of the final errors", tuple(shown), note, x_log=False, reference=1.0,
            short_title="Paired errors",
        )  # fmt: skip


def _is_exact(view: RunsView, setting: str, trainer: str) -> bool:
    """Tell whether the median error of a trainer under attack is no more than rounding."""
    ends = [
        ended.errors
        for met, ended in view.ends[setting].items()
        if met.trainer == trainer and met.is_attacked
    ]
    return bool(ends) and bool(median(np.concatenate(ends)) < EXACT)


def _ratios(view: RunsView, setting: str, lead: str, rival: str) -> Array:
    table, ends = [], view.ends[setting]
    for met, ended in ends.items():
        other = ends.get(met._replace(trainer=rival))
        if met.trainer == lead and other is not None and met.is_attacked:
            table.append(divided(ended.errors, other.errors))
    return over_levels(table) if table else np.empty(0)


def _drawn(values: Array) -> Array:
    return values[(values > 0.0) & np.isfinite(values)]


def _dots_and_middle(view: RunsView, rival: str, place: int, values: Array) -> Iterator[Line]:
    """Yield the dots of a rival, and their median if it can be drawn."""
    style, drawn = view.styles[rival], np.sort(_drawn(values))
    dots = np.array(evenly(list(drawn), MOST_DOTS))
    offsets = np.linspace(-0.25, 0.25, len(dots)) if len(dots) > 1 else np.zeros(1)
    yield Line(rival, place + offsets, dots, style, joined=False)
    middle = bootstrap(values)
    if 0.0 < middle.estimate < np.inf:
        low = max(middle.low, 0.1 * drawn[0])  # of zero: some way beyond what is drawn
        y, low, high = (np.array([it]) for it in (middle.estimate, low, middle.high))
        yield Line(rival, np.array([float(place)]), y, style, low, high, joined=False)


def mirror(view: RunsView) -> Iterator[Chart]:
    """Yield the cosine of the final weights of every run with w*, trainer by trainer."""
    chosen = _compared(view)
    settings, left_out = select_at_most("settings", list(chosen), MOST_PANELS)
    panels, most = [], 0
    for setting in settings:
        trainers, fewer = select_at_most("trainers", list(chosen[setting]), MOST_LINES)
        left_out += fewer if fewer not in left_out else ""
        arms = [chosen[setting][trainer] for trainer in trainers]
        dots = [
            _cosines(view, trainer, met, i)
            for i, (trainer, met) in enumerate(zip(trainers, arms, strict=True))
        ]
        most = max(most, *(len(line.x) for line in dots))
        ticks = [f"{trainer}\n{_found(met)}" for trainer, met in zip(trainers, arms, strict=True)]
        lines = tuple(line.thinned(MOST_DOTS) for line in dots)
        panels.append(Panel(view.results.titles[setting], lines, tuple(ticks)))
    if not panels:
        return
    caption = (
        "The cosine of the final weights with the true filter w*. At the top weights point to w*, "
        "at the bottom to its mirror image −w*, which fits half of the signal equally well. "
        f"Each dot is one run ({view.replicates(settings)} at every level of the attack), "
        "and below each trainer is the number of its runs that found w*. The dots of a column are "
        f"in the order of the levels of the attack. Runs that diverged have no dot.{left_out}"
    )
    if most > MOST_DOTS:
        caption += f" A column shows at most {MOST_DOTS} dots, even if there are more runs."
    yield Chart(
        "mirror-filter", "Which runs found the true filter, and which its mirror image", caption,
        "", "cosine with w*", tuple(panels),
        "one dot per run; below each trainer: how many of its runs found w*", x_log=False,
        y_log=False, y_range=(-1.12, 1.12), reference=0.0, short_title="The mirror image",
        y_ticks=((1.0, "found\nw*"), (0.0, "0"), (-1.0, "mirror\n−w*")),
    )  # fmt: skip


Met = list[tuple[ArmKey, Ends]]
"""Arms, and how their runs ended."""


def _compared(view: RunsView) -> dict[str, dict[str, Met]]:
    """Return the settings that compare algorithms; all settings if none does."""
    found = {setting: arms for setting in view.settings if (arms := _rivals(view, setting))}
    algorithms = dict(view.results.arms.select("trainer", "algorithm").iter_rows())
    comparing = {
        setting: arms
        for setting, arms in found.items()
        if len({algorithms[trainer] for trainer in arms}) > 1
    }
    return comparing or found


def _rivals(view: RunsView, setting: str) -> dict[str, Met]:
    """Return the arms by trainer that the picture is about: attacks that several trainers meet.

    If no attack is met by several trainers, all arms count; an attack with the labels of another
    filter never does, because w* is then not the only filter that fits.
    """
    met = [(key, arm) for key, arm in view.ends[setting].items() if key.attack != "impersonation"]
    attacked = [(key, arm) for key, arm in met if key.is_attacked] or met
    meetings = Counter(key[1:] for key, _ in attacked)
    shared = [(key, arm) for key, arm in attacked if meetings[key[1:]] > 1] or attacked
    found: dict[str, Met] = {}
    for key, arm in shared:
        found.setdefault(key.trainer, []).append((key, arm))
    return found


def _found(arms: Met) -> str:
    """Return in words how many runs of a trainer found the filter."""
    found = sum(ended.count("recovered") for _, ended in arms)
    return f"{found:,} of {sum(len(ended.errors) for _, ended in arms):,}"


def _cosines(view: RunsView, trainer: str, arms: Met, place: int) -> Line:
    """Return a dot for every run of a trainer."""
    dots = []
    for met, ended in arms:
        level = f"θ = {met.level[0]:g}, β = {met.level[1]:g}"
        shown = (ended.outcomes != "diverged") & np.isfinite(ended.cosines)
        dots += [
            (cosine, f"replicate {replicate}, {level}")
            for replicate, cosine in zip(
                ended.replicates[shown].tolist(), ended.cosines[shown].tolist(), strict=True
            )
        ]
    x = place + (np.linspace(-0.3, 0.3, len(dots)) if len(dots) > 1 else np.zeros(len(dots)))
    y = np.array([cosine for cosine, _ in dots], dtype=np.float64)
    notes = tuple(note for _, note in dots)
    return Line(trainer, x, y, view.styles[trainer], joined=False, notes=notes)
