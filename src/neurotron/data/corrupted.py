"""Inputs that are corrupted after their labels were computed, by noise or by an adversary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from neurotron import _check
from neurotron._formula import select
from neurotron._registry import Registry
from neurotron._streams import Purpose, Stream
from neurotron._types import Array
from neurotron.data.base import Batch, Data, draw_inputs
from neurotron.data.simulated import Simulated
from neurotron.laws import BY_NAME as LAWS
from neurotron.laws import Correlated, Empirical, EvenMoments, Law, Normal
from neurotron.laws.catalog import named_inside
from neurotron.laws.even_moments import by_covariance
from neurotron.networks import FilterNetwork


@dataclass(frozen=True, eq=False, repr=False)
class Corrupted(Data):
    r"""Labels are those of inputs x, and trainers see other inputs x'.

    With a `scale` s there is noise: x' = x + c s z with z standard normal. With a `size` s there is
    an adversary: x' = x + c s sign(aᵀx) b with directions a and b of length 1. In both cases c is 1
    with probability p, else 0. The inputs x are those that the law alone would draw.

    Noise draws Neuro-Tron to the w with MΣ'Āᵀw = MΣĀᵀw*, which is w*/(1 + ps²) for inputs of
    variance 1. The adversary reads the sign of aᵀx and moves the input along b. If labels depend on
    bᵀx, they are then wrong for x' by an amount that goes with aᵀx, and Neuro-Tron makes up for it
    along a. For small s it is drawn from w* to

    .. math:: \bar w - w^* \approx -p s\, (b^\top \bar A^\top w^*)
              (M \Sigma \bar A^\top)^{-1} M \kappa, \qquad \kappa = E[\mathrm{sign}(a^\top x) x] .

    Unless directions are given, they are those for which this is largest with normal inputs and the
    optimal M: b along Āᵀw*, and a along Āᵀu with the eigenvector u of ĀΣĀᵀ for its smallest
    eigenvalue. So the adversary knows w*, the network and the law.

    This is about the paper's third open question. No guarantee holds, because the labels are not
    f_{w*} of the inputs that trainers see. The moments are those of x' with noise, and those of x
    with an adversary, of whom a trainer does not know.

    Parameters
    ----------
    clean
        The law of x.
    true_weights, noise
        w* and the noise of the labels, as for `Simulated`; `Problem.draw` gives both.
    scale
        Standard deviation s > 0 of noise that is added to inputs.
    size
        The distance s > 0 by which an adversary moves inputs.
    probability
        Probability p in [0, 1] that an input is corrupted.
    reads, moves
        The adversary's directions a and b, shape (n,), not zero; their lengths do not matter.

    Examples
    --------
    >>> import neurotron as nt
    >>> noisy = nt.data.Corrupted(nt.Normal(), scale=0.5)
    >>> nt.Problem.draw(nt.networks.relu_gate(2), noisy).covariance
    array([[1.25, 0.  ],
           [0.  , 1.25]])
    """

    clean: Law
    true_weights: Array | None = field(default=None, kw_only=True)
    noise: float = field(default=0.0, kw_only=True)
    scale: float | None = field(default=None, kw_only=True)
    size: float | None = field(default=None, kw_only=True)
    probability: float = field(default=1.0, kw_only=True)
    reads: Array | None = field(default=None, kw_only=True)
    moves: Array | None = field(default=None, kw_only=True)
    honest: Simulated = field(init=False)
    """The same labels with the inputs that they were computed from."""
    law: Law = field(init=False)

    def __post_init__(self) -> None:
        _check.instance("clean", self.clean, Law)
        honest = Simulated(self.clean, self.true_weights, self.noise)
        if (self.scale is None) == (self.size is None):
            raise _check.InputError(
                "inputs are corrupted in one of two ways: give `scale`, the standard deviation of "
                "noise, or `size`, the distance by which an adversary moves inputs"
            )
        way = "size" if self.scale is None else "scale"
        amount = _check.number(way, getattr(self, way), "[1e-70, 1e70]")
        chance = _check.number("probability", self.probability, "[0, 1]")
        law = self.clean if self.scale is None else NoisyLaw(self.clean, amount, chance)
        made = {
            way: amount, "probability": chance, "true_weights": honest.true_weights,
            "noise": honest.noise, "honest": honest, "law": law,
        }  # fmt: skip
        for name in ("reads", "moves"):
            if getattr(self, name) is not None:
                made[name] = vector = _check.array(name, getattr(self, name), ("n",))
                if not vector.any():
                    raise _check.InputError(f"`{name}` must not be zero")
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        way = f"size={self.size:g}" if self.scale is None else f"scale={self.scale:g}"
        noise = f", noise={self.noise:g}" if self.noise > 0.0 else ""
        return f"Corrupted({self.clean!r}, {way}, probability={self.probability:g}{noise})"

    @property
    def n_inputs(self) -> int | None:
        """The number of inputs if the law fixes it, else None."""
        return self.law.n_inputs

    def require_labels(self) -> None:
        """Refuse to make labels without true weights."""
        self.honest.require_labels()

    def require_seen(self, purpose: str) -> None:
        """Refuse what needs labels of the inputs that are seen."""
        raise _check.InputError(
            f"{purpose} needs labels that were computed from the inputs at hand, and {self!r} "
            f"corrupts inputs after that: use the law {self.clean!r} itself"
        )

    def batch(self, network: FilterNetwork, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream: x' with the labels of x."""
        batch, n = self.honest.batch(network, stream, step, batch_size), network.n_inputs
        if self.size is None:
            return batch._replace(inputs=draw_inputs(self.law, stream, step, batch_size, n))
        reads, moves = _directions(self, network)
        first = self.clean.pairs(batch_size, n)
        u, _ = stream.pairs(Purpose.INPUTS, step, first + batch_size)
        away = self.size * np.sign(batch.inputs @ reads)
        moved = select(u[first:] <= self.probability, away, 0.0)
        return batch._replace(inputs=batch.inputs + moved[:, None] * moves)

    def seen_moments(self, network: FilterNetwork) -> tuple[Array, Array] | None:
        """Return E[x'x'ᵀ] and E[x'xᵀ], None if they are infinite or not known.

        With noise they are Σ + ps²I and Σ. With an adversary they are Σ + ps(bκᵀ + κbᵀ) + ps²bbᵀ
        and Σ + psbκᵀ, where κ = E[sign(aᵀx) x].
        """
        sigma, seen = (law.covariance(network.n_inputs) for law in (self.clean, self.law))
        if sigma is None or seen is None:
            return None
        if self.size is None:
            return seen, sigma
        reads, moves = _directions(self, network)
        kappa = _signed_mean(self.clean, sigma, reads)
        if kappa is None:
            return None
        share = self.probability * self.size
        cross = share * np.outer(moves, kappa)
        return sigma + cross + cross.T + share * self.size * np.outer(moves, moves), sigma + cross


@lru_cache(maxsize=4)
def _directions(data: Corrupted, network: FilterNetwork) -> tuple[Array, Array]:
    """Return the adversary's directions; where they are not given, those that do most harm."""
    gate, size = network.mean_gate, (network.n_inputs,)
    reads, moves = data.reads, data.moves
    if reads is None:
        sigma = data.clean.covariance(network.n_inputs)
        spread = gate @ gate.T if sigma is None else gate @ sigma @ gate.T
        reads = gate.T @ np.linalg.eigh(spread)[1][:, 0]
    if moves is None:
        data.require_labels()
        moves = gate.T @ np.asarray(data.true_weights)
    return _along(_check.array("reads", reads, size)), _along(_check.array("moves", moves, size))


def _along(vector: Array) -> Array:
    """Return the direction of a vector, or any other one if gates cancel and it is zero."""
    given = vector if vector.any() else np.ones_like(vector)
    return _check.freeze(given / float(np.linalg.norm(given)))


def _signed_mean(law: Law, sigma: Array, reads: Array) -> Array | None:
    """Return E[sign(aᵀx) x]: √(2/π) Σa/√(aᵀΣa) for normal inputs, a mean over rows."""
    if isinstance(law, Empirical):
        return np.asarray((np.sign(law.rows @ reads)[:, None] * law.rows).mean(axis=0))
    if type(law.base if isinstance(law, Correlated) else law) is not Normal:
        return None
    spread = float(reads @ sigma @ reads)
    return math.sqrt(2.0 / math.pi / spread) * (sigma @ reads) if spread > 0.0 else sigma @ reads


@dataclass(frozen=True, eq=False)
class NoisyLaw(Law):
    """The law of x' = x + c s z: z is standard normal, and c is 1 with probability p, else 0."""

    law: Law
    scale: float
    probability: float

    @property
    def symmetric(self) -> bool:
        """Whether x is symmetric: then x' is, too, because the noise is."""
        return self.law.symmetric

    @property
    def n_inputs(self) -> int | None:
        """The dimension of x if it is fixed, else None."""
        return self.law.n_inputs

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


# ---- by name -------------------------------------------------------------------------------------


def _corrupted(
    scale: float, probability: float = 1.0, law: str = "normal", n_inputs: int | None = None
) -> Corrupted:
    """Return inputs with normal noise, added after the labels were computed.

    The law is written as elsewhere, with a semicolon between its parameters:
    law=student-t:dof=4;scale=2.
    """
    return Corrupted(named_inside(law, n_inputs), scale=scale, probability=probability)


def _moved(
    size: float, probability: float = 1.0, law: str = "normal", n_inputs: int | None = None
) -> Corrupted:
    """Return inputs that an adversary moves by a distance, after the labels were computed."""
    return Corrupted(named_inside(law, n_inputs), size=size, probability=probability)


BY_NAME: Registry[Law | Corrupted] = Registry(
    "law", {**LAWS.factories, "corrupted": _corrupted, "moved": _moved}, Law
)
"""What the word `law` means in studies and commands: a law, or the corrupted inputs of one."""
