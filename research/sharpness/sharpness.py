"""How sharp certificates are, and how close to the filter Neuro-Tron ends without attack."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import polars as pl

from neurotron._digits import Notation, percent
from neurotron._types import Array
from neurotron.lab import Claim, Finding, Interval, at_most
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.certificates import CONFIDENCE, not_above, root_mean_square
from neurotron.lab.claims.effects import Phrase
from neurotron.lab.claims.measuring import ATTACKED, OURS, largest, titled
from neurotron.lab.training.runs import Runs
from neurotron.lab.training.summary import certified

ROUNDING = 1e-13
"""The error below which a filter is found to rounding."""


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


def _certified_mean_square(results: Runs) -> list[Finding]:
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


def _radius_near_error(limit: float) -> Callable[[Runs], list[Finding]]:
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


def _recovers_to_rounding(results: Runs) -> list[Finding]:
    """Measure how far Neuro-Tron ends from the filter on honest labels, network by network."""
    runs = results.runs.filter(~ATTACKED, OURS).with_columns(value="error")
    return largest(
        titled(results, runs, "trainer"),
        f"median error without attack (below {ROUNDING:g} in every run; the largest of {{total}} "
        "is {most:.2g})",
        lambda most: most < ROUNDING,
    )


recovers_to_rounding = Claim(
    "recovers-to-rounding",
    "Without attack, Neuro-Tron ends within 1e-13 of the filter on every network.",
    of_runs(_recovers_to_rounding),
    source="added by this package, about figure 6 with more steps",
    short="Without attack, every error is below 1e-13",
    phrase=Phrase("the largest of {total} errors is {most}", Notation(limits=(1e-13,))),
)
certified_mean_square = Claim(
    "certified-mean-square",
    "No mean square error over many streams of data is above the certified one.",
    of_runs(_certified_mean_square),
    short="No mean square error is above the certified one",
    phrase=Phrase("measured error {} of the certified one", Notation("", 3, limits=(1.0,))),
    section="certificates",
)
sharp_for_normal_and_laplace = Claim(
    "sharp-for-normal-and-laplace",
    "For normal and Laplace inputs, the certified root mean square error is at most "
    "3 % above the measured one, under the worst attack and with scheduled steps.",
    of_runs(sharp(1.03, ("normal", None), ("laplace", None))),
    short="Certificates are within 3 %: normal, Laplace",
    phrase=Phrase("certified error {} the measured one", Notation(" ×", 3, limits=(1.0, 1.03))),
    section="certificates",
)
sharp_for_uniform_and_t = Claim(
    "sharp-for-uniform-and-t",
    "For uniform inputs, and for t(4) inputs with weights, the certified root mean square "
    "error is at most 4 % above the measured one, under the worst attack and with scheduled "
    "steps.",
    of_runs(sharp(1.04, ("uniform", None), ("student-t", 4.0))),
    short="Certificates are within 4 %: uniform, t(4)",
    phrase=Phrase("certified error {} the measured one", Notation(" ×", 3, limits=(1.0, 1.04))),
    section="certificates",
)
sharp_for_cauchy = Claim(
    "sharp-for-cauchy",
    "For Cauchy inputs with weights, the certified root mean square error is at most "
    "15 % above the measured one, under the worst attack and with scheduled steps.",
    of_runs(sharp(1.15, ("student-t", 1.0))),
    short="Certificates are within 15 %: Cauchy",
    phrase=Phrase("certified error {} the measured one", Notation(" ×", 3, limits=(1.0, 1.15))),
    section="certificates",
)
radius_near_error = Claim(
    "radius-near-error",
    "With scheduled steps and under the worst attack, the radius at 95 % confidence is at most "
    "1.5 times the measured root mean square error.",
    of_runs(_radius_near_error(1.5)),
    short="Radii are at most 1.5 × the errors",
    phrase=Phrase("radius {} the measured error", Notation(" ×", 3, limits=(1.0, 1.5))),
    section="certificates",
)
