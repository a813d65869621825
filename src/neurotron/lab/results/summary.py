"""Summaries of many runs: medians, quantiles and rates, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from neurotron import _check, _seeds
from neurotron._intervals import LEVEL, Interval
from neurotron._types import Index
from neurotron.lab.results.sharing import once

if TYPE_CHECKING:
    from neurotron.lab.results.tables import Results

__all__ = [
    "OUTCOMES",
    "Interval",
    "bootstrap",
    "certified",
    "distinct_runs",
    "median",
    "outcomes_by_trainer",
    "outcomes_in_all",
    "rate",
    "steps_to",
    "summarise",
]  # fmt: skip

OUTCOMES = {
    "recovered": "found w*", "mirror": "mirror −w*", "other": "elsewhere", "diverged": "diverged"
}  # fmt: skip
"""Where runs end, and what tables for readers call it."""
RESAMPLES = 2000
MOST_KEPT = 200
"""Values whose resamples are kept for the next bootstrap: more would need too much memory."""
SUMMARY = (
    "replicates", "median", "low", "high", "q10", "q25", "q75", "q90", *OUTCOMES,
    "recovered_low", "recovered_high",
)  # fmt: skip


def median(values: npt.ArrayLike, axis: int = 0) -> Any:
    """Return the median; for an even number of values, the lower of the middle two.

    It is always one of the values. This matters because runs end at the filter w* or at its mirror
    −w*, and no run ends halfway between.

    >>> float(median([0.1, 0.1, 7.0, 7.0]))
    0.1
    """
    array = np.asarray(values, np.float64)
    middle = (array.shape[axis] - 1) // 2
    found = np.partition(array, middle, axis).take(middle, axis)
    return np.where(np.isnan(array).any(axis), np.nan, found)


def bootstrap(
    values: npt.ArrayLike, statistic: Callable[..., Any] = median, seed: int = 0
) -> Interval:
    """Return a statistic of independent values with its 95 % percentile bootstrap interval.

    Parameters
    ----------
    values
        The values, at least one. They may be infinite, for diverged runs, but not NaN.
    statistic
        A function of (values, axis); the median by default.
    seed
        Seed of the resampling.

    Examples
    --------
    >>> bootstrap([1.0, 2.0, 3.0, 4.0, 5.0])
    Interval(estimate=3.0, low=1.0, high=5.0)
    """
    array = _check.numbers("values", values)
    _check.function("statistic", statistic, "(values, axis)")
    if array.ndim != 1 or not array.size or np.isnan(array).any():
        raise _check.InputError("`values` must be at least one number, none of them NaN")
    _check.entries("all resamples together", RESAMPLES, array.size)
    key = _seeds.key(seed, "bootstrap")
    resamples = (_kept_resamples if array.size <= MOST_KEPT else _resamples)(key, array.size)
    found = np.asarray(statistic(array.take(resamples), axis=1))
    low, high = np.partition(found, TAILS)[list(TAILS)]
    return Interval(float(statistic(array, axis=0)), float(low), float(high))


def _resamples(key: int, size: int) -> Index:
    """Return which of the values each resample has: one row per resample."""
    return np.random.default_rng(key).integers(size, size=(RESAMPLES, size))


_kept_resamples = lru_cache(maxsize=8)(_resamples)


def _places(count: int) -> tuple[int, ...]:
    """Return at which places of ordered numbers the interval of `LEVEL` ends."""
    tails = (1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0
    return tuple(np.quantile(np.arange(count), tails, method="inverted_cdf").tolist())


TAILS = _places(RESAMPLES)


def rate(successes: int, trials: int) -> Interval:
    """Return a share of successes with its exact 95 % binomial (Clopper–Pearson) interval.

    Parameters
    ----------
    successes, trials
        Number of successes, and number of trials, at least 1.

    Examples
    --------
    >>> share = rate(0, 90)
    >>> share.estimate, round(share.high, 4)
    (0.0, 0.0402)
    """
    from scipy.special import betaincinv

    trials = _check.integer("trials", trials, 1)
    successes = _check.integer("successes", successes, 0, trials)
    failures, tail = trials - successes, (1.0 - LEVEL) / 2.0
    low = betaincinv(successes, failures + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1.0 - tail) if failures else 1.0
    return Interval(successes / trials, float(low), float(high))


def summarise(results: Results) -> pl.DataFrame:
    """Return a summary of the replicates of each arm, one row per setting and arm.

    The columns are the median of the final error with its interval (low, high), its quantiles q10 …
    q90, the share of each outcome, and the interval of the share that recovered.
    """
    rows = []
    for (setting, arm), runs in results.runs.group_by("setting", "arm", maintain_order=True):
        errors = runs["error"].to_numpy()
        middle = bootstrap(errors)
        outcomes = runs["outcome"].to_list()
        success = rate(outcomes.count("recovered"), len(outcomes))
        quantiles = np.quantile(errors, (0.1, 0.25, 0.75, 0.9), method="inverted_cdf")
        rows.append(
            {
                "setting": setting,
                "arm": arm,
                "replicates": len(errors),
                "median": middle.estimate,
                "low": middle.low,
                "high": middle.high,
                **dict(zip(("q10", "q25", "q75", "q90"), map(float, quantiles), strict=True)),
                **{name: outcomes.count(name) / len(outcomes) for name in OUTCOMES},
                "recovered_low": success.low,
                "recovered_high": success.high,
            }
        )
    numbers = dict.fromkeys(SUMMARY, pl.Float64) | {"replicates": pl.Int64}
    kinds = {"setting": pl.String, "arm": pl.String} | numbers
    return pl.DataFrame(rows, schema=kinds).join(
        results.arms, on=["setting", "arm"], how="left", maintain_order="left"
    )


@once
def outcomes_by_trainer(results: Results) -> list[dict[str, Any]]:
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


def outcomes_in_all(results: Results) -> list[dict[str, Any]]:
    """Return where the runs of each trainer ended, in all settings: the setting is ""."""
    rows = pl.DataFrame(outcomes_by_trainer(results)).group_by("trainer", maintain_order=True)
    counts = pl.col(*OUTCOMES, "runs").sum()
    ends = pl.col("least").min(), pl.col("largest").max()
    return rows.agg(pl.lit("").alias("setting"), counts, *ends).to_dicts()


@once
def distinct_runs(results: Results) -> pl.DataFrame:
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
def certified(results: Results) -> pl.DataFrame:
    """Return the distinct runs whose radius is smaller than their initial error.

    The column `part` is the error divided by the radius, which includes rounding errors.
    """
    return (
        distinct_runs(results)
        .filter(pl.col("radius") < pl.col("initial_error"))
        .with_columns(part=pl.col("error") / pl.col("radius"))
    )


def steps_to(results: Results, error: float | str) -> pl.DataFrame:
    """Return the first recorded step at which each run has at most this error.

    `error` is a number, or a multiple of the initial error as in "0.1×". The step is null for runs
    that never reach it.
    """
    return _first_steps(results, _level(error), isinstance(error, str))


@once
def _first_steps(results: Results, level: float, relative: bool) -> pl.DataFrame:
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
