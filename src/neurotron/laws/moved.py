"""Inputs that an adversary moves by a bounded amount after the labels were computed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from neurotron import _check
from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import Law
from neurotron.laws.correlated import Correlated
from neurotron.laws.empirical import Empirical
from neurotron.laws.even_moments import EvenMoments
from neurotron.laws.normal import Normal
from neurotron.networks import FilterNetwork

__all__ = ["Moved"]


@dataclass(frozen=True, eq=False)
class Moved(Law):
    r"""Inputs x' = x + c s sign(aᵀx) b, ‖x' − x‖ = s: labels are those of x, trainers see x'.

    Here a and b are directions of length 1, and c is 1 with probability p, else 0. The adversary
    reads the sign of aᵀx and moves the input along b. If labels depend on bᵀx, they are then wrong
    for x' by an amount that goes with aᵀx, and Neuro-Tron makes up for it along a. For small s it
    is drawn from w* to

    .. math:: \bar w - w^* \approx -p s\, (b^\top \bar A^\top w^*)
              (M \Sigma \bar A^\top)^{-1} M \kappa, \qquad \kappa = E[\mathrm{sign}(a^\top x) x] .

    Unless directions are given, `Problem.draw` chooses those for which this is largest with normal
    inputs and the optimal M: b along Āᵀw*, and a along Āᵀu with the eigenvector u of ĀΣĀᵀ for its
    smallest eigenvalue. So the adversary knows w*, the network and the law.

    This law (probability distribution) is about the paper's third open question. No guarantee
    holds: the labels are not f_{w*} of the inputs that the trainer sees. The moments are those of
    x, because a trainer that does not know of the adversary would use them.

    Parameters
    ----------
    law
        The law of x.
    size
        The distance s > 0 by which an input is moved.
    probability
        Probability p in [0, 1] that an input is moved.
    reads, moves
        The directions a and b, shape (n,), not zero; their lengths do not matter.

    Examples
    --------
    >>> law = Moved(Normal(), size=0.5, probability=0.1, reads=[1.0, 0.0], moves=[0.0, 1.0])
    >>> law.seen_moments(2)[1].round(4)  # E[x' xᵀ]
    array([[1.    , 0.    ],
           [0.0399, 1.    ]])
    """

    law: Law
    size: float
    probability: float = 1.0
    reads: Array | None = field(default=None, kw_only=True)
    moves: Array | None = field(default=None, kw_only=True)

    corrupted = True

    def __post_init__(self) -> None:
        if _check.instance("law", self.law, Law).corrupted:
            raise _check.InputError(f"the inputs of {self.law!r} are corrupted already")
        object.__setattr__(self, "size", _check.number("size", self.size, "[1e-70, 1e70]"))
        chance = _check.number("probability", self.probability, "[0, 1]")
        object.__setattr__(self, "probability", chance)
        for name in ("reads", "moves"):
            value = getattr(self, name)
            if value is not None:
                vector = _check.array(name, value, ("n",))
                length = float(np.linalg.norm(vector))
                if length == 0.0:
                    raise _check.InputError(f"`{name}` must not be zero")
                object.__setattr__(self, name, _check.freeze(vector / length))

    def __repr__(self) -> str:
        return f"Moved({self.law!r}, size={self.size:g}, probability={self.probability:g})"

    def facing(self, network: FilterNetwork, true_weights: Array) -> Moved:
        """Return the law with the directions that do most harm, where they are not given."""
        reads, moves, gate = self.reads, self.moves, network.mean_gate
        if reads is None:
            sigma = self.law.covariance(network.n_inputs)
            spread = gate @ gate.T if sigma is None else gate @ sigma @ gate.T
            reads = _along(gate.T @ np.linalg.eigh(spread)[1][:, 0])
        if moves is None:
            moves = _along(gate.T @ true_weights)
        return replace(self, reads=reads, moves=moves)

    @property
    def weighted(self) -> bool:
        """Whether some of the inputs count more than others."""
        return self.law.weighted

    @property
    def symmetric(self) -> bool:
        """Whether x is symmetric: then x' is, too, because it is an odd function of x."""
        return self.law.symmetric

    @property
    def n_inputs(self) -> int | None:
        """The dimension of the inputs if it is fixed, else None."""
        known = self.reads if self.reads is not None else self.moves
        return self.law.n_inputs if known is None else len(known)

    @property
    def clean(self) -> Law:
        """The law of x, which draws from the first pairs of a batch."""
        return self.law

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs: those for x, and for b coins."""
        return self.law.pairs(batch_size, n_inputs) + batch_size

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return a batch of x', shape (b, n)."""
        reads, moves = self._directions()
        first = self.law.pairs(batch_size, n_inputs)
        clean = self.law.inputs(u[:first], v[:first], batch_size, n_inputs)
        hit = u[first : first + batch_size] <= self.probability
        step = select(hit, self.size * np.sign(clean @ reads), 0.0)
        return clean + step[:, None] * moves

    def covariance(self, n_inputs: int) -> Array | None:
        """Return Σ of the clean inputs, which a trainer expects."""
        return self.law.covariance(n_inputs)

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments of the clean inputs, which a trainer expects."""
        return self.law.even_moments(n_inputs, weighting)

    def seen_moments(self, n_inputs: int) -> tuple[Array, Array] | None:
        r"""Return E[x'x'ᵀ] and E[x'xᵀ], None if they are infinite or not known.

        With κ = E[sign(aᵀx) x] they are Σ + ps(bκᵀ + κbᵀ) + ps²bbᵀ and Σ + psbκᵀ.
        """
        _, moves = self._directions()
        sigma, kappa = self.law.covariance(n_inputs), self._signed_mean(n_inputs)
        if sigma is None or kappa is None:
            return None
        share = self.probability * self.size
        cross = share * np.outer(moves, kappa)
        return sigma + cross + cross.T + share * self.size * np.outer(moves, moves), sigma + cross

    def _signed_mean(self, n_inputs: int) -> Array | None:
        """Return E[sign(aᵀx) x]: √(2/π) Σa/√(aᵀΣa) for normal inputs, a mean over rows."""
        reads, _ = self._directions()
        if isinstance(self.law, Empirical) and not self.law.weighted:
            return np.asarray(
                (np.sign(self.law.rows @ reads)[:, None] * self.law.rows).mean(axis=0)
            )
        inner = self.law.base if isinstance(self.law, Correlated) else self.law
        sigma = self.law.covariance(n_inputs)
        if type(inner) is not Normal or sigma is None:
            return None
        spread = float(reads @ sigma @ reads)
        return (
            math.sqrt(2.0 / math.pi / spread) * (sigma @ reads) if spread > 0.0 else sigma @ reads
        )

    def _directions(self) -> tuple[Array, Array]:
        if self.reads is None or self.moves is None:
            raise _check.InputError(
                f"{self!r} has no directions yet: use Problem.draw(network, law), which chooses "
                "those that do most harm, or give `reads` and `moves`"
            )
        return self.reads, self.moves

    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i of the clean inputs."""
        return self.law.norm_moment(order, n)


def _along(vector: Array) -> Array:
    """Return the vector, or any other one where it is zero: gates that cancel have no direction."""
    return vector if vector.any() else np.ones_like(vector)
