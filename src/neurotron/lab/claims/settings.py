"""The settings of a study: the columns of Table 1, and settings that differ in one number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron._registry import parse
from neurotron._types import Array
from neurotron.lab.results.results import once
from neurotron.lab.training.levels import Level, attacked, longest

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = ["SettingRuns", "conditions_but", "table1_settings"]

CONDITIONS = ("law", "network", "n_inputs", "filter_size", "batch_size", "noise", "steps")
"""What settings must share to be compared. Step sizes may differ.

A setting has `steps` only if they are not the study's.
"""


@dataclass(frozen=True)
class SettingRuns:
    """A setting in which Neuro-Tron meets one attack at several bounds: a column of Table 1."""

    name: str
    title: str
    law: str
    runs: pl.DataFrame
    trainers: dict[str, str]
    """The label of each algorithm."""

    def values(self, column: str, algorithm: str, level: Level) -> Array:
        """Return a column by replicate, for the runs of an algorithm at a level."""
        chosen = self._table[self.trainers[algorithm], *level]
        return np.asarray(chosen[column].to_numpy(), np.float64)

    def ended(self, outcome: str, algorithm: str, level: Level) -> Any:
        """Return which replicates had an outcome, as in "recovered"."""
        chosen = self._table[self.trainers[algorithm], *level]
        return (chosen["outcome"] == outcome).to_numpy()

    @property
    def is_heavy(self) -> bool:
        """Whether the inputs have no fourth moment."""
        name, given = parse(self.law)
        return name == "student-t" and given["dof"] <= 4.0

    @cached_property
    def _table(self) -> dict[Any, pl.DataFrame]:
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
        return attacked(self.levels)

    def sweep(self, axis: int) -> list[Level]:
        """Return the longest list of attacked levels that differ only in θ (0) or only in β (1)."""
        return longest(self.levels, axis)

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
        """The number of its replicates."""
        return len(self.numbers)


@once
def table1_settings(results: Runs) -> list[SettingRuns]:
    """Return the columns of Table 1: Neuro-Tron under its attack at three bounds or more."""
    found = []
    runs = results.runs.filter(attack="alternating-sign")
    for (key,), group in runs.group_by("setting", maintain_order=True):
        pairs = group.select("algorithm", "trainer").unique(maintain_order=True)
        trainers = dict(pairs.reverse().iter_rows())  # the first of each algorithm
        if "neuro-tron" in trainers:
            name, law = str(key), str(group["law"][0])
            setting = SettingRuns(name, results.titles[name], law, group, trainers)
            if len(setting.sweep(0)) >= 3:
                found.append(setting)
    return found


def conditions_but(setting: dict[str, Any], key: str, number: str) -> tuple[Any, ...]:
    """Return what settings share that differ only in a number of their law or network.

    >>> here = {"law": "normal", "network": "symmetric:outer_weights=10,width=4", "n_inputs": 9}
    >>> here |= {"filter_size": 3, "batch_size": 16, "noise": 0.0, "steps": 500}
    >>> conditions_but(here, "network", "outer_weights")
    ('symmetric', ('width', 4), 'normal', 9, 3, 16, 0.0, 500)
    """
    name, given = parse(setting[key])
    given.pop(number, None)
    rest = (setting.get(other) for other in CONDITIONS if other != key)
    return (name, *sorted(given.items()), *rest)
