r"""Tables of data: the fit that training tends to, and what its residuals add to an update.

A linear network has the output :math:`w^\top \bar A x`. Rows are drawn with replacement, and row i
has the weight :math:`g_i = \omega(x_i) c_i`. The labels may be anything. With the weighted
least-squares fit :math:`w_\circ`, its residuals :math:`r_i = y_i - w_\circ^\top \bar A x_i` and a
sensing matrix :math:`M = B\bar A`, the mean update vanishes at :math:`w_\circ`, because
:math:`E[g r M x] = B\, E[g r \bar A x] = 0`. So everything that is proved about the distance to
w* holds for the distance to :math:`w_\circ`, with the constants of `Misfit` for the residuals.

If at most k labels had been changed before, each by at most θ, the fit has moved by

.. math:: \Big\| \frac1N \sum_i g_i \delta_i h_i \Big\| \le \theta \min\Big(
          \sqrt{k/N}\, \lambda_{\max}\Big(\frac1N \sum_i g_i^2 h_i h_i^\top\Big)^{1/2},\;
          \frac1N \sum_{\text{top } k} g_i \|h_i\| \Big), \quad
          h_i = (\bar A \Sigma \bar A^\top)^{-1} \bar A x_i ,

because least squares is linear in the labels, and because of the Cauchy–Schwarz inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from neurotron._types import Array
from neurotron.data import Rows
from neurotron.laws.even_moments import weights_of_rows
from neurotron.laws.projections import SLACK, largest_root
from neurotron.problem import Problem
from neurotron.theory.coordinates import ORIGINAL, Coordinates
from neurotron.theory.leaky_gate import fit_of_gate
from neurotron.theory.rounding import UNIT, label_rounding

ROUNDED = 1e-9
"""Part by which a computed distance is rounded up."""
UNEXPLAINED = 1e3
"""By how much the mean update at the fit may exceed the bound on its rounding errors."""


@dataclass(frozen=True)
class Misfit:
    """Moments of the residuals r of the fit that training tends to; all 0 if labels are exact."""

    s2: float = 0.0
    """√E[ω²r²‖Mx‖²]."""
    along: float = 0.0
    """‖E[ω²r‖Mx‖²Āx]‖ for a linear network; never more than s2 · L2."""
    s1: float = 0.0
    """E[ω|r|‖Mx‖]."""


EXACT = Misfit()


def has_fit(problem: Problem, coordinates: Coordinates = ORIGINAL) -> bool:
    """Return whether guarantees are about the fit of a table, not about w*.

    They are if rows are drawn with replacement and the network is linear, or one leaky gate in the
    coordinates in which it needs no symmetry.
    """
    data, linear = problem.data, problem.network.is_linear
    return type(data) is Rows and data.replacement and (linear or coordinates.of_gate)


class Influence(NamedTuple):
    """How labels move the weights w for which E[g (y − wᵀĀx) Mx] = 0: by E[g δ h] if y by δ."""

    rows: Array
    """h = (MΣĀᵀ)⁻¹Mx of every row, (N, r)."""
    inexact: float
    """1/(1 − ‖E[g h (Āx)ᵀ] − I‖) ≥ 1, because the inverse is computed; inf if that failed."""

    @classmethod
    def of(cls, sensed: Array, seen: Array, counted: Array) -> Influence:
        """Return the influence for Mx, Āx and g of every row."""
        count = len(seen)
        rows = sensed @ np.linalg.pinv((sensed.T * counted) @ seen / count).T
        product = (rows.T * counted) @ seen / count
        error = float(np.linalg.norm(product - np.eye(len(product)), 2)) + count * UNIT
        return cls(rows, 1.0 / (1.0 - error) if error < 0.5 else math.inf)


@dataclass(frozen=True, eq=False)
class TableFit:
    """The least-squares fit of a table, seen through the sensing matrix of a trainer.

    Distances are in the coordinates of a guarantee.
    """

    weights: Array
    """w°, (r,), as it is computed."""
    residuals: Array
    """r, (N,)."""
    rounded: Array
    """By how much each residual may differ from the exact one of these weights, (N,)."""
    counted: Array
    """g, how much each row counts, (N,)."""
    seen: Array
    """Āx of every row in these coordinates, (N, r)."""
    sensed: Array
    """Mx of every row in these coordinates, (N, r)."""
    gain: float
    """1 for a linear network. For a leaky gate α, because E[eMx] may be as small as α MΣĀᵀd."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        sensing: Array,
        weighting: str | None,
        coordinates: Coordinates = ORIGINAL,
    ) -> TableFit:
        """Return the fit of a problem that `has_fit`; MΣĀᵀ must be invertible."""
        data, network = problem.data, problem.network
        assert isinstance(data, Rows)
        if coordinates.of_gate:
            weights = fit_of_gate(problem, coordinates)
        else:
            weights = problem.least_squares(weighting)
        counted = data.law.counts * weights_of_rows(data.X, weighting)
        seen = data.X @ coordinates.gates(network.mean_gate).T
        sensed = data.X @ coordinates.updates(sensing).T
        rounded = label_rounding(network, weights, data.X) + UNIT * np.abs(data.y)
        return cls(
            weights=weights,
            residuals=data.y - network(weights, data.X),
            rounded=rounded,
            counted=counted,
            seen=seen,
            sensed=sensed,
            gain=1.0 if network.is_linear else network.leak * (1.0 - 1e-6),
        )

    @cached_property
    def influence(self) -> Influence:
        """How labels move the weights at which the mean update vanishes."""
        return Influence.of(self.sensed, self.seen, self.counted)

    @cached_property
    def unexplained(self) -> float:
        """The distance from `weights` to where the mean update vanishes, as it is computed."""
        total = (self.counted * self.residuals) @ self.influence.rows
        return float(np.linalg.norm(total)) / self.count

    @cached_property
    def explained(self) -> float:
        """A bound on the rounding errors of `unexplained`."""
        lengths = self.counted * _lengths(self.influence.rows)
        summed = self.rounded + 2.0 * (self.count + 1.0) * UNIT * np.abs(self.residuals)
        return float((lengths * summed).mean())

    @property
    def is_centre(self) -> bool:
        """Whether the mean update vanishes at the fit, up to rounding."""
        known = math.isfinite(self.influence.inexact)
        return known and self.unexplained <= UNEXPLAINED * self.explained

    @property
    def off(self) -> float:
        """A bound on the distance from `weights` to the exact fit."""
        return (self.unexplained + self.explained) * self.influence.inexact / self.gain

    @property
    def count(self) -> int:
        """The number N of rows."""
        return len(self.residuals)

    @property
    def size(self) -> float:
        """√E[g²r²‖Mx‖²], as it is computed."""
        return _root_mean_square(self.counted * self.residuals * _lengths(self.sensed))

    def misfit(self, l2: float) -> Misfit:
        """Return the moments of the exact residuals, rounded up; `l2` is the constant L2."""
        lengths = self.counted * _lengths(self.sensed)
        sizes = lengths * np.abs(self.residuals)
        more = l2 * self.off + _root_mean_square(lengths * self.rounded)
        s2 = _root_mean_square(sizes) * (1.0 + SLACK) + more
        mean = (lengths**2 * self.residuals) @ self.seen / self.count
        along = float(np.linalg.norm(mean)) + l2 * (more + SLACK * s2)
        if self.gain < 1.0:  # the error of a leaky gate is not linear in the weights
            along = math.inf
        return Misfit(s2, min(along, s2 * l2), float(sizes.mean()) * (1.0 + SLACK) + more)

    def moved(self, bound: float, rows: int) -> float:
        """Return how far the fit moves, at most, if `rows` labels change by at most `bound`."""
        if bound == 0.0 or rows == 0:
            return 0.0
        influence, rows = Influence.of(self.seen, self.seen, self.counted), min(rows, self.count)
        moves = self.counted[:, None] * influence.rows
        largest = np.sort(_lengths(moves))[-rows:]
        share = math.sqrt(rows / self.count) * largest_root(moves.T @ moves / self.count)
        size = min(share, float(largest.sum()) / self.count)
        return bound * size * (1.0 + SLACK) * influence.inexact / self.gain


def initial_distance(
    problem: Problem,
    fit: TableFit | None,
    given: float | None = None,
    coordinates: Coordinates = ORIGINAL,
) -> float:
    """Return ‖w_1 − w*‖, or the distance to the fit of a table; or a bound on it that is given."""
    away = problem.initial_error(given, None if fit is None else fit.weights)
    centre = problem.true_weights if fit is None else fit.weights
    if given is not None or centre is None:
        away *= coordinates.stretches
    else:
        away = float(np.linalg.norm(coordinates.updates(problem.initial_weights - centre)))
    return away if fit is None else away * (1.0 + ROUNDED) + fit.off


def _lengths(rows: Array) -> Array:
    return np.linalg.norm(rows, axis=1)


def _root_mean_square(values: Array) -> float:
    return math.sqrt(float((values**2).mean()))
