"""The basis matrices of a network's gates, and the projection of inputs onto them.

There are two forms with the same interface: dense matrices, and windows of the input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._pickling import Pickled
from neurotron._types import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class Matrices(Pickled):
    """Dense basis matrices.

    Parameters
    ----------
    values
        The matrices, shape (L, r, n).
    """

    values: Array

    def __post_init__(self) -> None:
        values = _check.array("basis", self.values, ("L", "r", "n"), _check.LARGEST)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"Matrices({_check.shapes({'values': self.values})})"

    def __len__(self) -> int:
        return self.values.shape[0]

    @property
    def filter_size(self) -> int:
        """Number r of weights."""
        return self.values.shape[1]

    @property
    def n_inputs(self) -> int:
        """Dimension n of the input."""
        return self.values.shape[2]

    def project(self, x: Array) -> Array:
        """Return every basis matrix times every input: (b, n) -> (b, L, r)."""
        flat = self.values.reshape(-1, self.n_inputs)
        return (x @ flat.T).reshape(len(x), len(self), self.filter_size)

    def dense(self) -> Array:
        """Return the matrices, (L, r, n)."""
        return self.values

    def combine(self, coefficients: Array) -> Array:
        """Return the (r, n) matrix Σ_l coefficients[l] basis[l]."""
        return np.tensordot(coefficients, self.values, axes=1)

    def absolute(self) -> Matrices:
        """Return the basis of absolute values."""
        return Matrices(np.abs(self.values))

    def congruence(self, weights: Array, matrix: Array) -> Array:
        """Return Σ_l weights[l] B_l S B_lᵀ, (r, r)."""
        parts = (w * (b @ matrix @ b.T) for w, b in zip(weights, self.values, strict=True))
        return np.asarray(sum(parts))


@dataclass(frozen=True, eq=False, repr=False)
class Windows(Pickled):
    """Windows of the input: row j of matrix l is the unit vector ``index[l, j]``.

    Each row has exactly one 1 and each column at most one, as in the paper's convolutional
    networks. The matrices are never formed: a projection only picks inputs.

    Parameters
    ----------
    index
        Which inputs are in each window, shape (L, r), without repetition within a row.
    n_inputs
        Dimension n of the input.
    """

    index: Index
    n_inputs: int

    def __post_init__(self) -> None:
        try:
            index = np.asarray(self.index)
        except ValueError:
            raise _check.InputError("`index` must have shape (k, r)") from None
        _check.entries("`index`", *index.shape)
        if index.dtype.kind not in "iu":
            raise _check.InputError(f"`index` must hold whole numbers, got {index.dtype}")
        index = index.astype(np.intp)
        if index.ndim != 2 or index.size == 0:
            raise _check.InputError(f"`index` must have shape (k, r), got {index.shape}")
        n = _check.integer("n_inputs", self.n_inputs, 1)
        _check.entries("the input", n)
        if index.min() < 0 or index.max() >= n:
            raise _check.InputError(
                f"`index` must lie in 0 … {n - 1}, got {index.min()} … {index.max()}"
            )
        in_order = np.sort(index, axis=1)
        repeated = np.flatnonzero((in_order[:, 1:] == in_order[:, :-1]).any(axis=1))
        if repeated.size:
            raise _check.InputError(
                f"window {repeated[0]} uses an input twice: each gate of a convolution has at "
                "most one 1 in each column"
            )
        index.flags.writeable = False
        object.__setattr__(self, "index", index)

    def __repr__(self) -> str:
        return f"Windows({_check.shapes({'index': self.index, 'n_inputs': self.n_inputs})})"

    def __len__(self) -> int:
        return self.index.shape[0]

    @property
    def filter_size(self) -> int:
        """Number r of weights."""
        return self.index.shape[1]

    def project(self, x: Array) -> Array:
        """Return all windows of all inputs: (b, n) -> (b, L, r)."""
        return x[:, self.index]

    def dense(self) -> Array:
        """Return the matrices, (L, r, n)."""
        _check.entries("the gates", *self.index.shape, self.n_inputs)
        return np.eye(self.n_inputs)[self.index]

    def combine(self, coefficients: Array) -> Array:
        """Return the (r, n) matrix Σ_l coefficients[l] basis[l]."""
        _check.entries("the mean gate", self.filter_size, self.n_inputs)
        total = np.zeros((self.filter_size, self.n_inputs))
        rows = np.broadcast_to(np.arange(self.filter_size), self.index.shape)
        np.add.at(total, (rows, self.index), coefficients[:, None])
        return total

    def absolute(self) -> Windows:
        """Return the basis of absolute values: itself."""
        return self

    def congruence(self, weights: Array, matrix: Array) -> Array:
        """Return Σ_l weights[l] B_l S B_lᵀ, (r, r)."""
        total = np.zeros((self.filter_size, self.filter_size))
        for weight, window in zip(weights, self.index, strict=True):
            total += weight * matrix[np.ix_(window, window)]
        return total


Basis = Matrices | Windows
