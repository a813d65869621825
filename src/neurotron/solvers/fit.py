"""How a filter fits all rows, and what that proves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neurotron import _check
from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork
from neurotron.residuals.robust import BISQUARE
from neurotron.solvers.linearized import Linearized, blocks_of, outputs_of
from neurotron.solvers.position import ROUNDING, SIX_DIGITS
from neurotron.solvers.proof import Proof, nothing, prove


@dataclass(frozen=True, eq=False)
class Fit:
    """How a filter fits all rows."""

    noise: float
    explained: Mask
    rejected: Mask
    deviations: Array
    rounding: float
    """The largest residual of an explained row that counts as rounding."""

    @classmethod
    def of(
        cls,
        network: FilterNetwork,
        X: Array,
        y: Array,
        weights: Array,
        intercept: float,
        scale: float,
        label_unit: float,
    ) -> Fit:
        """Return which rows a filter explains, and how suspicious the others are."""
        sizes, terms = np.empty(len(y)), np.empty(len(y))
        factors = np.abs(weights) @ network.magnitude
        for here in blocks_of(network, len(y)):
            sizes[here] = np.abs(y[here] - outputs_of(network, weights, X[here]) - intercept)
            terms[here] = np.abs(X[here]) @ factors
        rounding = ROUNDING * (terms + np.abs(y) + abs(intercept) + label_unit + network.at_zero)
        explained = sizes <= rounding
        rejected = sizes > np.maximum(BISQUARE * scale, rounding)
        exact = 2 * explained.sum() > (~rejected).sum()
        deviations = sizes / np.maximum(np.maximum(scale, rounding), np.finfo(float).tiny)
        freeze = _check.freeze
        noise = 0.0 if exact else scale
        largest = float(rounding[explained].max(initial=0.0))
        return cls(noise, freeze(explained), freeze(rejected), freeze(deviations), largest)

    def rejecting(self, where: Mask, rejected: Mask) -> Fit:
        """Return the same fit, where more rows are rejected."""
        mask = self.rejected.copy()
        mask[where] |= rejected
        return replace(self, rejected=_check.freeze(mask))


def proof_of(rows: Linearized, X: Array, weights: Array, fit: Fit, counted: Mask) -> Proof:
    """Return what the rows prove, unless noise, rounding or other rows speak against it."""
    explained = fit.explained & counted
    if fit.noise > 0.0:
        return nothing("the labels have noise")
    if rows.network.activation is not None:
        return prove(rows.network, X, weights, explained, intercept=rows.intercept)
    if _is_coarse(rows, X, weights, fit, explained):
        return nothing(
            "rounding hides too much of the labels, or columns are nearly dependent, or their "
            "sizes differ too much"
        )
    proof = prove(
        rows.network, X, weights, explained, intercept=rows.intercept, rounding=fit.rounding
    )
    against = int((counted & ~fit.explained).sum())
    if 0 <= proof.tampered < against:
        return nothing(
            f"{against:,} rows contradict it, and a proof holds only for up to {proof.tampered:,} "
            "tampered rows"
        )
    if 0 <= proof.unconditional < against:
        return replace(proof, unconditional=-1)
    return proof


def _is_coarse(rows: Linearized, X: Array, weights: Array, fit: Fit, explained: Mask) -> bool:
    """Return whether rounding could make another filter explain rows that it does not share.

    Rounding must be far below the spread of the outputs divided by the number of rows, and below
    what nearly dependent columns, or those with the smallest values, need for weights with six
    digits.
    """
    spread = float(rows.network(weights, X[explained]).std()) if explained.any() else 0.0
    sizes = np.linalg.norm(np.linalg.pinv(rows.coordinates), axis=0)
    largest = float(np.linalg.norm(rows.coordinates * sizes[:, None], 2))
    seen = SIX_DIGITS * float(np.linalg.norm(weights) * sizes[: len(weights)].min())
    return fit.rounding > min(spread / max(3e5 * len(X), 3e7 * largest), seen)
