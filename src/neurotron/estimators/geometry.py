"""How well rows determine the weights: conditioning, influence of single rows, symmetry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from neurotron._types import Array, Mask
from neurotron.networks import FilterNetwork
from neurotron.solvers.linearized import blocks_of

SMALLEST = 1e-13
"""Directions whose second moment is below this part of the largest are not determined."""
OWN = 0.5
"""An influence from which on a row mostly determines its own prediction."""


FEW = 10
"""Fewer suspects say nothing about a relation to the inputs."""


@dataclass(frozen=True)
class Geometry:
    """How well the rows determine the weights and the intercept.

    Parameters
    ----------
    wanted, by_all_rows, determined
        How many numbers the fit looks for, how many all rows determine, and how many the rows that
        are no suspects determine.
    intercept
        Whether one of these numbers is the intercept.
    condition
        The condition number of the gradients, after scaling their columns to one size.
    influence, strongest
        By how much the prediction for a row changes if its own label changes by 1, between 0 and 1:
        the largest such number, and the number of its row, from 0.
    own_rows
        How many rows have an influence above one half.
    related
        The share of the variance of the suspects that the gradients explain.
    active, asymmetry
        For a network with gates: the share of rows with an active gate, if gates can be off (they
        cannot be with an activation such as softplus), and which part of the size of the inputs
        their mean is along one direction.
    """

    wanted: int
    by_all_rows: int
    determined: int
    intercept: bool
    condition: float
    influence: float
    strongest: int
    own_rows: int
    related: float
    active: float | None
    asymmetry: float | None


def geometry_of(
    network: FilterNetwork, X: Array, weights: Array, suspects: Mask, *, intercept: bool
) -> Geometry:
    """Return how well rows determine the weights, where suspects do not count."""
    wanted, gates = network.filter_size + intercept, not network.is_linear
    every, tampered, sums, active = *np.zeros((2, wanted, wanted)), np.zeros(wanted), 0
    for here, gradient in _gradients(network, X, weights, intercept):
        every += gradient.T @ gradient
        if suspects[here].any():
            chosen = gradient[suspects[here]]
            tampered += chosen.T @ chosen
            sums += chosen.sum(axis=0)
        if gates:
            active += int(gradient[:, : network.filter_size].any(axis=1).sum())
    white, condition = _whitening(every - tampered)
    whole = _whitening(every)[0]
    fit = whole @ (whole.T @ sums)
    influences, fitted, kept = np.empty(len(X)), np.empty(len(X)), ~suspects
    both = np.column_stack([white, fit])
    for here, seen in _along(network, X, weights, intercept, both):
        fitted[here] = seen[:, -1]
        influences[here] = np.einsum("ij,ij->i", seen[:, :-1], seen[:, :-1])
    influences = np.where(kept, influences, influences / (1.0 + influences))
    strongest = int(influences.argmax())
    return Geometry(
        wanted=wanted,
        by_all_rows=whole.shape[1],
        determined=white.shape[1],
        intercept=bool(intercept),
        condition=condition,
        influence=float(min(influences[strongest], 1.0)),
        strongest=strongest,
        own_rows=int((influences > OWN).sum()),
        related=_related(fitted, suspects, wanted),
        active=active / len(X) if gates and network.activation is None else None,
        asymmetry=_asymmetry(X) if gates else None,
    )


def _gradients(
    network: FilterNetwork, X: Array, weights: Array, intercept: bool
) -> Iterator[tuple[slice, Array]]:
    """Yield the gradients of the outputs by weights and intercept, a block of rows at a time.

    With an intercept they are centred, which changes no influence and loses fewer digits.
    """
    centre = _centre(network, X, weights)
    for here in blocks_of(network, len(X)):
        gradient = _gradient(network, X[here], weights)
        if intercept:
            centred = np.ones((len(gradient), len(centre) + 1))
            np.subtract(gradient, centre, out=centred[:, :-1])
            gradient = centred
        yield here, gradient


def _along(
    network: FilterNetwork, X: Array, weights: Array, intercept: bool, directions: Array
) -> Iterator[tuple[slice, Array]]:
    """Yield the gradients times a matrix; those of a linear network need not be computed."""
    if not network.is_linear:
        for here, gradient in _gradients(network, X, weights, intercept):
            yield here, gradient @ directions
        return
    slopes, level = directions[: network.filter_size], np.zeros(directions.shape[1])
    if intercept:
        level = directions[-1] - _centre(network, X, weights) @ slopes
    slopes = network.mean_gate.T @ slopes
    for here in blocks_of(network, len(X)):
        yield here, X[here] @ slopes + level


def _centre(network: FilterNetwork, X: Array, weights: Array) -> Array:
    """Return the mean of the gradients; with gates, that of the first block of rows."""
    if network.is_linear:
        return cast(Array, network.mean_gate @ X.mean(axis=0))
    first = next(blocks_of(network, len(X)))
    return cast(Array, _gradient(network, X[first], weights).mean(axis=0))


def _gradient(network: FilterNetwork, X: Array, weights: Array) -> Array:
    return X @ network.mean_gate.T if network.is_linear else network.gradient(weights, X)


def _whitening(moment: Array) -> tuple[Array, float]:
    """Return the matrix that makes a second moment the identity, and the condition number."""
    scales = np.sqrt(np.maximum(np.diag(moment), 0.0))  # a difference may be −0 by rounding
    scales[scales == 0.0] = 1.0
    values, vectors = np.linalg.eigh(moment / np.outer(scales, scales))
    known = values > SMALLEST * values[-1]
    if not known.any():
        return np.zeros((len(moment), 0)), np.inf
    condition = float(np.sqrt(values[-1] / values[known][0]))
    return vectors[:, known] / np.sqrt(values[known]) / scales[:, None], condition


def _related(fitted: Array, suspects: Mask, wanted: int) -> float:
    """Return the adjusted share of the variance of the suspects that their fit explains."""
    rows, spread = len(suspects), float(suspects.std())
    if suspects.sum() < FEW or spread == 0.0 or fitted.std() == 0.0 or rows <= wanted + 1:
        return 0.0
    square = float(np.corrcoef(fitted, suspects)[0, 1]) ** 2
    return max(1.0 - (1.0 - square) * (rows - 1) / (rows - wanted - 1), 0.0)


def _asymmetry(X: Array) -> float:
    """Return mᵀS⁻¹m for the mean m and the second moment S: 0 if m = 0, and at most 1."""
    mean = X.mean(axis=0)
    return float(mean @ np.linalg.pinv(X.T @ X / len(X), hermitian=True) @ mean)
