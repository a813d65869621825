"""What a fit leaves out for prediction intervals, and the intervals that it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from neurotron import _check, _seeds
from neurotron._digits import counted
from neurotron._types import Array, Index
from neurotron.estimators.intervals import IntervalQuestion, calibrated

LEAST_FITTED = 2
"""Fewer rows are refused by every fit."""


class HoldsOut:
    """A regressor whose fit can leave rows out, and whose intervals then rest on these."""

    calibration_rows_: Index
    _held_out: tuple[Any, Array] | None = None

    def predict_interval(
        self,
        X: Any,
        *,
        confidence_level: float = 0.9,
        poisoned: int | None = None,
        coin: float | None = None,
        given_calibration: float | None = None,
    ) -> tuple[Array, Array]:
        """Return predictions and intervals, which cover clean labels although rows are poisoned.

        This needs a fit with `calibration`. Whoever poisoned the other rows must not have seen
        these: for the statement and other attackers, call `neurotron.intervals` with rows that the
        fit has not seen.

        Parameters
        ----------
        X
            Inputs, shape (N, n).
        confidence_level
            The probability with which an interval covers the clean label, at least.
        poisoned
            The most of the rows that were held out which may be poisoned; 0 if none is.
        coin
            Instead of it: the largest probability with which each label is poisoned, by a coin of
            its own.
        given_calibration
            The confidence with which the coverage holds for these very calibration rows, and not
            only on average over them.

        Returns
        -------
        predictions, intervals
            Shapes (N,) and (N, 2, 1): the lower and the upper end for each row, as in MAPIE.
        """
        check_is_fitted(self)
        if self._held_out is None:
            raise _check.InputError(
                "no rows were held out: call fit(X, y, calibration=0.25), or "
                "neurotron.intervals(model, X_cal, y_cal, poisoned=…) with rows that the fit has "
                "not seen"
            )
        asked = IntervalQuestion(confidence_level, poisoned, coin, given_calibration)
        return calibrated(self, *self._held_out, asked, []).predict_interval(X)

    def _hold_out(
        self, X: Any, labels: Array, share: float | None, seed: int, sample_weight: Any = None
    ) -> Index | slice:
        """Hold a share of the rows out, whatever their labels are; return those to fit."""
        self._held_out, self.calibration_rows_ = None, np.arange(0)
        if share is None:
            return slice(None)
        share, rows = _check.number("calibration", share, "(0, 1)"), np.arange(len(labels))
        if sample_weight is not None:
            raise _check.InputError("`calibration` works only without `sample_weight`")
        count = round(share * len(rows))
        if not 1 <= count <= len(rows) - LEAST_FITTED:
            raise _check.InputError(
                f"`calibration` would hold out {count:,} of {counted(len(rows), 'row')}: at least "
                f"one is needed, and {LEAST_FITTED} to fit"
            )
        held = np.sort(_seeds.generator(seed, "calibration").permutation(rows)[:count])
        self._held_out, self.calibration_rows_ = (_safe_indexing(X, held), labels[held]), held
        return np.delete(rows, held)
