"""Verification of filters on fresh rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator

import numpy as np

from neurotron._types import Array
from neurotron.guarantee import Assumption, stated
from neurotron.guarantees.verify.by_cells import REACH, cells_theorem
from neurotron.guarantees.verify.by_parity import ParityTheorem
from neurotron.guarantees.verify.case import BLOCK, Case, Found
from neurotron.guarantees.verify.verification import Verification
from neurotron.laws import Empirical

SWITCH = {"coin": 0.3, "any": 0.2}
"""Up to this share of attacked labels, the theorem of parity alone is used if labels have noise."""
MOST_POINTS = 400
"""Points of the curve that a figure shows."""


def verify_cases(cases: Iterable[Case]) -> Iterator[tuple[Case, Verification]]:
    """Yield each case with what is verified about its filter; all have the same inputs."""
    alike: dict[object, list[Case]] = {}
    for case in cases:
        alike.setdefault(case.told, []).append(case)
    for group in alike.values():
        step = max(BLOCK // len(group[0].y), 1)
        for start in range(0, len(group), step):
            yield from _verified_together(group[start : start + step])


def _verified_together(cases: list[Case]) -> Iterator[tuple[Case, Verification]]:
    """Yield cases that are told the same, with what is verified about the filter of each.

    Which theorem is used depends on the probability, the noise, the network and the law, never on
    the labels. Where both may help, each has half of the probability δ.
    """
    told, parity = cases[0], ParityTheorem(cases[0])
    needs = parity.assumptions
    usable = all(assumption.holds for assumption in needs)
    alone = usable and not told.exact and told.probability <= SWITCH[told.attacker]
    cells = {case: None if alone else cells_theorem(case) for case in cases}  # may be very many
    found: dict[Case, Found] = {}
    for delta, part in (
        (told.delta, [case for case in cases if cells[case] is None]),
        (told.delta / 2.0, [case for case in cases if cells[case] is not None]),
    ):
        if part and usable and (cells[part[0]] is None or parity.can_verify):
            found |= zip(part, parity.verify(part, delta), strict=True)
    for case, theorem in cells.items():
        one, name, held = found.get(case, Found()), parity.name, needs
        if theorem is not None:
            other = theorem.verify(told.delta / 2.0 if case in found else told.delta)
            needed = [n for n in (one.rows_needed, other.rows_needed) if n is not None]
            if case not in found or (other.radius, other.threshold) < (one.radius, one.threshold):
                one, name = other, theorem.name
            one = dataclasses.replace(one, rows_needed=min(needed, default=None))
            held = [a for a in needs if a.holds and case in found]
        yield case, _verification(case, one, name, held, parity)


def _verification(
    case: Case, found: Found, name: str, needs: list[Assumption], parity: ParityTheorem
) -> Verification:
    kind, about = case.inputs.basis
    levels, shares = _curve(case.sizes())
    at_least, radii = _at_least(case), None
    if at_least > found.radius:  # which cannot be, if what was stated is true
        found = dataclasses.replace(found, radius=math.inf, size=math.inf, consistent=False)
    if case.linear and parity.spread is not None:
        with np.errstate(invalid="ignore"):
            radii = parity.spread.coefficients * found.size
    return Verification(
        kind=kind,
        about=about,
        radius=found.radius,
        confidence=case.confidence,
        assumptions=tuple(_about_the_rows(case, name) + needs),
        theorem=name,
        length=float(np.linalg.norm(case.weights)),
        rows=len(case.y),
        probability=case.probability,
        attacker=case.attacker,
        noise=case.noise,
        bound=case.bound if math.isfinite(case.bound) else None,
        level=found.level,
        share=found.share,
        threshold=found.threshold,
        rows_needed=found.rows_needed,
        at_least=at_least,
        prediction_error=_prediction_error(case, found, parity),
        coefficient_radii=radii,
        consistent=found.consistent,
        levels=levels,
        shares=shares,
    )


def _prediction_error(case: Case, found: Found, parity: ParityTheorem) -> float:
    """Return a bound on the root mean squared difference of predictions."""
    if not math.isfinite(found.radius):
        return math.inf
    direct = math.inf
    if case.linear and parity.spread is not None and math.isfinite(parity.spread.deviation):
        direct = found.size * parity.spread.deviation
    risk = case.inputs.risk
    return min(direct, math.sqrt(risk) * found.radius if math.isfinite(risk) else math.inf)


def _at_least(case: Case) -> float:
    """Return a lower bound on ‖ŵ − w*‖ for exact labels, 0 if there is none.

    An honest label is off by at most ‖ŵ − w*‖ times the reach of its output. Among more rows than
    the attacker can have, one is honest.
    """
    if not case.exact:
        return 0.0
    rows, beta = len(case.y), case.probability
    attacked = _binomial_quantile(rows, beta, case.delta)
    # the median of a binomial law is at least βN rounded down, so this covers chosen rows as well
    if attacked >= rows:
        return 0.0
    off = np.maximum(case.residuals - case.rounding, 0.0)
    reach = case.inputs.output_reach * (1.0 + 1e-9) + case.inputs.reach
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(off > 0.0, off / reach, 0.0)
    ratios = np.where(np.isfinite(ratios), ratios, 0.0)  # no filter explains such a row
    return float(np.partition(ratios, rows - 1 - attacked)[rows - 1 - attacked])


def _binomial_quantile(rows: int, probability: float, delta: float) -> int:
    """Return the smallest m such that coins hit more than m rows with probability δ at most."""
    from scipy import special

    if probability in (0.0, 1.0):
        return round(probability) * rows
    low, high = -1, rows
    while high - low > 1:  # P(more than m) = I_β(m + 1, N − m) falls in m
        middle = (low + high) // 2
        enough = special.betainc(middle + 1, rows - middle, probability) <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high


def _curve(sizes: Array) -> tuple[Array, Array]:
    """Return levels with the shares of rows up to them, thinned out for a figure."""
    chosen = np.unique(np.linspace(0, len(sizes) - 1, MOST_POINTS).astype(np.intp))
    return np.sort(sizes)[chosen], (chosen + 1) / len(sizes)


def _about_the_rows(case: Case, theorem: str) -> list[Assumption]:
    """Return what is assumed about the rows, which nobody can check from them."""
    source = f"from {case.law!r}"
    if case.inputs.basis[0] == "plug-in":
        source = f"from a law that {case.law!r} stands for"
    elif isinstance(case.law, Empirical):
        source = f"with replacement from {case.law!r}"
    texts = {
        "fresh": f"The {len(case.y):,} rows are fresh: their inputs are drawn independently "
        f"{source}, and nothing about them was used to find the filter.",
        "attacker": _attacker_text(case),
        "noise": _noise_text(case.noise),
    }
    if theorem == "cells":
        texts["length"] = (
            f"The true filter is at most {REACH:,.0f} times as long as this one; rounding errors "
            "of its labels are counted up to there."
        )
    return [stated(name, text) for name, text in texts.items()]


def _attacker_text(case: Case) -> str:
    beta = f"{case.probability:g}"
    size = "" if case.bound == math.inf else f", by at most {case.bound:g}"
    if case.attacker == "coin":
        return (
            f"Each label is attacked with probability at most {beta} whatever its row is, by a "
            f"coin of its own, and changed in any way{size}."
        )
    return (
        f"At most {beta} of these rows are attacked, chosen after seeing all of them; or each row "
        f"is attacked with a probability whose mean over the inputs is at most {beta}. Labels are "
        f"changed in any way{size}."
    )


def _noise_text(noise: str | float) -> str:
    if noise == 0.0:
        return "Honest labels are computed in double precision by the network, without noise."
    if noise == "even":
        return (
            "Honest labels have noise that is independent between rows and does not tell x from "
            "−x: its law may depend on x, but is the same at −x."
        )
    known = "of any law" if noise == "independent" else f"and normal, of deviation at least {noise}"
    return f"Honest labels have noise that is independent of x and between rows, {known}."
