"""`CertifiedHuberRegressor`: Huber regression with a bound on what changed labels can do to it."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from neurotron import _check
from neurotron._threads import one_blas_thread
from neurotron._types import Array
from neurotron.estimators.table import inputs_of, labels_of, large_enough, weights_of
from neurotron.residuals.robust import NORMAL_MEDIAN, median
from neurotron.theory.huber import ClippedEquation
from neurotron.theory.huber_ceiling import ClippedCeiling
from neurotron.theory.label_changes import room_of

AUTO = 2.0
"""The clip that "auto" chooses, in robust standard deviations of the residuals. On normal rows with
normal noise (500 rows of 2 and 6 columns, 2,000 of 6) it had, of 1 to 8, a bound at most a fifth
above the smallest for up to 2 % changed labels, and still one where smaller clips had none."""
MOST_SCALES, SAME_SCALE = 30, 1e-3
"""How often the standard deviation is estimated for "auto", and the change that ends it."""
LEAST_SCALE = 1e-6
"""Labels that fit exactly leave no residuals; the scale is then this part of the labels' spread."""
NOT_SEEN = 1e-10
"""Directions of the standardised columns whose second moment is below this part of the largest are
left out: the rows do not determine coefficients there."""


class CertifiedHuberRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Huber regression with a fixed clip, which knows how far any changed labels can move it.

    A label pulls by its residual, but never by more than the clip. So a few labels that become
    anything move the fit by a limited distance, and `damage_bound` says by how much at most.

    Parameters
    ----------
    clip
        The largest pull of a label, in units of the labels, or infinity for least squares. "auto"
        is twice the standard deviation of the residuals, by their median. What is proved is about
        fits with the same clip: give `clip_` to another fit to compare the two.
    alpha
        The penalty on squared coefficients, in units in which each column has the standard
        deviation 1. The constant is not penalised.
    leak
        The slope of the output below 0: 1 is linear regression, less is one leaky gate.
    fit_intercept
        Whether a constant is added before the gate.

    Attributes
    ----------
    coef_, intercept_
        The coefficient of each column, shape (n_features_in_,), and the constant.
    clip_
        The clip of this fit, a number.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    See Also
    --------
    sklearn.linear_model.HuberRegressor : estimates its scale again in each fit, and has no bound.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> draw = np.random.default_rng(0)
    >>> X = draw.standard_normal((500, 5))
    >>> y = X @ [1.0, -2.0, 0.5, 0.0, 3.0] + draw.standard_normal(500)
    >>> model = nt.CertifiedHuberRegressor().fit(X, y)
    >>> y[:5] = 1e9
    >>> poisoned = nt.CertifiedHuberRegressor(clip=model.clip_).fit(X, y)
    >>> moved = np.sqrt(np.mean((poisoned.predict(X) - model.predict(X)) ** 2))
    >>> bool(moved < model.damage_bound(5) < 0.2), bool(moved < poisoned.damage_bound(5) < 0.2)
    (True, True)
    """

    def __init__(
        self,
        clip: float | str = "auto",
        *,
        alpha: float = 0.0,
        leak: float = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.clip = clip
        self.alpha = alpha
        self.leak = leak
        self.fit_intercept = fit_intercept

    @one_blas_thread()  # the last bits would depend on the number of threads
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Fit the labels.

        Parameters
        ----------
        X
            Inputs, shape (N, n): numbers, finite and dense.
        y
            Labels, shape (N,).
        sample_weight
            How much each row counts, shape (N,).

        Returns
        -------
        self
            The fitted regressor.
        """
        alpha = _check.number("alpha", self.alpha, "[0, inf)")
        leak = _check.number("leak", self.leak, "(0, 1]")
        constant = _check.instance("fit_intercept", self.fit_intercept, bool)
        automatic = isinstance(self.clip, str) and self.clip == "auto"
        clip = math.inf if automatic else _check.number("clip", self.clip, "(0, inf]")
        rows = inputs_of(self, X, reset=True)
        labels = labels_of(self, rows, y)
        rows, labels = large_enough(self, rows, labels)
        counts = weights_of(sample_weight, len(rows))
        counts = np.ones(len(rows)) if counts is None else counts
        seen = self._set_coordinates(rows, counts, constant)
        penalty = alpha * self._basis[: rows.shape[1]].T @ self._basis[: rows.shape[1]]
        if automatic:
            clip = _automatic(seen, counts, leak, penalty, labels)
        self._equation = ClippedEquation(seen, counts, clip, leak, penalty)
        self._labels, self._root = np.array(labels), self._equation.root(labels)
        left = np.linalg.norm(self._equation.left(self._root, labels))
        if left > self._equation.settled(labels):
            warnings.warn(
                f"the fit is not exact, and bounds of other fits do not cover it: the clip {clip:g}"
                " is too small for these labels; set a larger `clip`",
                ConvergenceWarning,
                stacklevel=3,
            )
        every = self._basis @ self._root
        self.coef_ = every[: rows.shape[1]] / self._spread
        self.intercept_ = float(every[-1] - self._centre @ self.coef_) if constant else 0.0
        self.clip_ = clip
        self._ceilings: dict[float, ClippedCeiling] = {}
        return self

    def predict(self, X: Any) -> Array:
        """Return the labels that the model expects for the inputs X, shape (N,)."""
        check_is_fitted(self)
        return self._output(self._coordinates(inputs_of(self, X, reset=False)) @ self._root)

    def damage_bound(self, m: int, bound: float = math.inf, *, X: Any = None) -> float:
        r"""Return how far any change of m labels can move the predictions at most.

        It is a bound on the root mean square of the changes of the predictions over the rows of the
        fit, as they count. It is a theorem without any assumption about labels, noise or attacker,
        about fits with the clip `clip_`. The labels at hand may be the poisoned ones: then it is
        the distance to the fit of the clean labels. It is infinite if too many labels may change.

        Parameters
        ----------
        m
            The most labels that change.
        bound
            The largest change of a label; by default a label may become anything.
        X
            Rows over which the root mean square is instead, such as test rows.
        """
        check_is_fitted(self)
        seen, counts = self._equation.rows, self._equation.counts
        if X is not None:
            seen = self._coordinates(inputs_of(self, X, reset=False))
            counts = np.ones(len(seen))
        distance = self._distance(m, bound)
        if math.isinf(distance):
            return math.inf
        return distance * math.sqrt(np.linalg.norm((seen.T * counts) @ seen / len(seen), 2))

    def predict_bounds(self, X: Any, m: int, *, bound: float = math.inf) -> Array:
        """Return between which numbers each prediction from the clean labels is.

        Parameters
        ----------
        X
            Inputs, shape (N, n).
        m
            The most labels of the fit that were changed.
        bound
            The largest change of a label; by default a label may become anything.

        Returns
        -------
        bounds
            The lowest and the highest prediction, shape (N, 2), infinite if nothing is proved.
        """
        check_is_fitted(self)
        seen, distance = (
            self._coordinates(inputs_of(self, X, reset=False)),
            self._distance(m, bound),
        )
        linear = seen @ self._root
        lengths = np.linalg.norm(seen, axis=1)
        away = distance * lengths if math.isfinite(distance) else np.full(len(seen), math.inf)
        return np.column_stack([self._output(linear - away), self._output(linear + away)])

    @one_blas_thread()
    def _distance(self, m: int, bound: float) -> float:
        """Return how far the root can move, in the coordinates of the equation."""
        m, bound = _check.integer("m", m, 0), _check.number("bound", bound, "[0, inf]")
        if bound not in self._ceilings:
            room = room_of(self._labels, bound)
            self._ceilings[bound] = ClippedCeiling(self._equation, self._labels, self._root, room)
        return self._ceilings[bound].at(min(m, len(self._labels)))

    def _output(self, linear: Array) -> Array:
        return np.where(linear > 0.0, linear, self._equation.leak * linear)

    def _set_coordinates(self, rows: Array, counts: Array, constant: bool) -> Array:
        """Return the rows in coordinates in which their second moment is the identity.

        The coordinates depend on the inputs only. If there is a constant, columns are centred.
        """
        self._centre = counts @ rows / len(rows) if constant else np.zeros(rows.shape[1])
        spread = np.sqrt(counts @ (rows - self._centre) ** 2 / len(rows))
        varies = spread > 1e-12 * np.abs(rows).max(axis=0)
        self._spread = np.where(varies, spread, math.inf)
        self._basis = np.eye(rows.shape[1] + constant)
        standardised = self._coordinates(rows)
        values, vectors = np.linalg.eigh((standardised.T * counts) @ standardised / len(rows))
        seen = values > NOT_SEEN * values[-1]
        if not seen.any():
            raise _check.InputError("all columns of `X` are 0: there is nothing to learn")
        self._basis = vectors[:, seen] / np.sqrt(values[seen])
        return self._coordinates(rows)

    def _coordinates(self, rows: Array) -> Array:
        standardised = (rows - self._centre) / self._spread
        if len(self._basis) > rows.shape[1]:
            standardised = np.column_stack([standardised, np.ones(len(rows))])
        return np.asarray(standardised @ self._basis)


def _automatic(seen: Array, counts: Array, leak: float, penalty: Array, labels: Array) -> float:
    """Return the clip that is twice the scale of the residuals of the fit with this clip.

    Its choice may depend on the labels: what is proved holds for every clip at once.
    """
    spread = median(np.abs(labels - median(labels, counts)), counts) or float(labels.std()) or 1.0
    scale = spread / NORMAL_MEDIAN
    for _ in range(MOST_SCALES):
        equation = ClippedEquation(seen, counts, AUTO * scale, leak, penalty)
        sizes = np.abs(equation.residuals(equation.root(labels), labels))
        before, scale = scale, max(median(sizes, counts) / NORMAL_MEDIAN, LEAST_SCALE * spread)
        if abs(scale - before) <= SAME_SCALE * before:
            break
    return AUTO * scale
