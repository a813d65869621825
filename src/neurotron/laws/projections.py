r"""Upper bounds on τ, the largest mean projection :math:`\sup_{\|u\|=1} E[\omega|u^\top Mx|]`.

The exact value is hard to compute for most laws. Every function here returns an upper bound on it
(docs/theory.md, section (e)), rounded up by more than its numerical error.
"""

from __future__ import annotations

import math

import numpy as np

from neurotron._types import Array

SLACK = 1e-11
"""Relative margin by which constants are rounded to the safe side."""
QUADRATURE_SLACK = 1e-6
"""Relative margin of a bound on τ that is computed by quadrature, whose error is far smaller."""
NORMAL = math.sqrt(2.0 / math.pi)
"""E|z| of a standard normal z."""
UNIMODAL = math.sqrt(3.0) / 2.0
"""E|u|/√(E u²) of a uniform u, which has the largest of all symmetric unimodal laws."""

SAMPLE, ROUNDS, WORK = 1000, 10, 2e7
"""The most rows, rounds and multiplications in the search for the best bound for rows."""
MIXTURE_ROUNDS = 8


def largest_root(matrix: Array) -> float:
    """Return √λ_max of a positive semidefinite matrix, rounded up; inf if it overflowed."""
    if not np.isfinite(matrix).all():
        return math.inf
    return math.sqrt(max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0) * (1.0 + SLACK))


def tau_of_rows(rows: Array, *shares: Array) -> float:
    r"""Return an upper bound on sup mean|uᵀz| over unit vectors u, for the rows z of an array.

    For all numbers p > 0, one of each row, the Cauchy–Schwarz inequality gives

    .. math:: (\mathrm{mean} |u^\top z|)^2
              \le \mathrm{mean}(p) \cdot u^\top \mathrm{mean}(zz^\top/p) u .

    The smallest bound is returned of p = 1, of the given `shares`, and of a p that is searched for.
    A share may be 0 only where its row is zero.

    Parameters
    ----------
    rows
        The vectors z, shape (N, r).
    shares
        Other numbers p to try, shape (N,) each.
    """
    size = float(np.abs(rows).max(initial=0.0))
    if size == 0.0 or not math.isfinite(size):
        return size
    z = rows / size
    tried = (np.ones(len(z)), *shares, _lengths(z, _best_root(z)))
    return size * min(_by_shares(z, p) for p in tried)


def tau_of_normals(sensing: Array, variances: Array, weights: Array) -> float:
    r"""Return an upper bound on sup E|uᵀMx| for a sum of normal densities, each times a weight.

    With V the diagonal matrix of the variances of one density, the mean is
    √(2/π) Σ weight √(uᵀMVMᵀu). For all numbers p > 0, one of each density, the Cauchy–Schwarz
    inequality gives

    .. math:: \Bigl(\sum c \sqrt{u^\top MVM^\top u}\Bigr)^2
              \le \sum c\,p \cdot u^\top M \Bigl(\sum c\,V/p\Bigr) M^\top u .

    As for rows, p is searched for among the √(tr(W MVMᵀ)). With one row in M the bound is exact.

    Parameters
    ----------
    sensing
        The matrix M, shape (r, n).
    variances
        The variances of the coordinates in each density, shape (S, n).
    weights
        The weights c of the densities, shape (S,).
    """
    size = float(np.abs(sensing).max())
    if size == 0.0 or not math.isfinite(size):
        return size
    sensing = sensing / size
    floor = 1e-6 * np.sqrt(variances @ (sensing**2).sum(axis=0))
    if not floor.all():  # Mx = 0 for every x
        return 0.0
    root, least = np.eye(len(sensing)), math.inf
    for _ in range(MIXTURE_ROUNDS):
        p = np.maximum(np.sqrt(variances @ ((root.T @ sensing) ** 2).sum(axis=0)), floor)
        gradient = (sensing * ((weights / p) @ variances)) @ sensing.T
        least = min(least, math.sqrt(float(weights @ p)) * largest_root(gradient))
        root = _next(root, gradient)
    return NORMAL * size * least * (1.0 + SLACK)


def _by_shares(z: Array, p: Array) -> float:
    """Return √(mean p · λ_max(mean zzᵀ/p)), rounded up."""
    with np.errstate(over="ignore", invalid="ignore"):  # p may be tiny: the bound is then infinite
        inverse = np.divide(1.0, p, out=np.zeros(len(z)), where=p > 0.0)
        second = (z.T * inverse) @ z / len(z)
    return math.sqrt(float(p.mean()) * (1.0 + SLACK)) * largest_root(second)


def _lengths(z: Array, root: Array) -> Array:
    """Return p = √(zᵀWz) of each row for W = RRᵀ, at least a millionth of its length."""
    return np.maximum(np.linalg.norm(z @ root, axis=1), 1e-6 * np.linalg.norm(z, axis=1))


def _best_root(z: Array) -> Array:
    """Return a root R of a matrix W = RRᵀ whose numbers p = √(zᵀWz) make the bound small.

    The best W of trace 1 is the one that maximizes the mean of p. With G = mean zzᵀ/p, the step
    R ← GR never makes this mean smaller: the mean is convex in R, and the step maximizes its
    linear part. The step R ← G²R is used, which needs about half as many rounds. Every W gives a
    valid bound, so the search may use a part of the rows and end at any time.
    """
    z = z[:: -(-len(z) // SAMPLE)]
    z = z[np.linalg.norm(z, axis=1) > 0.0]
    root = np.eye(z.shape[1])
    for _ in range(int(np.clip(WORK / (1 + z.size * z.shape[1]), 3, ROUNDS)) if len(z) else 0):
        root = _next(root, (z.T / _lengths(z, root)) @ z)
    return root


def _next(root: Array, gradient: Array) -> Array:
    """Return G²R, of norm 1."""
    root = gradient @ (gradient @ root)
    return root / np.linalg.norm(root)
