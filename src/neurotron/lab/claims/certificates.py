"""Claims about certificates and verified radii: that they hold, and how sharp they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from neurotron._digits import percent
from neurotron._types import Array
from neurotron.lab.claims.measuring import ATTACKED, OURS, largest, none_above, titled
from neurotron.lab.claims.model import Finding, at_most
from neurotron.lab.results.summary import Interval, bootstrap
from neurotron.lab.training.spec import MISSES
from neurotron.lab.training.summary import certified

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = [
    "CONFIDENCE", "certificate_holds", "certified_mean_square", "not_above", "radius_near_error",
    "recovers_to_rounding", "root_mean_square", "sharp", "verification_holds",
]  # fmt: skip

CONFIDENCE = 0.999
"""Of a test that a bound is not exceeded by chance, over all comparisons together."""
ROUNDING = 1e-13
"""The error below which a filter is found to rounding."""


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


class Certified(NamedTuple):
    """The runs of an arm on one problem, and what is certified about them."""

    case: str
    errors: Array
    bound: float
    """The certified root mean square error."""
    radius: float


def _on_one_problem(results: Runs, *chosen: pl.Expr) -> Iterator[Certified]:
    """Yield the certified arms of the settings whose replicates have the same problem."""
    shared = [name for name, one in results.settings.items() if one["same_problem"]]
    runs = certified(results).filter(pl.col("setting").is_in(shared), *chosen)
    for (case,), group in titled(results, runs, "arm").group_by("case", maintain_order=True):
        bounds = group["root_mean_square"][0], group["radius"][0]
        yield Certified(str(case), group["error"].to_numpy(), *bounds)


def certified_mean_square(results: Runs) -> list[Finding]:
    """Compare root mean square errors over many streams of data with the certified ones."""
    every = list(_on_one_problem(results))
    measure = (
        "measured divided by certified root mean square error (at most 1, tested with confidence "
        f"{percent(CONFIDENCE, 6)})"
    )
    return [
        Finding.of(one.case, measure, _parts(one), one.errors.size,
                   holds=not_above(one.errors**2, one.bound**2, (1.0 - CONFIDENCE) / len(every)))
        for one in every
        if one.errors.size > 1
    ]  # fmt: skip


SCHEDULED = pl.col("step_size").is_null()
"""The step sizes are those of the certificate."""


def sharp(limit: float, *laws: tuple[str, float | None]) -> Callable[[Runs], list[Finding]]:
    """Return the check that certified errors are at most `limit` times the measured ones.

    It is for inputs of these laws, each with its degrees of freedom, and for step sizes that are
    those of the certificate.
    """
    of_laws = [
        (pl.col("law_name") == name) & pl.col("dof").eq_missing(pl.lit(dof, pl.Float64))
        for name, dof in laws
    ]

    def check(results: Runs) -> list[Finding]:
        measure = f"certified divided by measured root mean square error (at most {limit:g})"
        every = _on_one_problem(results, SCHEDULED, pl.any_horizontal(of_laws))
        return [_at_most(limit, one, one.bound, measure) for one in every]

    return check


def radius_near_error(limit: float) -> Callable[[Runs], list[Finding]]:
    """Return the check that radii are at most `limit` times the measured root mean square errors.

    It is for step sizes that are those of the certificate.
    """

    def check(results: Runs) -> list[Finding]:
        measure = (
            f"radius at {results.confidence_text} confidence divided by measured root mean square "
            f"error (at most {limit:g})"
        )
        every = _on_one_problem(results, SCHEDULED)
        return [_at_most(limit, one, one.radius, measure) for one in every]

    return check


def _at_most(limit: float, one: Certified, bound: float, measure: str) -> Finding:
    """Compare a bound, divided by the measured root mean square error, with a limit."""
    part = _parts(one)
    ends = (part.estimate, part.high, part.low)
    ratio = Interval(*(bound / one.bound / end if end else math.inf for end in ends))
    return Finding.of(one.case, measure, ratio, one.errors.size, holds=at_most(limit, ratio))


def _parts(one: Certified) -> Interval:
    """Return the measured root mean square error divided by the certified one."""
    return Interval(*(end / one.bound for end in root_mean_square(one.errors)))


def recovers_to_rounding(results: Runs) -> list[Finding]:
    """Measure how far Neuro-Tron ends from the filter on honest labels, network by network."""
    runs = results.runs.filter(~ATTACKED, OURS).with_columns(value="error")
    return largest(
        titled(results, runs, "trainer"),
        f"median error without attack (below {ROUNDING:g} in every run; the largest of {{total}} "
        "is {most:.2g})",
        lambda most: most < ROUNDING,
    )
