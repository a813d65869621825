r"""Huber regression with a fixed clip, linear or with one leaky gate: the fit.

With :math:`\psi(r) = \max(-c, \min(r, c))` for a clip c and the function σ of one leaky gate, which
has the slope α below 0 and 1 above, a fit is a root v of

.. math:: \frac1N \sum_i g_i \psi(y_i - \sigma(v^\top z_i)) z_i = Pv .

For α = 1 and P = 0 it minimises Huber's loss (Huber, 1964, "Robust estimation of a location
parameter").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron._types import Array

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
