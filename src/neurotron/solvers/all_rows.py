"""All rows of a table for the last step: as regressions at a point, or a linear network at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np

from neurotron._types import Array, Index
from neurotron.networks import FilterNetwork
from neurotron.solvers.linearized import Linearized, View, blocks_of


class AllRows(Protocol):
    """The rows of a table."""

    @property
    def steady(self) -> bool:
        """Whether the gradients are the same at all points."""

    def seen(self, point: Array) -> tuple[Array, Array | None]:
        """Return the residuals at a point of the rows with a gradient, and how much they count."""

    def equations(self, forces: Array, weights: Array | None) -> tuple[Array, Array]:
        """Return Σ force × gradient g and Σ weight × ggᵀ at the last point that was seen.

        The second sum is left out without weights.
        """


class RowsInBlocks:
    """Rows that are projected a block at a time, and kept at a point if there is only one block."""

    steady = False

    def __init__(self, blocks: Callable[[], Iterable[Linearized]], *, one_block: bool) -> None:
        self._blocks, self._keep = blocks, one_block

    def seen(self, point: Array) -> tuple[Array, Array | None]:
        """Return the residuals at a point of the rows with a gradient, and how much they count."""
        self._point = point
        self._kept = [View(rows, point) for rows in self._blocks()] if self._keep else None
        pairs = [(view.residuals, view.counts) for view in self._views()]
        counts = [count for _, count in pairs if count is not None]
        return (
            np.concatenate([residuals for residuals, _ in pairs]),
            np.concatenate(counts) if counts else None,
        )

    def equations(self, forces: Array, weights: Array | None) -> tuple[Array, Array]:
        """Return Σ force × gradient g and Σ weight × ggᵀ at the last point that was seen."""
        vector, matrix = np.zeros(len(self._point)), np.zeros((len(self._point),) * 2)
        start = 0
        for view in self._views():
            here = slice(start, start + len(view))
            start += len(view)
            vector += forces[here] @ view.rows
            if weights is not None:
                matrix += (view.rows * weights[here, None]).T @ view.rows
        return vector, matrix

    def _views(self) -> Iterable[View]:
        if self._kept is not None:
            return self._kept
        return (View(rows, self._point) for rows in self._blocks())


class LinearRows:
    """Rows of a linear network, which are used like an array of gradients in the coordinates.

    The inputs are used as they are, without a copy.
    """

    steady = True

    def __init__(
        self,
        network: FilterNetwork,
        X: Array,
        y: Array,
        counts: Array | None,
        coordinates: Array,
        *,
        intercept: bool,
    ) -> None:
        self._network, self._X, self._y, self._counts = network, X, y, counts
        self._slopes = network.mean_gate.T @ coordinates[: network.filter_size]
        self._levels = coordinates[-1] if intercept else np.zeros(coordinates.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and how many coordinates."""
        return len(self._y), self._slopes.shape[1]

    def __getitem__(self, index: Index | slice) -> Array:
        return self._X[index] @ self._slopes + self._levels

    def __matmul__(self, point: Array) -> Array:
        return self._X @ (self._slopes @ point) + self._levels @ point

    def seen(self, point: Array) -> tuple[Array, Array | None]:
        """Return the residuals at a point, and how much the rows count."""
        return self._y - self @ point, self._counts

    def equations(self, forces: Array, weights: Array | None) -> tuple[Array, Array]:
        """Return Σ force × gradient g and Σ weight × ggᵀ, a block of rows at a time."""
        vector = (forces @ self._X) @ self._slopes + forces.sum() * self._levels
        matrix = np.zeros((len(vector),) * 2)
        if weights is not None:
            for here in blocks_of(self._network, len(self._y)):
                rows = self[here]
                matrix += (rows * weights[here, None]).T @ rows
        return vector, matrix
