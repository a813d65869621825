"""How likely the labels of a linear network are without an attack, for noise of many shapes.

Noise that is skewed, has heavy or light tails, comes in two halves or grows with the inputs can
look like an attack. Each function fits one such law by maximum likelihood and returns the natural
logarithm of the likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, cast

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from neurotron._types import Array
from neurotron.residuals.robust import NORMAL_MEDIAN, median

ROUNDS, EVALUATIONS = 200, 250
SKEWS = (1.0, 1.5, 1.0 / 1.5)
"""Where fits of skewed noise start: the upper half is this much wider than the middle."""
SETTLED = 1e-5
RIDGE = 1e-12
"""Least variance of two halves, in that of the labels: exact labels have two sharp levels."""
STEP = 1e-5
"""Of the numerical derivative by the shape of a law."""


class Regression(NamedTuple):
    """Rows of a linear regression, in coordinates whose second moment is about the identity."""

    rows: Array
    labels: Array
    counts: Array
    """How much every row counts; their mean is 1."""
    inverse: Array
    """Of the second moment of the rows."""

    @classmethod
    def of(cls, rows: Array, labels: Array, counts: Array | None) -> Regression:
        """Return the regression of labels on rows."""
        counts = np.ones(len(rows)) if counts is None else counts / counts.mean()
        moment = (rows * counts[:, None]).T @ rows / len(rows)
        inverse = cast(Array, np.linalg.pinv(moment, hermitian=True))
        return cls(rows, labels, counts, inverse)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.rows.shape[1]

    def residuals(self, weights: Array) -> Array:
        """Return the labels minus the outputs."""
        return self.labels - self.rows @ weights

    def total(self, values: Array) -> float:
        """Return the sum over the rows."""
        return float(self.counts @ values)

    def mean(self, values: Array) -> float:
        """Return the mean over the rows."""
        return self.total(values) / len(self.labels)

    def fitted(self, labels: Array) -> Array:
        """Return the least-squares weights for these labels."""
        return self.inverse @ ((self.counts * labels) @ self.rows) / len(self.labels)


def spread(data: Regression, weights: Array) -> float:
    """Return the standard deviation that normal noise with this median size would have."""
    residuals = data.residuals(weights)
    middle = median(residuals, data.counts)
    return median(np.abs(residuals - middle), data.counts) / NORMAL_MEDIAN


def normal_noise(data: Regression) -> float:
    """Return the log-likelihood of least squares with normal noise."""
    residuals = data.labels - data.rows @ data.fitted(data.labels)
    scale = math.sqrt(data.mean(residuals**2))
    return -len(data.labels) * (math.log(scale) + 0.5 * math.log(2.0 * math.pi) + 0.5)


def two_halves(data: Regression, starts: Iterable[Array]) -> float:
    """Return the log-likelihood of normal noise around two levels, with half of the rows each.

    An attack tampers with less than half of the labels.
    """
    return max(_two_halves(data, start, distance) for start in starts for distance in (0.6, 0.9))


def _two_halves(data: Regression, weights: Array, distance: float) -> float:
    residuals = data.residuals(weights)
    plain = data.residuals(data.fitted(data.labels))
    size = math.sqrt(data.mean(residuals**2))
    half, scale, before = distance * size, size * math.sqrt(1.0 - distance**2), -math.inf
    for _ in range(ROUNDS):
        side = residuals * half / scale**2
        logs = np.logaddexp(side, -side) - 0.5 * (residuals**2 + half**2) / scale**2
        likelihood = data.total(logs - math.log(2.0 * scale * math.sqrt(2.0 * math.pi)))
        if likelihood - before < SETTLED:
            break
        before, belief = likelihood, np.tanh(side)
        level = data.rows @ data.fitted(belief)
        half = data.mean(belief * plain) / (1.0 - data.mean(belief * level))
        residuals = plain + half * level
        square = data.mean(residuals**2 - 2.0 * half * residuals * belief + half**2)
        scale = math.sqrt(max(square, RIDGE * size**2))
    return before


class Shape(NamedTuple):
    """A family of symmetric densities: log f(a) for a ≥ 0, its slope, and bounds of the shape."""

    log_density: Callable[[Array, float], Array]
    slope: Callable[[Array, float], Array]
    least: float
    most: float
    start: float
    most_skew: float
    """Largest log-ratio by which the half above zero is wider than the middle, or narrower."""


STUDENT = Shape(
    lambda a, shape: (
        gammaln(0.5 * shape + 0.5) - gammaln(0.5 * shape) - 0.5 * math.log(math.pi * shape)
        - 0.5 * (shape + 1.0) * np.log1p(a**2 / shape)
    ),
    lambda a, shape: -(shape + 1.0) * a / (shape + a**2),
    1.0, 200.0, 8.0, 3.0,
)  # fmt: skip
"""Student's law with `shape` degrees of freedom: heavy tails."""
POWER = Shape(
    lambda a, shape: cast(Array, math.log(0.5 * shape) - gammaln(1.0 / shape) - a**shape),
    lambda a, shape: -shape * a ** (shape - 1.0),
    1.0, 8.0, 2.0, 0.0,
)  # fmt: skip
"""exp(−a^shape): from Laplace's law over the normal to an almost uniform one."""


def shaped_noise(data: Regression, starts: Iterable[Array], shape: Shape) -> float:
    """Return the log-likelihood of noise whose halves above and below zero may differ in width."""
    skews = SKEWS if shape.most_skew > 0.0 else (1.0,)
    return max(_shaped(data, start, skew, shape) for start in starts for skew in skews)


def _shaped(data: Regression, start: Array, skew: float, shape: Shape) -> float:
    size, unit = data.size, spread(data, start)

    def loss(point: Array) -> tuple[float, Array]:
        weights, (log_scale, log_skew, log_shape) = point[:size], point[size:]
        scale, wide = math.exp(log_scale), math.exp(log_skew)
        residuals = (data.residuals(weights)) / scale
        narrow = np.where(residuals >= 0.0, 1.0 / wide, wide)
        a = np.abs(residuals) * narrow
        slope = shape.slope(a, math.exp(log_shape))
        less, more = (
            data.total(shape.log_density(a, math.exp(log_shape + step))) for step in (-STEP, STEP)
        )
        rows, total = len(a), data.total(slope * a)
        value = 0.5 * (less + more) + rows * (math.log(2.0 / (wide + 1.0 / wide)) - log_scale)
        pull = data.counts * slope * narrow * np.sign(residuals) / scale
        by_skew = data.total(-slope * a * np.sign(residuals)) - rows * math.tanh(log_skew)
        gradient = [-rows - total, by_skew, (more - less) / (2.0 * STEP)]
        return -value, -np.concatenate([-pull @ data.rows, gradient])

    middle = math.log(unit)
    bounds = [
        (middle - 4.0, middle + 4.0),
        (-shape.most_skew, shape.most_skew),
        (math.log(shape.least), math.log(shape.most)),
    ]
    return _maximum(loss, start, (middle, math.log(skew), math.log(shape.start)), bounds)


def growing_noise(data: Regression, start: Array, growth: Array) -> float:
    """Return the log-likelihood of Student noise whose scale is s √(1 + (gᵀδ)²), as fitted.

    Fits start at the weights and with the growth δ that are given.
    """
    size, unit = data.size, spread(data, start)

    def loss(point: Array) -> tuple[float, Array]:
        weights, grows, (log_scale, log_shape) = point[:size], point[size:-2], point[-2:]
        along = data.rows @ grows
        scales = math.exp(log_scale) * np.sqrt(1.0 + along**2)
        residuals = (data.residuals(weights)) / scales
        a = np.abs(residuals)
        slope = STUDENT.slope(a, math.exp(log_shape))
        less, more = (
            data.total(STUDENT.log_density(a, math.exp(log_shape + step))) for step in (-STEP, STEP)
        )
        value = 0.5 * (less + more) - data.total(np.log(scales))
        by_scale = data.counts * (1.0 + slope * a)
        gradient = np.concatenate(
            [
                -(data.counts * slope * np.sign(residuals) / scales) @ data.rows,
                -(by_scale * along / (1.0 + along**2)) @ data.rows,
                [-by_scale.sum(), (more - less) / (2.0 * STEP)],
            ]
        )
        return -value, -gradient

    middle = math.log(unit)
    bounds = [(middle - 6.0, middle + 3.0), (math.log(STUDENT.least), math.log(STUDENT.most))]
    first = np.concatenate([start, growth])
    return _maximum(loss, first, (middle, math.log(STUDENT.start)), bounds)


def _maximum(
    loss: Callable[[Array], tuple[float, Array]],
    free: Array,
    bounded: tuple[float, ...],
    bounds: list[tuple[float, float]],
) -> float:
    """Return the largest log-likelihood that is found from a start."""
    found = minimize(
        loss,
        np.concatenate([free, bounded]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * len(free) + bounds,
        options={"maxfun": EVALUATIONS, "ftol": 1e-8},
    )
    return -float(found.fun)
