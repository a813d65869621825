r"""Huber regression with a fixed clip: the fit, and how far changed labels can move it.

With :math:`\psi(r) = \max(-c, \min(r, c))` for a clip c and the function σ of one leaky gate, which
has the slope α below 0 and 1 above, a fit is a root v of

.. math:: \frac1N \sum_i g_i \psi(y_i - \sigma(v^\top z_i)) z_i = Pv .

For α = 1 and P = 0 it minimises Huber's loss (Huber, 1964, "Robust estimation of a location
parameter"). If labels change, the root moves by less than ρ as soon as at the distance ρ the rows
pull back by more than changed labels push. The theorem is in docs/theory.md, section (k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron._types import Array
from neurotron.theory.label_changes import Room, top_sum
from neurotron.theory.smoother import ROUNDED, RmsCeiling

MOST_STEPS = 200
"""Newton steps to a root; there are rarely more than twenty."""
MOST_HALVINGS = 60
"""Lengths of a step that are tried: as many as there are binary digits."""
STRAIGHT, STRAIGHTEST, LESS = 1.0, 1e-9, 0.2
"""The loss is straight beyond the clip. At first the curvature of the parabola that lies above it
there is used, which always leads down (Huber and Dutter, 1974), and in each step this part of it,
so that the last steps are Newton's."""
SETTLED, SETTLED_LABELS = 1e-9, 1e-13
"""A root is found if what is left of the equation is at most this part of the clip; without a clip,
of the largest label. Both are a little more than rounding, and the ceiling counts them twice."""
FARTHEST = 300.0
"""No distance beyond so many times the push is tried: the rows pull no more there."""
COARSE, FINE = 1.25, 33
"""The factor between the distances that are tried, and how many are tried between the last two."""
UNCERTAIN = 1e-12
"""Eigenvalues are smaller by this part of the pull of all rows than what is computed."""


@dataclass(frozen=True, eq=False)
class ClippedEquation:
    """The equation of a fit: rows, how much each counts, clip, slope and penalty."""

    rows: Array
    """The rows z, (N, p)."""
    counts: Array
    """The weights g of the rows, (N,)."""
    clip: float
    """c, positive; it may be infinite."""
    leak: float
    """α, above 0 and at most 1; 1 is linear regression."""
    penalty: Array
    """P, symmetric and positive semidefinite, (p, p)."""

    def residuals(self, v: Array, labels: Array) -> Array:
        """Return the labels minus the outputs of v."""
        return self._residuals(self.rows @ v, labels)

    def left(self, v: Array, labels: Array) -> Array:
        """Return what is left of the equation at v, which is 0 at the root, (p,)."""
        pulls = self.counts * np.clip(self.residuals(v, labels), -self.clip, self.clip)
        return np.asarray(pulls @ self.rows / len(self.rows) - self.penalty @ v)

    def settled(self, labels: Array) -> float:
        """Return what may be left of the equation at a root, because of rounding."""
        if math.isfinite(self.clip):
            return SETTLED * self.clip
        return SETTLED_LABELS * float(np.abs(labels).max())

    def root(self, labels: Array) -> Array:
        """Return the root, by Newton's method with a search along each step."""
        v, straight = np.zeros(self.rows.shape[1]), STRAIGHT
        for _ in range(MOST_STEPS):
            left, outputs = self.left(v, labels), self.rows @ v
            if float(np.linalg.norm(left)) <= self.settled(labels) / 10.0:
                break
            sizes = np.abs(self._residuals(outputs, labels))
            curved = np.where(sizes <= self.clip, 1.0, straight * self.clip / sizes.clip(1e-300))
            curved *= np.where(outputs > 0.0, 1.0, self.leak) * self.counts
            matrix = (self.rows.T * curved) @ self.rows / len(self.rows) + self.penalty
            matrix.flat[:: len(v) + 1] += UNCERTAIN * float(np.trace(matrix)) + 1e-300
            step = np.asarray(np.linalg.solve(matrix, left), np.float64)
            length = self._length(v, step, labels)
            if length == 0.0:
                break
            v = v + length * step
            straight = max(LESS * straight, STRAIGHTEST)
        return v

    def _length(self, v: Array, step: Array, labels: Array) -> float:
        """Return how far to go along a step: until the convex loss falls much less than at first.

        It has fallen as long as it still falls there, because its slope rises along the step.
        """
        at, along = self.rows @ v, self.rows @ step
        by_penalty, more = float(v @ self.penalty @ step), float(step @ self.penalty @ step)

        def fall(length: float) -> float:
            residuals = self._residuals(at + length * along, labels)
            pulls = self.counts * np.clip(residuals, -self.clip, self.clip)
            return float(pulls @ along) / len(along) - by_penalty - length * more

        first, low, high, length = fall(0.0), 0.0, math.inf, 1.0
        for _ in range(MOST_HALVINGS if first > 0.0 else 0):
            now = fall(length)
            if -1e-3 * first <= now <= 0.5 * first:
                return length
            low, high = (length, high) if now > 0.0 else (low, length)
            length = 2.0 * low if math.isinf(high) else 0.5 * (low + high)
        return low

    def _residuals(self, outputs: Array, labels: Array) -> Array:
        return labels - np.where(outputs > 0.0, outputs, self.leak * outputs)


@dataclass(frozen=True, eq=False)
class ClippedCeiling:
    """How far the root moves at most if labels change, for any number of changed labels."""

    equation: ClippedEquation
    labels: Array
    """The labels at hand, (N,)."""
    root: Array
    """The root of the equation for these labels, (p,)."""
    room: Room
    """How far each label may change; infinite if it may become anything."""

    def at(self, most: int) -> float:
        """Return a bound on ‖v′ − v‖ for all roots v′ of labels with at most `most` changes.

        It is infinite if nothing is proved, and exact for one label, a linear fit and no clip.
        """
        if most == 0:
            return 0.0
        pushes = [ceiling.at(most) * math.sqrt(len(self.root)) for ceiling in self._ceilings]
        held, anew = (push + self._inexact for push in pushes)
        least = min(held, anew) / (self.equation.leak + np.linalg.norm(self.equation.penalty, 2))
        least *= 1.0 + ROUNDED
        steps = round(math.log(FARTHEST) / math.log(COARSE))
        for far in least * COARSE ** np.arange(steps if math.isfinite(least) else 0):
            if self._holds(far, most, held, anew):
                fine = np.geomspace(max(far / COARSE, least), far, FINE)[:-1]
                best = (one for one in fine if self._holds(one, most, held, anew))
                return float(next(best, far)) * (1.0 + ROUNDED)
        return math.inf

    def _holds(self, far: float, most: int, held: float, anew: float) -> bool:
        """Return whether the rows pull more at a distance than changed labels push.

        Either all rows pull back, and changed labels push by up to two clips; or only rows that are
        not changed do, and changed labels push by what is left between their residual and the clip.
        """
        equation, lengths = self.equation, self._lengths
        room = (equation.clip - np.abs(self._residuals)).clip(0.0) / lengths.clip(1e-300)
        weights = equation.counts * np.minimum(equation.leak * far, room)
        matrix = (equation.rows.T * weights) @ equation.rows / len(lengths) + far * equation.penalty
        pull = float(np.linalg.eigvalsh(matrix)[0]) - UNCERTAIN * float(np.trace(matrix))
        lost = float(top_sum(weights * lengths**2, most)) / len(lengths)
        return pull > anew or pull - lost > held

    @cached_property
    def _residuals(self) -> Array:
        return self.equation.residuals(self.root, self.labels)

    @cached_property
    def _lengths(self) -> Array:
        return np.linalg.norm(self.equation.rows, axis=1)

    @cached_property
    def _inexact(self) -> float:
        """By how much roots that are rounded can push: this one, and one of other labels."""
        largest = np.abs(self.labels) + np.maximum(*self.room)
        left = float(np.linalg.norm(self.equation.left(self.root, self.labels)))
        return left + self.equation.settled(largest)

    @cached_property
    def _ceilings(self) -> tuple[RmsCeiling, RmsCeiling]:
        """Bounds on the push of labels that change from where they are, and from anywhere."""
        equation, clip = self.equation, self.equation.clip
        matrix = (equation.rows.T * equation.counts) / len(self.labels)
        at = np.clip(self._residuals, -clip, clip)
        falls = at - np.clip(self._residuals - self.room.down, -clip, clip)
        rises = np.clip(self._residuals + self.room.up, -clip, clip) - at
        anywhere = np.minimum(np.maximum(*self.room), 2.0 * clip)
        return RmsCeiling(matrix, Room(falls, rises)), RmsCeiling(matrix, Room(anywhere, anywhere))
