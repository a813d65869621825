r"""Tables in coordinates in which the second moment of their rows is the identity.

With :math:`K = \bar A \Sigma \bar A^\top`, :math:`v = K^{1/2} w` and
:math:`z = K^{-1/2} \bar A x`, a linear network has the output :math:`v^\top z`, a single gate has
:math:`\sigma(v^\top z)`, and an update with the sensing matrix "optimal",
:math:`M = K^{-1}\bar A`, adds a multiple of z to v. So training is the same in both coordinates.
Two things are better in the new ones.

- :math:`\|v - v_\circ\|` is the root mean square by which the linear parts of two filters differ
  over the rows, so a bound on it is a bound on the prediction error.
- A leaky gate needs no symmetry. The outputs of v and :math:`v_\circ` differ by
  :math:`e = D\, d^\top z` with :math:`\alpha \le D \le 1`, so :math:`E[e z] = H d` with a symmetric
  H between α and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Rows
from neurotron.networks import relu_gate
from neurotron.problem import Problem

__all__ = ["WhitenedTable", "Whitening", "has_leaky_gate", "whitening_of"]

WORST = 1e6
"""The largest condition number of K: beyond it, rounding errors are no longer small."""
MOST_STEPS = 200
"""Newton steps to a fit; there are rarely more than ten."""


def has_leaky_gate(problem: Problem) -> bool:
    """Return whether rows are drawn with replacement for one gate with 0 < leak < 1."""
    network, data = problem.network, problem.data
    one = network.width == 1 and network.outer_weights[0] > 0.0 and 0.0 < network.leak < 1.0
    return one and type(data) is Rows and data.replacement


class WhitenedTable(Problem):
    """Whitened rows of a linear network or of one leaky gate, which need no symmetry."""

    def least_squares(self, weighting: str | None = None) -> Array:
        """Return the fit at which the mean update vanishes; it is the only one."""
        assert weighting is None
        if self.network.leak == 1.0:
            return super().least_squares()
        if None not in self._fits:
            assert isinstance(self.data, Rows)
            self._fits[None] = _check.freeze(_root(self.data, self.network.leak))
        return self._fits[None]


@dataclass(frozen=True, eq=False)
class Whitening:
    """A table in both coordinates."""

    problem: WhitenedTable
    """The table in the new coordinates."""
    sensing: Array
    """The sensing matrix in the new coordinates, which is the identity up to rounding, (r, r)."""
    back: Array
    """K^{−1/2}, which maps v to w, (r, r)."""
    shrinks: float
    """At least 1/√λ_min(K): ‖w‖ is at most this times ‖v‖."""
    stretches: float
    """At least √λ_max(K): ‖v‖ is at most this times ‖w‖."""
    spread: float
    """√E[c²‖x‖²‖Mx‖²] in the old coordinates."""


def whitening_of(problem: Problem, sensing: Array, weighting: str | None) -> Whitening | None:
    """Return the table in new coordinates; None unless M is optimal, without weighting."""
    data, network = problem.data, problem.network
    assert isinstance(data, Rows)
    if weighting is not None or not np.array_equal(sensing, problem.sensing_matrix("optimal")):
        return None
    seen, counts = data.X @ network.mean_gate.T, data.law.counts
    values, frame = np.linalg.eigh((seen.T * counts) @ seen / len(seen))
    if not values[0] * WORST > values[-1]:
        return None
    root, back = (frame * np.sqrt(values)) @ frame.T, (frame / np.sqrt(values)) @ frame.T
    truth = problem.true_weights
    rows = Rows(
        seen @ back, data.y, sample_weight=data.sample_weight, replacement=True,
        true_weights=None if truth is None else root @ truth,
    )  # fmt: skip
    turned = relu_gate(network.filter_size, leak=network.leak)
    sensed = data.X @ sensing.T
    sizes = counts * np.linalg.norm(data.X, axis=1) * np.linalg.norm(sensed, axis=1)
    slack = 1.0 + 1e-6
    return Whitening(
        problem=WhitenedTable(turned, rows, root @ problem.initial_weights),
        sensing=root @ sensing @ np.linalg.pinv(network.mean_gate) @ root,
        back=back,
        shrinks=slack / math.sqrt(float(values[0])),
        stretches=slack * math.sqrt(float(values[-1])),
        spread=slack * math.sqrt(float((sizes**2).mean())),
    )


def _root(rows: Rows, leak: float) -> Array:
    """Return the minimum of the convex loss whose gradient is the mean update, by Newton's method.

    The loss is E[c(Φ(vᵀz) − y vᵀz)] with Φ' = σ. A step is taken if it makes the loss or the
    gradient clearly smaller, and halved until it does.
    """
    z, y, counts = rows.X, rows.y, rows.law.counts / len(rows.X)

    def at(v: Array) -> tuple[float, Array, Array]:
        out = z @ v
        slopes = np.where(out > 0.0, 1.0, leak)
        loss = float((counts * (slopes * out**2 / 2.0 - y * out)).sum())
        return loss, (counts * (y - slopes * out)) @ z, counts * slopes

    v = np.zeros(z.shape[1])
    for _ in range(MOST_STEPS):
        loss, downhill, curved = at(v)
        step = np.linalg.solve((z.T * curved) @ z, downhill)
        wanted, length, size = float(downhill @ step), 1.0, float(np.linalg.norm(downhill))
        while length > 1e-9:
            lower, left, _ = at(v + length * step)
            falls = lower <= loss - 1e-4 * length * wanted and lower < loss
            if falls or float(np.linalg.norm(left)) < 0.5 * size:
                break
            length /= 2.0
        else:
            return v
        v = v + length * step
    return v
