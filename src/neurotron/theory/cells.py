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

    def contain(self, active: Mask) -> Mask:
        """Return for each row of gates that are active or not, (b, k), whether a cell has them."""
        known = set(_packed(self.slopes == 1.0))
        return np.fromiter(map(known.__contains__, _packed(active)), bool, len(active))

    def radius(self, level: Array, slope: float, probability: Array) -> Array:
        """Return ρ such that honest labels within the level have at most this probability."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            left = probability - slope * level * self.other
            found = slope * level * self.same / left
        return np.where(left > 0.0, found, np.inf)


def _packed(active: Mask) -> list[bytes]:
    """Return each row of truth values as bytes, which are found quickly in a set."""
    bits = np.packbits(active, axis=1)
    return bits.view(f"V{bits.shape[1]}")[:, 0].tolist()


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
    rising, falling = mix[:, 1] > 0.0, mix[:, 1] < 0.0
    with np.errstate(all="ignore"):
        rounded = np.where(rising | falling, -sign * mix[:, 0] / mix[:, 1], 0.0)
    rank = np.unique(rounded, return_inverse=True)[1]
    if rank.max() + 1 < len(mix):  # rounding keeps the order of places, but may make two equal
        places = [
            Fraction(-sign * first) / Fraction(second) if second else Fraction(0)
            for first, second in mix.tolist()
        ]
        order = {place: i for i, place in enumerate(sorted(set(places)))}
        rank = np.array([order[place] for place in places])
    points = np.arange(rank.max() + 2)[:, None]  # point j is between the places j − 1 and j
    constant = ~(rising | falling) & (sign * mix[:, 0] > 0.0)
    return np.asarray((rising & (points > rank)) | (falling & (points <= rank)) | constant)


@dataclass(frozen=True, eq=False)
class Partition:
    """All cells of a network for inputs x = L z, whatever its filter is.

    Parameters
    ----------
    slopes
        The slopes of the gates in each cell, shape (cells, k).
    basis
        The matrices B_l L that all gates are made of, shape (basis, r, m). They are turned so that
        m is at most the number of their rows, which changes no length.
    mixes
        The coefficients of Ā_S L in this basis, shape (cells, basis).
    ranges
        An orthonormal basis of the range of each (Ā_S L)ᵀ, filled up with columns of zeros.
    tau
        τ_S, the r-th singular value of each Ā_S L, shape (cells,).
    """

    slopes: Array
    basis: Array
    mixes: Array
    ranges: Array
    tau: Array

    @classmethod
    def of(cls, network: FilterNetwork, root: Array | None) -> Partition | None:
        """Return the cells for a `root` L, None for the identity; None if they are too many.

        The network has gates: its leak is below 1.
        """
        slopes = slopes_of(network)
        if slopes is None:
            return None
        basis, mixes = network.basis.dense(), slopes * network.share
        basis = basis if root is None else basis @ root
        if (rows := basis.shape[0] * basis.shape[1]) < basis.shape[2]:
            turned = np.asarray(np.linalg.qr(basis.reshape(rows, -1).T, mode="r"))
            basis = turned.T.reshape(*basis.shape[:2], rows)
        mixes = mixes if network.mix is None else mixes @ network.mix
        matrices = np.tensordot(mixes, basis, axes=1)
        columns, upper = np.linalg.qr(matrices.transpose(0, 2, 1))
        # a direction that is nearly lost counts, too: it makes distances smaller
        ranges = columns * (upper != 0.0).any(axis=2)[:, None]
        tau = np.zeros(len(slopes))
        if upper.shape[1] == upper.shape[2]:  # otherwise there are more rows than columns
            tau = np.linalg.svd(upper, compute_uv=False)[:, -1]
        return cls(slopes, basis, mixes, ranges, tau)

    def cells(self, weights: Array) -> Cells | None:
        """Return the cells of a filter in which others can be told apart from it, None if none are.

        They are chosen by the filter and the network alone, never by the rows.
        """
        seen = np.einsum("lrm,r->lm", self.basis, weights)
        distances = self._distances(seen)
        longest = (np.abs(self.mixes) @ np.linalg.norm(seen, axis=1)).max()
        apart = (self.tau > DISTINCT * self.tau.max()) & (
            distances.min(axis=1) > DISTINCT * longest
        )
        if not apart.any():
            return None
        same, other = (float((1.0 / part[apart]).sum()) for part in (self.tau, distances))
        return Cells(self.slopes[apart], same, other)

    def _distances(self, seen: Array) -> Array:
        """Return δ_ST, the distance of each Ā_Sᵀŵ to the range of each Ā_Tᵀ; inf for S = T.

        Every Ā_Sᵀŵ is a mixture of the few vectors `seen`, so that only these are projected.
        """
        left = seen - (seen @ self.ranges) @ self.ranges.transpose(0, 2, 1)
        upper = np.asarray(np.linalg.qr(left.transpose(0, 2, 1), mode="r"))
        squares = sum((row @ self.mixes.T) ** 2 for row in upper.transpose(1, 0, 2))
        distances = np.sqrt(squares).T
        np.fill_diagonal(distances, np.inf)
        return distances
