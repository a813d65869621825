"""The runs that claims are about, and the settings that are like a column of Table 1."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron import studies
from neurotron._registry import parse
from neurotron._types import Array
from neurotron.results.levels import Level, attacked, longest
from neurotron.studies.building import encounters

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["SettingRuns", "origin", "published", "table1_settings"]

WITH_CLAIMS = ("paper", "mirror", "frontier")
"""The studies of the catalog that claims are about."""


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
        """How many there are."""
        return len(self.numbers)


def origin(results: Results) -> str | None:
    """Return which study of the catalog with claims most arms are of.

    If no arm is the same, the study with the same trainers in the same settings under other attacks
    counts; None if there is none of that either.
    """
    return _origin(json.dumps(results.spec, sort_keys=True))


@lru_cache(maxsize=32)  # every claim asks, and the answer is the same for all of them
def _origin(spec: str) -> str | None:
    here = _met(studies.Study.model_validate_json(spec))
    shared = {name: _shared(here, _catalogued_arms(name)) for name in WITH_CLAIMS}
    most = max(WITH_CLAIMS, key=shared.__getitem__)
    return most if any(shared[most]) else None


def _shared(one: set[tuple[Any, ...]], other: set[tuple[Any, ...]]) -> tuple[int, int]:
    """Return how many arms two studies share, and how many trainers in the same conditions."""
    trainers = ({arm[:3] for arm in arms} for arms in (one, other))
    return len(one & other), len(set.intersection(*trainers))


def _met(study: studies.Study) -> set[tuple[Any, ...]]:
    """Return who meets whom in a study: conditions, trainer, attack, its level; without names."""
    return {
        (study.steps, conditions, study.trainers[met.trainer], *met[1:])
        for setting in study.settings
        for conditions in [_conditions(setting.model_dump())]
        for met in encounters(study, setting)
    }


@cache
def _catalogued_arms(name: str) -> set[tuple[Any, ...]]:
    return _met(_catalogued(name))


def published(results: Results, study: str = "paper") -> pl.DataFrame:
    """Return the runs that are in a setting, and of a trainer, of a study of the catalog.

    Other runs say nothing of what is claimed of these, however alike they are; nor do results that
    are of another study with claims.
    """
    return _alike(results, study) if origin(results) == study else results.runs.clear()


def _alike(results: Results, name: str) -> pl.DataFrame:
    study = _catalogued(name)
    catalogued = [_conditions(setting.model_dump()) for setting in study.settings]
    every = results.spec["settings"]
    settings = [setting["name"] for setting in every if _conditions(setting) in catalogued]
    texts = results.spec["trainers"].items()
    trainers = [label for label, text in texts if text in study.trainers.values()]
    if results.spec["steps"] != study.steps:
        settings = []
    return results.runs.filter(
        pl.col("setting").is_in(settings) & pl.col("trainer").is_in(trainers)
    )


_catalogued = cache(studies.read)


def _conditions(setting: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a setting is apart from its name, its trainers and their attacks."""
    names = ("law", "network", "n_inputs", "filter_size", "batch_size", "step_size", "noise")
    return tuple(setting[name] for name in names)


def table1_settings(results: Results) -> list[SettingRuns]:
    """Return the columns of Table 1: Neuro-Tron under its attack at three bounds or more."""
    found = []
    runs = published(results).filter(pl.col("attack") == "alternating-sign")
    for (key,), group in runs.group_by("setting", maintain_order=True):
        pairs = group.select("algorithm", "trainer").unique(maintain_order=True)
        trainers = dict(pairs.reverse().iter_rows())  # the first of each algorithm
        if "neuro-tron" in trainers:
            name, law = str(key), str(group["law"][0])
            setting = SettingRuns(name, results.titles[name], law, group, trainers)
            if len(setting.sweep(0)) >= 3:
                found.append(setting)
    return found
