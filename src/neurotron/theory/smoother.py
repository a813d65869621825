r"""Linear smoothers: how far changed labels can move predictions, exactly or as an upper bound.

A linear smoother predicts :math:`\hat y = Hy`, where H does not depend on the labels y: least
squares, ridge, kernel ridge, nearest neighbors, splines, means of Gaussian processes. Label j may
fall by at most :math:`D_j` and rise by at most :math:`U_j`, and at most k labels change.

**One prediction, exactly.** It is a sum over labels, so every changed label does best at an end of
its room, and an attacker takes the k labels with the largest contributions: the largest rise is

.. math:: \sum_{\text{top } k} \max(h_j U_j, -h_j D_j) .

The same holds for every linear function of the labels, such as the mean prediction.

**All predictions at once.** The root mean square (RMS) of the changes He is bounded from above.
With :math:`\Theta_j = \max(D_j, U_j)`, :math:`e = \Theta s`, :math:`|s_j| \le 1`, and
:math:`G = \Theta H^\top H \Theta / m`, its square :math:`s^\top G s` is at most

.. math:: k \lambda_{\max}(\mathrm{soft}_\varrho(G))
          + \sum_{\text{top } k \text{ rows}} \sum_{\text{top } k} \min(|G_{ij}|, \varrho)

for every :math:`\varrho \ge 0`, because G is the sum of its soft-thresholded and its clipped part.
It is also at most the mean of the squares of the largest changes of single predictions. The proofs
are in docs/theory.md, section (k).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.theory.label_changes import (
    Room,
    best_change,
    checked_matrix,
    checked_room,
    largest_rise,
    product,
    room_of,
    top,
    top_sum,
    worst_change,
)
from neurotron.theory.spectral import largest_eigenvalue, largest_square, leading_directions

__all__ = [
    "RmsCeiling", "Room", "largest_rise", "largest_rms", "room_of", "worst_change",
    "worst_rms_change",
]  # fmt: skip

ROUNDED = 1e-9
"""Part by which an upper bound is rounded up."""
MANY = 1500
"""With more labels than this, thresholds are not tried."""
QUANTILES = (0.7, 0.93, 0.99, 0.999)
"""The thresholds ϱ between 0 and infinity that are tried, as quantiles of |G|."""
STARTS, CLIMBS, ROUNDS = 6, 6, 100
"""Starts of each kind, how many of all starts a climb begins at, and its most steps."""


def largest_rms(H: npt.ArrayLike, room: Room, most: int) -> float:
    """Return an upper bound on the RMS of the changes of predictions, for all changes of labels.

    It is exact for one label, and usually some percent too large for more. By the triangle
    inequality, the RMSE of the predictions rises by no more.

    Parameters
    ----------
    H
        The matrix (m, N) that turns labels into predictions.
    room
        How far each label may change.
    most
        The largest number of labels that change. For several of them, use `RmsCeiling`.

    Examples
    --------
    >>> largest_rms([[0.6, 0.0], [0.0, 0.8]], room_of([0.0, 0.0], 1.0), 2)
    0.7071
    """
    return RmsCeiling(_check.numbers("H", H), room).at(most)


@dataclass(frozen=True, eq=False)
class RmsCeiling:
    """Upper bounds on the RMS of the changes of predictions, for any number of changed labels."""

    H: Array
    """The matrix (m, N) that turns labels into predictions."""
    room: Room
    """How far each label may change."""

    def __post_init__(self) -> None:
        checked_room(self.room, checked_matrix("H", self.H).shape[1])

    def at(self, most: int) -> float:
        """Return the bound for at most `most` changed labels."""
        most = min(_check.integer("most", most, 0), self.H.shape[1])
        if most == 0 or self._scale in (0.0, math.inf):
            return self._scale if most else 0.0
        return self._scale * math.sqrt(min(self._squares(most))) * (1.0 + ROUNDED)

    def _squares(self, most: int) -> Iterator[float]:
        """Yield bounds on ‖As‖²/m for |s| ≤ 1 with at most `most` entries that are not zero."""
        rises, falls = (largest_rise(one, self.room, most) for one in (self.H, -self.H))
        yield float(((np.maximum(rises, falls) / self._scale) ** 2).mean())
        lengths = np.linalg.norm(self._scaled, axis=0)
        yield float(top_sum(lengths, most)) ** 2 / len(self.H)  # the triangle inequality
        if self.H.shape[1] > MANY:
            yield most * self._spectral
            return
        entries = top(np.abs(self._products), most)  # the largest of each row, also when clipped
        for level, eigenvalue in self._thresholds:
            clipped = np.minimum(entries, level).sum(axis=-1)
            yield most * eigenvalue + float(top_sum(clipped, most))

    @cached_property
    def _scale(self) -> float:
        """The largest change of one prediction by one label, in units of which all is computed."""
        return float(product(np.abs(self.H), np.maximum(*self.room)).max())

    @cached_property
    def _scaled(self) -> Array:
        """A = HΘ."""
        largest = np.maximum(*self.room)
        return self.H * (np.where(np.isinf(largest), 0.0, largest) / self._scale)

    @cached_property
    def _products(self) -> Array:
        """G = AᵀA/m."""
        return self._scaled.T @ self._scaled / len(self.H)

    @cached_property
    def _spectral(self) -> float:
        return largest_square(self._scaled) / len(self.H)

    @cached_property
    def _thresholds(self) -> list[tuple[float, float]]:
        """Thresholds ϱ, and the largest eigenvalue of what of G is above each."""
        sizes = np.abs(self._products)
        levels = (0.0, *np.quantile(sizes, QUANTILES), float(sizes.max()))
        above = (np.sign(self._products) * np.maximum(sizes - level, 0.0) for level in levels)
        return [(level, largest_eigenvalue(S)) for level, S in zip(levels, above, strict=True)]


def worst_rms_change(
    H: npt.ArrayLike,
    room: Room,
    most: int,
    offset: npt.ArrayLike | None = None,
    near: npt.ArrayLike | None = None,
) -> Array:
    """Return a change of labels that makes predictions change much, by their RMS.

    From several starts, the change is improved as long as that is possible by choosing the best one
    for the linear approximation of the mean square. This mean is convex, so no step makes it
    smaller. The result need not be the worst change of all.

    Parameters
    ----------
    H
        The matrix (m, N) that turns labels into predictions.
    room
        How far each label may change; finite for every label that has an effect.
    most
        The largest number of labels that change.
    offset
        What is added to the changes of the predictions, (m,). With the errors of the predictions
        from clean labels, the change attacks the RMSE itself.
    near
        A change of labels (N,), perhaps of another number of them, at which the only search
        begins. This is much faster than several starts.

    Returns
    -------
    change
        The change of each label, (N,).

    Examples
    --------
    >>> worst_rms_change([[1.0, 1.0, 0.0], [1.0, -1.0, 0.5]], room_of([0.0, 0.0, 0.0], 1.0), 1)
    array([1., 0., 0.])
    """
    H = checked_matrix("H", H)
    room = _finite(checked_room(room, H.shape[1]), H)
    most = _check.integer("most", most, 0)
    away = np.zeros(len(H)) if offset is None else _check.array("offset", offset, (len(H),))
    if near is None:
        starts = sorted(_starts(H, room, most, away), key=lambda start: start.height, reverse=True)
    else:
        begun = away + H @ _check.array("near", near, (H.shape[1],))
        starts = [_Tried.of(H, room, most, away, begun @ H)]
    climbed = [_climb(H, room, most, away, start) for start in starts[:CLIMBS]]
    return max(climbed, key=lambda end: end.height).change


# ---- the search for a bad change -----------------------------------------------------------------


class _Tried(NamedTuple):
    """A change of labels, what it makes of the predictions, and the mean square of that."""

    change: Array
    shifts: Array
    height: float

    @classmethod
    def of(cls, H: Array, room: Room, most: int, away: Array, effect: Array) -> _Tried:
        """Try the change that is the worst for one linear function."""
        change = best_change(effect, room, most)
        moved = np.flatnonzero(change)
        shifts = away + H[:, moved] @ change[moved]
        return cls(change, shifts, float((shifts**2).mean()))


def _climb(H: Array, room: Room, most: int, away: Array, best: _Tried) -> _Tried:
    """Return the end of the climb from a change, along which the mean square never falls."""
    for _ in range(ROUNDS):
        tried = _Tried.of(H, room, most, away, best.shifts @ H)
        if tried.height <= best.height:
            break
        best = tried
    return best


def _starts(H: Array, room: Room, most: int, away: Array) -> Iterator[_Tried]:
    """Yield the changes that are the worst for linear functions that matter."""
    A = H * np.maximum(*room)
    columns = np.argsort(-np.linalg.norm(A, axis=0), kind="stable")[:STARTS]
    rows = np.argsort(-top_sum(np.abs(A), most), kind="stable")[:STARTS]
    spread = (A @ leading_directions(A, STARTS)).T
    for effect in (away @ H, H.mean(axis=0), *H[rows], *H.T[columns] @ H, *spread @ H):
        for sign in (1.0, -1.0):
            yield _Tried.of(H, room, most, away, sign * effect)


# ---- checks --------------------------------------------------------------------------------------


def _finite(room: Room, H: Array) -> Room:
    """Return a finite room, without that of labels that have no effect."""
    effective = H.any(axis=0)
    down, up = (np.where(effective, end, 0.0) for end in room)
    if not (np.isfinite(down).all() and np.isfinite(up).all()):
        raise _check.InputError(
            "`room` must be finite for labels that have an effect, because nothing limits the "
            "damage otherwise: give a bound, or the range of the labels"
        )
    return Room(down, up)
