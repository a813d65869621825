r"""Rows of data as a linear regression at every filter, in coordinates that suit the rows.

The output of a network of leaky ReLUs is f_w(x) = g_w(x)ᵀw with its gradient g_w(x), because it is
positively homogeneous in w. So at a fixed activation pattern the labels are a linear function of
the weights, and a Gauss–Newton step is a linear regression of the labels on the gradients. With
another activation, the output has a rest, f_w(x) − g_w(x)ᵀw, which is subtracted from the labels.

The weights are replaced by coordinates in which the projected inputs have the identity as their
second moment. The units of the inputs then play no part, and directions that no row determines
drop out: the filter has no component along them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import cast

import numpy as np

from neurotron._types import Array, Index, Mask
from neurotron.networks import FilterNetwork
from neurotron.residuals.robust import TINY, leverages, median

SMALLEST = 1e-11
"""Directions whose singular value is below this part of the largest are not determined."""
EXTREME = 30.0
"""Inputs that are more than this many times as large as usual in their column are extreme."""
MOST_NUMBERS = 20_000_000
"""Size of the projected inputs of one block of rows."""
CACHED, LEAST_BLOCK = 40_000, 256
"""Numbers in a block of rows of a linear network, which the processor's cache holds; and its least
length."""
MANY = 10_000
"""With more rows, coordinates of a linear network come from their second moment if that is precise
enough."""
PRECISE = 1e-6
"""Smallest eigenvalue of a second moment with unit diagonal, in those of the largest, for that."""
FAINT = 1e-6
"""Gradients below this part of the mean outer weight say nothing, as projected inputs are about 1.
Where an activation such as softplus is flat, gradients are that small, but not zero."""
TYPICAL = 1_000
"""Rows that show what is usual in a column, if there are more."""


class Linearized:
    """Rows of data, seen through a network.

    Attributes
    ----------
    y
        The labels, (N,).
    counts
        How much every row counts, (N,), or None if all count the same.
    projected
        The inputs projected onto the basis of the network, (L, N, q), in the coordinates.
    norms
        A length for every input that does not depend on the weights, (N,): ‖x‖, or the leverage of
        the row if the network is linear. It is positive.
    calm
        How much every row counts where the spread of the inputs is measured, (N,); less than 1 for
        rows with extreme inputs.
    coordinates
        The matrix that turns coordinates into weights (and the intercept of a linear network),
        (r, q) or (r + 1, q).
    offset
        Whether the last coordinate is an intercept beside those of the matrix.
    """

    def __init__(
        self,
        network: FilterNetwork,
        X: Array,
        y: Array,
        counts: Array | None,
        calm: Array,
        coordinates: Array,
        *,
        intercept: bool = False,
    ) -> None:
        self.network, self.y, self.counts, self.calm = network, y, counts, calm
        self.coordinates = coordinates
        self.linear = network.is_linear
        self.intercept, self.offset = intercept, intercept and not self.linear
        self.projected = projected(network, X, intercept) @ coordinates
        if self.linear:
            norms = np.linalg.norm(self.projected[0], axis=1)
        else:
            norms = np.sqrt((X**2).sum(axis=1) + float(intercept))
        self._all_on = self.linear and bool(norms.all())
        self.norms = np.where(norms > 0.0, norms, 1.0)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def size(self) -> int:
        """How many coordinates there are, with the intercept if there is one."""
        return self.projected.shape[2] + self.offset

    @property
    def odd(self) -> Array:
        """The regressors of the odd part of the output, which is linear in the weights: (N, q)."""
        if self.linear:
            return self.projected[0]
        share = self.network.odd_slope * self.network.basis_share
        return np.tensordot(share, self.projected, axes=1)

    def part(self, index: Index) -> Linearized:
        """Return some of the rows, in the same coordinates."""
        part = object.__new__(Linearized)
        part.__dict__.update(self.__dict__)
        part.y, part.norms, part.calm = self.y[index], self.norms[index], self.calm[index]
        part.counts = None if self.counts is None else self.counts[index]
        part.projected = np.ascontiguousarray(self.projected[:, index])
        return part

    def gradient(self, point: Array) -> Array:
        """Return the gradient of every row's output in the coordinates, (N, size)."""
        return self.tangent(point)[0]

    def tangent(self, point: Array) -> tuple[Array, Array]:
        """Return the regression that has the outputs near a point: gradients, and its labels.

        The labels are without the rest of the output, which is not the gradient times the point.
        """
        if self.linear:
            return self.projected[0], self.y
        network, weights = self.network, point[: self.projected.shape[2]]
        sums = self.projected @ weights  # (L, N)
        if network.mix is not None:
            sums = network.mix @ sums
        if network.activation is None:
            slopes, labels = np.where(sums > 0.0, 1.0, network.leak), self.y
        else:
            slopes = network.activation.derivative(sums)
            labels = self.y - network.share @ (network.activation.value(sums) - slopes * sums)
        slopes = slopes * network.share[:, None]
        if network.mix is not None:
            slopes = network.mix.T @ slopes
        gradient = np.empty((len(self), self.size))
        gradient[:, : len(weights)] = np.einsum("ln,lnq->nq", slopes, self.projected)
        if self.offset:
            gradient[:, -1] = 1.0
        return gradient, labels

    def active(self, gradient: Array) -> Mask | None:
        """Return which rows have a gradient that is not (almost) zero, or None if all have one."""
        if self._all_on:
            return None
        if self.network.activation is None:
            on = np.asarray(gradient.any(axis=1))
        else:
            faint = FAINT * np.abs(self.network.share).sum()
            on = np.asarray((np.abs(gradient) > faint).any(axis=1))
        return None if on.all() else on

    def outputs(self, point: Array) -> Array:
        """Return the network's outputs, (N,)."""
        gradient, labels = self.tangent(point)
        return gradient @ point + (self.y - labels)

    def residuals(self, point: Array) -> Array:
        """Return the labels minus the network's outputs, (N,)."""
        gradient, labels = self.tangent(point)
        return labels - gradient @ point

    def weights(self, point: Array) -> tuple[Array, float]:
        """Return the weights and the intercept of a point in the coordinates."""
        if self.offset:
            return self.coordinates @ point[:-1], float(point[-1])
        weights = self.coordinates @ point
        return (weights[:-1], float(weights[-1])) if self.intercept else (weights, 0.0)

    def point_of(self, weights: Array, intercept: float) -> Array:
        """Return the point in the coordinates of given weights and intercept."""
        end = [intercept] if self.intercept else []
        if self.offset:
            return np.concatenate([np.linalg.pinv(self.coordinates) @ weights, end])
        return np.asarray(np.linalg.pinv(self.coordinates) @ np.concatenate([weights, end]))


class View:
    """The rows that say something about the weights at a point: those with a gradient."""

    def __init__(self, rows: Linearized, point: Array) -> None:
        gradient, labels = rows.tangent(point)
        self._of, self.on = rows, rows.active(gradient)
        self.rows = self._chosen(gradient)
        self.counts = None if rows.counts is None else self._chosen(rows.counts)
        self.residuals = self._chosen(labels) - self.rows @ point

    def __len__(self) -> int:
        return len(self.rows)

    def _chosen(self, values: Array) -> Array:
        return values if self.on is None else values[self.on]

    @cached_property
    def leverages(self) -> Array:
        """The lengths of the gradients in units that all rows share."""
        if self._of.linear:  # its rows are the same at every point, and white
            return self._chosen(self._of.norms)
        spread = self.counted(self._chosen(self._of.calm))
        return np.maximum(leverages(self.rows, spread), TINY)

    def counted(self, weights: Array) -> Array:
        """Return weights of the rows, times how much the rows count."""
        return weights if self.counts is None else weights * self.counts


def block_length(network: FilterNetwork) -> int:
    """Return how many rows fit into one block of memory."""
    matrices = 1 if network.is_linear else len(network.basis)
    entries = max(matrices * network.filter_size, network.n_inputs) + 1
    return max(MOST_NUMBERS // entries, 1)


def blocks_of(network: FilterNetwork, rows: int) -> Iterator[slice]:
    """Yield which rows are in every block."""
    length = block_length(network)
    if network.is_linear:
        length = min(length, max(CACHED // (network.n_inputs + 1), LEAST_BLOCK))
    return (slice(start, start + length) for start in range(0, rows, length))


def calmness(X: Array, *, intercept: bool = False) -> Array:
    """Return how much every row counts where the spread of the inputs is measured, (N,).

    It is 1 for usual rows. A row with extreme inputs is shortened until it has none: otherwise a
    few codes such as −999 would set the unit of a column, in which all other rows look alike.
    """
    centre, unit = _usual(X, intercept)
    calm = np.ones(len(X))
    length = max(CACHED // X.shape[1], LEAST_BLOCK)
    for start in range(0, len(X), length):
        ratios = (X[start : start + length] - centre) * unit
        far = np.flatnonzero(np.einsum("ij,ij->i", ratios, ratios) > EXTREME**2)
        largest = np.abs(ratios[far]).max(axis=1, initial=0.0)
        calm[start + far] = 1.0 / np.maximum(largest / EXTREME, 1.0) ** 2
    return calm


def _usual(X: Array, intercept: bool) -> tuple[Array, Array]:
    """Return the median of every column and one over the usual distance from it; 0 if constant."""
    if len(X) > TYPICAL:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), TYPICAL, replace=False))]
    columns = np.ascontiguousarray(X.T)
    centre = np.array([median(column, None) if intercept else 0.0 for column in columns])
    sizes = np.abs(columns - centre[:, None])
    usual = [median(size[size > 0.0], None) if size.any() else np.inf for size in sizes]
    return centre, 1.0 / np.array(usual)


def coordinates_for(
    network: FilterNetwork, X: Array, counts: Array, *, intercept: bool = False
) -> Array:
    """Return the matrix T, (r, q), for which the projected inputs times T have second moment I."""
    size = network.filter_size + (intercept and network.is_linear)
    if len(X) > MANY and network.is_linear:
        moment = _moment(network, X, counts, intercept)
        scales = np.sqrt(np.diag(moment))
        scales[scales == 0.0] = 1.0
        values, vectors = np.linalg.eigh(moment / scales / scales[:, None])
        if values[0] > PRECISE * values[-1]:
            return vectors / np.sqrt(values / len(X)) / scales[:, None]
    triangle: Array = np.zeros((0, size))
    for flat in _flat_blocks(network, X, counts, intercept):
        triangle = cast(Array, np.linalg.qr(np.concatenate([triangle, flat]), mode="r"))
    scales = np.sqrt((triangle**2).sum(axis=0))
    scales[scales == 0.0] = 1.0
    _, singular, right = np.linalg.svd(triangle / scales, full_matrices=False)
    known = singular > SMALLEST * singular.max(initial=0.0)
    length = np.sqrt(len(X))
    return cast(Array, right[known].T / (singular[known] / length) / scales[:, None])


def _moment(network: FilterNetwork, X: Array, counts: Array, intercept: bool) -> Array:
    """Return the sum of xxᵀ over the projected inputs x of a linear network, which end with 1."""
    gates, inner = network.mean_gate, np.zeros((X.shape[1], X.shape[1]))
    for here in blocks_of(network, len(X)):
        inner += (X[here] * counts[here, None]).T @ X[here]
    moment = gates @ inner @ gates.T
    if not intercept:
        return moment
    sums = gates @ (counts @ X)
    return np.block([[moment, sums[:, None]], [sums, counts.sum()]])


def outputs_of(network: FilterNetwork, weights: Array, X: Array) -> Array:
    """Return the outputs of one filter, (N,)."""
    return X @ (weights @ network.mean_gate) if network.is_linear else network(weights, X)


def projected(network: FilterNetwork, X: Array, intercept: bool) -> Array:
    """Return the inputs projected onto the basis, (L, N, r); a linear network has one matrix."""
    if not network.is_linear:
        return np.moveaxis(network.project(X), 1, 0)
    rows = X @ network.mean_gate.T
    return (np.column_stack([rows, np.ones(len(X))]) if intercept else rows)[None]


def _flat_blocks(
    network: FilterNetwork, X: Array, counts: Array, intercept: bool
) -> Iterator[Array]:
    """Yield the projected inputs of all blocks of rows, times the root of how much they count."""
    for here in blocks_of(network, len(X)):
        rows = projected(network, X[here], intercept) * np.sqrt(counts[here])[:, None]
        yield rows.reshape(-1, rows.shape[2])
