"""Attacks on the labels of real tables, in units of what least squares leaves on honest labels.

The attacks of the study `tables` are in units of the labels and without noise; those here are what
happens to real tables: a shift, a scale that is reversed, a wrong unit, labels that are swapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Labels(NamedTuple):
    """Standardised inputs, honest labels, and least squares of the two."""

    X: Array
    y: Array
    coefficients: Array
    residuals: Array
    is_logarithm: bool

    @classmethod
    def of(cls, X: Array, y: Array, *, is_logarithm: bool = False) -> Labels:
        """Fit honest labels by least squares; columns of `X` have mean 0."""
        coefficients = np.linalg.lstsq(X, y - y.mean(), rcond=None)[0]
        return cls(X, y, coefficients, y - y.mean() - X @ coefficients, is_logarithm)

    @property
    def scale(self) -> float:
        """The standard deviation of the residuals, with their degrees of freedom."""
        n, p = self.X.shape
        return float(self.residuals.std() * np.sqrt(n / max(n - p - 1, 1)))

    def noise(self, draw: np.random.Generator, count: int) -> Array:
        """Draw residuals, which are the noise of labels that an attack makes up."""
        return draw.choice(self.residuals, count)


Attack = Callable[[Labels, npt.NDArray[np.intp], float, np.random.Generator], Array]
"""Returns the labels that an attack of some size writes into some rows."""


def shift(to: Labels, rows: npt.NDArray[np.intp], size: float, _: np.random.Generator) -> Array:
    """Raise labels by `size` standard deviations of the residuals."""
    return to.y[rows] + size * to.scale


def other_model(
    to: Labels, rows: npt.NDArray[np.intp], size: float, draw: np.random.Generator
) -> Array:
    """Write the labels of the model whose coefficients are permuted and negated, with noise."""
    coefficients = -draw.permutation(to.coefficients)
    return to.y.mean() + to.X[rows] @ coefficients + to.noise(draw, len(rows))


def reversed_scale(
    to: Labels, rows: npt.NDArray[np.intp], size: float, _: np.random.Generator
) -> Array:
    """Reflect labels at their mean, as if a scale were read from its other end."""
    return 2.0 * to.y.mean() - to.y[rows]


def leverage(
    to: Labels, rows: npt.NDArray[np.intp], size: float, draw: np.random.Generator
) -> Array:
    """Write the labels of the model with the opposite coefficients, with noise."""
    return to.y.mean() - to.X[rows] @ to.coefficients + to.noise(draw, len(rows))


def unit(to: Labels, rows: npt.NDArray[np.intp], size: float, _: np.random.Generator) -> Array:
    """Write labels in a unit that is 1/`size` as large; logarithms are shifted."""
    return to.y[rows] + np.log(size) if to.is_logarithm else to.y[rows] * size


def swapped(to: Labels, rows: npt.NDArray[np.intp], size: float, _: np.random.Generator) -> Array:
    """Swap the labels of pairs of rows."""
    half, even = len(rows) // 2, len(rows) // 2 * 2
    return to.y[np.concatenate([rows[half:even], rows[:half], rows[even:]])]


def constant(
    to: Labels, rows: npt.NDArray[np.intp], size: float, draw: np.random.Generator
) -> Array:
    """Write the label of one random row, like a default of a form."""
    return np.full(len(rows), to.y[draw.integers(len(to.y))])


ATTACKS: dict[str, Attack] = {
    each.__name__.replace("_", "-"): each
    for each in (shift, other_model, reversed_scale, leverage, unit, swapped, constant)
}
PICKED = ("leverage",)
"""Attacks on the rows whose predictions are farthest from the mean; others have random rows."""


def attacked(
    to: Labels, attack: str, size: float, share: float, draw: np.random.Generator
) -> Array:
    """Return all labels after an attack on a share of them; "none" leaves them as they are."""
    changed = to.y.copy()
    rows = draw.permutation(len(to.y))[: round(share * len(to.y))]
    if attack in PICKED:
        far = np.abs(to.X @ to.coefficients)
        rows = np.argsort(-far, kind="stable")[: len(rows)]
    if attack != "none":
        changed[rows] = ATTACKS[attack](to, rows, size, draw)
    return changed
