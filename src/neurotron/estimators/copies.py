"""Regressors that somebody else wrote: whether it is one, and copies of it to fit."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier

from neurotron import _check


def checked(name: str, estimator: Any) -> None:
    """Refuse everything but a regressor that scikit-learn can clone."""
    for method in ("fit", "predict", "get_params"):
        if isinstance(estimator, type) or not callable(getattr(estimator, method, None)):
            raise _check.InputError(
                f"`{name}` must be a regressor of scikit-learn such as Ridge(), or a name that "
                f"`neurotron list estimators` shows, got {_check.shown(estimator)}"
            )
    if is_classifier(estimator):
        raise _check.InputError(
            f"`{name}` must be a regressor, but {shown(estimator)} is a classifier"
        )


def prepared(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy whose random numbers are the same at every fit.

    Otherwise two fits to the same labels would differ, and the difference would look like damage.
    """
    copy = clone(estimator)
    fixed = {
        name: seed % 2**31
        for name, value in copy.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and not isinstance(value, int)
    }
    return copy.set_params(**fixed) if fixed else copy


def shown(estimator: Any) -> str:
    """Return an estimator in one line."""
    return _check.shorten(" ".join(repr(estimator).split()))
