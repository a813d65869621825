"""Claims about certificates and verified radii: that they hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from neurotron._intervals import Interval
from neurotron._types import Array
from neurotron.lab.claims.measuring import none_above, titled
from neurotron.lab.claims.model import Finding
from neurotron.lab.results.summary import bootstrap
from neurotron.lab.training.spec import MISSES
from neurotron.lab.training.summary import certified

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

CONFIDENCE = 0.999
"""Of a test that a bound is not exceeded by chance, over all comparisons together."""


def certificate_holds(results: Runs) -> list[Finding]:
    """Count runs that end outside their radius, of those with a radius below the initial error."""
    return none_above(
        titled(results, certified(results), "trainer").rename({"part": "value"}),
        "share of replicates with a run outside its radius (none; the largest of {total} errors is "
        "{most:.2g} of its radius)",
    )


def verification_holds(results: Runs) -> list[Finding]:
    """Count runs that end outside their verified radius, setting by setting.

    A verified radius fails with a small probability, so misses leave the claim undecided as long as
    chance can explain them. Runs that diverged have no error to compare with.
    """
    error, radius = pl.col("error"), pl.col("verified_radius")
    asked = results.runs.filter(radius.is_not_null()).with_columns(
        value=pl.when(radius.is_finite(), status="finished").then(
            pl.when(error == 0.0).then(0.0).otherwise(error / radius)
        )
    )
    level = (1.0 - CONFIDENCE) / max(1, asked["setting"].n_unique())

    def excused(runs: pl.DataFrame, misses: Array) -> bool:
        return _by_chance(misses / (MISSES * runs["arm"].n_unique()), level)

    return none_above(
        titled(results, asked),
        "share of replicates with a run outside its verified radius (none; the largest of {total} "
        "errors is {most:.2g} of its radius)",
        excused,
    )


def _by_chance(ratios: Array, level: float) -> bool:
    """Tell whether chance can explain so many misses, where 1 in a thousand is allowed.

    The misses of a replicate, divided by the number that is allowed on average, have a mean of at
    most 1, however its arms depend on each other. So has the product of (1 + ratio)/2 over
    independent replicates. By Markov's inequality it exceeds 1/level with probability ≤ level.
    """
    return bool(np.prod((1.0 + ratios) / 2.0) <= 1.0 / level)


def root_mean_square(values: Array) -> Interval:
    """Return the root mean square of independent values with its interval."""
    return Interval(*(math.sqrt(end) for end in bootstrap(values**2, np.mean)))


def not_above(values: Array, bound: float, level: float) -> bool | None:
    """Tell whether the mean of values is not above a bound, unless chance explains that it is."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    allowed = -float(stdtrit(len(values) - 1, level))
    spread = float(values.std(ddof=1)) / math.sqrt(len(values))
    return bool(float(values.mean()) <= bound + allowed * spread)
