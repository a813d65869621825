"""How a fitted model and fresh rows become one problem for `neurotron.verify`."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Simulated
from neurotron.estimators.row_hashes import row_hashes
from neurotron.estimators.stated_law import refuse_another_law
from neurotron.guarantees.assumptions import STATED, Assumption
from neurotron.guarantees.verify import Verification, verify
from neurotron.laws import Law
from neurotron.networks import FilterNetwork, with_intercept
from neurotron.problem import Problem

if TYPE_CHECKING:
    from neurotron.estimators.model import FittedModel

__all__ = ["verify_model"]


def verify_model(
    model: FittedModel, rows: Array, labels: Array, *, law: Law | None, noise: Any, **stated: Any
) -> Verification:
    """Return what fresh rows prove about a model; the other options are those of `verify`."""
    freshness = _freshness(model, rows, labels)
    posed = _posed(model, rows, labels, noise, law)
    problem = posed.problem(law)
    if law is not None:
        refuse_another_law(law, posed.inputs, shifted=posed.may_shift)
    found = verify(problem, posed.weights, posed.inputs, posed.labels, noise=noise, **stated)
    found = posed.told(found)
    return dataclasses.replace(found, assumptions=(*found.assumptions, freshness))


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
        remark = Assumption("intercept", text, STATED, STATED, True)
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


def _freshness(model: FittedModel, rows: Array, labels: Array) -> Assumption:
    """Return whether rows were compared with those of the fit; refuse rows that it has seen."""
    kept = model.row_hashes_
    if kept is None or not len(kept):  # every row occurs twice
        text = "The model keeps no hashes of its rows, so nobody checked that these are others."
        return Assumption("other rows", text, "stated", "stated", True)
    seen = int(np.isin(row_hashes(rows, labels), kept).sum())
    if seen:
        raise _check.InputError(
            f"`X` and `y` have {seen:,} of their {len(rows):,} rows in common with the rows that "
            "the model was fitted to, which it explains too well: leave them out, and give rows "
            "which the fit has not seen; or, if columns have so few values that rows are equal by "
            "chance, save the model without row hashes"
        )
    text = (
        "None of these rows, in all digits and with its label, is one of the "
        f"{len(kept):,} whose hashes the model keeps, of {model.n_rows_:,} rows of its fit."
    )
    return Assumption("other rows", text, "compared by hashes", "none in common", True)
