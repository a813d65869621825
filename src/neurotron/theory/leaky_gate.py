r"""One leaky gate on a table of data, whose rows need not be symmetric.

With :math:`T^\top T = K = \bar A \Sigma \bar A^\top`, :math:`v = Tw` and
:math:`z = T^{-\top}\bar A x`, the gate has the output :math:`\sigma(v^\top z)`. An update with the
sensing matrix "optimal", :math:`M = K^{-1}\bar A`, adds a multiple of z to v. The outputs of v and
:math:`v_\circ` differ by :math:`e = D\, d^\top z` with :math:`\alpha \le D \le 1`, so
:math:`E[e z] = H d` with a symmetric H between α and 1: this is the pull, whatever the law of z is.
"""

from __future__ import annotations

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Rows
from neurotron.problem import Problem
from neurotron.theory.coordinates import Coordinates

MOST_STEPS = 200
"""Newton steps to a fit; there are rarely more than ten."""


def has_leaky_gate(problem: Problem) -> bool:
    """Return whether rows are drawn with replacement for one gate with 0 < leak < 1."""
    network, data = problem.network, problem.data
    one = network.width == 1 and network.outer_weights[0] > 0.0 and 0.0 < network.leak < 1.0
    return one and type(data) is Rows and data.replacement


def for_leaky_gate(problem: Problem, sensing: Array, weighting: str | None) -> Coordinates | None:
    """Return the coordinates v; None unless M is optimal, without weighting."""
    covariance, gate = problem.covariance, problem.network.mean_gate
    if covariance is None or weighting is not None:
        return None
    if not np.array_equal(sensing, problem.sensing_matrix("optimal")):
        return None
    return Coordinates.of(gate @ covariance @ gate.T, of_gate=True)


def fit_of_gate(problem: Problem, coordinates: Coordinates) -> Array:
    """Return the only weights at which the mean update of one leaky gate vanishes, (r,)."""
    data, network = problem.data, problem.network
    assert isinstance(data, Rows)

    def find() -> Array:
        z = data.X @ coordinates.gates(network.mean_gate).T
        found = _root(z, data.y, data.law.counts / len(z), network.leak)
        assert coordinates.back is not None
        return _check.freeze(coordinates.back @ found)

    return problem.once("fit of one gate", find)


def _root(z: Array, y: Array, counts: Array, leak: float) -> Array:
    """Return the minimum of the convex loss whose gradient is the mean update, by Newton's method.

    The loss is E[c(Φ(vᵀz) − y vᵀz)] with Φ' = σ. A step is taken if it makes the loss or the
    gradient clearly smaller, and halved until it does.
    """

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
