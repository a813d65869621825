"""Claims about certificates and verified radii: that they hold, and how sharp they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from neurotron._types import Array
from neurotron.lab.claims.model import Finding, at_most
from neurotron.lab.results.summary import Interval, bootstrap, rate
from neurotron.lab.training.spec import MISSES
from neurotron.lab.training.summary import certified

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = [
    "certificate_holds", "certified_mean_square", "radius_near_error", "recovers_to_rounding",
    "sharp", "verification_holds",
]  # fmt: skip

CONFIDENCE = 0.999
"""Of a test that a bound is not exceeded by chance, over all comparisons together."""
ROUNDING = 1e-13
"""The error below which a filter is found to rounding."""


def certificate_holds(results: Runs) -> list[Finding]:
    """Count runs that end outside their radius, of those with a radius below the initial error."""
    findings, runs = [], certified(results)
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        worst = group.select("replicate", "part").group_by("replicate").max()["part"].to_numpy()
        largest = float(worst.max())
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "share of replicates with a run outside its radius (none; the largest of "
                       f"{len(group)} errors is {largest:.2g} of its radius)",
                       rate(int((worst > 1.0).sum()), len(worst)), len(worst),
                       holds=largest <= 1.0, worst=largest,
                       count=int((group["part"] > 1.0).sum()), total=len(group))
        )  # fmt: skip
    return findings


def verification_holds(results: Runs) -> list[Finding]:
    """Count runs that end outside their verified radius, setting by setting.

    A verified radius fails with a small probability, so misses leave the claim undecided as long as
    chance can explain them. Runs that diverged have no error to compare with.
    """
    findings, asked = [], results.runs.filter(pl.col("verified_radius").is_not_null())
    settings = list(asked.group_by("setting", maintain_order=True))
    for (setting,), runs in settings:
        verified = runs.filter(pl.col("verified_radius").is_finite(), status="finished")
        if not len(verified):
            continue
        errors, radii = verified["error"].to_numpy(), verified["verified_radius"].to_numpy()
        with np.errstate(divide="ignore"):
            largest = float(np.divide(errors, radii, where=errors > 0.0, out=0.0 * errors).max())
        outside = (pl.col("error") > pl.col("verified_radius")) & (pl.col("status") == "finished")
        misses = runs.group_by("replicate").agg(misses=outside.sum())["misses"].to_numpy()
        allowed = MISSES * runs["arm"].n_unique()
        explained = _by_chance(misses / allowed, (1.0 - CONFIDENCE) / len(settings))
        findings.append(
            Finding.of(results.titles[str(setting)],
                       "share of replicates with a run outside its verified radius (none; the "
                       f"largest of {len(verified)} errors is {largest:.2g} of its radius)",
                       rate(int((misses > 0).sum()), len(misses)), len(misses),
                       holds=True if not misses.any() else None if explained else False,
                       worst=largest, count=int(misses.sum()), total=len(verified))
        )  # fmt: skip
    return findings


def _by_chance(ratios: Array, level: float) -> bool:
    """Tell whether chance can explain so many misses, where 1 in a thousand is allowed.

    The misses of a replicate, divided by the number that is allowed on average, have a mean of at
    most 1, however its arms depend on each other. So has the product of (1 + ratio)/2 over
    independent replicates. By Markov's inequality it exceeds 1/level with probability ≤ level.
    """
    return bool(np.prod((1.0 + ratios) / 2.0) <= 1.0 / level)


class Certified(NamedTuple):
    """The runs of an arm on one problem, and what is certified about them."""

    case: str
    law: str
    scheduled: bool
    """Whether the step sizes are those of the certificate."""
    errors: Array
    bound: float
    """The certified root mean square error."""
    radius: float


def _on_one_problem(results: Runs) -> Iterator[Certified]:
    """Yield the certified arms of the settings whose replicates have the same problem."""
    shared = [one["name"] for one in results.spec["settings"] if one["same_problem"]]
    runs = certified(results).filter(pl.col("setting").is_in(shared))
    for (setting, arm), group in runs.group_by("setting", "arm", maintain_order=True):
        first = group.row(0, named=True)
        yield Certified(
            f"{results.titles[str(setting)]}, {arm}", first["law"], first["step_size"] is None,
            group["error"].to_numpy(), first["root_mean_square"], first["radius"],
        )  # fmt: skip


def certified_mean_square(results: Runs) -> list[Finding]:
    """Compare root mean square errors over many streams of data with the certified ones."""
    from scipy.special import stdtrit

    every = list(_on_one_problem(results))
    findings = []
    for one in every:
        squares, count = one.errors**2, one.errors.size
        part = _parts(one)
        if count < 2:
            continue
        allowed = -float(stdtrit(count - 1, (1.0 - CONFIDENCE) / len(every)))
        spread = float(squares.std(ddof=1)) / math.sqrt(count)
        findings.append(
            Finding.of(one.case, "measured divided by certified root mean square error (at most 1, "
                       f"tested with confidence {100.0 * CONFIDENCE:g} %)", part, count,
                       holds=float(squares.mean()) <= one.bound**2 + allowed * spread)
        )  # fmt: skip
    return findings


def sharp(limit: float, *laws: str) -> Callable[[Runs], list[Finding]]:
    """Return the check that certified errors are at most `limit` times the measured ones.

    It is for inputs of these laws, each with any further parameters, and for step sizes that are
    those of the certificate.
    """

    def check(results: Runs) -> list[Finding]:
        measure = f"certified divided by measured root mean square error (at most {limit:g})"
        return [
            _at_most(limit, one, one.bound, measure)
            for one in _on_one_problem(results)
            if one.scheduled and f"{one.law}:".startswith(tuple(f"{law}:" for law in laws))
        ]

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
        return [
            _at_most(limit, one, one.radius, measure)
            for one in _on_one_problem(results)
            if one.scheduled
        ]

    return check


def _at_most(limit: float, one: Certified, bound: float, measure: str) -> Finding:
    """Compare a bound, divided by the measured root mean square error, with a limit."""
    part = _parts(one)
    ratio = Interval(*(_inverse(part[i]) * bound / one.bound for i in (0, 2, 1)))
    return Finding.of(one.case, measure, ratio, one.errors.size, holds=at_most(limit, ratio))


def _inverse(number: float) -> float:
    return 1.0 / number if number else math.inf


def _parts(one: Certified) -> Interval:
    """Return the measured root mean square error divided by the certified one."""
    found = bootstrap(one.errors**2, np.mean)
    return Interval(*(math.sqrt(value) / one.bound for value in found))


def recovers_to_rounding(results: Runs) -> list[Finding]:
    """Measure how far Neuro-Tron ends from the filter on honest labels, network by network."""
    runs = results.runs.filter(
        pl.col("bound") * pl.col("probability") == 0.0, algorithm="neuro-tron"
    )
    findings = []
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        errors = group["error"].to_numpy()
        largest = float(errors.max())
        measure = (
            f"median error without attack (below {ROUNDING:g} in every run; the largest of "
            f"{len(errors)} is {largest:.2g})"
        )
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}", measure, bootstrap(errors),
                       group["replicate"].n_unique(), holds=largest < ROUNDING, worst=largest,
                       total=len(errors))
        )  # fmt: skip
    return findings
