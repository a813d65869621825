"""The solvers that a study of rows compares, each as a function of a task."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import neurotron as nt
from neurotron.solvers.rivals import Fitted, huber, least_squares, trim

Array = npt.NDArray[np.float64]

LIMITS = np.geomspace(1.0, 1e-12, 7)
"""Where residuals begin to be large, in typical labels, on the way to least absolute residuals."""
BEND = 0.2
"""The scale of scipy's losses, in medians of the residuals at the start."""


class RowTask(NamedTuple):
    """Rows to find a filter in, and what only some solvers are told about them."""

    network: nt.FilterNetwork
    X: Array
    y: Array
    tampered: npt.NDArray[np.bool_]
    true_weights: Array


class Answer(NamedTuple):
    """The filter that a solver found; starts and proof are those of `solve`."""

    weights: Array
    starts: int | None = None
    proven: int | None = None


def answer(solver: str, task: RowTask) -> Answer:
    """Return what a solver finds; a filter of NaN if it fails."""
    try:
        return BY_NAME[solver](task)
    except (np.linalg.LinAlgError, nt.InputError):
        return Answer(np.full(task.network.filter_size, np.nan))


def _solve(task: RowTask) -> Answer:
    found = nt.solve(task.network, task.X, task.y)
    return Answer(found.weights, found.starts, found.proven_against)


def _honest(task: RowTask) -> Answer:
    """Fit the honest rows alone by least squares, from the true weights."""
    X, y = task.X[~task.tampered], task.y[~task.tampered]
    return Answer(least_squares(task.network, X, y, start=Fitted(task.true_weights)).weights)


def _trim(task: RowTask) -> Answer:
    """Tell TRIM the exact share of tampered labels."""
    share = float(task.tampered.mean())
    return Answer(trim(task.network, task.X, task.y, tampered=share).weights)


def _plain(rival: Callable[..., Fitted], task: RowTask) -> Answer:
    return Answer(rival(task.network, task.X, task.y).weights)


def _l1(task: RowTask) -> Answer:
    """Make the mean of the absolute residuals small, by Huber losses of falling limits."""
    size, found = float(np.median(np.abs(task.y))) or 1.0, None
    for limit in LIMITS:
        found = huber(task.network, task.X, task.y, limit=limit * size, start=found)
    assert found is not None
    return Answer(found.weights)


def _scipy(loss: str, task: RowTask) -> Answer:
    """Minimise a robust loss of scipy, from the start that the other rivals have."""
    from scipy.optimize import least_squares as minimise

    network, X, y = task.network, task.X, task.y
    start = huber(network, X, y, limit=float(np.median(np.abs(y))) or 1.0).weights
    found = minimise(
        lambda w: network(w, X) - y, start, lambda w: network.gradient(w, X), loss=loss,
        f_scale=BEND * float(np.median(np.abs(network(start, X) - y))) or 1.0,
    )  # fmt: skip
    return Answer(found.x)


BY_NAME: dict[str, Callable[[RowTask], Answer]] = {
    "solve": _solve,
    "honest": _honest,
    "least-squares": partial(_plain, least_squares),
    "huber": partial(_plain, huber),
    "trim": _trim,
    "trim-half": partial(_plain, trim),
    "l1": _l1,
    "soft-l1": partial(_scipy, "soft_l1"),
    "cauchy": partial(_scipy, "cauchy"),
}
NAMES = {
    "solve": "nt.solve",
    "honest": "least squares on the honest rows, from w*",
    "least-squares": "least squares",
    "huber": "Huber",
    "trim": "TRIM, told β",
    "trim-half": "TRIM, keeping half",
    "l1": "L1 Gauss–Newton",
    "soft-l1": "scipy soft_l1",
    "cauchy": "scipy cauchy",
}
"""What tables call the solvers.

The solver `honest` is told which labels are honest, and starts at the true weights. It is what the
others are compared with if labels have noise.
"""
