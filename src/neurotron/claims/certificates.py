"""Claims about certificates and verified radii: that they hold, and how sharp they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from neurotron._types import Array
from neurotron.claims.model import Finding, at_most
from neurotron.results.summary import Interval, bootstrap, certified, rate
from neurotron.studies.spec import MISSES

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = [
    "certificate_holds", "certified_mean_square", "radius_near_error", "recovers_to_rounding",
    "sharp", "verification_holds",
]  # fmt: skip

CONFIDENCE = 0.999
"""Of a test that a bound is not exceeded by chance, over all comparisons together."""
ROUNDING = 1e-13
"""The error below which a filter is found to rounding."""


def certificate_holds(results: Results) -> list[Finding]:
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


def verification_holds(results: Results) -> list[Finding]:
    """Count runs that end outside their verified radius, of those that have one.

    A verified radius may fail with a small probability, so a few misses leave the claim undecided,
    as long as chance explains them. Runs that diverged have no error, and do not count.
    """
    runs = results.runs.filter(pl.col("verified_radius").is_finite(), status="finished")
    groups = list(runs.group_by("setting", "trainer", maintain_order=True))
    findings = []
    for (setting, trainer), group in groups:
        errors, radii = group["error"].to_numpy(), group["verified_radius"].to_numpy()
        missed = group.filter(errors > radii)
        with np.errstate(divide="ignore", invalid="ignore"):
            largest = float(np.where(errors > 0.0, errors / radii, 0.0).max())
        networks, bad = group["replicate"].n_unique(), missed["replicate"].n_unique()
        most = int(group.group_by("replicate").len()["len"].max())  # type: ignore[arg-type]
        explained = _by_chance(bad, networks, most, (1.0 - CONFIDENCE) / len(groups))
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       "share of replicates with a run outside its verified radius (none; the "
                       f"largest of {len(group)} errors is {largest:.2g} of its radius)",
                       rate(bad, networks), networks,
                       holds=True if not bad else None if explained else False,
                       worst=largest, count=len(missed), total=len(group))
        )  # fmt: skip
    return findings


def _by_chance(bad: int, replicates: int, most: int, level: float) -> bool:
    """Tell whether radii that fail with the probability `MISSES` can be missed as often as this.

    The `most` runs of a replicate share their rows and may fail together or one by one, so that a
    replicate is `bad` with a probability of at most most · MISSES. Replicates are independent.
    """
    from scipy import stats

    return float(stats.binom.sf(bad - 1, replicates, min(most * MISSES, 1.0))) >= level


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


def _on_one_problem(results: Results) -> Iterator[Certified]:
    """Yield the certified arms of the settings whose replicates have the same problem."""
    shared = [one["name"] for one in results.spec["settings"] if one["same_problem"]]
    runs = certified(results).filter(pl.col("setting").is_in(shared))
    for (setting, arm), group in runs.group_by("setting", "arm", maintain_order=True):
        first = group.row(0, named=True)
        yield Certified(
            f"{results.titles[str(setting)]}, {arm}", first["law"], first["step_size"] is None,
            group["error"].to_numpy(), first["root_mean_square"], first["radius"],
        )  # fmt: skip


def certified_mean_square(results: Results) -> list[Finding]:
    """Compare root mean square errors over many streams of data with the certified ones."""
    from scipy import stats

    every = list(_on_one_problem(results))
    findings = []
    for one in every:
        squares, count = one.errors**2, one.errors.size
        part = _parts(one)
        if count < 2:
            continue
        allowed = float(stats.t.isf((1.0 - CONFIDENCE) / len(every), count - 1))
        spread = float(squares.std(ddof=1)) / math.sqrt(count)
        findings.append(
            Finding.of(one.case, "measured divided by certified root mean square error (at most 1, "
                       f"tested with confidence {100.0 * CONFIDENCE:g} %)", part, count,
                       holds=float(squares.mean()) <= one.bound**2 + allowed * spread)
        )  # fmt: skip
    return findings


def sharp(limit: float, *laws: str) -> Callable[[Results], list[Finding]]:
    """Return the check that certified errors are at most `limit` times the measured ones.

    It is for inputs of these laws, each with any further parameters, and for step sizes that are
    those of the certificate.
    """

    def check(results: Results) -> list[Finding]:
        measure = f"certified divided by measured root mean square error (at most {limit:g})"
        return [
            _at_most(limit, one, one.bound, measure)
            for one in _on_one_problem(results)
            if one.scheduled and f"{one.law}:".startswith(tuple(f"{law}:" for law in laws))
        ]

    return check


def radius_near_error(limit: float) -> Callable[[Results], list[Finding]]:
    """Return the check that radii are at most `limit` times the measured root mean square errors.

    It is for step sizes that are those of the certificate.
    """

    def check(results: Results) -> list[Finding]:
        percent = 100.0 * (1.0 - results.spec["failure"])
        measure = (
            f"radius at {percent:g} % confidence divided by measured root mean square error "
            f"(at most {limit:g})"
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


def recovers_to_rounding(results: Results) -> list[Finding]:
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
