"""Phase diagrams: heat maps of the outcome at every pair (θ, β) of an attack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from research.cells import Grid, Scale

from neurotron._types import Array
from neurotron.lab import Interval, Results, bootstrap, median, rate
from neurotron.lab.figures.chart import ERROR, SMALLEST, Chart, Panel
from neurotron.lab.figures.collection import chart_name
from neurotron.lab.figures.trajectories import MOST_LINES
from neurotron.lab.figures.view import ArmKey, RunsView, select_at_most
from neurotron.lab.training.runs import EXACT, Runs
from neurotron.lab.training.summary import Level, attacked, steps_to
from neurotron.trajectories import RECOVERED

FEWEST_LEVELS = 3
MOST_LEVELS = 12
MOST_PANELS = 12
MOST_WORST = 24

Levels = tuple[list[float], list[float]]
"""The bounds θ and the probabilities β of a grid."""


class HeatMapKind(NamedTuple):
    """What a heat map shows."""

    name: str
    title: str
    label: str
    said: str
    column: str
    """What is measured of a run: "error", or "steps" to an exact recovery."""
    value: Callable[[Array], Any]
    interval: Callable[[Array], Interval]
    is_log: bool
    small_is_good: bool
    endless: str


def _share(errors: Array) -> Interval:
    return rate(int((errors < EXACT).sum()), len(errors))


ERRORS = HeatMapKind(
    "phase", "Final error", f"{ERROR}, median",
    "Colours and numbers are medians of the final error", "error", median, bootstrap, True,
    True, "∞",
)  # fmt: skip
SHARES = HeatMapKind(
    "exact", "How often the filter is recovered exactly",
    f"share of runs with an error below {EXACT:g}",
    f"Colours and numbers are shares of runs with a final error below {EXACT:g}", "error",
    lambda errors: np.mean(errors < EXACT), _share, False, False, "",
)  # fmt: skip
STEPS = HeatMapKind(
    "steps", "How soon the filter is recovered exactly", f"steps to an error of {EXACT:g}, median",
    f"Colours and numbers are medians of the first recorded step with an error of at most {EXACT:g}"
    ", or 'never' if more than half of the runs had no such step", "steps", median, bootstrap, True,
    True, "never",
)  # fmt: skip


def charts(results: Results) -> list[Chart]:
    """Return the heat maps of training runs, the worst attack first."""
    return [*Maps(RunsView(Runs.of(results))).charts(chart_name)]


def grid_of(levels: Sequence[Level]) -> Levels | None:
    """Return the θ and β of a grid: each θ has runs at three or more β, and each β at three θ.

    >>> grid_of([(1, 0.1), (1, 0.2), (1, 0.3), (2, 0.3), (4, 0.3)]) is None
    True
    """
    left = set(attacked(levels))
    while True:
        bounds, chances = (sorted({level[axis] for level in left}) for axis in (0, 1))
        kept = {
            (bound, chance)
            for bound, chance in left
            if sum((bound, other) in left for other in chances) >= FEWEST_LEVELS
            and sum((other, chance) in left for other in bounds) >= FEWEST_LEVELS
        }
        if not kept:
            return None
        if kept == left:
            return bounds, chances
        left = kept


@dataclass(frozen=True, eq=False)
class Maps:
    """The heat maps of a study, for attacks that trainers meet at three θ and three β or more."""

    view: RunsView

    @cached_property
    def grids(self) -> dict[str, dict[tuple[str, str], Levels]]:
        """The grids of each attack, by setting and trainer."""
        found: dict[str, dict[tuple[str, str], Levels]] = {}
        for setting in self.view.settings:
            levels: dict[tuple[str, str], list[Level]] = {}
            for met in self.view.ends[setting]:
                levels.setdefault((met.attack, met.trainer), []).append(met.level)
            for (attack, trainer), listed in levels.items():
                grid = grid_of(listed)
                if grid is not None:
                    found.setdefault(attack, {})[setting, trainer] = grid
        return found

    def charts(self, name: Callable[..., str]) -> Iterator[Chart]:
        """Yield all heat maps: first those of the worst attack, then the errors by attack."""
        every = list(self.grids)
        if not every:
            return
        exact = bool((self.view.results.runs["error"] < EXACT).any())
        for kind in (ERRORS, SHARES, STEPS) if exact else (ERRORS,):
            most = MOST_WORST if kind is ERRORS else MOST_PANELS
            yield from self._chart(name(kind.name), kind, every, most)
        for attack in every if len(every) > 1 else ():
            yield from self._chart(name(ERRORS.name, attack), ERRORS, [attack], MOST_PANELS)

    def _chart(
        self, name: str, kind: HeatMapKind, attacks: list[str], most: int
    ) -> Iterator[Chart]:
        """Yield the chart of an attack, or of the worst of several that all trainers meet."""
        shared = self._shared(attacks)
        pairs = [pair for pair, met in shared.items() if met]
        if not pairs:
            return
        order = list(self.view.styles)
        named = sorted({trainer for _, trainer in pairs}, key=order.index)
        trainers, fewer = select_at_most("trainers", named, MOST_LINES)
        every = list(dict.fromkeys(setting for setting, _ in pairs))
        settings, left_out = select_at_most("settings", every, max(2, most // len(trainers)))
        shown = [(s, t) for s in settings for t in trainers if (s, t) in pairs]
        levels, coarser = self._levels(shared, shown)
        panels = tuple(self._panel(kind, pair, shared[pair], levels) for pair in shown)
        if kind is not ERRORS and not any(_says_something(panel) for panel in panels):
            return
        met = list(dict.fromkeys(attack for pair in shown for attack in shared[pair]))
        over = self.view.replicates(settings)
        caption = (
            f"{_about(met)} for each probability β and bound θ. {kind.said} over "
            f"{over}, {self.view.what_is_their_own(settings)}; bright is good."
            f"{_worst(met)}{self._region_said(panels)} Cells without runs are empty."
            f"{fewer}{left_out}{coarser}"
        )
        yield Chart(
            name, f"{kind.title}, by β and θ: {_title(met)}", caption, "probability β", "bound θ",
            panels, f"{kind.label}; over {over}; bright is good", x_log=False, y_log=False,
            y_range=(-0.5, len(levels[0]) - 0.5), scale=_scale(kind, panels),
            y_ticks=tuple((float(i), f"{bound:g}") for i, bound in enumerate(levels[0])),
            columns=len(trainers) if len(trainers) <= 4 else -(-len(trainers) // 2),
            short_title=f"{kind.title}, {_title(met)}",
        )  # fmt: skip

    def _shared(self, attacks: list[str]) -> dict[tuple[str, str], list[str]]:
        """Return, by setting and trainer, the attacks that all trainers of the setting meet."""
        pairs = dict.fromkeys(pair for attack in attacks for pair in self.grids[attack])
        found = {}
        for setting, trainer in pairs:
            beside = [other for other in pairs if other[0] == setting]
            found[setting, trainer] = [
                attack for attack in attacks if all(it in self.grids[attack] for it in beside)
            ]
        return found

    def _levels(
        self, shared: dict[tuple[str, str], list[str]], shown: list[tuple[str, str]]
    ) -> tuple[Levels, str]:
        """Return the θ and β of all panels, and what the caption must say."""
        axes: tuple[set[float], set[float]] = set(), set()
        for pair in shown:
            grids = [self.grids[attack][pair] for attack in shared[pair]]
            for axis, levels in zip(axes, zip(*grids, strict=True), strict=True):
                axis |= set.intersection(*map(set, levels))
        bounds, fewer = select_at_most("bounds", sorted(axes[0]), MOST_LEVELS)
        chances, less = select_at_most("probabilities", sorted(axes[1]), MOST_LEVELS)
        return (bounds, chances), fewer + less

    def _panel(
        self, kind: HeatMapKind, pair: tuple[str, str], attacks: list[str], levels: Levels
    ) -> Panel:
        setting, trainer = pair
        table = np.full((3, len(levels[0]), len(levels[1])), np.nan)
        marked = np.zeros(table.shape[1:], dtype=bool)
        worst = max if kind.small_is_good else min
        for i, bound in enumerate(levels[0]):
            for j, chance in enumerate(levels[1]):
                level = bound, chance
                found = [self._measured(kind, setting, trainer, it, level) for it in attacks]
                measured = [values for values in found if values is not None]
                if measured and len(measured) == len(found):
                    table[:, i, j] = kind.interval(worst(measured, key=kind.value))
                    certified = ((setting, attack, level) in self._certified for attack in attacks)
                    marked[i, j] = all(certified)
        title = f"{trainer}, {self.view.results.titles[setting]}"
        ticks = tuple(f"{chance:g}" for chance in levels[1])
        rows = tuple(f"{bound:g}" for bound in levels[0])
        grid = Grid(rows, *table, marked, REGION)
        return Panel(title, grid.legend, ticks, grid)

    def _measured(
        self, kind: HeatMapKind, setting: str, trainer: str, attack: str, level: Level
    ) -> Array | None:
        ended = self.view.ends[setting].get(ArmKey(trainer, attack, level))
        if ended is None:
            return None
        return ended.errors if kind.column == "error" else self._steps[setting][ended.rows]

    @cached_property
    def _steps(self) -> dict[str, Array]:
        """The steps of each run of a setting to exact recovery; infinite if never."""
        steps = pl.col("steps").cast(float).fill_null(np.inf)
        found = steps_to(self.view.results, EXACT).group_by("setting").agg(steps)
        return {setting: np.array(values) for setting, values in found.iter_rows()}

    @cached_property
    def _certified(self) -> set[tuple[str, str, Level]]:
        """Where a Neuro-Tron is guaranteed in every replicate to recover the filter."""
        runs = self.view.results.runs.filter(algorithm="neuro-tron")
        is_sure = (runs["radius"] < RECOVERED * runs["true_length"]).fill_null(False)
        by_arm = runs.with_columns(sure=is_sure).group_by("setting", "arm")
        keys = [pl.col(name).first() for name in ("attack_text", "bound", "probability")]
        found = by_arm.agg(pl.col("sure").all(), *keys)
        return {
            (setting, attack, (bound, chance))
            for setting, _, sure, attack, bound, chance in found.iter_rows()
            if sure
        }

    def _region_said(self, panels: Sequence[Panel]) -> str:
        if not any(panel.cells is not None and panel.cells.marked.any() for panel in panels):
            return " No cell is certified."
        sure = self.view.results.confidence_text
        return (
            " The outline, the same in the panels of all trainers, shows where the certificate "
            "of Neuro-Tron "
            f"guarantees with probability {sure}, in every replicate, that Neuro-Tron ends "
            "within ‖w*‖/2 of w*, whatever an attacker with this budget does."
        )


REGION = "certified for Neuro-Tron: ‖w − w*‖ < ‖w*‖/2"


def _about(attacks: list[str]) -> str:
    if len(attacks) == 1:
        return f"All trainers under the attack {attacks[0]}"
    return f"All trainers under {len(attacks)} attacks"


def _title(attacks: list[str]) -> str:
    return attacks[0] if len(attacks) == 1 else f"the worst of {len(attacks)} attacks"


def _worst(attacks: list[str]) -> str:
    """Return a sentence that says what a cell shows if there are several attacks."""
    if len(attacks) == 1:
        return ""
    return (
        " Each cell shows the attack that is worst for its trainer there, among those that all "
        f"trainers of the setting meet: {', '.join(attacks)}."
    )


def _says_something(panel: Panel) -> bool:
    """Return whether any cell has a number other than 0 and infinity."""
    return panel.cells is not None and bool(
        (np.nan_to_num(panel.cells.values, posinf=0.0) > 0).any()
    )


def _scale(kind: HeatMapKind, panels: Sequence[Panel]) -> Scale:
    """Return one scale for all panels: from 0 to 1 for shares, else the range of the numbers."""
    ends = 0.0, 1.0
    if kind.is_log:
        drawn = np.concatenate([panel.cells.values.ravel() for panel in panels if panel.cells])
        drawn = np.maximum(drawn[np.isfinite(drawn)], SMALLEST)
        low, high = (drawn.min(), drawn.max()) if drawn.size else (1.0, 10.0)
        ends = float(low), float(max(high, 10.0 * low))
    return Scale(kind.label, *ends, kind.is_log, kind.small_is_good, kind.endless)
