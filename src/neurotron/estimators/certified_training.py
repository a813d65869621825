"""`CertifiedTrainingRegressor`: linear regression by Neuro-Tron, with a bound on any poisoning."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from neurotron import _check
from neurotron._types import Array
from neurotron.estimators.parameters import seed_of
from neurotron.estimators.table import inputs_of, labels_of, large_enough
from neurotron.networks import linear
from neurotron.problem import Problem
from neurotron.simulation import simulate
from neurotron.theory.moved_labels import quartic
from neurotron.trainers import NeuroTron

__all__ = ["LEAST_STEPS", "MOST_STEPS", "CertifiedTrainingRegressor"]

FORGETS = 10.0
"""The step size is this over the number of steps, so that exp(−10) of the start is left."""
CALM = 0.1
"""The largest step size, times the fourth moment of the rows and over the batch size."""
LEAST_STEPS, MOST_STEPS = 100, 1_000_000
DETERMINED = 1e-10
"""Directions whose second moment is below this part of the largest are left out."""


class CertifiedTrainingRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A linear regression that is trained by Neuro-Tron on rows drawn with replacement.

    The columns are whitened first, and the training tends to the least-squares fit. It is linear in
    the labels, so how far labels that are changed before the training can move predictions is
    bounded. The bound is that of least squares plus what the draws add. So this model is as easy
    to poison as least squares, and the bound says how easy that is.

    Parameters
    ----------
    steps
        The number of steps, at least; there are more if the rows are of very different lengths.
    batch_size
        The number of rows in a step.
    random_state
        The seed of the draws, or a NumPy RandomState; None for a different one each time.

    Attributes
    ----------
    coef_
        The coefficient of each column, shape (n_features_in_,).
    intercept_
        The constant.
    step_size_
        The step size, which depends on the inputs but not on the labels.
    n_iter_
        The number of steps.
    rows_
        The whitened rows, shape (N, r).
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from neurotron.estimators.certified_training import CertifiedTrainingRegressor
    >>> x = np.arange(20.0)
    >>> model = CertifiedTrainingRegressor().fit(x[:, None], 2.0 * x + 1.0)
    >>> model.coef_.round(2), round(model.intercept_, 2)
    (array([2.]), 1.0)
    """

    def __init__(
        self,
        *,
        steps: int = 2_000,
        batch_size: int = 16,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.steps = steps
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train a linear model.

        Parameters
        ----------
        X
            Inputs, shape (N, n): numbers, finite and dense.
        y
            Labels, shape (N,).

        Returns
        -------
        self
            The fitted regressor.
        """
        steps = _check.integer("steps", self.steps, LEAST_STEPS, MOST_STEPS)
        batch_size = _check.integer("batch_size", self.batch_size, 1, 10_000)
        rows = inputs_of(self, X, reset=True)
        labels = labels_of(self, rows, y)
        rows, labels = large_enough(self, rows, labels)
        self._learn_units(rows)
        self.rows_ = self._in_units(rows) @ self._frame
        calm = CALM * batch_size / quartic(self.rows_)
        self.n_iter_ = min(max(steps, math.ceil(FORGETS / calm)), MOST_STEPS)
        self.step_size_ = FORGETS / self.n_iter_
        mean = float(labels.mean())
        inside = self._frame @ self._trained(labels - mean, batch_size)
        self.coef_ = inside[:-1] / self._scale
        self.intercept_ = float(mean + inside[-1] - self._centre @ self.coef_)
        return self

    def predict(self, X: Any) -> Array:
        """Return the labels that the model expects for the inputs X, shape (N,)."""
        check_is_fitted(self)
        rows = inputs_of(self, X, reset=False)
        return np.asarray(rows @ self.coef_ + self.intercept_)

    def whitened(self, X: Any) -> Array:
        """Return inputs with an intercept, in units in which the rows of the fit are white."""
        check_is_fitted(self)
        return self._in_units(inputs_of(self, X, reset=False)) @ self._frame

    def _in_units(self, rows: Array) -> Array:
        units = (rows - self._centre) / self._scale
        return np.column_stack([units, np.ones(len(units))])

    def _learn_units(self, rows: Array) -> None:
        self._centre, spread = rows.mean(axis=0), rows.std(axis=0)
        self._scale = np.where(spread > 0.0, spread, 1.0)
        units = self._in_units(rows)
        values, vectors = np.linalg.eigh(units.T @ units / len(units))
        kept = values > DETERMINED * values[-1]
        self._frame = vectors[:, kept] / np.sqrt(values[kept])

    def _trained(self, labels: Array, batch_size: int) -> Array:
        """Return the weights after training on the whitened rows, from 0.

        Labels are divided by their size, because weights of any size that grow beyond a fixed limit
        are taken for diverged.
        """
        start, unit = np.zeros(self.rows_.shape[1]), float(np.abs(labels).max())
        if unit == 0.0:
            return start
        problem = Problem.from_rows(
            linear(len(start)), self.rows_, labels / unit, replacement=True, initial_weights=start
        )
        run = simulate(
            problem, NeuroTron(self.step_size_, sensing="mean"), steps=self.n_iter_,
            batch_size=batch_size, seed=seed_of(self.random_state), record=self.n_iter_,
        )  # fmt: skip
        if "interrupted" in run.status:
            raise KeyboardInterrupt
        if "diverged" in run.status:
            raise _check.InputError(
                "the training diverged, because some rows are too far from the others: leave them "
                "out"
            )
        return np.asarray(unit * run.weights[0])
