r"""How far apart the outputs of two filters are: the spread of their odd difference.

For two filters that differ by d, the odd part of the difference of their outputs is
a dᵀĀx, where a is the slope of the odd part of the activation, (1 + α)/2 for the leaky ReLU. With
x = L z it is a times the projection of z onto Gᵀd, where G = ĀL. Its size ‖Gᵀd‖ and the
`Concentration` of z bound the probability that it is small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron._types import Array
from neurotron.laws import Correlated, Empirical, Law, ProductLaw
from neurotron.networks import FilterNetwork
from neurotron.theory.concentration import (
    AnyInterval,
    ByKurtosis,
    Concentration,
    concentration_of,
)

NOT_SEEN = 1e-10
"""Rows whose columns are scaled to one size do not show directions with a second moment below this
part of the largest."""
NOT_RESOLVED = 1e-12
"""Singular values below this part of the largest count as zero."""
MOST_PAIRS = 1000
"""With more products of two coordinates than this, only the simpler bound on the kurtosis is used.
"""
BLOCK = 2_000_000
"""Entries of the products that are kept at a time."""


@dataclass(frozen=True)
class Spread:
    """The odd difference of two filters as a projection: of unit vectors times ‖Gᵀd‖.

    Parameters
    ----------
    matrix
        G, shape (r, m): the mean gate times the root of the law.
    concentration
        The bound C for the coordinates z.
    deviation
        √E(cᵀz)² for unit vectors c, inf if it is infinite or not known.
    """

    matrix: Array
    concentration: Concentration
    deviation: float

    @cached_property
    def smallest(self) -> float:
        """λ with ‖Gᵀd‖ ≥ λ‖d‖ for every d; 0 if some direction is not seen."""
        size, known = self.matrix.shape
        if known < size:
            return 0.0
        values = self._singular[1]
        return float(values[-1]) if values[-1] > NOT_RESOLVED * values[0] else 0.0

    @cached_property
    def coefficients(self) -> Array:
        """By how much each entry of d can be larger than ‖Gᵀd‖, shape (r,)."""
        if self.smallest == 0.0:
            return np.full(len(self.matrix), np.inf)
        left, values = self._singular
        return np.linalg.norm(left / values, axis=1)

    @cached_property
    def _singular(self) -> tuple[Array, Array]:
        """The left singular vectors of G, and its singular values without what rounding may add."""
        left, values, _ = np.linalg.svd(self.matrix, full_matrices=False)
        return left, values - NOT_RESOLVED / 10.0 * values[0]


def spread_of(network: FilterNetwork, law: Law, *, anywhere: bool = False) -> Spread | None:
    """Return the spread of a network under a law of its inputs; None if none is known.

    Parameters
    ----------
    network, law
        What is learned, and where inputs come from.
    anywhere
        Whether the concentration must hold for intervals anywhere, because noise is added. Then
        the inputs of a table are centred: with noise of any mean, a constant input shows nothing.
    """
    gate = np.asarray(network.mean_gate)
    if isinstance(law, Empirical):
        return _of_table(law.rows @ gate.T, anywhere, flipped=law.symmetrized)
    found = root_of(law, network.n_inputs)
    if found is None:
        return None
    base, root = found
    matrix = gate if root is None else gate @ root
    concentration = concentration_of(base, _leverage(matrix))
    if concentration is None or (anywhere and not concentration.anywhere):
        return None
    centred = base.symmetric and math.isfinite(base.variance)
    return Spread(matrix, concentration, math.sqrt(base.variance) if centred else math.inf)


def root_of(law: Law, n_inputs: int) -> tuple[ProductLaw, Array | None] | None:
    """Return the law of z and the matrix L of inputs x = L z, None if L is the identity."""
    if isinstance(law, Correlated):
        return law.base, law.matrix
    return (law, None) if isinstance(law, ProductLaw) else None


def _leverage(matrix: Array) -> float:
    """Return the largest square of an entry of unit vectors Gᵀd."""
    basis, _ = np.linalg.qr(matrix.T)
    return min(float((basis**2).sum(axis=1).max()), 1.0)


def _of_table(seen: Array, anywhere: bool, *, flipped: bool) -> Spread:
    """Return the spread of rows Āx; `flipped` rows have either sign, so that their mean is 0."""
    if anywhere and not flipped:
        seen = seen - seen.mean(axis=0)
    sizes = np.sqrt((seen**2).mean(axis=0))
    scaled = seen / np.where(sizes > 0.0, sizes, 1.0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    if values[0] <= NOT_SEEN * values[-1]:
        return Spread(np.zeros((len(values), 0)), ByKurtosis(1.0, math.inf), math.inf)
    root = sizes[:, None] * vectors * np.sqrt(values)
    kurtosis = largest_fourth_moment(scaled @ (vectors / np.sqrt(values)))
    concentration: Concentration = ByKurtosis(1.0, kurtosis)
    if anywhere:  # the difference of two rows has the variance 2 and the kurtosis (κ + 3)/2
        concentration = AnyInterval(ByKurtosis(math.sqrt(2.0), (kurtosis + 3.0) / 2.0))
    return Spread(root, concentration, 1.0 if flipped or not anywhere else math.inf)


def largest_fourth_moment(rows: Array, most_work: float = math.inf) -> float:
    """Return a bound on the mean of (uᵀz)⁴ over all unit vectors u, for rows with E zzᵀ = I.

    The better of two bounds is left out if it takes more multiplications than `most_work`.
    """
    squares = (rows**2).sum(axis=1)
    simple = float(np.linalg.eigvalsh((rows.T * squares) @ rows / len(rows))[-1])
    size = rows.shape[1]
    pairs = size * (size + 1) // 2
    if size == 1 or pairs > MOST_PAIRS or len(rows) * pairs**2 > most_work:
        return simple
    return min(simple, _by_products(rows, squares))


def _by_products(rows: Array, squares: Array) -> float:
    """Return the bound by writing uuᵀ = I/r + B, where B has the trace 0 and ‖B‖² = 1 − 1/r.

    The mean of (uᵀz)⁴ = (zᵀuuᵀz)² is a quadratic function of B, which its largest eigenvalue
    bounds.
    """
    count, size = rows.shape
    products = size * (size + 1) // 2 - 1
    moment, linear = np.zeros((products, products)), np.zeros(products)
    step = max(BLOCK // products, 1)
    for start in range(0, count, step):
        part = _without_trace(rows[start : start + step])
        moment += part.T @ part
        linear += squares[start : start + step] @ part
    away = 1.0 - 1.0 / size
    mean = float((squares**2).mean()) / size**2
    cross = 2.0 / size * float(np.linalg.norm(linear)) / count * math.sqrt(away)
    return mean + cross + away * float(np.linalg.eigvalsh(moment)[-1]) / count


def _without_trace(rows: Array) -> Array:
    """Return zᵀBz for the matrices B of an orthonormal basis of those with trace 0."""
    size = rows.shape[1]
    first, second = np.triu_indices(size, 1)
    steps = np.tri(size - 1, size) - np.diag(np.arange(1.0, size), 1)[:-1]
    steps /= np.linalg.norm(steps, axis=1)[:, None]
    return np.hstack([math.sqrt(2.0) * rows[:, first] * rows[:, second], rows**2 @ steps.T])
