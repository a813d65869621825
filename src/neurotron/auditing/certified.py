r"""Ceilings for the regressors of this package, on the change of predictions for untouched rows.

An attacker changes at most k of the labels of a fit, each by at most θ.

**A proof on the rows** (`NeuroTronRegressor`). Let a fit to the clean labels explain all but u of
the rows exactly, and be proved against p tampered rows. For the poisoned table and the clean filter
at most k + u rows are tampered with. So by the counting lemma of docs/theory.md (i), a fit to the
poisoned labels that is proved against k + u rows *is* the clean one, and predicts the same up to
rounding, whatever θ is. And if p ≥ 2k + u, every fit that finds the clean filter is proved
against so many rows: it explains all rows as before, except for at most k. What is not proved is
that the search finds it. If it does not, ``proven_against_`` is below k + u, which says so. So no
damage goes unnoticed, but there may be damage. Proofs that assume rows in general position do not
count: nobody can check that.

**Certified training** (`CertifiedTrainingRegressor`). Its predictions are linear in the labels.
Those of the mean over all draws have an exact ceiling, and `theory.moved_labels` bounds the mean
square of the deviation from the mean. By Chebyshev's inequality it is at most :math:`\sqrt{q/ε}`
with probability 1 − ε, for an attacker who does not know which rows will be drawn.

There is no ceiling by `verify`: it is about one model that is at hand, not about all models that an
attacker could cause.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neurotron import _check
from neurotron._types import Array
from neurotron.estimators import NeuroTronRegressor
from neurotron.estimators.certified_training import CertifiedTrainingRegressor
from neurotron.solvers.proof import GENERAL
from neurotron.theory.moved_labels import moved_mean, moved_spread

__all__ = ["Certified", "certified_ceiling"]

SIX_DIGITS = 1e-6
"""Equal filters are equal up to this part of the largest label, on rows of the size of those of the
fit. A fit that differs by more is seen to, and the audit then gives no ceiling."""
ROUNDING = 1e-9
"""The part of the largest label that rounding may add during training."""
FAILURE = 0.05
"""The probability that a ceiling of certified training does not hold."""
BLOCK = 4_000_000
"""Entries of a matrix that is held at a time."""


class Certified(NamedTuple):
    """What no attack within a budget exceeds on the test rows."""

    error: float
    """The root mean squared change of the predictions."""
    mean: float
    """The absolute change of the mean prediction."""
    worst: float
    """The largest absolute change of a prediction."""
    kind: str
    """When the ceilings hold, in sentences."""
    needs: int | None = None
    """It is about fits whose `proven_against_` is at least this number; None if about all fits."""

    def covers(self, fitted: Any) -> bool:
        """Return whether the ceiling is about this fit to poisoned labels: whether it reports it.

        A fit that is not covered does not go unnoticed, because it reports no such proof itself.
        """
        if self.needs is None:
            return True
        proof = fitted.certificate_
        return proof is not None and proof.kind == "proved" and proof.tampered >= self.needs


def certified_ceiling(
    model: Any, X: Any, y: Any, test: Any, *, bound: float, rows: int, seed: int = 0
) -> Certified | str:
    """Return how far an attacker can move the predictions of a regressor of this package.

    Parameters
    ----------
    model
        A regressor that is fitted to clean labels.
    X, y
        The rows of the fit and their clean labels.
    test
        The rows whose predictions are asked for.
    bound
        θ, the largest change of a label.
    rows
        k, the most labels that are changed.
    seed
        Not used: nothing is random.

    Returns
    -------
    Certified or str
        The ceiling, or why there is none; an empty text if the regressor is not one of this
        package.
    """
    del X, seed
    theta = _check.number("bound", bound, "[0, inf]")
    most = _check.integer("rows", rows, 0)
    labels = np.asarray(y, np.float64)
    if isinstance(model, NeuroTronRegressor | CertifiedTrainingRegressor):
        check_is_fitted(model)
    if isinstance(model, NeuroTronRegressor):
        return _by_proof(model, labels, most)
    if isinstance(model, CertifiedTrainingRegressor):
        return _by_training(model, labels, test, theta, most)
    return ""


# ---- a proof on the rows -------------------------------------------------------------------------


def _by_proof(model: NeuroTronRegressor, labels: Array, most: int) -> Certified | str:
    proof, left = model.solution_.proof, int((~model.solution_.explained).sum())
    if proof.kind != "proved":
        known = proof.kind == GENERAL
        why = "that they are in general position cannot be checked" if known else proof.reason
        return f"the rows do not prove its filter: {why}"
    needs = most + left
    if proof.tampered < most + needs:
        return (
            f"the rows prove its filter against {proof.tampered:,} tampered rows, and a ceiling "
            f"for {most:,} needs {most + needs:,}"
        )
    same = SIX_DIGITS * float(np.abs(labels).max())
    kind = (
        f"The ceilings hold if clean labels are exact, for fits whose proven_against_ is "
        f"{needs:,} or more. Other fits may be off by more, and say so by a smaller one."
    )
    return Certified(same, same, same, kind, needs)


# ---- certified training --------------------------------------------------------------------------


def _by_training(
    model: CertifiedTrainingRegressor, labels: Array, test: Any, bound: float, most: int
) -> Certified | str:
    if not math.isfinite(bound):
        return "a label may be moved by any amount, and predictions move in proportion"
    rows, asked = model.rows_, model.whitened(test)
    spread = moved_spread(
        rows, bound=bound, most=most, step_size=model.step_size_, batch_size=model.batch_size
    )
    if not math.isfinite(spread):
        return "some rows are so far from the others that its steps are too large for a bound"
    mean = asked.mean(axis=0, keepdims=True)
    paths = _mean_paths(model, np.concatenate([asked, mean]), bound, most)
    away = spread / math.sqrt(FAILURE)
    stretch = math.sqrt(float(np.linalg.eigvalsh(asked.T @ asked / len(asked))[-1]))
    lengths = np.linalg.norm(asked, axis=1)
    of_mean = min(
        stretch * moved_mean(rows, bound=bound, most=most),
        math.sqrt(float((paths[:-1] ** 2).mean())),
    )
    rounding = ROUNDING * (float(np.abs(labels).max()) + bound)
    return Certified(
        error=of_mean + stretch * away + rounding,
        mean=float(paths[-1] + np.linalg.norm(mean) * away) + rounding,
        worst=float((paths[:-1] + lengths * away).max()) + rounding,
        kind=f"The ceilings hold with {100.0 * (1.0 - FAILURE):g} % confidence, if the attacker "
        "does not know which rows will be drawn.",
    )


def _mean_paths(
    model: CertifiedTrainingRegressor, asked: Array, bound: float, most: int
) -> Array:  # fmt: skip
    """Return the largest change of each prediction in the mean over the draws.

    In the mean, a label has the effect ((1 − ρ) aᵀz + ρ)/N on the prediction for the row a, where
    ρ is the part of the start, the mean of the labels, that training has not forgotten.
    """
    count = len(model.rows_)
    left = (1.0 - model.step_size_) ** model.n_iter_
    kept = min(most, count)
    largest = np.zeros(len(asked))
    block = max(1, BLOCK // count)
    for start in range(0, len(asked), block):
        here = slice(start, start + block)
        effects = np.abs((1.0 - left) * asked[here] @ model.rows_.T + left) / count
        if kept:
            largest[here] = np.partition(effects, count - kept, axis=1)[:, count - kept :].sum(1)
    return bound * largest
