r"""What no attack can exceed: a change of at most k labels of a fit, each by at most θ.

**Predictions that are linear in the labels** have ceilings by `theory.smoother`.

**A proof on the rows** gives one for `NeuroTronRegressor`. Let a fit to the clean labels explain
all but u of the rows exactly, and be proved against p tampered rows. For the poisoned table and the
clean filter at most k + u rows are tampered with. So by the counting lemma of docs/theory.md (i), a
fit to the poisoned labels that is proved against k + u rows *is* the clean one, and predicts the
same up to rounding, whatever θ is. And if p ≥ 2k + u, a fit that finds the clean filter explains
all rows as before, except for at most k; if p is by hyperplanes, it is proved against so many rows
for sure. What is not proved is that the search finds it. If it does not, `Proof.proved` is below
k + u, which says so. So no damage goes unnoticed, but there may be damage. Proofs that assume rows
in general position do not count: nobody can check that.

**Models that bound their own predictions** are `CertifiedHuberRegressor`, with the clip that it
chose for the clean labels, and `MedianOfParts`. Their ceilings assume nothing, and hold for changes
of any size.

There is no ceiling by `verify`: it is about one model that is at hand, not about all models that an
attacker could cause.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from neurotron._digits import counted, readable
from neurotron._types import Array
from neurotron.auditing.attackers import Scene
from neurotron.estimators import CertifiedHuberRegressor, MedianOfParts, NeuroTronRegressor
from neurotron.solvers.proof import GENERAL
from neurotron.theory.smoother import largest_rise

SIX_DIGITS = 1e-6
"""Equal filters are equal up to this part of the largest label, on rows of the size of those of the
fit. A fit that differs by more is seen to, and the audit then gives no ceiling."""


class Most(NamedTuple):
    """What no attack within a budget exceeds on the test rows."""

    error: float
    """The rise of the root mean squared error."""
    mean: float
    """The absolute change of the mean prediction."""
    worst: float
    """The largest absolute change of a prediction."""
    needs: int | None = None
    """It is about fits that are proved against so many rows, `Proof.proved`; None if all are."""
    theorem: str = ""
    """What it says, if it is a theorem about this estimator that assumes nothing."""

    def covers(self, fitted: Any) -> bool:
        """Return whether the ceiling is about this fit to poisoned labels: whether it reports it.

        A fit that is not covered does not go unnoticed, because it reports no such proof itself.
        """
        if self.needs is None:
            return True
        proof = fitted.certificate_
        return proof is not None and proof.proved >= self.needs


def by_proof(model: Any, y: Array, rows: int) -> Most | str:
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
    Most or str
        The ceiling, or why there is none; an empty text if the regressor is another one.
    """
    if not isinstance(model, NeuroTronRegressor):
        return ""
    check_is_fitted(model)
    proof, left = model.solution_.proof, int((~model.solution_.explained).sum())
    if proof.proved < 0:
        known = GENERAL in proof.assumptions
        why = "that they are in general position cannot be checked" if known else proof.reason
        return f"the rows do not prove its filter: {why}"
    needs = rows + left
    if proof.proved < rows + needs:
        return (
            f"the rows prove its filter against {proof.proved:,} tampered rows, and a ceiling "
            f"for {rows:,} needs {rows + needs:,}"
        )
    same = SIX_DIGITS * float(np.abs(y).max())
    return Most(same, same, same, needs)


def settled(estimator: Any, fitted: Any) -> Any:
    """Return the estimator with what a fit to clean labels chose once, which then stays."""
    if isinstance(fitted, CertifiedHuberRegressor):
        return clone(estimator).set_params(clip=fitted.clip_)
    return estimator


def by_bounds(model: Any, scene: Scene, rows: int) -> Most | str:
    """Return how far an attacker can move the predictions of a model that says so itself.

    Parameters
    ----------
    model
        A regressor that is fitted to clean labels.
    scene
        What attackers know about the split.
    rows
        The most labels that are changed.

    Returns
    -------
    Most or str
        The ceiling, or why there is none; an empty text if the regressor does not say.
    """
    if not isinstance(model, CertifiedHuberRegressor | MedianOfParts):
        return ""
    split, many = scene.split, f"{counted(rows, 'label')} can move a prediction without any limit"
    if isinstance(model, MedianOfParts) and rows > len(model.estimators_) // 2:
        return f"{many}: it has only {len(model.estimators_):,} parts"
    predicted = split.test_y + scene.residuals
    ends = model.predict_bounds(split.test_X, rows, bound=scene.bound)
    if not np.isfinite(ends).all():
        return f"{many}, as far as is known"
    away = ends - predicted[:, None]
    farthest = np.abs(ends - split.test_y[:, None]).max(axis=1)
    error = rms(farthest) - rms(scene.residuals)
    mean, worst = float(np.abs(away.mean(axis=0)).max()), float(np.abs(away).max())
    if isinstance(model, MedianOfParts):
        return Most(error, mean, worst, theorem=OF_PARTS)
    shift = model.damage_bound(rows, scene.bound, X=split.test_X)
    theorem = OF_CLIP.format(clip=readable(model.clip_, 4))
    return Most(min(error, shift), min(mean, shift), worst, theorem=theorem)


OF_PARTS = (
    "The ceilings hold for every change of so many labels, because each label is in one part of "
    "the rows only."
)
OF_CLIP = (
    "The ceilings hold for every change of so many labels and for fits with the same clip, which "
    "each split chooses once, for its clean labels: {clip} on the first split."
)


def exact_ceiling(scene: Scene, most: int) -> Most:
    """Return the ceiling for changes of at most `most` labels."""
    matrix = scene.exact
    mean = matrix.mean(axis=0, keepdims=True)
    worst, of_mean = (
        float(largest_rise(np.concatenate([rows, -rows]), scene.room, most).max())
        for rows in (matrix, mean)
    )
    return Most(_error(scene, most), of_mean, worst)


def _error(scene: Scene, most: int) -> float:
    """Return a bound on the rise of the root mean squared error.

    With residuals r and changes d = He of the predictions, the mean squared error rises by
    2 mean(rd) + mean(d²). The first term is linear in the change e of the labels, so its largest
    value is exact, and the second one is at most the square of the bound on the root mean square
    of d. That bound itself is another one, by the triangle inequality.
    """
    residuals, matrix = scene.residuals, scene.exact
    shift = scene.rms_ceiling.at(most)
    along = residuals[None, :] @ matrix / len(residuals)
    linear = float(largest_rise(along, scene.room, most)[0])
    before = rms(residuals)
    return min(shift, math.sqrt(before**2 + 2.0 * linear + shift**2) - before)


def harmless_rows(scene: Scene, limit: float) -> int:
    """Return up to how many labels can be changed without raising the error by more than `limit`.

    The bound rises with the number of labels, so bisection finds it.
    """
    low, high = 0, len(scene.split.y)
    while low < high:
        middle = (low + high + 1) // 2
        if _error(scene, middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def rms(values: Array) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt(np.mean(values**2)))
