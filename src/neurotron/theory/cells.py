r"""Where a filter is exact, cell by cell (Theorem B of docs/verification.md).

In the cell of inputs in which the gates of ŵ have the slopes S, and those of w* have the slopes T,
the difference of the outputs is linear: (Ā_Sᵀŵ − Ā_Tᵀw*)ᵀx with Ā_S = (1/k) Σ q_i s_i A_i. Where
S = T it is at least as large as τ_S‖ŵ − w*‖. Where they differ, it is at least as large as the
distance δ_ST from Ā_Sᵀŵ to all vectors Ā_Tᵀw. If the density of every projection of the inputs is
at most κ/2, honest labels are within s with a probability of at most

.. math:: s \kappa \sum_S \Bigl( \frac1{\tau_S \rho} + \sum_{T \ne S} \frac1{\delta_{ST}} \Bigr),
          \qquad \rho = \|\hat w - w_*\| ,

summed over the cells that are looked at.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork

__all__ = ["Cells", "cells_of", "slopes_of"]

MOST_GATES = 10
"""With more gates than this, cells are not enumerated unless two matrices make all gates."""
MOST_NUMBERS = 3_000_000
"""The most entries of all matrices Ā_S together."""
DISTINCT = 1e-6
"""Cells count as looked at if τ_S and all δ_ST exceed this part of the largest ones."""


@dataclass(frozen=True)
class Cells:
    """The cells of a filter in which other filters can be told apart from it.

    Parameters
    ----------
    slopes
        The slopes of the gates in each cell, shape (cells, k).
    same
        Σ_S 1/τ_S over these cells.
    other
        Σ_S Σ_{T≠S} 1/δ_ST.
    """

    slopes: Array
    same: float
    other: float

    def contain(self, network: FilterNetwork, weights: Array, inputs: Array) -> Mask:
        """Return for each input whether it is in one of the cells, shape (b,)."""
        responses = network.project(inputs) @ weights
        sums = responses if network.mix is None else responses @ network.mix.T
        known = {tuple(row) for row in (self.slopes == 1.0).tolist()}
        active, where = np.unique(sums > 0.0, axis=0, return_inverse=True)
        inside = np.array([tuple(row) in known for row in active.tolist()])
        return np.asarray(inside[where.reshape(-1)])

    def radius(self, level: Array, slope: float, probability: Array) -> Array:
        """Return ρ such that honest labels within the level have at most this probability."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            left = probability - slope * level * self.other
            found = slope * level * self.same / left
        return np.where(left > 0.0, found, np.inf)


def slopes_of(network: FilterNetwork) -> Array | None:
    """Return the slopes of the gates in every cell, (cells, k); None if they are not enumerated.

    If two matrices make all gates, each gate is a half-plane of two numbers, and the way around the
    plane finds all cells. Otherwise every combination counts, also those that no input has.
    """
    if network.activation is not None:  # it has no cells in which it is linear
        return None
    mix, count = network.mix, network.width
    if mix is not None and mix.shape[1] == 2:
        active = np.unique(np.concatenate([_along_a_line(mix, sign) for sign in (1, -1)]), axis=0)
    elif count <= MOST_GATES:
        active = np.array(list(itertools.product([False, True], repeat=count)))
    else:
        return None
    if len(active) * network.filter_size * network.n_inputs > MOST_NUMBERS:
        return None
    return np.where(active, 1.0, network.leak)


def _along_a_line(mix: Array, sign: int) -> Mask:
    """Return which gates are active at the points (±1, t), for t between −∞ and ∞: (cells, k).

    Gate i is active where c_i1 t > ∓c_i0. The places where gates switch are compared exactly, for
    two of them may be closer than rounding tells.
    """
    places = [
        Fraction(-sign * first) / Fraction(second) if second else Fraction(0)
        for first, second in mix.tolist()
    ]
    order = {place: i for i, place in enumerate(sorted(set(places)))}
    rank = np.array([order[place] for place in places])
    points = np.arange(len(order) + 1)[:, None]  # point j is between the places j − 1 and j
    rising, falling = mix[:, 1] > 0.0, mix[:, 1] < 0.0
    constant = ~(rising | falling) & (sign * mix[:, 0] > 0.0)
    return np.asarray((rising & (points > rank)) | (falling & (points <= rank)) | constant)


def cells_of(network: FilterNetwork, root: Array | None, weights: Array) -> Cells | None:
    """Return the cells of a filter for inputs x = L z with the `root` L; None if there are none.

    They are chosen by the filter and the network alone, never by the rows. The network has gates:
    its leak is below 1.
    """
    slopes = slopes_of(network)
    if slopes is None:
        return None
    matrices = np.einsum("sk,krn->srn", slopes * network.share, network.gates)
    matrices = matrices if root is None else matrices @ root
    outputs = np.einsum("srn,r->sn", matrices, weights)
    tau, distances = _smallest(matrices), _distances(matrices, outputs)
    longest = np.linalg.norm(outputs, axis=1).max()
    seen = (tau > DISTINCT * tau.max()) & (distances.min(axis=1) > DISTINCT * longest)
    if not seen.any():
        return None
    return Cells(slopes[seen], float((1.0 / tau[seen]).sum()), float((1.0 / distances[seen]).sum()))


def _smallest(matrices: Array) -> Array:
    """Return τ_S, the r-th singular value of each matrix, 0 if it has fewer columns than rows."""
    if matrices.shape[2] < matrices.shape[1]:
        return np.zeros(len(matrices))
    return np.asarray(np.linalg.svd(matrices, compute_uv=False)[:, -1], float)


def _distances(matrices: Array, outputs: Array) -> Array:
    """Return δ_ST, the distance of each output to the range of each Ā_Tᵀ; inf for S = T."""
    found = np.empty((len(matrices), len(matrices)))
    for other, matrix in enumerate(matrices):
        basis, values, _ = np.linalg.svd(matrix.T, full_matrices=False)
        basis = basis[:, values > 0.0]  # a direction that is nearly lost makes distances smaller
        found[:, other] = np.linalg.norm(outputs - (outputs @ basis) @ basis.T, axis=1)
    np.fill_diagonal(found, np.inf)
    return found
