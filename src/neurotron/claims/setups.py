"""The cohorts that are like a column of the paper's Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron._types import Array

if TYPE_CHECKING:
    import polars

    from neurotron.results.frames import Results

__all__ = ["Level", "Setup", "divided", "over_levels", "setups"]

Level = tuple[float, float]
"""(θ, β)"""


@dataclass(frozen=True)
class Setup:
    """A cohort in which Neuro-Tron meets one attack at several bounds: a column of Table 1."""

    title: str
    law: str
    runs: polars.DataFrame
    attack: str
    trainers: dict[str, str]
    """The label of each algorithm."""

    def values(self, column: str, algorithm: str, level: Level) -> Array:
        """Return a column by replicate, for the runs of an algorithm at a level."""
        chosen = self._table[self.trainers[algorithm], *level]
        return np.asarray(chosen[column].to_numpy(), np.float64)

    def recovered(self, algorithm: str, level: Level) -> Any:
        """Return which replicates recovered w*."""
        chosen = self._table[self.trainers[algorithm], *level]
        return (chosen["outcome"] == "recovered").to_numpy()

    @cached_property
    def _table(self) -> dict[Any, polars.DataFrame]:
        keys = ["trainer", "bound", "probability"]
        ordered = self.runs.sort("replicate")
        return ordered.partition_by(keys, as_dict=True)

    @cached_property
    def levels(self) -> list[Level]:
        """The levels (θ, β) of the attack, in order."""
        label = self.trainers["neuro-tron"]
        return sorted((b, p) for trainer, b, p in self._table if trainer == label)

    @property
    def attacked(self) -> list[Level]:
        """The levels at which labels are changed."""
        return [(bound, chance) for bound, chance in self.levels if bound * chance > 0.0]

    def sweep(self, axis: int) -> list[Level]:
        """Return the longest list of attacked levels that differ only in θ (0) or only in β (1)."""
        fixed = sorted({level[1 - axis] for level in self.attacked})
        lists = [[lv for lv in self.attacked if lv[1 - axis] == value] for value in fixed]
        return max(lists, key=len, default=[])

    def shared(self, algorithm: str) -> list[Level]:
        """Return the attacked levels that another algorithm meets too."""
        label = self.trainers.get(algorithm)
        return [level for level in self.attacked if (label, *level) in self._table]

    @cached_property
    def numbers(self) -> Any:
        """The numbers of its replicates, in order."""
        return self.runs["replicate"].unique().sort().to_numpy()

    @property
    def replicates(self) -> int:
        """How many there are."""
        return len(self.numbers)


def over_levels(ratios: Sequence[Array]) -> Array:
    """Return the median over levels by replicate, leaving out what is not a number."""
    table = np.stack(ratios)
    told = ~np.isnan(table).all(axis=0)
    return np.asarray(np.nanmedian(table[:, told], axis=0))


def divided(one: Array, other: Array) -> Array:
    """Return ratios: infinite over a zero, not a number where both are zero or infinite."""
    with np.errstate(all="ignore"):
        return np.asarray(one / other)


def setups(results: Results) -> list[Setup]:
    """Return the cohorts that are like the paper's: Neuro-Tron at three bounds or more."""
    found = []
    for (cohort, attack), runs in results.runs.group_by("cohort", "attack", maintain_order=True):
        trainers: dict[str, str] = {}
        for algorithm, trainer in (
            runs.select("algorithm", "trainer").unique(maintain_order=True).iter_rows()
        ):
            trainers.setdefault(algorithm, trainer)
        if "neuro-tron" in trainers:
            setup = Setup(
                results.titles[str(cohort)], str(runs["law"][0]), runs, str(attack), trainers
            )
            if len(setup.sweep(0)) >= 3:
                found.append(setup)
    return found
