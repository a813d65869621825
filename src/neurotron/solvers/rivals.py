"""Rivals of `solve` for comparison: least squares, Huber's regression and TRIM.

All of them are Gauss–Newton descents from the odd start of `solve`: each step is a weighted linear
regression, and it is shortened until the objective does not rise. For a linear network, one step is
the weighted least-squares solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.networks import FilterNetwork
from neurotron.residuals.robust import NORMAL_MEDIAN, increment
from neurotron.solvers.linearized import Linearized, coordinates_for
from neurotron.solvers.search import odd_start

ROUNDS = 100
HALVINGS = 10
CONVERGED = 1e-14
EFFICIENT = 1.345
"""Huber's limit in standard deviations of the noise: 95 % efficient for normal noise."""
ALMOST_ZERO = 1e-4
"""The limit, in typical labels, at which Huber's loss is almost the absolute residual."""

Objective = Callable[[Array], float]
"""What a descent makes small, as a function of the residuals."""
Weights = Callable[[Array], Array]
"""The weights of the rows in the next regression, as a function of the residuals."""


class Fitted(NamedTuple):
    """A fitted filter."""

    weights: Array
    intercept: float = 0.0


def least_squares(
    network: FilterNetwork,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    intercept: bool = False,
    start: Fitted | None = None,
) -> Fitted:
    """Return the filter with a small mean of squared residuals, which one bad label can ruin.

    Parameters
    ----------
    network
        The network.
    X, y
        Inputs (N, n) and labels (N,).
    intercept
        Whether a constant is added to the output of the network.
    start
        Where to begin, if not at the odd start.
    """
    rows = _rows(network, X, y, intercept)
    return _descent(rows, start, lambda rho: float(rho @ rho), np.ones_like)


def huber(
    network: FilterNetwork,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    intercept: bool = False,
    limit: float | None = None,
    start: Fitted | None = None,
) -> Fitted:
    """Return the filter with a small Huber loss: squares of small residuals, sizes of large ones.

    Parameters
    ----------
    network
        The network.
    X, y
        Inputs (N, n) and labels (N,).
    intercept
        Whether a constant is added to the output of the network.
    limit
        Where residuals begin to be large. By default, it is 1.345 standard deviations of the noise,
        estimated by the median of the absolute residuals of a fit that makes their mean small.
    start
        Where to begin, if not at the odd start.
    """
    rows = _rows(network, X, y, intercept)
    if limit is None:
        size = float(np.median(np.abs(rows.y))) or float(np.abs(rows.y).max()) or 1.0
        start = huber(network, X, y, intercept=intercept, limit=ALMOST_ZERO * size, start=start)
        spread = np.median(np.abs(rows.residuals(_point(rows, start)))) / NORMAL_MEDIAN
        limit = max(EFFICIENT * float(spread), 1e-12 * size)
    bend = _check.number("limit", limit, "(0, inf)")

    def loss(rho: Array) -> float:
        size = np.abs(rho)
        return float(np.where(size <= bend, 0.5 * size**2, bend * (size - 0.5 * bend)).sum())

    return _descent(rows, start, loss, lambda rho: bend / np.maximum(np.abs(rho), bend))


def trim(
    network: FilterNetwork,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    intercept: bool = False,
    tampered: float = 0.5,
    start: Fitted | None = None,
) -> Fitted:
    """Return the filter with small squares on the rows that it explains best (TRIM).

    It fits a part of the rows by least squares, keeps the rows with the smallest residuals, and
    repeats this until nothing changes.

    Parameters
    ----------
    network
        The network.
    X, y
        Inputs (N, n) and labels (N,).
    intercept
        Whether a constant is added to the output of the network.
    tampered
        The share of the labels that were tampered with, which is not used for the fit. If it is not
        known, leave it out: half of the rows are kept.
    start
        Where to begin, if not at the odd start.
    """
    rows = _rows(network, X, y, intercept)
    share = _check.number("tampered", tampered, "[0, 1)")
    kept = min(len(rows), max(rows.size, round((1.0 - share) * len(rows))))

    def loss(rho: Array) -> float:
        return float(np.partition(rho**2, kept - 1)[:kept].sum())

    def weights(rho: Array) -> Array:
        chosen = np.zeros(len(rho))
        chosen[np.argpartition(np.abs(rho), kept - 1)[:kept]] = 1.0
        return chosen

    return _descent(rows, start, loss, weights)


def _rows(
    network: FilterNetwork, X: npt.ArrayLike, y: npt.ArrayLike, intercept: bool
) -> Linearized:
    _check.instance("network", network, FilterNetwork)
    inputs = _check.array("X", X, ("N", network.n_inputs), _check.LARGEST)
    labels = _check.array("y", y, (len(inputs),), _check.LARGEST)
    _check.instance("intercept", intercept, bool)
    equal = np.ones(len(inputs))
    coordinates = coordinates_for(network, inputs, equal, intercept=intercept)
    return Linearized(network, inputs, labels, None, equal, coordinates, intercept=intercept)


def _descent(
    rows: Linearized, start: Fitted | None, objective: Objective, weights: Weights
) -> Fitted:
    """Take Gauss–Newton steps until the objective no longer falls."""
    point = odd_start(rows) if start is None else _point(rows, start)
    rho = rows.residuals(point)
    least = objective(rho)
    for _ in range(ROUNDS):
        change = increment(rows.gradient(point), weights(rho), rho)
        for _ in range(HALVINGS):
            after = rows.residuals(point + change)
            if objective(after) <= least:
                break
            change = 0.5 * change
        else:
            break
        point, rho, least = point + change, after, objective(after)
        if np.linalg.norm(change) <= CONVERGED * np.linalg.norm(point):
            break
    return Fitted(*rows.weights(point))


def _point(rows: Linearized, fitted: Fitted) -> Array:
    """Return the coordinates of a filter."""
    whole = (
        [*fitted.weights, fitted.intercept] if rows.linear and rows.intercept else fitted.weights
    )
    point = np.linalg.lstsq(rows.coordinates, np.asarray(whole), rcond=None)[0]
    return np.append(point, fitted.intercept) if rows.offset else point
