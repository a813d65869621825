"""Correlated inputs: independent coordinates times a matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.laws.base import Law, ProductLaw
from neurotron.laws.even_moments import EvenMoments, of_weighted_normal_image
from neurotron.laws.moments import LOG_S, integrate
from neurotron.laws.normal import Normal


@dataclass(frozen=True, eq=False)
class Correlated(Law):
    """The law (probability distribution) of correlated inputs x = B z, z independent.

    Use `from_covariance` if you know the covariance of x rather than B.

    Parameters
    ----------
    base
        The law of the independent coordinates z, a `ProductLaw`.
    matrix
        The matrix B, shape (n, m), not zero.

    Examples
    --------
    >>> law = Correlated.from_covariance([[2.0, 1.0], [1.0, 2.0]])
    >>> law.covariance(2).round(12)
    array([[2., 1.],
           [1., 2.]])
    """

    base: ProductLaw
    matrix: Array

    def __post_init__(self) -> None:
        _check.instance("base", self.base, ProductLaw)
        object.__setattr__(self, "matrix", _check.array("matrix", self.matrix, ("n", "m")))
        if not self.matrix.any():
            raise _check.InputError("`matrix` must not be zero")

    def __repr__(self) -> str:
        n, m = self.matrix.shape
        return f"Correlated({self.base!r}, matrix of shape ({n}, {m}))"

    @classmethod
    def from_covariance(
        cls, covariance: npt.ArrayLike, base: ProductLaw | None = None
    ) -> Correlated:
        """Return the law with a given covariance Σ.

        Parameters
        ----------
        covariance
            Σ, (n, n), symmetric and positive definite.
        base
            The law of the independent coordinates, `Normal` by default. Its variance must be
            finite.
        """
        base = Normal() if base is None else _check.instance("base", base, ProductLaw)
        sigma = _check.array("covariance", covariance, ("n", "n"))
        symmetric = sigma.shape[0] == sigma.shape[1] and np.allclose(
            sigma, sigma.T, rtol=1e-10, atol=1e-12 * np.abs(sigma).max()
        )
        if not symmetric:
            raise _check.InputError("`covariance` must be a symmetric square matrix")
        if math.isinf(base.variance):
            raise _check.InputError(
                f"{base!r} has no finite variance: use Correlated(base, matrix) instead"
            )
        try:
            root = np.linalg.cholesky(sigma)
        except np.linalg.LinAlgError:
            raise _check.InputError("`covariance` must be positive definite") from None
        return cls(base, np.asarray(root / math.sqrt(base.variance)))

    @property
    def n_inputs(self) -> int:
        """Dimension n of x."""
        return self.matrix.shape[0]

    @property
    def symmetric(self) -> bool:
        """Whether the base is symmetric, for then x is, too."""
        return self.base.symmetric

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs."""
        return self.base.pairs(batch_size, self.matrix.shape[1])

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch, shape (b, n)."""
        return self.base.inputs(u, v, batch_size, self.matrix.shape[1]) @ self.matrix.T

    def covariance(self, n_inputs: int) -> Array | None:
        """Return B E[zzᵀ] Bᵀ."""
        inner = self.base.covariance(self.matrix.shape[1])
        return None if inner is None else _check.freeze(self.matrix @ inner @ self.matrix.T)

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments without weights, or for a normal base; otherwise none are known.

        They are exact, except that τ is an upper bound.
        """
        if weighting is None:
            return self.base.even_moments(self.matrix.shape[1]).image(self.matrix)
        if type(self.base) is Normal:
            return of_weighted_normal_image(self.matrix, self.base.scale)
        return super().even_moments(n_inputs, weighting)

    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i, exact for i = 2, 4 or normal z; else the bounds m1 ≤ √m2, m3 ≤ √(m2 m4)."""
        if order in (1, 3) and type(self.base) is Normal:
            return self._normal_odd_moment(order)
        m2 = self._even_moment(2)
        if order <= 2:
            return m2 if order == 2 else math.sqrt(m2)
        m4 = self._even_moment(4)
        return m4 if order == 4 else math.sqrt(m2 * m4)

    def _even_moment(self, order: int) -> float:
        """Return m2 = ς² tr G or m4 = ς⁴((tr G)² + 2 tr G² + (κ − 3) Σ G_jj²), G = BᵀB."""
        if not self.symmetric:
            raise _check.InputError(
                f"the norm moments of {self!r} need a symmetric base law: the mixed moments of an "
                "asymmetric one are not known"
            )
        variance, kurtosis = self.base.variance, self.base.kurtosis
        if math.isinf(variance if order == 2 else kurtosis):
            return math.inf
        gram = self.matrix.T @ self.matrix
        if order == 2:
            return variance * float(np.trace(gram))
        spread = 2.0 * float((gram**2).sum()) + (kurtosis - 3.0) * float((np.diag(gram) ** 2).sum())
        return variance**2 * (float(np.trace(gram)) ** 2 + spread)

    def _normal_odd_moment(self, order: int) -> float:
        """Return m1 or m3 by the quadrature of `laws.moments`: ‖x‖² = Σ λ_j z_j², z normal."""
        eigenvalues = np.linalg.eigvalsh(self.matrix.T @ self.matrix).clip(min=0.0)
        unit = float(eigenvalues.max()) * self.base.variance
        ratio = eigenvalues / eigenvalues.max()
        with np.errstate(under="ignore"):
            denominator = 1.0 + 2.0 * np.outer(np.exp(LOG_S), ratio)
            tilted = ratio / denominator
            value = tilted.sum(axis=1)
            if order == 3:
                value = value**2 + 2.0 * (tilted**2).sum(axis=1)
            decay = np.exp(-0.5 * np.log(denominator).sum(axis=1))
            return integrate(value * decay, rate=0.5) * unit ** (order / 2)
