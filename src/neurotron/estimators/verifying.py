"""How a fitted model and fresh rows become one problem for `neurotron.verify`."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Simulated
from neurotron.estimators.table import freshness
from neurotron.guarantee import stated
from neurotron.guarantees.verify import Verification, verify
from neurotron.laws import Law
from neurotron.networks import FilterNetwork, with_intercept
from neurotron.problem import Problem

if TYPE_CHECKING:
    from neurotron.estimators.model import FittedModel


def verify_model(
    model: FittedModel, rows: Array, labels: Array, *, law: Law | None, noise: Any, **stated: Any
) -> Verification:
    """Return what fresh rows prove about a model; the other options are those of `verify`."""
    others = freshness(model, rows, labels)
    posed = _posed(model, rows, labels, noise, law)
    problem = posed.problem(law)
    if law is not None:
        refuse_another_law(law, posed.inputs, shifted=posed.may_shift)
    found = verify(problem, posed.weights, posed.inputs, posed.labels, noise=noise, **stated)
    found = posed.told(found)
    return dataclasses.replace(found, assumptions=(*found.assumptions, others))


@dataclass(frozen=True)
class _Posed:
    """A model and rows as `verify` sees them.

    If the intercept is `free`, it is subtracted from the labels, and an error of it is a part of
    the noise. Both theorems allow this: noise of any kind may be off by a constant, because that
    only makes fewer rows explained. So nothing is said about the intercept, nor about predictions.
    """

    network: FilterNetwork
    weights: Array
    inputs: Array
    labels: Array
    free: bool = False
    even: bool = False
    """Whether noise is only known to be even in x."""

    @property
    def may_shift(self) -> bool:
        """Whether inputs may be shifted by constants: a linear model then changes by a constant.

        Noise that is even in x is not even in shifted inputs.
        """
        return self.free and self.network.leak == 1.0 and not self.even

    def problem(self, law: Law | None) -> Problem:
        """Return the problem of the law, or of the rows if there is none."""
        if law is None:
            return Problem.from_rows(self.network, self.inputs, self.labels)
        return Problem(self.network, Simulated(law))

    def told(self, found: Verification) -> Verification:
        """Return the verification with what it says nothing about."""
        if not self.free:
            return found
        shift = ", and the law of the inputs may be shifted by constants" * self.may_shift
        text = (
            "Nothing is said about the constant of the model (its intercept): an error of it "
            f"counts as noise of honest labels{shift}."
        )
        remark = stated("intercept", text)
        return dataclasses.replace(
            found, assumptions=(*found.assumptions, remark), prediction_error=math.inf
        )


def _posed(model: FittedModel, rows: Array, labels: Array, noise: Any, law: Law | None) -> _Posed:
    network, weights, seen = model.network_, model.weights_, model._standardized(rows)
    if law is not None and seen is not rows:
        raise _check.InputError(
            "`law` cannot be used with a model that standardizes its inputs, because what the "
            "network sees then has another law: fit with standardize=False"
        )
    if not model.fit_intercept:
        return _Posed(network, weights, seen, labels)
    if not (isinstance(noise, Real) and noise == 0.0):
        # subtracting rounds, and that is not noise: labels are moved away from the model by it
        rounding = np.copysign(model._rounding(rows, labels), labels - model._outputs(rows))
        moved = labels - model.intercept_ + rounding
        return _Posed(network, weights, seen, moved, free=True, even=noise == "even")
    if network.leak == 1.0 and law is None:
        longer = np.column_stack([rows, np.ones(len(rows))])
        return _Posed(with_intercept(network), np.append(weights, model.intercept_), longer, labels)
    what = "`law`" if network.leak == 1.0 else "the network"
    raise _check.InputError(
        f"noise={noise!r} says that honest labels are exact, but the model has an intercept, which "
        f"{what} does not describe: use noise 'independent', which covers exact labels as well, or "
        "a model that was fitted without an intercept (fit_intercept=False)"
    )


# ---- whether rows can come from a law that somebody states: plausible, not proved ----------------

FEWEST, PER_COLUMN = 30, 10
"""With fewer rows, or fewer for each column, nothing is checked."""
MOST_COLUMNS = 200
"""With more columns, nothing is checked."""
FARTHEST = 0.75
"""Values are cut off at this multiple of the spread of a column, so that heavy tails do no harm."""
SINGULAR = 1e10
"""The condition number of a second moment that does not show all directions."""
MOST_APART = 3.0
"""By which factor the spreads of the rows and of the law may differ, in any direction."""


def refuse_another_law(law: Law, rows: Array, *, shifted: bool) -> None:
    """Refuse rows that spread by far more or less than a law does, in some direction.

    Without this, a law in other units than those of the rows would give a radius that means
    nothing. The rows must also be where the law is, unless it may be `shifted`.
    """
    count, columns = rows.shape
    if count < max(FEWEST, PER_COLUMN * columns) or columns > MOST_COLUMNS:
        return
    drawn = _drawn(law, 1000 + 2 * PER_COLUMN * columns, columns)
    if not shifted:
        _refuse_another_place(law, rows, drawn)
    less, more = _least_ratio(rows, drawn, shifted), _least_ratio(drawn, rows, shifted)
    if min(less, more) * MOST_APART >= 1.0:
        return
    apart = f"only {less:.2g}" if less < more else f"{1.0 / max(more, 1e-99):.2g}"
    raise _check.InputError(
        f"`X` does not look drawn from {law!r}: in some direction its rows reach {apart} times as "
        "far; give the law of these inputs in their own units, or leave out `law`"
    )


def _refuse_another_place(law: Law, rows: Array, drawn: Array) -> None:
    """Refuse rows whose medians are farther from those of the law than its values spread."""
    low, middle, high = np.quantile(drawn, [0.1, 0.5, 0.9], axis=0)
    here = np.median(rows, axis=0)
    column = int((np.abs(here - middle) / np.where(high > low, high - low, 1.0)).argmax())
    if abs(here[column] - middle[column]) > max(high[column] - low[column], 0.0):
        raise _check.InputError(
            f"`X` does not look drawn from {law!r}: the median of column {column} is "
            f"{here[column]:.3g} instead of {middle[column]:.3g}; give the law of these inputs, or "
            "leave out `law`"
        )


def _drawn(law: Law, count: int, columns: int) -> Array:
    """Return inputs from the law, always the same."""
    draw = np.random.default_rng(0)
    pairs = law.pairs(count, columns)
    return law.inputs(1.0 - draw.random(pairs), draw.random(pairs), count, columns)


def _least_ratio(rows: Array, others: Array, shifted: bool) -> float:
    """Return the spread of rows in units of that of others, in the direction where it is least."""
    low, high = np.quantile(others, [0.1, 0.9], axis=0)
    unit = np.where(high > low, high - low, 1.0)
    moments = [_moment(values, unit, shifted) for values in (rows, others)]
    if np.linalg.cond(moments[1]) > SINGULAR:
        return 1.0  # whether a direction is left out is not for this check to say
    return float(np.sqrt(max(linalg.eigh(*moments, eigvals_only=True)[0], 0.0)))


def _moment(values: Array, unit: Array, shifted: bool) -> Array:
    """Return the second moment of values that are cut off; around their mean if `shifted`."""
    if shifted:
        values = values - np.quantile(values, [0.1, 0.9], axis=0).mean(axis=0)
    values = (values / unit).clip(-FARTHEST, FARTHEST)
    if shifted:
        values = values - values.mean(axis=0)
    return values.T @ values / len(values)
