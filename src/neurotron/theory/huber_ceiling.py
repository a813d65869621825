"""How far Huber regression with a fixed clip moves if labels change, to anything.

The fit moves by less than ρ as soon as at the distance ρ the rows pull back by more than changed
labels push. The theorem and its proof are in docs/theory.md, section (k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron._types import Array
from neurotron.theory.huber import UNCERTAIN, ClippedEquation
from neurotron.theory.label_changes import Room, top_sum
from neurotron.theory.smoother import ROUNDED, RmsCeiling

FARTHEST = 300.0
"""No distance beyond so many times the push is tried: the rows pull no more there."""
COARSE, FINE = 1.25, 33
"""The factor between the distances that are tried, and how many are tried between the last two."""


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
