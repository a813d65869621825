"""What figures show of results: medians and bands of every arm, and the levels arms differ in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from neurotron._digits import counted
from neurotron._types import Array, Index
from neurotron.lab.figures.chart import MOST_POINTS, Line, line_of, spread
from neurotron.lab.figures.styles import Style, styles
from neurotron.lab.training.summary import Level, attacked, longest

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

BAND = 0.1, 0.9
BANDS = "median and middle 80 %"


class ArmKey(NamedTuple):
    """A trainer that meets an attack."""

    trainer: str
    attack: str
    """As the study has it, with its settings."""
    level: Level

    @property
    def is_attacked(self) -> bool:
        """Whether labels are changed at this level."""
        return self.level[0] * self.level[1] > 0.0


class LevelSweep(NamedTuple):
    """The levels of one attack in a setting that differ in one number."""

    setting: str
    attack: str
    axis: int | None
    """0 if θ varies, 1 if β does, None if both do or neither."""
    levels: tuple[Level, ...]
    trainers: tuple[str, ...]
    unseen: int = 0
    """How many levels of the attack are in no sweep."""

    def label(self, level: Level) -> str:
        """Return what a level is called among the others."""
        if self.attack == "none":
            return "honest labels"
        words = [f"{letter} = {number:g}" for letter, number in zip("θβ", level, strict=True)]
        return ", ".join(words) if self.axis is None else words[self.axis]

    @property
    def fixed(self) -> str:
        """What all its levels share."""
        if self.attack == "none" or self.axis is None or not self.levels:
            return ""
        letter, number = "βθ"[self.axis], self.levels[0][1 - self.axis]
        return f"{letter} = {number:g}"


class Ends(NamedTuple):
    """How the runs of an arm ended, in the order of their replicates."""

    rows: Index
    """Their places among the runs of their setting in `Results.runs`."""
    replicates: Index
    errors: Array
    cosines: Array
    """Of the final weights with w*."""
    outcomes: Any

    def count(self, outcome: str) -> int:
        """Return how many runs had an outcome."""
        return int((self.outcomes == outcome).sum())


@dataclass(frozen=True, eq=False)
class RunsView:
    """Results as figures need them."""

    results: Runs

    @cached_property
    def styles(self) -> dict[str, Style]:
        """The style of each trainer."""
        pairs = self.results.arms.select("trainer", "algorithm").unique(maintain_order=True)
        order = list(self.results.trainers)
        return styles(sorted(pairs.iter_rows(), key=lambda pair: order.index(pair[0])))

    @cached_property
    def settings(self) -> list[str]:
        """The settings with results."""
        there = set(self.results.runs["setting"].unique())
        return [name for name in self.results.titles if name in there]

    def trainers(self, setting: str) -> list[str]:
        """Return the trainers of a setting, in the order of its arms."""
        return list(dict.fromkeys(met.trainer for met in self.ends[setting]))

    def what_is_their_own(self, settings: Sequence[str]) -> str:
        """Return in words what the replicates of some settings do not share."""
        shared = {
            one["same_problem"] for one in self.results.spec["settings"] if one["name"] in settings
        }
        if shared == {True}:
            return "each with its own data, on one network with the same true weights"
        mixed = " (or only data, where a setting has one network)" if len(shared) > 1 else ""
        return f"each with its own network, true weights and data{mixed}"

    def replicates(self, settings: Sequence[str]) -> str:
        """Return in words how many replicates there are."""
        return counted((self.results.replicates[setting] for setting in settings), "replicate")

    def line(
        self, name: str, style: Style, setting: str, trainer: str, attack: str, level: Level
    ) -> Line | None:
        """Return the trajectory of an arm over its replicates, if there is one."""
        ended = self.ends[setting].get(ArmKey(trainer, attack, level))
        if ended is None:
            return None
        low, middle, high = np.quantile(
            self.errors[setting][ended.rows], (BAND[0], 0.5, BAND[1]), axis=0, method="inverted_cdf"
        )
        return line_of(name, self.steps[setting], middle, style, low, high)

    @cached_property
    def ends(self) -> dict[str, dict[ArmKey, Ends]]:
        """How the runs of each arm of a setting ended."""
        keys = ("setting", "trainer", "attack_text", "bound", "probability")
        columns = ("row", "replicate", "error", "cosine", "outcome")
        row = pl.int_range(pl.len()).over("setting").alias("row")
        runs = self.results.runs.with_columns(row).sort("replicate", maintain_order=True)
        found: dict[str, dict[ArmKey, Ends]] = {}
        grouped = runs.group_by(keys, maintain_order=True).agg(columns)
        for setting, trainer, attack, bound, chance, *values in grouped.iter_rows():
            met = ArmKey(trainer, attack, (bound, chance))
            found.setdefault(setting, {})[met] = Ends(*map(np.array, values))
        return found

    @cached_property
    def steps(self) -> dict[str, Index]:
        """The steps of each setting that are drawn."""
        recorded = self.results.steps
        return {name: steps[spread(steps, MOST_POINTS)] for name, steps in recorded.items()}

    @cached_property
    def errors(self) -> dict[str, Array]:
        """The errors at these steps, one row per run of the setting in `Results.runs`."""
        recorded = self.results.steps
        return {
            name: errors[:, np.isin(recorded[name], self.steps[name])]
            for name, errors in self.results.errors.items()
        }

    def sweeps(self, setting: str) -> list[LevelSweep]:
        """Return the sweeps of a setting: by attack, the longest over θ and the longest over β.

        An honest level is part of the sweeps whose other number it has.
        """
        found = []
        for attack in dict.fromkeys(met.attack for met in self.ends[setting]):
            here = [met for met in self.ends[setting] if met.attack == attack]
            levels = sorted({met.level for met in here})
            lists: list[tuple[int | None, list[Level]]] = [
                (axis, with_honest(levels, longest(levels, axis), axis)) for axis in (0, 1)
            ]
            several = [(axis, listed) for axis, listed in lists if len(listed) > 1]
            seen = {level for _, listed in several for level in listed}
            for axis, listed in several or [(None, levels)]:
                who = dict.fromkeys(met.trainer for met in here if met.level in listed)
                unseen = len(attacked(levels)) - len(attacked(seen)) if several else 0
                found.append(LevelSweep(setting, attack, axis, tuple(listed), tuple(who), unseen))
        return found


def with_honest(levels: Sequence[Level], listed: Sequence[Level], axis: int) -> list[Level]:
    """Return the levels, with honest ones, whose other number is among those listed."""
    others = {level[1 - axis] for level in listed}
    return [level for level in levels if level[1 - axis] in others]


def select_at_most(what: str, items: Sequence[Any], most: int) -> tuple[list[Any], str]:
    """Return at most `most` of a list, and a sentence for the caption if that is not all.

    >>> select_at_most("levels", range(9), 3)
    ([0, 4, 8], ' Shown are 3 of 9 levels.')
    """
    shown = evenly(items, most)
    said = f" Shown are {len(shown)} of {len(items)} {what}." if len(shown) < len(items) else ""
    return shown, said


def evenly(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most `most` of a list, evenly chosen, with both ends.

    >>> evenly(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
