"""What no attack can exceed, if predictions are linear in the labels."""

from __future__ import annotations

import math

import numpy as np

from neurotron._types import Array
from neurotron.auditing.attackers import Scene
from neurotron.auditing.certified import Certified
from neurotron.theory.smoother import largest_rise

__all__ = ["exact_ceiling", "harmless_rows", "rms"]

EXACT_KIND = (
    "The ceilings hold if predictions are linear in the labels, which was tested. Those of single "
    "predictions and of their mean are exact: an attack reaches them."
)


def exact_ceiling(scene: Scene, most: int) -> Certified:
    """Return the ceiling for changes of at most `most` labels."""
    matrix = scene.exact
    mean = matrix.mean(axis=0, keepdims=True)
    worst, of_mean = (
        float(largest_rise(np.concatenate([rows, -rows]), scene.room, most).max())
        for rows in (matrix, mean)
    )
    return Certified(_error(scene, most), of_mean, worst, EXACT_KIND)


def _error(scene: Scene, most: int) -> float:
    """Return a bound on the rise of the root mean squared error.

    With residuals r and changes d = He of the predictions, the mean squared error rises by
    2 mean(rd) + mean(d²). The first term is linear in the change e of the labels, so its largest
    value is exact, and the second one is at most the square of the bound on the root mean square
    of d. That bound itself is another one, by the triangle inequality.
    """
    residuals, matrix = scene.residuals, scene.exact
    shift = scene.rms_ceiling.at(most)
    along = residuals[None, :] @ matrix / len(residuals)
    linear = float(largest_rise(along, scene.room, most)[0])
    before = rms(residuals)
    return min(shift, math.sqrt(before**2 + 2.0 * linear + shift**2) - before)


def harmless_rows(scene: Scene, limit: float) -> int:
    """Return up to how many labels can be changed without raising the error by more than `limit`.

    The bound rises with the number of labels, so bisection finds it.
    """
    low, high = 0, len(scene.split.y)
    while low < high:
        middle = (low + high + 1) // 2
        if _error(scene, middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def rms(values: Array) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt(np.mean(values**2)))
