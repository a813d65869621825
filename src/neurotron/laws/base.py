"""Base classes of laws (probability distributions) of the inputs x.

A law transforms uniform random numbers into inputs, and knows the moments of these inputs. The
stream supplies *pairs* (u, v) of independent uniforms on (0, 1). A law turns a fixed number of
pairs into a batch, so that any batch can be drawn again and both engines draw the same one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._pickling import Pickled
from neurotron._types import Array
from neurotron.laws.even_moments import EvenMoments, by_covariance, of_product
from neurotron.laws.moments import laplace_transforms, masses_of_density, norm_moment
from neurotron.laws.projections import NORMAL, SLACK, UNIMODAL


class Law(Pickled, ABC):
    """Base of all laws (probability distributions) of inputs x in Rⁿ.

    To write your own law, derive from `ProductLaw` if its coordinates are independent and
    identically distributed, and check it with `check_law`.
    """

    @property
    def weighted(self) -> bool:
        """Whether some inputs count more than others, as with sample weights."""
        return False

    @property
    def symmetric(self) -> bool:
        """Whether x and −x have the same law (the paper's Assumption 1).

        A law states this; it is not estimated from samples.
        """
        return False

    @property
    def n_inputs(self) -> int | None:
        """The dimension of x if it is fixed; None if the law exists for every dimension."""
        return None

    @abstractmethod
    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs."""

    @abstractmethod
    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch of inputs, shape (b, n), from as many pairs as `pairs` returns."""

    @abstractmethod
    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ = E[xxᵀ], (n, n); None if it is infinite."""

    def norm_moment(self, order: int, n_inputs: int) -> float:
        """Return m_i = E‖x‖^i of order i = 1 … 4, inf if it is infinite.

        The returned value may be an upper bound, but is never below the true moment.
        """
        order = _check.integer("order", order, 1, 4)
        n = _check.integer("n_inputs", n_inputs, 1)
        _check.entries("the input", n)
        if self.n_inputs not in (None, n):
            raise _check.InputError(f"{self!r} has {self.n_inputs} inputs, not {n}")
        return self._norm_moment(order, n)

    @abstractmethod
    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i for an order and a dimension that were checked before."""

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments that the sharp certificate needs; None where they are not known."""
        covariance = self.covariance(n_inputs) if weighting is None else None
        return EvenMoments(covariance, covariance, by_covariance(covariance), None)

    def require_symmetric(self, purpose: str) -> None:
        """Refuse an asymmetric law where the theory needs parity symmetry."""
        if not self.symmetric:
            raise _check.InputError(
                f"{purpose} needs a parity-symmetric law, for which x and −x have the same "
                f"distribution (Assumption 1), and {self!r} is not known to be one"
            )


class ProductLaw(Law):
    """A law (probability distribution) with independent, identically distributed coordinates.

    Derive from it to write your own law. A subclass defines `coordinates` (the transform),
    `variance`, `kurtosis` and `symmetric`. If it also defines `density`, the odd norm moments are
    exact up to rounding; otherwise they are bounded from above.

    Examples
    --------
    The triangular law on (−1, 1):

    >>> import neurotron as nt
    >>> class Triangular(nt.ProductLaw):
    ...     symmetric, variance, kurtosis = True, 1 / 6, 2.4
    ...     def coordinates(self, u, v):
    ...         return (u + v - 1.0,)
    >>> nt.check_law(Triangular())
    """

    @property
    @abstractmethod
    def variance(self) -> float:
        """E x² of one coordinate."""

    @property
    @abstractmethod
    def kurtosis(self) -> float:
        """E x⁴ / (E x²)² of one coordinate (3 for a normal law)."""

    @property
    def scale_mixture(self) -> bool:
        """Whether a coordinate is √V z, with z standard normal and V ≥ 0 independent of z.

        The density f of such a law has derivatives of alternating signs as a function of x².
        Subclasses do not inherit this statement, because it is about one law.
        """
        return False

    def variances(self) -> tuple[Array, Array] | None:
        """Return points V/unit² of a scale mixture √V z with their probabilities, for quadrature.

        Return None if they are unknown. Subclasses do not inherit them.
        """
        return None

    @property
    def log_concave(self) -> bool:
        """Whether a coordinate has a density whose logarithm is concave.

        Subclasses do not inherit this statement, because it is about one law.
        """
        return False

    @property
    def unimodal(self) -> bool:
        """Whether a coordinate has a density that falls on both sides of one point.

        It does if its logarithm is concave. Subclasses do not inherit any other statement.
        """
        return self.log_concave

    @property
    def light_tailed(self) -> bool:
        """Whether E x⁴, E x⁶ and E x⁸ are at most those of a normal law of the same variance.

        Subclasses do not inherit this statement, because it is about one law.
        """
        return False

    def projection_factor(self, share: float, *, tilted: bool = False) -> float:
        """Return κ with E|aᵀx| ≤ κ √(E x_1²) for all a with ‖a‖ ≤ 1 and a_j² ≤ `share`, rounded up.

        By Jensen's inequality κ is √(2/π) for scale mixtures of normals, and √3/2 for densities
        that are symmetric and unimodal. By the Cauchy–Schwarz inequality it is at most 1 for all
        laws.
        Subclasses do not inherit a smaller factor, because it is proved for one law.

        Parameters
        ----------
        share
            The largest square of an entry of a, in (0, 1].
        tilted
            Whether κ must also hold if the density is multiplied by e^{−s‖x‖²}, for every s ≥ 0.
        """
        unimodal = self.symmetric and self.unimodal
        factor = NORMAL if self.scale_mixture else UNIMODAL if unimodal else 1.0
        return factor * (1.0 + SLACK)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in (
            "scale_mixture", "variances", "log_concave", "unimodal", "light_tailed",
            "projection_factor",
        ):  # fmt: skip
            if name not in vars(cls):
                setattr(cls, name, vars(ProductLaw)[name])

    @property
    def tail(self) -> float:
        """The smallest order whose norm moments are reported as infinite."""
        if math.isinf(self.variance):
            return 0.0
        return 2.5 if math.isinf(self.kurtosis) else math.inf

    @property
    def unit(self) -> float:
        """A typical size of |x|, which quadrature uses as its unit."""
        return 1.0

    @abstractmethod
    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return one or two independent coordinates from each pair of uniforms (elementwise)."""

    def density(self, x: Array) -> Array | None:
        """Return the density of one coordinate at x > 0, averaged over x and −x; None if unknown.

        If you define it, define `unit`, too: quadrature covers |x| from e^−50 to e^66 units.
        """
        return None

    def masses(self) -> tuple[Array, Array] | None:
        """Return points |x|/unit with their probabilities, for quadrature; None if unknown."""
        return masses_of_density(self)

    @cached_property
    def per_pair(self) -> int:
        """How many coordinates are made from a pair of uniforms, 1 or 2."""
        parts = self.coordinates(np.array([0.5]), np.array([0.5]))
        if not isinstance(parts, tuple) or len(parts) not in (1, 2):
            raise _check.InputError(
                f"{type(self).__name__}.coordinates must return a tuple of one or two arrays"
            )
        return len(parts)

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs."""
        return -(-batch_size * n_inputs // self.per_pair)

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch, shape (b, n)."""
        flat = np.concatenate(self.coordinates(u, v))
        return flat[: batch_size * n_inputs].reshape(batch_size, n_inputs)

    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ = variance · I, None if the variance is infinite."""
        n = _check.integer("n_inputs", n_inputs, 1)
        _check.entries("the covariance", n, n)
        return _check.freeze(self.variance * np.eye(n)) if math.isfinite(self.variance) else None

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments that the sharp certificate needs, if the law is symmetric.

        They are exact, except that τ is an upper bound.
        """
        if not self.symmetric:
            return super().even_moments(n_inputs, weighting)
        return of_product(self, n_inputs, weighting)

    @cached_property
    def transforms(self) -> tuple[Array, Array, Array] | None:
        """ψ_p(s) = E[x^{2p} e^{−s x²}], p = 0, 1, 2, for x in `unit`, on the nodes of `moments`."""
        return laplace_transforms(self)

    def _norm_moment(self, order: int, n: int) -> float:
        return norm_moment(self, order, n)


@dataclass(frozen=True)
class ScaledLaw(ProductLaw):
    """A symmetric product law with a `scale` that multiplies every coordinate.

    A subclass defines `formula`, which depends on nothing but its arguments, so that it can be
    compiled.

    Parameters
    ----------
    scale
        Factor of every coordinate, from 1e-70 to 1e70, so that fourth powers do not overflow.
    """

    scale: float = field(default=1.0, kw_only=True)

    symmetric = True

    @staticmethod
    @abstractmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return one or two coordinates from a pair of uniforms, elementwise."""

    @classmethod
    def formulas(cls) -> tuple[Callable[..., tuple[Any, ...]], ...]:
        """Return every function that `formula` may be, whatever the parameters."""
        return (cls.formula,)

    @property
    def shape(self) -> float:
        """The second parameter of `formula`, next to the scale."""
        return 0.0

    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return one or two independent coordinates from each pair of uniforms."""
        return self.formula(u, v, self.scale, self.shape)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _check.number("scale", self.scale, "[1e-70, 1e70]"))

    @property
    def unit(self) -> float:
        """The scale."""
        return self.scale
