"""How far a filter is from the true one, by the rows that it explains, also if labels have noise.

The filter may come from any algorithm and be fitted to these very rows. Where it explains a row
whose label is honest, both filters are close there; and rows on which they are not are tampered
with. The theorem is in `neurotron.theory.agreement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._digits import counted, up
from neurotron._types import Array, Mask
from neurotron.guarantee import Guarantee, delta, stated
from neurotron.networks import FilterNetwork
from neurotron.solvers.position import ROUNDING
from neurotron.solvers.proof import EXACT
from neurotron.theory.agreement import Agreement

EXPLAINED = (2.0, 2.5, 3.0, 4.0, 6.0, math.inf)
"""A row is explained if its residual is at most so many standard deviations of the noise. All are
tried, and the best counts: the theorem holds for every one."""
HONEST = (2.0, 2.5, 3.0, 3.5, 4.0)
"""For a ReLU gate: sizes of honest noise, in standard deviations, that few rows exceed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FilterDistance(Guarantee):
    """How far a filter is from the true one at most. It prints as a paragraph."""

    derived = ("weights",)

    tampered: int
    """The most labels that were tampered with, to anything."""
    noise: float
    """The standard deviation of the honest noise."""
    rows: int
    """How many rows count: those that the filter explains, and on which a ReLU gate is on."""
    smallest: float
    """By how much the distance of the weights is smaller than the radius at most, as a factor."""

    @property
    def weights(self) -> float:
        """A bound on ‖ŵ − w*‖, with the intercept if there is one; inf if there is none."""
        return self.radius / self.smallest if self.holds else math.inf

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return f"root mean square of xᵀ(ŵ − w*) over the {counted(self.rows, 'row')} explained"

    @property
    def statement(self) -> str:
        """What is guaranteed, or why nothing is."""
        budget = f"at most {counted(self.tampered, 'label')} were tampered with, to anything"
        if not self.holds:
            return f"Nothing is guaranteed if {budget}: these are too many for these rows."
        sure = "" if self.confidence == 1.0 else f" with probability {self.confidence_text}"
        return (
            f"If {budget}, the filter is close to the true one{sure}: the {self.quantity} is at "
            f"most {up(self.radius)}, and ‖ŵ − w*‖ is at most {up(self.weights)}."
        )


def distance_of(
    network: FilterNetwork,
    X: Array,
    y: Array,
    weights: Array,
    intercept: float,
    *,
    tampered: int,
    noise: float,
    estimated: bool,
    confidence: float,
) -> FilterDistance:
    """Return how far a filter is from the true one, if so many labels were tampered with.

    Parameters
    ----------
    network, X, y
        A linear network or one gate, and rows with their labels.
    weights, intercept
        The filter, from whatever algorithm. If the intercept is not 0, the true one may be another.
    tampered
        The most labels that were tampered with, by somebody who may have seen all noise.
    noise
        The standard deviation of the honest noise, 0 for exact labels.
    estimated
        Whether the noise is an estimate.
    confidence
        The probability with which the result holds.
    """
    from scipy import stats  # which takes half a second to load

    if network.activation is not None or not (network.is_linear or network.width == 1):
        raise _check.InputError(
            "only linear networks and single gates have a radius: verify the filter on fresh rows"
        )
    if intercept and not network.is_linear:
        raise _check.InputError("a gate with an intercept has no radius: fit it without one")
    outputs = network(weights, X)
    sizes = np.abs(y - outputs - intercept)
    seen = X @ network.mean_gate.T
    if intercept:
        seen = np.hstack([seen, np.ones((len(X), 1))])
    rounding = ROUNDING * (np.abs(X) @ (np.abs(weights) @ network.magnitude) + np.abs(y))
    rounding += ROUNDING * abs(intercept)
    relu = not network.is_linear and network.leak == 0.0
    slope = network.leak if network.leak > 0.0 else 1.0
    best: tuple[float, Agreement] = (math.inf, Agreement(seen[:0]))
    failing = delta(confidence) / (2.0 if relu else 1.0)
    total = noise * math.sqrt(float(stats.chi2.isf(failing, len(y))))  # bounds the root of Σζ²
    for explained in EXPLAINED if noise else (0.0,):
        for honest in HONEST if noise and relu else (math.inf if noise else 0.0,):
            limit = np.maximum(explained * noise if noise else 0.0, rounding)
            inside: Mask = sizes <= limit
            level = 2.0 * rounding if noise == 0.0 else np.full(len(y), honest * noise) + limit
            if relu:
                inside &= np.abs(outputs) > level
            if not inside.any():
                continue
            unusual = 0
            if noise and relu:
                chance = float(2.0 * stats.norm.sf(honest))
                unusual = int(stats.binom.isf(failing / len(HONEST), len(y), chance))
            agreement, exceptions = Agreement(seen[inside]), tampered + unusual
            found = agreement.within(exceptions, float(level[inside].max()) / slope)
            if noise:
                mean = float(np.sqrt((sizes[inside] ** 2).mean())) + total / math.sqrt(inside.sum())
                found = min(found, agreement.within_mean(exceptions, mean / slope))
            best = min(best, (found, agreement), key=lambda one: one[0])
    radius, agreement = best
    law = f"The honest noise is normal and independent, with a standard deviation of {noise:.4g}."
    budget = f"At most {counted(tampered, 'label')} of the {len(y):,} rows were tampered with."
    return FilterDistance(
        kind="plug-in" if estimated else "theorem", about="table", radius=radius,
        confidence=confidence if noise else 1.0,
        assumptions=(stated("noise", law) if noise else EXACT, stated("budget", budget)),
        tampered=tampered, noise=noise, rows=len(agreement.rows), smallest=agreement.smallest,
    )  # fmt: skip
