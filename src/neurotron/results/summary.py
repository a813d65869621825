"""Numbers that speak for many runs: medians, quantiles, rates, each with an interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from neurotron import _check, _seeds

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = [
    "OUTCOMES",
    "Interval",
    "bootstrap",
    "certified",
    "distinct_runs",
    "median",
    "outcomes_by_trainer",
    "rate",
    "steps_to",
    "summarise",
]  # fmt: skip

OUTCOMES = ("recovered", "mirror", "other", "diverged")
LEVEL = 0.95
RESAMPLES = 2000
SUMMARY = (
    "replicates", "median", "low", "high", "q10", "q25", "q75", "q90", *OUTCOMES,
    "recovered_low", "recovered_high",
)  # fmt: skip


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    estimate: float
    low: float
    high: float


def median(values: npt.ArrayLike, axis: int = 0) -> Any:
    """Return the median that is one of the values: of an even number, the lower of the middle two.

    Runs end at the filter or at its mirror: halfway between there are none.

    >>> float(median([0.1, 0.1, 7.0, 7.0]))
    0.1
    """
    return np.quantile(np.asarray(values, np.float64), 0.5, axis=axis, method="inverted_cdf")


def bootstrap(
    values: npt.ArrayLike, statistic: Callable[..., Any] = median, seed: int = 0
) -> Interval:
    """Return a statistic of independent values, and its percentile bootstrap interval.

    `statistic` takes an axis. Infinite values count as what they are: a diverged run is worse than
    any other.

    >>> bootstrap([1.0, 2.0, 3.0, 4.0, 5.0])
    Interval(estimate=3.0, low=1.0, high=5.0)
    """
    array = _check.numbers("values", values)
    _check.function("statistic", statistic, "(values, axis)")
    if array.ndim != 1 or not array.size or np.isnan(array).any():
        raise _check.InputError("`values` must be at least one number, none of them NaN")
    _check.entries("all resamples together", RESAMPLES, array.size)
    draw = _seeds.generator(seed, "bootstrap")
    samples = array[draw.integers(array.size, size=(RESAMPLES, array.size))]
    tails = (1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0
    low, high = np.quantile(statistic(samples, axis=1), tails, method="inverted_cdf")
    return Interval(float(statistic(array, axis=0)), float(low), float(high))


def rate(successes: int, trials: int) -> Interval:
    """Return a share and its exact binomial (Clopper–Pearson) interval.

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
    """Return one row per setting and arm over its replicates.

    The final error as median with its interval (low, high) and quantiles q10 … q90; the shares of
    the outcomes, and the interval of the share that recovered.
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


def outcomes_by_trainer(results: Results) -> list[dict[str, Any]]:
    """Return where the runs of each trainer ended, setting by setting.

    Each row has setting, trainer, the number of runs with each outcome, `runs`, and the least and
    the largest median error of an arm: that of the easiest and of the hardest attack.
    """
    rows = []
    for (setting, trainer), runs in results.runs.group_by(
        "setting", "trainer", maintain_order=True
    ):
        medians = [float(median(arm["error"].to_numpy())) for _, arm in runs.group_by("arm")]
        counts = {outcome: int((runs["outcome"] == outcome).sum()) for outcome in OUTCOMES}
        rows.append(
            {
                "setting": setting, "trainer": trainer, **counts, "runs": len(runs),
                "least": min(medians), "largest": max(medians),
            }
        )  # fmt: skip
    return rows


def distinct_runs(results: Results) -> pl.DataFrame:
    """Return the runs, each once: where nothing is changed, all levels of attacks are one run."""
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


def certified(results: Results) -> pl.DataFrame:
    """Return the distinct runs whose radius says more than their start.

    `part` is the error over the radius, which allows for rounding errors.
    """
    return (
        distinct_runs(results)
        .filter(pl.col("radius") < pl.col("initial_error"))
        .with_columns(part=pl.col("error") / pl.col("radius"))
    )


def steps_to(results: Results, error: float | str) -> pl.DataFrame:
    """Return, per setting, replicate and arm, the first recorded step with at most this error.

    `error` is a number, or a part of the initial error as in "0.1×"; null where it never was.
    """
    runs, level = results.runs.select("setting", "replicate", "arm"), _level(error)
    if not len(runs):
        return runs.with_columns(steps=pl.lit(None, pl.Int64))
    levels = level * results.errors[:, :1] if isinstance(error, str) else level
    reached = results.errors <= levels
    first = pl.Series(results.steps[reached.argmax(axis=1)])
    ever = pl.Series(reached.any(axis=1))
    return runs.with_columns(pl.when(ever).then(first).alias("steps"))


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
            f'`error` must be a number, or one as in "0.1×", got {_check.shown(error)}'
        )
    return _check.number("error", level, "(0, inf)")
