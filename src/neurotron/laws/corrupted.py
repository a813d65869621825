"""Inputs that are corrupted after the labels were computed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import Law
from neurotron.laws.even_moments import EvenMoments, by_covariance
from neurotron.laws.normal import Normal

__all__ = ["Corrupted"]


@dataclass(frozen=True, eq=False)
class Corrupted(Law):
    r"""Noisy inputs x' = x + c s z: labels are computed from x, the trainer sees x'.

    Here z is standard normal, and c is 1 with probability p, else 0; both are independent of x. Use
    this law (probability distribution) to study attacks on inputs instead of labels, which is the
    paper's third open question. No guarantee holds, because the labels are not f_{w*} of the inputs
    the trainer sees. Neuro-Tron is drawn to the w with MΣ'Āᵀw = MΣĀᵀw*, which is w*/(1 + ps²) for
    inputs of variance 1.

    The moments are those of x'. The clean inputs x are the same at every scale: those that `law`
    alone would draw.

    Parameters
    ----------
    law
        The law of x.
    scale
        Standard deviation s > 0 of the noise.
    probability
        Probability p in [0, 1] that an input is corrupted.

    Examples
    --------
    >>> Corrupted(Normal(), 0.5).covariance(2)
    array([[1.25, 0.  ],
           [0.  , 1.25]])
    """

    law: Law
    scale: float
    probability: float = 1.0

    corrupted = True

    def __post_init__(self) -> None:
        if _check.instance("law", self.law, Law).corrupted:
            raise _check.InputError(f"`law` must not be corrupted already, got {self.law!r}")
        object.__setattr__(self, "scale", _check.number("scale", self.scale, "[1e-70, 1e70]"))
        chance = _check.number("probability", self.probability, "[0, 1]")
        object.__setattr__(self, "probability", chance)

    def __repr__(self) -> str:
        return f"Corrupted({self.law!r}, scale={self.scale:g}, probability={self.probability:g})"

    @property
    def weighted(self) -> bool:
        """Whether some of the clean inputs count more than others."""
        return self.law.weighted

    @property
    def symmetric(self) -> bool:
        """Whether x is symmetric: then x' is, too, because the noise is."""
        return self.law.symmetric

    @property
    def n_inputs(self) -> int | None:
        """The dimension of the clean inputs if it is fixed, else None."""
        return self.law.n_inputs

    @property
    def clean(self) -> Law:
        """The law of x, which draws from the first pairs of a batch."""
        return self.law

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs: those for x, for b coins, and for z."""
        clean = self.law.pairs(batch_size, n_inputs)
        return clean + batch_size + Normal().pairs(batch_size, n_inputs)

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch of x', shape (b, n)."""
        size = (batch_size, n_inputs)
        first, last = self.law.pairs(*size), self.law.pairs(*size) + batch_size
        clean = self.law.inputs(u[:first], v[:first], *size)
        noise = Normal(scale=self.scale).inputs(u[last:], v[last:], *size)
        hit = u[first:last, None] <= self.probability
        return clean + select(hit, noise, 0.0)

    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ' = Σ + p s² I, None if Σ is infinite."""
        inner = self.law.covariance(n_inputs)
        return None if inner is None else _check.freeze(inner + self._added * np.eye(n_inputs))

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        r"""Return exact moments without weights, and an upper bound on τ; none with weights.

        .. math:: E[(x'^\top G x')\, x'x'^\top] = Q(G) + p s^2 (\mathrm{tr}(G) \Sigma
                  + \mathrm{tr}(G\Sigma) I + 2 G\Sigma + 2 \Sigma G) + p s^4 (\mathrm{tr}(G) I + 2G)
        """
        covariance = self.covariance(n_inputs)
        clean = self.law.even_moments(n_inputs)
        inner, quartic = clean.covariance, clean.quartic
        if weighting is not None or covariance is None or inner is None or quartic is None:
            return super().even_moments(n_inputs, weighting)
        one, added = np.eye(n_inputs), self._added

        def seen(gram: Array) -> Array:
            trace, product = np.trace(gram), gram @ inner
            mixed = trace * inner + np.trace(product) * one + 2.0 * (product + product.T)
            alone = self.scale**2 * (trace * one + 2.0 * gram)
            return np.asarray(quartic(gram) + added * (mixed + alone))

        return EvenMoments(covariance, covariance, by_covariance(covariance), seen)

    def seen_moments(self, n_inputs: int) -> tuple[Array, Array] | None:
        """Return E[x'x'ᵀ] = Σ + p s² I and E[x'xᵀ] = Σ, None if they are infinite."""
        clean, noisy = self.law.covariance(n_inputs), self.covariance(n_inputs)
        return None if clean is None or noisy is None else (noisy, clean)

    @property
    def _added(self) -> float:
        """The variance that the noise adds to a coordinate."""
        return self.probability * self.scale**2

    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i, exact for i = 2, 4; else the bounds m1 ≤ √m2 and m3 ≤ √(m2 m4)."""
        clean = self.law.norm_moment(2, n)
        m2 = clean + n * self._added
        if order <= 2:
            return m2 if order == 2 else math.sqrt(m2)
        alone = n * (n + 2.0) * self.scale**2
        m4 = self.law.norm_moment(4, n) + self._added * (2.0 * (n + 2.0) * clean + alone)
        return m4 if order == 4 else math.sqrt(m2 * m4)
