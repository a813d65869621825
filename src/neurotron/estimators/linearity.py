"""Whether a regressor is linear in the labels; if so, how it turns labels into predictions.

Nothing can prove this from outside. Regressors that look at the labels to choose their settings or
columns are refused by what they are made of. All others are tested: fits to several label vectors
must be combinations of each other up to rounding, and so must fits to labels under attack.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.utils import get_tags

from neurotron import _check, _seeds
from neurotron._threads import no_warnings
from neurotron._types import Array
from neurotron.theory.smoother import largest_rise, room_of, worst_change

MOST_ENTRIES = 50_000_000
"""Largest number of entries of the matrix, 400 MB."""
MOST_FITS = 1000
"""Most labels of a regressor that takes one column of labels, and so needs one fit for each."""
BLOCK = 4_000_000
"""Entries of the labels of one fit to many columns of them."""
TOLERANCE = 1e-6
"""Largest deviation from linearity that counts as rounding, as a part of what is compared."""
ROUNDING = 1e-9
"""The same, as a part of the predictions whose difference is compared."""
CANCELLING = 1e-12
"""The same, as a part of the labels: a mean of labels around 0 is nothing but rounding."""
SCALES = (10.0, 0.1, 1e6)
"""By how much labels are multiplied: a regressor with a threshold may look linear below it."""
HEAVY = 1e3
"""The largest of changes with heavy tails, in bounds."""
ATTACKED = 0.1
"""Share of the labels that are attacked in the tests."""


class NotLinear(Exception):
    """The regressor has no known matrix; the message is the reason in plain words."""


def smoother_matrix(
    estimator: Any, X: Any, y: npt.ArrayLike, test: Any, *, bound: float, seed: int
) -> Array:
    """Return the matrix H (m, N) with which a regressor predicts H y for the test rows.

    Parameters
    ----------
    estimator
        A scikit-learn regressor. It is copied, never changed.
    X, y
        The training rows, in any form that the regressor takes, and their labels (N,).
    test
        The m rows whose labels are predicted.
    bound
        The largest change of a label, at which linearity is tested; it may be infinite.
    seed
        Seed of the label vectors of the tests.

    Raises
    ------
    NotLinear
        If the regressor is not linear in the labels as far as can be seen, or if the matrix would
        be too large or take too many fits.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression, RidgeCV
    >>> X, y, test = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0], [[1.0], [3.0]]
    >>> smoother_matrix(LinearRegression(), X, y, test, bound=1.0, seed=0).round(3)
    array([[ 0.333,  0.333,  0.333],
           [-0.667,  0.333,  1.333]])
    >>> smoother_matrix(RidgeCV(), X, y, test, bound=1.0, seed=0)
    Traceback (most recent call last):
    neurotron.estimators.linearity.NotLinear: its settings are tuned on the labels (RidgeCV)
    """
    labels = _check.array("y", y, ("N",), _check.LARGEST)
    bound = _check.number("bound", bound, "[0, inf]")
    for part in _parts(estimator):
        _refuse_tuning(part)
    with no_warnings():  # regressors may warn about the labels of the tests
        regressor = _Regressor.fitted(estimator, X, labels, test)
        spread = float(labels.std()) or 1.0
        size = bound if 0.0 < bound < np.inf else spread
        rng = _seeds.generator(seed, "linearity")
        probes = [*_probes(regressor, spread, rng), *_attacked(regressor, size, rng)]
        return _matrix(regressor, probes, size)


# ---- what a regressor is made of -----------------------------------------------------------------


def _parts(estimator: Any) -> list[Any]:
    """Return everything in a regressor that can be fitted, the innermost first."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return [part for part in reversed(parts) if hasattr(part, "fit") and not isinstance(part, type)]


def _refuse_tuning(part: Any) -> None:
    """Refuse what chooses settings or columns by the labels: its matrix depends on them."""
    name, settings = type(part).__name__, part.get_params(deep=False)
    if name.endswith("CV"):
        raise NotLinear(f"its settings are tuned on the labels ({name})")
    if isinstance(part, GaussianProcessRegressor) and part.optimizer is not None:
        if part.kernel is None or part.kernel.n_dims > 0:  # its default is tuned, too
            raise NotLinear(f"its kernel is tuned on the labels ({name} with an optimizer)")
    elif settings.get("early_stopping", settings.get("n_iter_no_change")):
        raise NotLinear(f"the labels decide when its training stops ({name} with early stopping)")
    elif hasattr(part, "transform") and not is_regressor(part) and _sees_labels(part):
        raise NotLinear(f"the labels decide which columns it uses ({name})")


def _sees_labels(transformer: Any) -> bool:
    if isinstance(transformer, SelectorMixin):
        return not isinstance(transformer, VarianceThreshold)
    return bool(get_tags(transformer).target_tags.required)


# ---- fits ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Regressor:
    """A regressor with its rows; what it predicts from the labels given."""

    estimator: Any
    X: Any
    test: Any
    labels: Array
    predictions: Array
    """What it predicts from these labels, (m,)."""

    @classmethod
    def fitted(cls, estimator: Any, X: Any, labels: Array, test: Any) -> _Regressor:
        """Fit to the labels given; errors about them are the caller's."""
        given = clone(estimator).fit(deepcopy(X), labels.copy()).predict(deepcopy(test))
        predictions = np.ravel(np.asarray(given, np.float64))
        if not np.isfinite(predictions).all():
            raise NotLinear("what it predicts is not finite")
        if predictions.size * labels.size > MOST_ENTRIES:
            raise NotLinear(
                f"{predictions.size:,} predictions from {labels.size:,} labels are too many to "
                f"find out, at most {MOST_ENTRIES:,} pairs of them"
            )
        return cls(estimator, X, test, labels, predictions)

    def predict(self, labels: Array) -> Array:
        """Return what it predicts from other labels, (N,) or a column (N, b) for each fit."""
        try:
            model = clone(self.estimator).fit(deepcopy(self.X), labels.copy())
            predicted = model.predict(deepcopy(self.test))
            result = np.reshape(
                np.asarray(predicted, np.float64), (-1, *labels.shape[1:]), copy=True
            )
        except Exception as error:  # whatever a regressor raises
            reason = _check.shorten(" ".join(f"{type(error).__name__}: {error}".split()))
            raise NotLinear(f"it cannot be fitted to other labels ({reason})") from error
        if len(result) != len(self.predictions) or not np.isfinite(result).all():
            raise NotLinear("what it predicts from other labels is not finite")
        return result


# ---- tests ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Probe:
    """Labels, or changes of labels, and what a regressor predicts from them."""

    labels: Array
    predictions: Array
    rounding: float
    """The largest deviation that is rounding for sure."""

    def require(self, wanted: Array) -> None:
        """Refuse a regressor of which a linear one would predict something else."""
        size = max(float(np.abs(self.predictions).max()), float(np.abs(wanted).max()))
        away = float(np.abs(self.predictions - wanted).max())
        if away > TOLERANCE * size + self.rounding:
            raise NotLinear(
                f"it is not linear in the labels: predictions deviate by {away / size:.2g} of "
                "their size"
            )


def _probes(regressor: _Regressor, spread: float, rng: np.random.Generator) -> Iterator[_Probe]:
    """Yield fits to labels around 0, after a test that they are combinations of each other."""
    again = np.abs(regressor.predict(regressor.labels) - regressor.predictions)
    if again.max() > TOLERANCE * np.abs(regressor.predictions).max():
        raise NotLinear("two fits to the same labels differ: give it a fixed random_state")
    centred = regressor.labels - regressor.labels.mean()  # a large mean would hide deviations
    drawn = spread * rng.standard_normal(centred.size)
    one, other = (_probe(regressor, labels) for labels in (centred, drawn))
    first, second = rng.uniform(1.0, 2.0, 2)
    mixed = _probe(regressor, first * centred - second * drawn)
    mixed.require(first * one.predictions - second * other.predictions)
    for scale in SCALES:
        _probe(regressor, scale * drawn).require(scale * other.predictions)
    yield one
    yield other


def _attacked(regressor: _Regressor, size: float, rng: np.random.Generator) -> Iterator[_Probe]:
    """Yield what changes of some labels do, after a test that the others do not matter.

    The changes are: one label, some of them at random, and all with heavy tails.
    """
    count = regressor.labels.size
    for changed in (1, _most(count)):
        spikes = np.zeros(count)
        chosen = rng.choice(count, changed, replace=False)
        spikes[chosen] = rng.choice([-size, size], chosen.size)
        yield _tested(regressor, spikes)
    yield _tested(regressor, size * np.clip(rng.standard_cauchy(count), -HEAVY, HEAVY))


def _tested(regressor: _Regressor, change: Array) -> _Probe:
    probe = _change(regressor, change)
    probe.require(regressor.predict(change))
    return probe


def _probe(regressor: _Regressor, labels: Array) -> _Probe:
    return _Probe(labels, regressor.predict(labels), CANCELLING * float(np.abs(labels).max()))


def _change(regressor: _Regressor, change: Array) -> _Probe:
    """Return what a change of the labels does to the predictions."""
    rounding = ROUNDING * float(np.abs(regressor.predictions).max())
    moved = regressor.predict(regressor.labels + change) - regressor.predictions
    return _Probe(change, moved, rounding)


def _most(count: int) -> int:
    return max(1, round(ATTACKED * count))


# ---- the matrix ----------------------------------------------------------------------------------


def _matrix(regressor: _Regressor, probes: list[_Probe], size: float) -> Array:
    """Return the matrix by fits to the columns of the identity, after a test of what it says."""
    count = regressor.labels.size
    try:
        return _agreeing(regressor, probes, size, _by_blocks(regressor))
    except NotLinear as error:  # it takes one column of labels, or treats many in another way
        if count > MOST_FITS:
            raise NotLinear(
                f"{error}; {count:,} fits, one for each label, would say more, but at most "
                f"{MOST_FITS:,} are made"
            ) from None
    one_by_one = [regressor.predict(label) for label in np.eye(count)]
    return _agreeing(regressor, probes, size, np.column_stack(one_by_one))


def _agreeing(regressor: _Regressor, probes: list[_Probe], size: float, H: Array) -> Array:
    """Return a matrix that says what was predicted, also from the labels that are worst for it."""
    for probe in probes:
        probe.require(H @ probe.labels)
    count = regressor.labels.size
    room, most = room_of(np.zeros(count), size), _most(count)
    row = H[np.argmax(largest_rise(H, room, most))]
    for effect in (H.mean(axis=0), -row):
        probe = _change(regressor, worst_change(effect, room, most))
        probe.require(H @ probe.labels)
    return _check.freeze(H)


def _by_blocks(regressor: _Regressor) -> Array:
    count = regressor.labels.size
    H = np.empty((regressor.predictions.size, count))
    width = max(1, BLOCK // count)
    for start in range(0, count, width):
        columns = np.eye(count, min(width, count - start), -start)
        H[:, start : start + width] = regressor.predict(columns)
    return H
