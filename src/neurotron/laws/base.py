"""What every law of the inputs x offers: a transform of uniforms, and its moments.

The stream deals out *pairs* (u, v) of independent uniforms on (0, 1). A law turns a fixed number of
pairs into a batch, so any batch can be drawn again and both engines draw the same one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from neurotron import _check
from neurotron._arguments import Explained
from neurotron._pickling import Pickled
from neurotron._types import Array
from neurotron.laws.even_moments import EvenMoments, of_product
from neurotron.laws.moments import laplace_transforms, masses_of_density, norm_moment

__all__ = ["Law", "ProductLaw", "ScaledLaw"]


class Law(Pickled, metaclass=Explained):
    """A law of inputs x in Rⁿ."""

    corrupted: ClassVar[bool] = False
    """Whether labels are made of other inputs than the trainer sees, those of `clean`."""

    @property
    def weighted(self) -> bool:
        """Whether some inputs count more than others, as rows with sample weights do."""
        return False

    @property
    def symmetric(self) -> bool:
        """Whether x and −x have the same law (the paper's Assumption 1): stated, not guessed."""
        return False

    @property
    def n_inputs(self) -> int | None:
        """The only dimension this law has, or None if it has one for every n."""
        return None

    @property
    def clean(self) -> Law:
        """The law of the inputs that labels are made of, drawn from the same uniforms: itself."""
        return self

    @abstractmethod
    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms make a batch."""

    @abstractmethod
    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch, shape (b, n), from that many pairs."""

    @abstractmethod
    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ = E[xxᵀ], (n, n); None if it is infinite."""

    def norm_moment(self, order: int, n_inputs: int) -> float:
        """Return m_i = E‖x‖^i for i = 1 … 4, inf if infinite; never below the true value."""
        order = _check.integer("order", order, 1, 4)
        n = _check.integer("n_inputs", n_inputs, 1)
        _check.entries("the input", n)
        if self.n_inputs not in (None, n):
            raise _check.InputError(f"{self!r} has {self.n_inputs} inputs, not {n}")
        return self._norm_moment(order, n)

    @abstractmethod
    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i for an order and a dimension that have been checked."""

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments the sharp certificate is made of; None where they are not known."""
        covariance = self.covariance(n_inputs) if weighting is None else None
        return EvenMoments(covariance, covariance, covariance, None)

    def require_symmetric(self, purpose: str) -> None:
        """Refuse an asymmetric law where the theory needs parity symmetry."""
        if not self.symmetric:
            raise _check.InputError(
                f"{purpose} needs a parity-symmetric law of x (Assumption 1), and {self!r} is not "
                "known to be one"
            )

    def require_clean(self, purpose: str) -> None:
        """Refuse a law that corrupts inputs where labels must be those of the inputs seen."""
        if self.corrupted:
            raise _check.InputError(
                f"{purpose} needs labels that are made of the inputs seen, and {self!r} corrupts "
                "these: use certify(…, method='measured'), which needs no theorem"
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
        """Return the density of one coordinate at x > 0, of both signs together divided by two.

        With it, give `unit`: quadrature looks for the mass between e^−50 and e^66 of it.
        """
        return None

    def masses(self) -> tuple[Array, Array] | None:
        """Return points |x|/unit with the chance of each, for quadrature; None if unknown."""
        return masses_of_density(self)

    @cached_property
    def per_pair(self) -> int:
        """How many coordinates a pair of uniforms gives."""
        parts = self.coordinates(np.array([0.5]), np.array([0.5]))
        if not isinstance(parts, tuple) or len(parts) not in (1, 2):
            raise _check.InputError(
                f"{type(self).__name__}.coordinates must return a tuple of one or two arrays"
            )
        return len(parts)

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms make a batch."""
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
        """Return the moments the sharp certificate is made of: exact, if the law is symmetric."""
        if not self.symmetric:
            return super().even_moments(n_inputs, weighting)
        return of_product(self, n_inputs, weighting, normal=False)

    @cached_property
    def transforms(self) -> tuple[Array, Array, Array] | None:
        """ψ_p(s) = E[x^{2p} e^{−s x²}], p = 0, 1, 2, for x in `unit`, on the nodes of `moments`."""
        return laplace_transforms(self)

    def _norm_moment(self, order: int, n: int) -> float:
        return norm_moment(self, order, n)


@dataclass(frozen=True)
class ScaledLaw(ProductLaw):
    """A symmetric product law with a `scale` that multiplies every coordinate.

    Between 1e-70 and 1e70, so that fourth powers are still numbers. A subclass gives `formula`,
    which depends on nothing but its arguments, so that it can be compiled.
    """

    scale: float = field(default=1.0, kw_only=True)

    symmetric = True
    argument_hint = "inputs have mean zero"

    @staticmethod
    @abstractmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return one or two coordinates from a pair of uniforms, elementwise."""

    @classmethod
    def formulas(cls) -> tuple[Callable[..., tuple[Any, ...]], ...]:
        """Return all that `formula` may be, whatever the settings."""
        return (cls.formula,)

    @property
    def shape(self) -> float:
        """What `formula` needs to know besides the scale."""
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
