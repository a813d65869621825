"""Two laws of labels at once, fitted by expectation and maximisation (EM)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np

from neurotron._types import Array
from neurotron.residuals.honest_noise import Regression

Kind: TypeAlias = Literal["one side", "both sides", "another model"]

SETTLED = 1e-5
"""The gain of log-likelihood in a round at which EM ends."""
RIDGE = 1e-12
"""Added to normal equations, so that they can always be solved."""
THIN = 0.2
"""Least spread of the labels of another model, in standard deviations of the honest noise."""


@dataclass(frozen=True, eq=False)
class Shifted:
    """Honest rows and shifted rows with the same normal noise."""

    weights: Array
    noise: float
    share: float
    shift: float
    signs: tuple[float, ...]
    """Directions of the shift: (1,), or (1, −1) if both occur equally often."""

    @property
    def kind(self) -> Kind:
        """How tampered labels differ."""
        return "one side" if len(self.signs) == 1 else "both sides"

    @property
    def distance(self) -> float:
        """The size of the shift."""
        return abs(self.shift)

    @property
    def extra(self) -> int:
        """How many numbers are fitted more than by least squares."""
        return 2

    def logs(self, data: Regression) -> Array:
        """Return the log-density of each label and each law, honest first: (K, N)."""
        residuals = data.residuals(self.weights)
        share = self.share / len(self.signs)
        return np.stack([
            _normal(residuals, self.noise, 1.0 - self.share),
            *(_normal(residuals - sign * self.shift, self.noise, share) for sign in self.signs),
        ])  # fmt: skip

    def step(self, data: Regression, beliefs: Array) -> Shifted:
        """Return the most likely mixture, if each row belongs to each law with these beliefs."""
        signed, tampered = np.array(self.signs) @ beliefs[1:], 1.0 - beliefs[0]
        moved = data.fitted(signed)
        plain = data.fitted(data.labels)
        free = data.mean(tampered) - data.mean(signed * (data.rows @ moved))
        shift = data.mean(signed * data.residuals(plain)) / max(free, 1e-12)
        weights = plain - shift * moved
        residuals = data.residuals(weights)
        square = residuals**2 - 2.0 * shift * residuals * signed + shift**2 * tampered
        return replace(
            self, weights=weights, noise=_root(data.mean(square)), shift=shift,
            share=_inside(data.mean(tampered)),
        )  # fmt: skip

    def mirrored(self, data: Regression) -> Shifted:
        """Return the mixture in which the other law is the honest one."""
        level = data.fitted(np.full(len(data.labels), self.shift))
        return replace(
            self, weights=self.weights + level, shift=-self.shift, share=1.0 - self.share
        )


@dataclass(frozen=True, eq=False)
class TwoModels:
    """Honest rows, and rows with the labels of another linear model; normal noise in both."""

    weights: Array
    noise: float
    share: float
    other: Array
    spread: float

    kind: Kind = "another model"
    distance: float = 0.0

    @property
    def extra(self) -> int:
        """How many numbers are fitted more than by least squares."""
        return len(self.other) + 2

    def logs(self, data: Regression) -> Array:
        """Return the log-density of each label and each law, honest first: (2, N)."""
        return np.stack([
            _normal(data.residuals(self.weights), self.noise, 1.0 - self.share),
            _normal(data.residuals(self.other), self.spread, self.share),
        ])  # fmt: skip

    def step(self, data: Regression, beliefs: Array) -> TwoModels:
        """Return the most likely mixture, if each row belongs to each law with these beliefs."""
        pairs = [weighted(data, belief) for belief in beliefs]
        (weights, honest), (other, tampered) = pairs
        share = _inside(data.mean(beliefs[1]))
        noise, spread = _root(honest / (1.0 - share)), _root(tampered / share)
        if spread < THIN * noise:
            noise = _root(honest + tampered / THIN**2)
            spread = THIN * noise
        return replace(self, weights=weights, noise=noise, share=share, other=other, spread=spread)

    def mirrored(self, data: Regression) -> TwoModels:
        """Return the mixture in which the other law is the honest one."""
        del data
        return TwoModels(
            self.other,
            self.spread,
            1.0 - self.share,
            self.weights,
            max(self.noise, THIN * self.spread),
        )


Mixture: TypeAlias = Shifted | TwoModels


def _normal(residuals: Array, scale: float, share: float) -> Array:
    level = math.log(share) - math.log(scale) - 0.5 * math.log(2.0 * math.pi)
    return level - 0.5 * (residuals / scale) ** 2


def _root(square: float) -> float:
    return math.sqrt(max(square, 1e-300))


def _inside(share: float) -> float:
    return min(max(share, 1e-6), 1.0 - 1e-6)


def weighted(data: Regression, belief: Array) -> tuple[Array, float]:
    """Return the weights that fit some of the rows, and their mean squared residual × share."""
    chosen = data.rows * (data.counts * belief)[:, None]
    moment = chosen.T @ data.rows
    moment[np.diag_indices_from(moment)] += RIDGE * np.trace(moment)
    weights = cast(Array, np.linalg.solve(moment, data.labels @ chosen))
    return weights, data.mean(belief * data.residuals(weights) ** 2)


class Fit(NamedTuple):
    """A mixture, its log-likelihood, and the probability of each law for each row, (K, N)."""

    mixture: Mixture
    likelihood: float
    beliefs: Array

    @property
    def evidence(self) -> float:
        """The log-likelihood minus ½ log N for each number that least squares does not fit."""
        return self.likelihood - 0.5 * math.log(self.beliefs.shape[1]) * self.mixture.extra


def seen(data: Regression, mixture: Mixture) -> Fit:
    """Return how likely a mixture makes the labels, and to which law each row belongs."""
    logs = mixture.logs(data)
    top = logs.max(axis=0)
    shares = np.exp(logs - top)
    total = shares.sum(axis=0)
    return Fit(mixture, data.total(top + np.log(total)), shares / total)


def em(data: Regression, mixture: Mixture, rounds: int) -> Fit:
    """Return the mixture after at most so many rounds of EM, which never lower the likelihood."""
    fit = seen(data, mixture)
    for _ in range(rounds):
        before, fit = fit, seen(data, fit.mixture.step(data, fit.beliefs))
        if fit.likelihood - before.likelihood < SETTLED:
            break
    return fit
