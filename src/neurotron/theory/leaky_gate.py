r"""One leaky gate on a table of data, whose rows need not be symmetric.

With :math:`T^\top T = K = \bar A \Sigma \bar A^\top`, :math:`v = Tw` and
:math:`z = T^{-\top}\bar A x`, the gate has the output :math:`\sigma(v^\top z)`. An update with the
sensing matrix "optimal", :math:`M = K^{-1}\bar A`, adds a multiple of z to v. The outputs of v and
:math:`v_\circ` differ by :math:`e = D\, d^\top z` with :math:`\alpha \le D \le 1`, so
:math:`E[e z] = H d` with a symmetric H between α and 1: this is the pull, whatever the law of z is.
"""

from __future__ import annotations

import math

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Rows
from neurotron.problem import Problem
from neurotron.theory.coordinates import Coordinates
from neurotron.theory.huber import ClippedEquation


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
        free = np.zeros((z.shape[1], z.shape[1]))
        equation = ClippedEquation(z, data.law.counts, math.inf, network.leak, free)
        assert coordinates.back is not None
        return _check.freeze(coordinates.back @ equation.root(data.y))

    return problem.once("fit of one gate", find)
