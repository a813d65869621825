"""Fits of the audited estimator: cloned, with fixed random states, and with errors in one line."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.auditing.splits import Split
from neurotron.estimators.copies import shown

INNER = ("best_estimator_", "regressor_", "estimator_", "final_estimator_")
"""Where searches and wrappers keep the model that they fitted."""


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted estimator, and what it predicts for the test rows."""

    estimator: Any
    predictions: Array

    @property
    def parameters(self) -> Array | None:
        """The coefficients of the fitted model, if it has any."""
        model = self.estimator
        for _ in range(10):  # a model may hold itself
            steps = getattr(model, "steps", None)
            inside = [getattr(model, name) for name in INNER if hasattr(model, name)]
            if hasattr(model, "coef_") or not (steps or inside):
                break
            model = steps[-1][1] if steps else inside[0]
        for name in ("coef_", "weights_"):
            try:
                found = np.asarray(getattr(model, name, None), np.float64)
            except (TypeError, ValueError):
                continue
            if found.ndim >= 1 and np.isfinite(found).all():
                return found.ravel()
        return None


def fit(estimator: Any, split: Split, labels: Array) -> FittedEstimator:
    """Fit a clone to these labels; whatever it raises becomes one sentence."""
    from sklearn.base import clone

    model = clone(estimator)
    try:
        model.fit(deepcopy(split.X), labels.copy())  # it may change what it is given
        predictions = predicted(model, split.test_X)
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        reason = _check.shorten(" ".join(f"{type(error).__name__}: {error}".split()))
        raise _check.InputError(f"{shown(estimator)} cannot be fitted: {reason}") from error
    if predictions.shape != split.test_y.shape:
        raise _check.InputError(
            f"{shown(estimator)} must predict one number for each row, got an array of shape "
            f"{predictions.shape}"
        )
    if not np.isfinite(predictions).all():
        raise _check.InputError(f"{shown(estimator)} predicts numbers that are not finite")
    return FittedEstimator(model, predictions)


def predicted(model: Any, X: Any) -> Array:
    """Return what a fitted model predicts; it may change what it is given."""
    return np.asarray(model.predict(deepcopy(X)), np.float64)
