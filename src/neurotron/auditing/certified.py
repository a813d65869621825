"""The ceiling by proof of `NeuroTronRegressor`, on the change of predictions for untouched rows.

An attacker changes at most k of the labels of a fit, each by at most θ. Let a fit to the clean
labels explain all but u of the rows exactly, and be proved against p tampered rows. For the
poisoned table and the clean filter at most k + u rows are tampered with. So by the counting lemma
of docs/theory.md (i), a fit to the poisoned labels that is proved against k + u rows *is* the clean
one, and predicts the same up to rounding, whatever θ is. And if p ≥ 2k + u, every fit that finds
the clean filter is proved against so many rows: it explains all rows as before, except for at most
k. What is not proved is that the search finds it. If it does not, ``proven_against_`` is below k +
u, which says so. So no damage goes unnoticed, but there may be damage. Proofs that assume rows in
general position do not count: nobody can check that.

There is no ceiling by `verify`: it is about one model that is at hand, not about all models that an
attacker could cause.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from neurotron._types import Array
from neurotron.estimators import NeuroTronRegressor
from neurotron.solvers.proof import GENERAL

__all__ = ["Certified", "certified_ceiling"]

SIX_DIGITS = 1e-6
"""Equal filters are equal up to this part of the largest label, on rows of the size of those of the
fit. A fit that differs by more is seen to, and the audit then gives no ceiling."""


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


def certified_ceiling(model: Any, y: Array, rows: int) -> Certified | str:
    """Return how far an attacker can move the predictions of `NeuroTronRegressor`.

    Parameters
    ----------
    model
        A regressor that is fitted to clean labels.
    y
        The clean labels.
    rows
        k, the most labels that are changed.

    Returns
    -------
    Certified or str
        The ceiling, or why there is none; an empty text if the regressor is another one.
    """
    if not isinstance(model, NeuroTronRegressor):
        return ""
    check_is_fitted(model)
    proof, left = model.solution_.proof, int((~model.solution_.explained).sum())
    if proof.kind != "proved":
        known = proof.kind == GENERAL
        why = "that they are in general position cannot be checked" if known else proof.reason
        return f"the rows do not prove its filter: {why}"
    needs = rows + left
    if proof.tampered < rows + needs:
        return (
            f"the rows prove its filter against {proof.tampered:,} tampered rows, and a ceiling "
            f"for {rows:,} needs {rows + needs:,}"
        )
    same = SIX_DIGITS * float(np.abs(y).max())
    kind = (
        f"The ceilings hold if clean labels are exact, for fits whose proven_against_ is "
        f"{needs:,} or more. Other fits may be off by more, and say so by a smaller one."
    )
    return Certified(same, same, same, kind, needs)
