"""Summaries of training runs: where they end, which are certified, how fast, at which levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from neurotron import _check
from neurotron._types import Array
from neurotron.lab.results.results import once
from neurotron.lab.training.runs import Runs

Level = tuple[float, float]
"""(θ, β)"""
OUTCOMES = {
    "recovered": "found w*", "mirror": "mirror −w*", "other": "elsewhere", "diverged": "diverged"
}  # fmt: skip
"""Where runs end, and what tables for readers call it."""


@once
def outcomes_by_trainer(results: Runs) -> list[dict[str, Any]]:
    """Return where the runs of each trainer ended, in each setting.

    A row has the setting, the trainer, the number of runs with each outcome, the number of all
    `runs`, and the smallest and largest median error of an arm, under the weakest and the strongest
    attack.
    """
    counts = (
        (pl.col("outcome") == name).sum().cast(pl.Int64).alias(name) for name in OUTCOMES
    )  # fmt: skip
    keys = ["setting", "trainer"]
    rows = results.runs.group_by(keys, maintain_order=True).agg(*counts, runs=pl.len())
    middle = pl.col("error").quantile(0.5, "equiprobable")  # as `median`
    medians = results.runs.group_by(*keys, "arm").agg(middle).group_by(keys)
    ends = medians.agg(least=pl.col("error").min(), largest=pl.col("error").max())
    return rows.join(ends, on=keys, how="left", maintain_order="left").to_dicts()


def outcomes_in_all(results: Runs) -> list[dict[str, Any]]:
    """Return where the runs of each trainer ended, in all settings: the setting is ""."""
    rows = pl.DataFrame(outcomes_by_trainer(results)).group_by("trainer", maintain_order=True)
    counts = pl.col(*OUTCOMES, "runs").sum()
    ends = pl.col("least").min(), pl.col("largest").max()
    return rows.agg(pl.lit("").alias("setting"), counts, *ends).to_dicts()


@once
def distinct_runs(results: Runs) -> pl.DataFrame:
    """Return each distinct run once: if no labels are changed, all levels of an attack agree."""
    is_honest = pl.col("bound") * pl.col("probability") == 0.0
    honest = {"attack": "none", "attack_text": "none", "bound": 0.0, "probability": 0.0}
    alike = {
        name: pl.when(is_honest).then(pl.lit(value)).otherwise(pl.col(name))
        for name, value in honest.items()
    }
    who = pl.when(is_honest).then(pl.col("trainer")).otherwise(pl.col("arm"))
    keys = ["setting", "replicate", "who"]
    once = results.runs.with_columns(who=who, **alike).unique(
        keys, maintain_order=True, keep="first"
    )
    return once.drop("who")


@once
def certified(results: Runs) -> pl.DataFrame:
    """Return the distinct runs whose radius is smaller than their initial error.

    The column `part` is the error divided by the radius, which includes rounding errors.
    """
    return (
        distinct_runs(results)
        .filter(pl.col("radius") < pl.col("initial_error"))
        .with_columns(part=pl.col("error") / pl.col("radius"))
    )


def steps_to(results: Runs, error: float | str) -> pl.DataFrame:
    """Return the first recorded step at which each run has at most this error.

    `error` is a number, or a multiple of the initial error as in "0.1×". The step is null for runs
    that never reach it.
    """
    return _first_steps(results, _level(error), isinstance(error, str))


@once
def _first_steps(results: Runs, level: float, relative: bool) -> pl.DataFrame:
    first = [pl.Series(dtype=pl.Int64)]
    for setting, errors in results.errors.items():
        reached = errors <= (level * errors[:, :1] if relative else level)
        steps = pl.Series(results.steps[setting][reached.argmax(axis=1)])
        first.append(steps.set(pl.Series(~reached.any(axis=1)), None))
    return results.runs.select("setting", "replicate", "arm", steps=pl.concat(first))


def _level(error: float | str) -> float:
    if not isinstance(error, str):
        return _check.number("error", error, "(0, inf)")
    number, times, rest = error.replace("x", "×").partition("×")
    try:
        level = float(number)
    except ValueError:
        times = ""
    if not times or rest:
        raise _check.InputError(
            f'`error` must be a number, or a multiple of the initial error as in "0.1×", got '
            f"{_check.shown(error)}"
        )
    return _check.number("error", level, "(0, inf)")


def attacked(levels: Iterable[Level]) -> list[Level]:
    """Return the levels at which the attack changes labels."""
    return [(bound, chance) for bound, chance in levels if bound * chance > 0.0]


def longest(levels: Sequence[Level], axis: int) -> list[Level]:
    """Return the longest list of attacked levels that differ only in θ (0) or only in β (1).

    Among lists of the same length, the one with the largest other number is returned, which is the
    strongest attack.

    >>> longest([(0.0, 0.5), (1.0, 0.5), (2.0, 0.5), (1.0, 0.9), (2.0, 0.9)], 0)
    [(1.0, 0.9), (2.0, 0.9)]
    """
    others = sorted({level[1 - axis] for level in attacked(levels)}, reverse=True)
    lists = [[lv for lv in attacked(levels) if lv[1 - axis] == value] for value in others]
    return max(lists, key=len, default=[])


def over_levels(ratios: Sequence[Array] | Array) -> Array:
    """Return the median over levels for each replicate, ignoring NaN."""
    table = np.asarray(ratios, np.float64)
    known = ~np.isnan(table).all(axis=0)
    return np.asarray(np.nanquantile(table[:, known], 0.5, axis=0, method="inverted_cdf"))


def divided(one: Array, other: Array) -> Array:
    """Return ratios: infinite where `other` is 0, NaN where both are zero or infinite."""
    with np.errstate(all="ignore"):
        return np.asarray(one / other)


def paired(one: Array, other: Array) -> Array:
    """Return the ratios of pairs, without those that are NaN.

    >>> paired(np.array([1.0, np.inf]), np.array([2.0, np.inf]))
    array([0.5])
    """
    ratios = divided(one, other)
    return ratios[~np.isnan(ratios)]


def slopes(x: Array, y: Array) -> Array:
    """Return the least-squares slope of y against x, or one slope per column of y.

    Heights are taken from the first one, so that equal heights have a slope of exactly 0.
    """
    centred = x - x.mean()
    return np.asarray(centred @ (y - y[0]) / (centred @ centred))
