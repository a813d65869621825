"""What prediction intervals promise: the clean label, although calibration rows are poisoned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from neurotron import _check
from neurotron._digits import counted, down, up
from neurotron._types import Array
from neurotron.guarantee import Guarantee
from neurotron.theory.conformal import rank

ROUNDING = 4.0 * float(np.finfo(float).eps)
"""Intervals are wider by this part, so that a label at the end of one is covered when rounded."""
SEPARATE, SAME = "separate", "same"


@runtime_checkable
class Bounded(Protocol):
    """A fitted regressor that knows how far changed labels can have moved its predictions."""

    def predict(self, X: Any) -> Array:
        """Return the predictions, shape (N,)."""

    def predict_bounds(self, X: Any, m: int, *, bound: float = math.inf) -> Array:
        """Return between which numbers each prediction from the clean labels is, shape (N, 2).

        At most m labels of the fit were changed, each by at most `bound`.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictionIntervals(Guarantee):
    """Intervals around the predictions of a model, with what they cover although rows are poisoned.

    It prints as a paragraph with its assumptions. `predict_interval` gives the intervals.
    """

    derived: ClassVar[tuple[str, ...]] = ("unattacked", "half_width", "widest")

    confidence_level: float
    """The coverage that was asked for."""
    rows: int
    """n, the number of calibration rows."""
    index: int
    """Which of the n scores, from the smallest, is the half-width."""
    poisoned: int | None
    """The most calibration rows that may be poisoned; None if labels fall by coins."""
    coin: float | None
    """The largest probability with which a calibration label is poisoned, if labels fall by coins.
    """
    given_calibration: float | None
    """The confidence with which these very calibration rows give the coverage, if it was asked for.
    """
    training_attacker: str
    """"separate" or "same": whether who poisoned labels to fit had seen the calibration rows."""
    bound: float
    """With "same": the largest change of a label to fit."""
    model: Any = field(repr=False)
    scale: Any = field(repr=False)
    scores: Array = field(repr=False)
    """Of the calibration rows, in order: their errors, in units of `scale`."""
    levels: Array = field(repr=False)
    """With "same", for a = 0, 1, … changed labels of the training rows: the half-width without what
    these can have moved the prediction for the row itself."""

    @property
    def guaranteed(self) -> float:
        """The probability with which a clean label is covered, at least, whatever is poisoned."""
        return self.confidence

    @property
    def unattacked(self) -> float:
        """The same if nothing is poisoned; if scores do not tie, it is exact, except with "same".

        It shows what the protection costs.
        """
        return self.index / (self.rows + 1)

    @property
    def half_width(self) -> float | None:
        """The half-width of every interval, in units of `scale`; None with "same".

        With a training attacker that is the same, each row has a width of its own: `half_widths`.
        """
        return None if self.training_attacker == SAME else self.radius

    @property
    def widest(self) -> float:
        """Up to which half-width somebody could widen intervals by poisoning these rows, if honest.

        It is infinite if there are too few rows to limit it, if labels fall by coins, which may be
        all, and with a training attacker that is the same.
        """
        further = self.index + (self.poisoned or 0)
        if self.coin is not None or self.training_attacker == SAME or further > self.rows:
            return math.inf
        return float(self.scores[further - 1])

    def valid_against(self, half_width: float) -> int:
        """Return how many poisoned rows an interval of this half-width withstands.

        Parameters
        ----------
        half_width
            A half-width, in units of `scale` if there is one.

        Returns
        -------
        rows
            The most calibration rows that may be poisoned, whichever they are and whatever is
            written into them; −1 if the interval is too small even if none is.
        """
        size = _check.number("half_width", half_width, "[0, inf]")
        if self.training_attacker == SAME:
            raise _check.InputError("`valid_against` is for training_attacker='separate' only")
        if size == math.inf:
            return self.rows
        needed = rank(self.confidence_level, self.rows, self.given_calibration)
        return max(int(np.searchsorted(self.scores, size, side="right")) - needed, -1)

    def half_widths(self, X: Any) -> Array:
        """Return the half-width of the interval of each row, shape (N,)."""
        return self._sizes(X, predictions(self.model, X))

    def predict_interval(self, X: Any) -> tuple[Array, Array]:
        """Return predictions and intervals for new rows, in the shape of MAPIE.

        Parameters
        ----------
        X
            Inputs, in any form that the model takes.

        Returns
        -------
        predictions, intervals
            Shapes (N,) and (N, 2, 1): the lower and the upper end for each row.
        """
        predicted = predictions(self.model, X)
        sizes = self._sizes(X, predicted)
        sizes = sizes + ROUNDING * (np.abs(predicted) + sizes)
        return predicted, np.stack([predicted - sizes, predicted + sizes], axis=1)[:, :, None]

    def _sizes(self, X: Any, predicted: Array) -> Array:
        if self.training_attacker == SAME:
            moved = ceilings(self.model, X, predicted, len(self.levels) - 1, self.bound)
            return np.asarray((moved + self.levels[:, None]).max(axis=0))
        return self.radius * scales(self.scale, X, len(predicted))

    # ---- what it says ----------------------------------------------------------------------------

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        distance = "distance of a clean label from its prediction"
        if self.training_attacker == SAME:
            return f"{distance}, in half-widths of its row"
        return distance + ", in units of the scale" * (self.scale is not None)

    @property
    def statement(self) -> str:
        """What is covered, in one paragraph."""
        size = ", with a half-width of its own for each row,"
        if self.half_width is not None:
            size = f" ± {up(self.half_width)}" + " times its scale" * (self.scale is not None)
        text = (
            f"The prediction{size} covers the clean label of a new row like the calibration rows "
            f"with a probability of at least {down(self.guaranteed)}, {self._against}."
        )
        if self.poisoned != 0:
            text += f" If nothing is poisoned, it is at least {down(self.unattacked)}."
        if self.given_calibration is not None:
            text += (
                f" With confidence {down(self.given_calibration)}, these very calibration rows "
                f"give a probability of at least {down(self.confidence_level)}."
            )
        return text

    @property
    def _against(self) -> str:
        rows = f"the {counted(self.rows, 'calibration row')}"
        if self.coin is not None:
            return (
                f"if their scores are independent, although each label of {rows} falls to an "
                "attacker by a coin of its own, with a probability of at most "
                f"{down(self.coin)} whatever the row is, and becomes anything"
            )
        if self.poisoned == 0:
            return f"if none of {rows} is poisoned"
        if self.training_attacker == SAME:
            limit = (
                "" if self.bound == math.inf else f", those to fit by at most {down(self.bound)},"
            )
            return (
                f"although up to {counted(self.poisoned or 0, 'label')} of {rows} and of the rows "
                f"of the fit together were changed{limit} by somebody who had seen all of them"
            )
        return (
            f"although up to {self.poisoned:,} of {rows} are poisoned, whichever they are and "
            "whatever is written into them"
        )

    @property
    def facts(self) -> dict[str, str]:
        """The main numbers as text, each with its name."""
        own = "one for each row" if self.half_width is None else up(self.half_width)
        return {"half-width": own, "clean labels covered": f"at least {down(self.guaranteed)}"}

    def __repr__(self) -> str:
        size = "for each row" if self.half_width is None else up(self.half_width)
        return (
            f"PredictionIntervals(half_width={size}, guaranteed={down(self.guaranteed)}, "
            f"{self.rows:,} rows)"
        )


# ---- what models and scales say about rows -------------------------------------------------------


def predictions(model: Any, X: Any, rows: int | None = None) -> Array:
    """Return what a model predicts, shape (N,)."""
    return _for_each_row("model", model.predict(X), rows)


def scales(scale: Any, X: Any, rows: int) -> Array:
    """Return how large errors are for each row, by a regressor or function; 1 if it is None."""
    if scale is None:
        return np.ones(rows)
    found = scale.predict(X) if hasattr(scale, "predict") else scale(X)
    return _for_each_row("scale", found, rows, above=0.0)


def ceilings(model: Bounded, X: Any, predicted: Array, most: int, bound: float) -> Array:
    """Return how far 0, 1, …, `most` labels can have moved each prediction, (most + 1, N)."""
    found = np.zeros((most + 1, predicted.size))
    for a in range(1, most + 1):
        ends = np.asarray(model.predict_bounds(X, a, bound=bound), np.float64)
        found[a] = np.abs(ends - predicted[:, None]).max(axis=1)
    if not np.isfinite(found).all():
        raise _check.InputError(
            f"{counted(most, 'label')} can move a prediction without limit: give a finite `bound`"
        )
    return found


def _for_each_row(name: str, values: Any, rows: int | None, above: float = -math.inf) -> Array:
    """Return one finite number for each row, or refuse what is something else."""
    found = np.asarray(values, np.float64)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    fits = found.ndim == 1 and rows in (None, found.size)
    if not fits or not np.isfinite(found).all() or (found <= above).any():
        kind = "positive" if above == 0.0 else "finite"
        each = "each row" if rows is None else f"each of {counted(rows, 'row')}"
        raise _check.InputError(
            f"`{name}` must give one {kind} number for {each}, got {_check.shown(found)}"
        )
    return found
