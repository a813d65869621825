"""Upper bounds on eigenvalues of matrices that are too large for all of them to be computed."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from neurotron._types import Array

SMALL = 200
"""Up to this size, all eigenvalues are as cheap as an estimate of the largest and its check."""
LARGE = 4000
"""Up to this size, the products of all rows of a matrix are computed."""
DIRECTIONS = 32
"""Dimension of the part of a larger matrix whose size is computed; the rest is bounded."""


def largest_eigenvalue(S: Array) -> float:
    """Return the largest eigenvalue of a symmetric matrix, or 0 if it is negative, rounded up.

    Lanczos iterations only find a lower bound. It is raised until a Cholesky decomposition proves
    that no eigenvalue is larger.
    """
    if len(S) <= SMALL or not S.any():
        return max(float(np.linalg.eigvalsh(S)[-1]), 0.0)
    start = np.random.default_rng(0).standard_normal(len(S))
    try:
        found = scipy.sparse.linalg.eigsh(
            S, 1, which="LA", v0=start, tol=1e-5, return_eigenvectors=False
        )
    except scipy.sparse.linalg.ArpackNoConvergence:
        found = np.linalg.eigvalsh(S)[-1:]
    value = max(float(found[0]), 1e-12 * float(np.linalg.norm(S)))
    while True:
        value *= 1.0 + 1e-5
        try:
            scipy.linalg.cholesky(value * np.eye(len(S)) - S, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            value *= 1.01
        else:
            return value


def largest_square(A: Array) -> float:
    """Return a bound on ‖A‖², the square of the largest singular value of a matrix.

    For a large matrix, let Q have orthonormal columns. Then AᵀA has the blocks QᵀAᵀAQ, the rest,
    whose trace is ‖A‖² − ‖AQ‖² in Frobenius norms, and the one between them. The largest eigenvalue
    of AᵀA is at most that of the matrix of the sizes of these blocks.
    """
    if min(A.shape) <= LARGE:
        return largest_eigenvalue(A @ A.T if len(A) < A.shape[1] else A.T @ A)
    Q = leading_directions(A, DIRECTIONS)
    image = A @ Q
    part = image.T @ image
    inner = float(np.linalg.eigvalsh(part)[-1])
    rest = max(float(np.linalg.norm(A) ** 2 - np.trace(part)), 0.0)
    between = float(np.linalg.norm(A.T @ image - Q @ part))
    return float(np.linalg.eigvalsh([[inner, between], [between, rest]])[-1])


def leading_directions(A: Array, directions: int) -> Array:
    """Return orthonormal columns that nearly span the largest directions of AᵀA, largest first."""
    Q = np.random.default_rng(0).standard_normal((A.shape[1], min(directions, *A.shape)))
    for _ in range(6):
        Q = np.linalg.qr(A.T @ (A @ Q))[0]
    image = A @ Q
    return Q @ np.linalg.eigh(image.T @ image)[1][:, ::-1]
