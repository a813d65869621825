"""What every law of the inputs x offers: a transform of uniforms, and its moments.

The stream deals out *pairs* (u, v) of independent uniforms on (0, 1). A law turns a fixed number of
pairs into a batch, so any batch can be drawn again and both engines draw the same one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from neurotron import _check
from neurotron._types import Array

__all__ = ["Law", "ProductLaw", "ScaledLaw"]


class Law(ABC):
    """A law of inputs x in Rⁿ."""

    @property
    def symmetric(self) -> bool:
        """Whether x and −x have the same law (the paper's Assumption 1): stated, not guessed."""
        return False

    @property
    def n_inputs(self) -> int | None:
        """The only dimension this law has, or None if it has one for every n."""
        return None

    @abstractmethod
    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms make a batch."""

    @abstractmethod
    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch, shape (b, n), from that many pairs."""

    @abstractmethod
    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ = E[xxᵀ], (n, n); None if it is infinite."""

    @abstractmethod
    def norm_moment(self, order: int, n_inputs: int) -> float:
        """Return m_i = E‖x‖^i for i = 1 … 4, inf if infinite; never below the true value."""

    def require_symmetric(self, purpose: str) -> None:
        """Refuse an asymmetric law where the theory needs parity symmetry."""
        if not self.symmetric:
            raise _check.InputError(
                f"{purpose} needs a parity-symmetric law of x (Assumption 1), and {self!r} is not "
                "known to be one"
            )


class ProductLaw(Law):
    """A law with independent, identically distributed coordinates.

    A subclass gives `coordinates` (the transform), `variance`, `kurtosis` and `symmetric`. With a
    `density` the odd norm moments are exact to rounding; without, they are bounded from above.

    Examples
    --------
    The triangular law on (−1, 1), as a user would write it:

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
    def support(self) -> float:
        """Largest |x| of one coordinate."""
        return math.inf

    @property
    def tail(self) -> float:
        """Norm moments of this order and above are reported infinite."""
        if math.isinf(self.variance):
            return 0.0
        return 2.5 if math.isinf(self.kurtosis) else math.inf

    @property
    def unit(self) -> float:
        """A typical size of |x|, in which quadrature measures it."""
        return 1.0

    @abstractmethod
    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return one or two independent coordinates from each pair of uniforms (elementwise)."""

    def density(self, x: Array) -> Array | None:
        """Return the density of one coordinate at x > 0, of both signs together divided by two."""
        return None

    @cached_property
    def per_pair(self) -> int:
        """How many coordinates a pair of uniforms gives."""
        return len(self.coordinates(np.array([0.5]), np.array([0.5])))

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms make a batch."""
        return -(-batch_size * n_inputs // self.per_pair)

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch, shape (b, n)."""
        flat = np.concatenate(self.coordinates(u, v))
        return flat[: batch_size * n_inputs].reshape(batch_size, n_inputs)

    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ = variance · I, None if the variance is infinite."""
        return self.variance * np.eye(n_inputs) if math.isfinite(self.variance) else None

    @cached_property
    def transforms(self) -> tuple[Array, Array, Array, Array]:
        """Nodes s and ψ_p(s) = E[x^{2p} e^{−s x²}] for p = 0, 1, 2, with x measured in `unit`."""
        from neurotron.laws.moments import laplace_transforms

        return laplace_transforms(self)

    def norm_moment(self, order: int, n_inputs: int) -> float:
        """Return m_i = E‖x‖^i; without a density, m1 ≤ √m2 and m3 ≤ √(m2 m4) stand in."""
        from neurotron.laws.moments import norm_moment

        return norm_moment(self, _check.integer("order", order, 1, 4), n_inputs)


@dataclass(frozen=True)
class ScaledLaw(ProductLaw):
    """A symmetric product law with a `scale` > 0 that multiplies every coordinate."""

    scale: float = field(default=1.0, kw_only=True)

    symmetric = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _check.number("scale", self.scale, "(0, inf)"))

    @property
    def unit(self) -> float:
        """The scale."""
        return self.scale
