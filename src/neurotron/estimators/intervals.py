"""`intervals`: prediction intervals that cover clean labels although calibration rows are poisoned.

Split conformal prediction takes the size of an interval from the scores of calibration rows, which
the model has not seen. Whoever poisons these makes the largest scores small. A larger order
statistic withstands this: docs/theory.md, section (l), has the theorems and their proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._digits import counted
from neurotron._types import Array
from neurotron.estimators.prediction_intervals import (
    SAME,
    SEPARATE,
    Bounded,
    PredictionIntervals,
    ceilings,
    predictions,
    scales,
)
from neurotron.estimators.table import freshness, inputs_of, labels_of
from neurotron.guarantee import Assumption, stated
from neurotron.theory.conformal import coin_coverage, coin_index, rank, rows_needed

INTERVALS = {
    "confidence_level": "(0, 1)", "coin": "[0, 1)", "given_calibration": "(0, 1)",
    "bound": "[0, inf]",
}  # fmt: skip


def intervals(
    model: Any,
    X_cal: Any,
    y_cal: npt.ArrayLike,
    *,
    confidence_level: float = 0.9,
    poisoned: int | None = None,
    coin: float | None = None,
    given_calibration: float | None = None,
    training_attacker: str = SEPARATE,
    bound: float = math.inf,
    scale: Any = None,
) -> PredictionIntervals:
    """Return prediction intervals that cover clean labels although calibration rows are poisoned.

    Do not leave suspects out of the calibration rows: these are rows with large scores, so this is
    just what the worst attacker does. Say how many may be poisoned instead.

    Parameters
    ----------
    model
        Any fitted regressor.
    X_cal, y_cal
        Calibration rows and their labels, in any form that the model takes: rows that the fit has
        not seen.
    confidence_level
        The probability with which an interval covers the clean label of a new row, at least.
    poisoned
        m, the most calibration rows that may be poisoned, whichever they are and whatever is
        written into them; 0 if none is.
    coin
        Instead of `poisoned`: every label falls to the attacker by a coin of its own, with at most
        this probability, whatever its row is. Much less is needed against such an attacker.
    given_calibration
        The confidence with which the coverage holds for these very calibration rows, and not only
        on average over them.
    training_attacker
        "separate" if nobody who poisoned labels of the training rows had seen the calibration rows;
        "same" if somebody who saw all rows may have changed `poisoned` labels of both together.
        This needs a model with `predict_bounds`: `MedianOfParts`, `CertifiedHuberRegressor` or
        `LinearSmoother`.
    bound
        With "same": the largest change of a training label.
    scale
        A fitted regressor, or a function of the inputs, whose positive values say how much larger
        the errors for a row are: scores are distances in units of it. It must not have seen the
        calibration rows.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> from sklearn.linear_model import LinearRegression
    >>> draw = np.random.default_rng(0)
    >>> X = draw.standard_normal((900, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + draw.standard_normal(900)
    >>> model = LinearRegression().fit(X[:500], y[:500])
    >>> band = nt.intervals(model, X[500:], y[500:], poisoned=20)
    >>> band.index, round(band.guaranteed, 2), round(band.unattacked, 2), round(band.half_width, 1)
    (381, 0.9, 0.95, 1.9)
    """
    asked = IntervalQuestion(
        confidence_level, poisoned, coin, given_calibration, training_attacker, bound, scale
    )
    labels = _check.array("y_cal", y_cal, ("n",), _check.LARGEST)
    others = []
    if hasattr(model, "row_hashes_"):
        seen = inputs_of(model, X_cal, reset=False)
        others = [freshness(model, seen, labels_of(model, seen, labels))]
    return calibrated(model, X_cal, labels, asked, others)


@dataclass(frozen=True)
class IntervalQuestion:
    """What is asked of intervals: the arguments of `intervals`, checked."""

    confidence_level: float
    poisoned: int | None
    coin: float | None
    given_calibration: float | None
    training_attacker: str = SEPARATE
    bound: float = math.inf
    scale: Any = None

    def __post_init__(self) -> None:
        for name, interval in INTERVALS.items():
            value = getattr(self, name)
            if value is not None or name not in ("coin", "given_calibration"):
                object.__setattr__(self, name, _check.number(name, value, interval))
        if self.poisoned is not None:
            object.__setattr__(self, "poisoned", _check.integer("poisoned", self.poisoned, 0))
        same = _check.choice("training_attacker", self.training_attacker, (SEPARATE, SAME)) == SAME
        given, rows = self.given_calibration is not None, self.poisoned is not None
        for wrong, why in (
            (rows == (self.coin is not None), "say what may be poisoned: either `poisoned`, the "
             "number of rows (0 for none), or `coin`, the probability with which each label is"),
            (given and not rows, "`given_calibration` needs `poisoned` instead of `coin`"),
            (same and not rows, "training_attacker='same' needs `poisoned` instead of `coin`"),
            (same and self.scale is not None, "training_attacker='same' has no `scale`"),
            (not same and self.bound < math.inf, "`bound` is for training_attacker='same' only"),
        ):  # fmt: skip
            if wrong:
                raise _check.InputError(why)

    def index(self, rows: int) -> int:
        """Return which of the scores of so many rows is needed; more than `rows` if none is."""
        if self.coin is not None:
            return coin_index(self.confidence_level, rows, self.coin)
        return rank(self.confidence_level, rows, self.given_calibration) + (self.poisoned or 0)


def calibrated(
    model: Any, X: Any, labels: Array, asked: IntervalQuestion, others: list[Assumption]
) -> PredictionIntervals:
    """Return the intervals that calibration rows give; `others` is what is known of the rows."""
    same, name = asked.training_attacker == SAME, type(model).__name__
    if same and not isinstance(model, Bounded):
        raise _check.InputError(
            f"training_attacker='same' needs a model with `predict_bounds`, which {name} has not: "
            "fit a MedianOfParts, a CertifiedHuberRegressor or a LinearSmoother, or say 'separate' "
            "if nobody who poisoned rows to fit had seen the calibration rows"
        )
    rows, most = labels.size, asked.poisoned or 0
    index = asked.index(rows)
    if index > rows:
        raise _check.InputError(
            f"{counted(rows, 'calibration row')} are too few for a finite interval: give at least "
            f"{rows_needed(asked.index):,}, or a smaller confidence, or fewer poisoned labels"
        )
    predicted = predictions(model, X, rows)
    errors, levels = np.abs(labels - predicted), np.empty(0)
    scores = np.sort(errors / scales(asked.scale, X, rows))
    covered = (index - most) / (rows + 1)
    if asked.coin is not None:
        covered = coin_coverage(index, rows, asked.coin)
    if same:
        moved = ceilings(model, X, predicted, most, asked.bound)
        levels = np.array([np.sort(errors + one)[index - a - 1] for a, one in enumerate(moved)])
    independent = asked.coin is not None or asked.given_calibration is not None
    how = "are independent draws from one law" if independent else "are exchangeable"
    fixed = (
        f"`predict_bounds` of {name} holds, and no calibration row is among the rows of the fit."
        if same
        else "The model is fixed before the calibration rows are seen, by us and by the attacker: "
        "whoever poisoned labels to fit had not seen the calibration rows."
    )
    return PredictionIntervals(
        kind="theorem", radius=1.0 if same else float(scores[index - 1]), confidence=covered,
        assumptions=(
            stated("rows alike", f"Before any is poisoned, calibration rows and new rows {how}."),
            stated("model", fixed), *others,
        ),
        rows=rows, index=index, **vars(asked),
        model=model, scores=_check.freeze(scores), levels=_check.freeze(levels),
    )  # fmt: skip
