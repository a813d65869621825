r"""Filters that could share a whole activation pattern with a given filter.

Where the gates of ŵ have the slopes S and those of another filter w' the slopes T, the two outputs
are (Ā_Sᵀŵ)ᵀx and (Ā_Tᵀw')ᵀx with Ā_S = (1/k) Σ q_i s_i A_i. They agree on a whole region of inputs
only if the two vectors are equal. This module finds the filters w' ≠ ŵ for which that is possible,
or shows that there is none. See docs/theory.md, section (i).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import gcd, lcm

import numpy as np

from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork, Windows

SAME = 1e-7
"""Vectors whose relative difference is at most this are taken to be equal."""
MOST_WORK = 2e7
MOST_ORBITS = 18


@dataclass(frozen=True)
class Coincidences:
    """The filters that could share a whole pattern.

    Parameters
    ----------
    filters
        The filters w' ≠ ŵ, (many, r), if they are finitely many. Negative multiples of ŵ, which
        share the rows with one ratio of f_ŵ to f_−ŵ, may be left out.
    lost
        Which of the rows have a pattern that infinitely many filters could share, or a Ā_S of rank
        below r. Such rows prove nothing.
    undecided
        Why it is not known whether there are others; empty if there are none.
    """

    filters: Array
    lost: Mask
    undecided: str = field(default="")


def coincidences(network: FilterNetwork, weights: Array, coefficients: Array) -> Coincidences:
    """Return the filters that could share a whole pattern with `weights`.

    Row i of `coefficients` has the coefficients of Ā_S in the network's basis, where S is the
    pattern of row i. None of the rows may be zero.
    """
    none = np.zeros((0, network.filter_size))
    kept = np.zeros(len(coefficients), np.bool_)
    if _independent(network):  # w' = cŵ, and positive multiples have the same pattern
        return Coincidences(none, kept)
    factor = _common_factor(network, weights) if _is_translation(network) else None
    if factor is False:
        return Coincidences(none, kept)
    patterns = _patterns(network)
    if patterns is not None:
        return _enumerated(network, weights, coefficients, patterns)
    if factor:
        return Coincidences(none, ~kept)
    return Coincidences(none, kept, "a few filters might share a whole pattern with another one")


def _independent(network: FilterNetwork) -> bool:
    """Whether all rows of all basis matrices together are linearly independent."""
    basis = network.basis
    if isinstance(basis, Windows):
        return np.unique(basis.index).size == basis.index.size
    stacked = basis.values.reshape(-1, network.n_inputs)
    if len(stacked) > network.n_inputs:
        return False
    values = np.linalg.svd(stacked, compute_uv=False)
    return bool(values[-1] > SAME * values[0])


def _is_translation(network: FilterNetwork) -> bool:
    """Whether all windows are translates of the first one: no ring."""
    if not isinstance(network.basis, Windows) or network.mix is not None:
        return False
    index = network.basis.index
    return bool((index - index[:, :1] == index[0] - index[0, 0]).all())


def _common_factor(network: FilterNetwork, weights: Array) -> bool | None:
    """Whether the filter, as a polynomial, may have a factor in common with a pattern.

    The windows are translates, so Ā_Tᵀw' has the coefficients of the product of the polynomials
    Σ q_l t_l z^a_l and Σ w'_j z^b_j. If the ends of ŵ are not zero and no pattern has a factor in
    common with it, then T(z) w'(z) = S(z) ŵ(z) says that T and S are proportional. Multiplied by
    some number, the q_l t_l are whole numbers. A common factor then is c ∏ (z − ρ) over some roots
    ρ of ŵ with whole coefficients, and both c and its last coefficient divide some q_l t_l. The
    answer is None if there are too many roots to try all products, or no whole numbers.
    """
    leading = _whole_numbers(network)
    exponents = network.basis.index[0] - network.basis.index[0].min()  # type: ignore[union-attr]
    dense = np.zeros(exponents.max() + 1)
    dense[exponents] = weights
    if min(abs(dense[0]), abs(dense[-1])) <= 1e-6 * np.abs(dense).max():
        return True
    if leading == 0:
        return None
    roots = np.roots(dense[::-1])
    orbits = roots[roots.imag > -1e-9]  # a root and its conjugate are both in a factor
    times = np.where(orbits.imag > 1e-9, 2.0, 1.0)
    if times.sum() != len(roots):
        return True
    each = times * np.array([orbits.real, np.log(np.abs(orbits)), (1.0 / orbits).real])
    few = len(orbits) <= MOST_ORBITS
    sums, logs, backs = _all_sums(each) if few else _small_sums(each)
    last = leading * np.exp(np.minimum(logs, 50.0))
    near = _is_whole(leading * sums, leading) & _is_whole(last, last) & (last >= 0.5)
    near &= _is_whole(leading * backs, leading)  # c ∏ρ Σ 1/ρ is the last coefficient but one
    return True if near.any() else False if few else None


def _is_whole(values: Array, size: Array | float) -> Mask:
    return np.asarray(np.abs(values - np.round(values)) <= 1e-5 * size)


def _all_sums(each: Array) -> Array:
    """Return the sums of the columns in each subset but the empty one."""
    sums = np.zeros((len(each), 1))
    for column in each.T:
        sums = np.hstack([sums, sums + column[:, None]])
    return sums[:, 1:]


def _small_sums(each: Array) -> Array:
    """Return the sums of the columns in each subset of one or two, and of all."""
    one, two = np.triu_indices(each.shape[1], 1)
    return np.hstack([each, each[:, one] + each[:, two], each.sum(axis=1, keepdims=True)])


def _whole_numbers(network: FilterNetwork) -> int:
    """Return the least common multiple of the q_l t_l as whole numbers; 0 if they are not."""
    leak = [network.leak] if network.leak > 0.0 else []
    sizes = np.unique(np.abs(np.outer([1.0, *leak], network.outer_weights)))
    for factor in range(1, 65):
        scaled = factor * sizes / sizes[0]
        if np.abs(scaled - np.round(scaled)).max() <= 1e-9 * scaled.max():
            whole = [int(number) for number in np.round(scaled)]
            multiple = lcm(*(number // gcd(*whole) for number in whole))
            return multiple if multiple <= 1_000 else 0
    return 0


def _patterns(network: FilterNetwork) -> Array | None:
    """Return the coefficients of Ā_T in the basis for all patterns T, or None if too many."""
    k, r, n = network.width, network.filter_size, network.n_inputs
    mix = np.eye(k) if network.mix is None else network.mix
    if mix.shape[1] <= 2:
        on = _half_planes(mix)
    elif k <= 12 and 2**k * n * r * r <= MOST_WORK:
        on = np.array(list(product([False, True], repeat=k)))
    else:
        return None
    if len(on) * n * r * r > 10 * MOST_WORK:
        return None
    slopes = np.where(on, 1.0, network.leak)
    return np.asarray(np.unique((slopes * network.share) @ mix, axis=0), np.float64)


def _half_planes(mix: Array) -> Mask:
    """Return which gates are on, for all signs that ``mix @ (m, c)`` can have: 2k patterns."""
    plane = np.hstack([mix, np.zeros((len(mix), 2 - mix.shape[1]))])
    turns = np.arctan2(plane[:, 1], plane[:, 0])
    edges = np.unique(np.concatenate([turns - np.pi / 2, turns + np.pi / 2]) % (2 * np.pi))
    middles = (edges + np.roll(edges, -1) + 2 * np.pi * (edges >= edges[-1])) / 2
    return np.asarray(plane @ np.array([np.cos(middles), np.sin(middles)]) > 0.0).T


def _enumerated(
    network: FilterNetwork, weights: Array, coefficients: Array, patterns: Array
) -> Coincidences:
    """Solve Ā_Tᵀw' = Ā_Sᵀŵ for every pattern S of a row and every pattern T."""
    own, which = np.unique(coefficients, axis=0, return_inverse=True)
    matrices = np.array([network.basis.combine(c) for c in own])
    values = np.linalg.svd(matrices, compute_uv=False)
    r = network.filter_size
    lost = (values.shape[1] < r) | (values[:, -1] <= 1e-9 * values[:, 0])
    targets = np.einsum("srn,r->ns", matrices, weights)
    sizes = np.linalg.norm(targets, axis=0)
    lost |= sizes <= 1e-9 * values[:, 0] * np.linalg.norm(weights)
    filters = []
    for pattern in patterns:
        left, singular, right = np.linalg.svd(network.basis.combine(pattern).T, full_matrices=False)
        rank = int((singular > 1e-9 * max(singular[0], 1e-300)).sum())
        inner = left[:, :rank].T @ targets
        hit = np.linalg.norm(targets - left[:, :rank] @ inner, axis=0) <= SAME * sizes
        if rank < r:
            lost |= hit
        elif hit.any():
            found = (right.T @ (inner[:, hit] / singular[:, None])).T
            far = np.linalg.norm(found - weights, axis=1) > SAME * np.linalg.norm(weights)
            filters.append(found[far])
    every = np.concatenate([np.zeros((0, r)), *filters])
    return Coincidences(every, np.asarray(lost[which.reshape(-1)]))
