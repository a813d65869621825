"""`MedianOfParts`: any regressor, with a bound on what changed labels can do to its predictions.

A label is in one part of the rows, so m changed labels change at most m of the L predictions, and
move each of their order statistics by at most m places (Hammoudeh and Lowd, 2022, "Reducing
certified regression to certified classification for general poisoning attacks").
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.estimators.copies import checked, prepared
from neurotron.estimators.table import labels_of, rows_of


class MedianOfParts(MetaEstimatorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The median of regressors that are fitted to parts of the rows, with a bound on all poison.

    The rows are split into parts at random, whatever their labels are, and a copy of the regressor
    is fitted to each part. Every regressor, network or tree gets a bound in this way: see
    `predict_bounds`. The price is that each copy sees only one part of the rows.

    Parameters
    ----------
    estimator
        A regressor of scikit-learn, also a pipeline or a search, which then tunes within each part.
        It is copied, never changed, and all its random numbers are the same at every fit.
    parts
        L, the number of parts, odd. The bounds are for up to (L − 1)/2 changed labels; for m of
        them, take four times as many parts or more, or the bounds are the smallest and the largest
        of few predictions.
    random_state
        The seed by which the rows are split, and of the regressor.

    Attributes
    ----------
    estimators_
        The fitted copies.
    parts_
        The rows of each part, as a list of arrays.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> draw = np.random.default_rng(0)
    >>> X = draw.uniform(size=(900, 2))
    >>> y = np.sin(3.0 * X[:, 0]) + 0.1 * draw.standard_normal(900)
    >>> y[:5] = 1e6
    >>> model = nt.MedianOfParts(DecisionTreeRegressor(max_depth=3), parts=21).fit(X, y)
    >>> model.predict_bounds([[0.5, 0.5]], m=5).round(2)  # whatever 5 labels were
    array([[0.85, 0.92]])
    """

    def __init__(self, estimator: Any, parts: int = 21, *, random_state: int = 0) -> None:
        self.estimator = estimator
        self.parts = parts
        self.random_state = random_state

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Fit a copy of the regressor to each part of the rows.

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
        checked("estimator", self.estimator)
        parts = _check.integer("parts", self.parts, 1)
        seed = _check.integer("random_state", self.random_state, 0)
        if parts % 2 == 0:
            raise _check.InputError(
                f"`parts` must be odd, so that the median is one of the predictions, got {parts}"
            )
        (table,), labels = indexable(X), labels_of(self, X, y)
        if len(labels) < parts:
            raise _check.InputError(
                f"there are fewer rows than `parts`, got n_samples = {len(labels):,}, "
                f"parts = {parts:,}: set `parts` to fewer"
            )
        order = _seeds.generator(seed, "parts").permutation(len(labels))
        self.parts_ = [np.sort(part) for part in np.array_split(order, parts)]
        self.estimators_ = [
            prepared(self.estimator, seed).fit(rows_of(table, part), labels[part])
            for part in self.parts_
        ]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))
        return self

    def predict(self, X: Any) -> Array:
        """Return the median of the predictions of all parts, shape (N,)."""
        return self._ordered(X)[len(self.estimators_) // 2]

    def predict_bounds(self, X: Any, m: int, *, bound: float = math.inf) -> Array:
        """Return between which numbers each prediction from the clean labels is.

        This is a theorem without any assumption about labels, rows or attacker. An attacker who
        can make a part predict anything reaches both ends from clean labels.

        Parameters
        ----------
        X
            Inputs.
        m
            The most labels of the fit that were changed: at most (L − 1)/2.
        bound
            The largest change of a label. The bounds do not depend on it.

        Returns
        -------
        bounds
            The lowest and the highest prediction, shape (N, 2).
        """
        ordered, middle = self._ordered(X), len(self.estimators_) // 2
        m = _check.integer("m", m, 0)
        _check.number("bound", bound, "[0, inf]")
        if m > middle:
            raise _check.InputError(
                f"`m` must be at most {middle}, because more than {middle} changed labels can "
                f"change the median of {len(self.estimators_)} parts to anything, got {m}: set "
                f"`parts` to {2 * m + 1} or better {4 * m + 1}, and fit again"
            )
        return np.column_stack([ordered[middle - m], ordered[middle + m]])

    def _ordered(self, X: Any) -> Array:
        """Return the predictions of all parts, in ascending order for each row, (L, N)."""
        check_is_fitted(self)
        every = [np.ravel(np.asarray(one.predict(X), np.float64)) for one in self.estimators_]
        return np.sort(every, axis=0)  # poison may make a part predict NaN, which counts as large

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit") and not isinstance(self.estimator, type):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags
