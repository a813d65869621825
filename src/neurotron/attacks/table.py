"""A table of stored rows, as an attacker sees it before it changes any label."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.networks import FilterNetwork

MOST_NUMBERS = 4_000_000
"""Most numbers that one block of projected rows may hold."""


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """Stored rows with their honest labels, and the model that made the labels.

    Parameters
    ----------
    inputs, labels
        The rows (N, n) and their honest labels (N,).
    network
        The network behind the labels; a linear one if nothing else is known.
    weights
        Its true filter w*, shape (r,); None if it is not known.
    intercept
        What is added to the output of the network.
    predictions
        The labels that another model predicts, shape (N,), if that is what is known.
    seed
        Seed of what an attack draws.
    """

    inputs: Array
    labels: Array
    network: FilterNetwork
    weights: Array | None = None
    intercept: float = 0.0
    predictions: Array | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        rows, columns = self.inputs.shape
        return f"AttackedTable({rows} rows of {columns} inputs)"

    @property
    def has_output(self) -> bool:
        """Whether it is known which labels the model predicts."""
        return self.weights is not None or self.predictions is not None

    @property
    def has_gradient(self) -> bool:
        """Whether gradients are known; those of a linear network do not depend on the filter."""
        return self.weights is not None or self.network.is_linear

    def output(self, weights: Array | None = None) -> Array:
        """Return the labels that a filter gives, (N,); those of the known model by default."""
        if weights is None:
            if self.predictions is not None:
                return self.predictions
            weights = self.known_weights("the outputs of a model")
        parts = [self.network(weights, block) for block in self._blocks()]
        return np.asarray(np.concatenate(parts)) + self.intercept

    def known_weights(self, purpose: str) -> Array:
        """Return the true filter; refuse if it is not known, with the purpose it is needed for."""
        if self.weights is None:
            raise _check.InputError(
                f"the attack needs {purpose}: pass the filter as model=(network, weights)"
            )
        return self.weights

    @cached_property
    def gradient(self) -> Array:
        """The gradient g = ∇f(x) of each row at the true filter, (N, r)."""
        if self.network.is_linear:
            return self.gradient_at(np.zeros(self.network.filter_size))
        return self.gradient_at(self.known_weights("the gradient of each row"))

    def gradient_at(self, weights: Array) -> Array:
        """Return the gradient of each row at a filter, (N, r)."""
        return np.concatenate([self.network.gradient(weights, block) for block in self._blocks()])

    @cached_property
    def leverage(self) -> Array:
        """The leverage √(gᵀH⁻¹g) of each row, with H the mean of ggᵀ, (N,)."""
        sizes = np.abs(self.gradient).max(axis=0, initial=0.0)
        scaled = self.gradient / np.where(sizes > 0.0, sizes, 1.0)  # so that units do not matter
        left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
        left = left[:, singular > 1e-10 * singular.max(initial=0.0)]
        return np.asarray(np.sqrt(len(self) * (left**2).sum(axis=1)))

    @cached_property
    def push(self) -> Array:
        """The component uᵀg of each gradient in the direction u where H is smallest, (N,)."""
        g = self.gradient
        values, directions = np.linalg.eigh(g.T @ g / len(g))
        weakest = directions[:, int((values > 1e-12 * values[-1]).argmax())]
        return np.asarray(g @ (weakest * np.sign(weakest[np.abs(weakest).argmax()])))

    def _blocks(self) -> list[Array]:
        """Return the inputs in blocks whose projections fit into memory."""
        size = len(self.network.basis) * self.network.filter_size
        rows = max(MOST_NUMBERS // size, 1)
        return [self.inputs[i : i + rows] for i in range(0, len(self), rows)]
