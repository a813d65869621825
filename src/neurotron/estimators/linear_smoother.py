"""`LinearSmoother`: a regressor that knows how far changed labels can have moved a prediction."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from neurotron import _check
from neurotron._threads import no_warnings
from neurotron._types import Array
from neurotron.estimators.linearity import CANCELLING, TOLERANCE, NotLinear, smoother_matrix
from neurotron.theory.smoother import largest_rise, room_of


class LinearSmoother(MetaEstimatorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor whose predictions are linear in the labels, with the ceilings that it then has.

    Least squares, ridge and kernel ridge regression, nearest neighbors, splines, and means of
    Gaussian processes with a fixed kernel are such regressors. A fit tests this, and refuses all
    others (docs/theory.md, section (k)).

    Parameters
    ----------
    estimator
        The scikit-learn regressor. It is copied, never changed.

    Attributes
    ----------
    estimator_
        The fitted copy.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from neurotron.estimators import LinearSmoother
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = LinearSmoother(LinearRegression()).fit(X, y)
    >>> model.predict_bounds([[1.5], [3.0]], m=1, bound=1.0).round(2)
    array([[3.75, 4.25],
           [6.3 , 7.7 ]])
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Fit the labels, and find out how predictions depend on them.

        Parameters
        ----------
        X
            Inputs, in any form that the regressor takes.
        y
            Labels, shape (N,).

        Returns
        -------
        self
            The fitted regressor.
        """
        self._labels = labels = _check.array("y", y, ("N",), _check.LARGEST)
        self.estimator_ = clone(self.estimator).fit(X, np.array(labels))
        try:
            smoother_matrix(self.estimator, X, labels, X, bound=math.inf, seed=0)
            with no_warnings():  # regressors may warn about labels that are columns of 0 and 1
                self._effects = clone(self.estimator).fit(X, np.eye(len(labels)))
        except (NotLinear, ValueError) as error:  # the latter: it takes one column of labels
            raise _check.InputError(
                f"{type(self.estimator).__name__} has no ceiling for changed labels: {error}"
            ) from error
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions of the regressor, shape (N,)."""
        check_is_fitted(self)
        return np.ravel(np.asarray(self.estimator_.predict(X), np.float64))

    def predict_bounds(self, X: Any, m: int, *, bound: float = math.inf) -> Array:
        """Return between which numbers each prediction from the clean labels is.

        Parameters
        ----------
        X
            Inputs.
        m
            The most labels of the fit that were changed.
        bound
            The largest change of a label.

        Returns
        -------
        bounds
            The lowest and the highest prediction, shape (N, 2). Each is attained by a change of m
            labels. They are infinite if the bound is, unless m is 0.
        """
        m = _check.integer("m", m, 0)
        predicted, room = self.predict(X), room_of(self._labels, bound)
        H = np.reshape(np.asarray(self._effects.predict(X), np.float64), (len(predicted), -1))
        away = float(np.abs(H @ self._labels - predicted).max())
        rounding = CANCELLING * float(np.abs(self._labels).max())
        if not away <= TOLERANCE * float(np.abs(predicted).max()) + rounding:
            raise _check.InputError(
                f"{type(self.estimator).__name__} has no ceiling for these rows, because what it "
                "predicts for them is not linear in the labels"
            )
        falls, rises = (largest_rise(sign * H, room, m) for sign in (-1.0, 1.0))
        return np.column_stack([predicted - falls, predicted + rises])
