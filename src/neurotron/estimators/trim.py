"""`TrimRegressor`: TRIM, a rival of `NeuroTronRegressor`, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from neurotron import _check
from neurotron._types import Array
from neurotron.estimators.held_out import HoldsOut
from neurotron.estimators.table import inputs_of, labels_of, large_enough
from neurotron.networks import linear
from neurotron.solvers import rivals

HALF = 0.5
"""The share of rows that is left out if no share is given."""


class TrimRegressor(HoldsOut, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A linear regression of the rows that it explains best (TRIM).

    It fits some of the rows by least squares, keeps those with the smallest residuals, and repeats
    this until nothing changes. It is for comparison, and does better the more exactly it is told
    how many labels are poisoned; `NeuroTronRegressor` need not be told.

    Parameters
    ----------
    share
        The share of the labels that are poisoned, at least 0 and below 1. So many rows are left
        out. None if it is not known: half of the rows are left out.

    Attributes
    ----------
    coef_
        The coefficient of each column, shape (n_features_in_,).
    intercept_
        The constant.
    calibration_rows_
        Which rows were held out, in order; none unless a fit is asked to.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from neurotron.estimators.trim import TrimRegressor
    >>> x = np.arange(20.0)
    >>> y = 2.0 * x + 1.0
    >>> y[:4] += 5.0
    >>> model = TrimRegressor(share=0.2).fit(x[:, None], y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.]), 1.0)
    """

    def __init__(self, share: float | None = None) -> None:
        self.share = share

    def fit(self, X: Any, y: Any, *, calibration: float | None = None) -> Self:
        """Fit the labels of the rows that fit best.

        Parameters
        ----------
        X
            Inputs, shape (N, n): numbers, finite and dense.
        y
            Labels, shape (N,).
        calibration
            The share of the rows that is held out for `predict_interval`, whatever their labels
            are.

        Returns
        -------
        self
            The fitted regressor.
        """
        share = HALF if self.share is None else _check.number("share", self.share, "[0, 1)")
        rows = inputs_of(self, X, reset=True)
        labels = labels_of(self, rows, y)
        kept = self._hold_out(X, labels, calibration, seed=0)
        rows, labels = large_enough(self, rows[kept], labels[kept])
        fitted = rivals.trim(linear(rows.shape[1]), rows, labels, intercept=True, tampered=share)
        self.coef_, self.intercept_ = fitted.weights, fitted.intercept
        return self

    def predict(self, X: Any) -> Array:
        """Return the labels that the model expects for the inputs X, shape (N,)."""
        check_is_fitted(self)
        rows = inputs_of(self, X, reset=False)
        return np.asarray(rows @ self.coef_ + self.intercept_)
