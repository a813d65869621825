"""Attacks that hide in the honest noise of a linear network: tampered labels 2 to 6 deviations off.

A robust regression cannot reject such labels, because honest ones are almost as far off. But the
residuals then come from two laws: that of the honest rows, and that of the tampered ones, which are
shifted or follow another model. Both are fitted at once by expectation and maximisation (EM). The
result counts only if it explains the labels much better than honest noise of many shapes does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import fdtrc, log_ndtr

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.solvers.honest_noise import (
    POWER,
    STUDENT,
    Regression,
    growing_noise,
    normal_noise,
    shaped_noise,
    spread,
    two_halves,
)
from neurotron.solvers.robust import BISQUARE, TINY
from neurotron.solvers.two_laws import Fit, Kind, Mixture, Shifted, TwoModels, em, seen, weighted

MARGIN, MARGIN_OF_ONE_SIDE, MANY_ROWS = 10.0, 2.0, 300
"""By how much the log-evidence of an attack must exceed that of every kind of honest noise.

The smaller one is for labels shifted to one side of at least 300 rows. With fewer rows, skewed
noise can look like such an attack.
"""
LEAST_ROWS, ROWS_PER_WEIGHT = 150, 15
"""With fewer rows the two laws cannot be told apart."""
SAMPLE, REFINED = 2_000, 100_000
"""Most rows that decide whether there is an attack, and that are fitted if there is one."""
BLOCK = 5_000
"""Rows of a block, where all rows take part."""
MOST_GAIN, MOST_DISTANCE, BY_ACCIDENT = 3.0, 0.75, 1.5
"""Residuals look normal if skewness and tails gain no more log-likelihood than this, if the
statistic of Anderson and Darling is not larger than in 95 % of normal samples, and if their squares
follow the inputs by less than this factor more than in a random order."""
FAR = 10.0
"""Rows beyond this many honest standard deviations are rejected before."""
SHARES = (0.15, 0.47)
"""Shares of tampered rows that are believed: fewer do little harm, and look like a skewed tail."""
TIES = 0.05
"""Honest noise is not continuous if a larger share of the labels has one value, such as zero."""
UNRELATED = 1e-3
"""Smallest p-value of the hypothesis that the inputs do not say which rows are tampered with."""
SCREENING, ROUNDS, REFINING = 20, 300, 50
"""Most rounds of EM from every start, from the best one, and with all rows."""
PROMISING = 5.0
"""Log-evidence that the best start may lack to normal noise, since later rounds may add it."""


@dataclass(frozen=True, eq=False)
class HiddenAttack:
    """An attack that hides in the noise, and the weights of the honest rows.

    Attributes
    ----------
    weights
        The weights of the honest rows.
    noise
        The standard deviation of the honest noise.
    kind
        How tampered labels differ: they are shifted to "one side" or to "both sides", or they are
        those of "another model".
    shift
        The size of the shift; 0 for another model.
    tampered
        The probability that the label of each row was tampered with, (N,).
    margin
        By how much the log-evidence exceeds that of the best explanation without an attack.
    """

    weights: Array
    noise: float
    kind: Kind
    shift: float
    tampered: Array
    margin: float

    @property
    def share(self) -> float:
        """The share of labels that were tampered with."""
        return float(self.tampered.mean())

    def assumed(self, unit: float = 1.0) -> str:
        """Return what has to be true for the weights to be right; `unit` is that of the labels."""
        how = {
            "one side": f"shifted to one side by about {unit * self.shift:.2g}",
            "both sides": f"shifted up or down by about {unit * self.shift:.2g}",
            "another model": "those of another linear model",
        }[self.kind]
        return (
            f"About {100.0 * self.share:.2g} % of the labels are tampered with, on rows that the "
            f"inputs do not tell apart: they are {how}. The other labels have normal noise. An "
            "honest group of rows with labels of its own would look the same."
        )


class Regressors(Protocol):
    """An array of regressors, or what can be used like one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows there are, and how many columns."""

    def __getitem__(self, index: Index, /) -> Array: ...

    def __matmul__(self, weights: Array, /) -> Array: ...


def hidden_attack(
    rows: Regressors, labels: Array, counts: Array | None, weights: Array, noise: float
) -> HiddenAttack | None:
    """Return the attack that hides in the noise of a linear regression, if there clearly is one.

    Parameters
    ----------
    rows, labels
        The regressors, (N, p), with a column of ones if there is an intercept, and the labels.
    counts
        How much each row counts, (N,), or None if all count the same.
    weights, noise
        A robust solution, and the honest standard deviation that it shows.

    Returns
    -------
    HiddenAttack or None
        None if honest noise explains the labels about as well, or if the labels cannot decide:
        with too few rows, with exact labels, or if many labels are equal.
    """
    residuals = labels - rows @ weights
    near = np.abs(residuals) <= FAR * noise
    if counts is not None:
        near &= counts > 0.0
    used = _sample(np.flatnonzero(near), REFINED)
    if noise <= 0.0 or len(used) < max(LEAST_ROWS, ROWS_PER_WEIGHT * rows.shape[1]):
        return None
    chosen = _sample(used, SAMPLE)
    if _most_equal(labels[chosen]) > TIES * len(chosen):
        return None
    if _looks_honest(rows[chosen], residuals[chosen], noise):
        return None
    back = _whitening(rows, used)

    def part(index: Index) -> Regression:
        return Regression.of(
            rows[index] @ back, residuals[index], None if counts is None else counts[index]
        )

    decided = part(chosen)
    fit = _best_attack(decided)
    if fit is None:
        return None
    margin = _margin(decided, fit)
    if margin < _required(decided, fit.mixture) or not _is_plausible(decided, fit):
        return None
    if len(chosen) < len(used):
        fit = em(part(used), fit.mixture, REFINING)
    tampered = np.concatenate([
        1.0 - seen(Regression.of(rows[here] @ back, residuals[here], None), fit.mixture).beliefs[0]
        for here in _blocks(np.arange(len(labels)))
    ])  # fmt: skip
    tampered[np.abs(residuals) > FAR * noise] = 1.0
    return HiddenAttack(
        weights=_check.freeze(weights + back @ fit.mixture.weights),
        noise=fit.mixture.noise,
        kind=fit.mixture.kind,
        shift=fit.mixture.distance,
        tampered=_check.freeze(tampered),
        margin=margin,
    )


def _sample(rows: Index, most: int) -> Index:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _most_equal(labels: Array) -> int:
    """Return how many labels have the most frequent value."""
    return int(np.unique(labels, return_counts=True)[1].max())


def _blocks(rows: Index) -> list[Index]:
    return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]


def _whitening(rows: Regressors, used: Index) -> Array:
    """Return the matrix for which the rows used times it have the identity as second moment."""
    moment = np.zeros((rows.shape[1],) * 2)
    for here in _blocks(used):
        part = rows[here]
        moment += part.T @ part
    values, vectors = np.linalg.eigh(moment / len(used))
    known = values > 1e-12 * values[-1]
    return vectors[:, known] / np.sqrt(values[known])


def _looks_honest(rows: Array, residuals: Array, noise: float) -> bool:
    """Return whether the residuals that a robust regression keeps look like normal noise.

    An attack that hides in the noise changes the shape of their law, or lets their size depend on
    the inputs. Looking is much faster than fitting attacks, and most honest tables pass.
    """
    kept = np.abs(residuals) <= BISQUARE * noise
    rows, z = rows[kept], residuals[kept] - residuals[kept].mean()
    z /= max(z.std(), TINY)
    return _looks_normal(np.sort(z)) and not _follows(z**2 - 1.0, rows)


def _looks_normal(z: Array) -> bool:
    """Return whether ordered values have normal skewness and tails, and pass Anderson and Darling.

    Their statistic sums the squared distance between the two distribution functions over its
    variance. It notices shapes with normal moments, and the moments notice few values far off.
    """
    gain = len(z) * ((z**3).mean() ** 2 / 12.0 + ((z**4).mean() - 3.0) ** 2 / 48.0)
    places = (2.0 * np.arange(len(z)) + 1.0) / len(z)
    distance = -len(z) - places @ (log_ndtr(z) + log_ndtr(-z[::-1]))
    return bool(gain <= MOST_GAIN and distance <= MOST_DISTANCE)


def _follows(values: Array, rows: Array) -> bool:
    """Return whether a quadratic function of the rows predicts values better than by accident."""
    mixed = np.random.default_rng(0).permutation(values)
    found, accident = (
        np.abs(np.linalg.eigvalsh((rows * each[:, None]).T @ rows)).max()
        for each in (values, mixed)
    )
    return bool(found > BY_ACCIDENT * accident)


def _starts(data: Regression) -> tuple[Array, Array]:
    """Return least squares, and the solution that the residuals are of."""
    return data.fitted(data.labels), np.zeros(data.size)


def _best_attack(data: Regression) -> Fit | None:
    """Return the mixture with the largest evidence, after EM from several starts.

    None comes near the evidence of normal noise in most tables without an attack.
    """
    least = normal_noise(data) - PROMISING
    fits = [
        max((em(data, start, SCREENING) for start in starts), key=lambda fit: fit.likelihood)
        for starts in (_shifted(data, (1.0,)), _shifted(data, (1.0, -1.0)), _two_models(data))
    ]
    ends = [_majority(data, fit.mixture) for fit in fits if fit.evidence >= least]
    return max(ends, key=lambda fit: fit.evidence) if ends else None


def _majority(data: Regression, mixture: Mixture) -> Fit:
    """Return the mixture at the end of EM, where the honest law is that of most rows."""
    fit = em(data, mixture, ROUNDS)
    if fit.mixture.share > 0.5 and fit.mixture.kind != "both sides":
        return em(data, fit.mixture.mirrored(data), ROUNDS)
    return fit


def _shifted(data: Regression, signs: tuple[float, ...]) -> Iterator[Shifted]:
    for weights in _starts(data):
        scale = spread(data, weights)
        for shift in (2.0, 4.0) if len(signs) > 1 else (2.0, -2.0, 4.0, -4.0):
            yield Shifted(weights, 0.7 * scale, 0.25, shift * scale, signs)


def _two_models(data: Regression) -> Iterator[TwoModels]:
    """Yield starts whose other model is that of the rows with large residuals."""
    for weights in _starts(data):
        scale, sizes = spread(data, weights), np.abs(data.residuals(weights))
        for far in (1.0, 2.0):
            other, _ = weighted(data, np.where(sizes > far * scale, 1.0, 1e-6))
            yield TwoModels(weights, scale, 0.3, other, scale)


def _required(data: Regression, mixture: Mixture) -> float:
    """Return the margin of evidence that an attack needs."""
    easy = mixture.kind == "one side" and len(data.labels) >= MANY_ROWS
    return MARGIN_OF_ONE_SIDE if easy else MARGIN


def _margin(data: Regression, fit: Fit) -> float:
    """Return by how much the evidence of an attack exceeds that of honest noise.

    Stops at the first kind of honest noise that comes too close.
    """
    least, penalty = math.inf, 0.5 * math.log(len(data.labels))
    for likelihood, extra in _honest(data, fit.mixture):
        least = min(least, fit.evidence - (likelihood - penalty * extra))
        if least < _required(data, fit.mixture):
            break
    return least


def _honest(data: Regression, mixture: Mixture) -> Iterator[tuple[float, int]]:
    """Yield log-likelihoods without an attack, and how many more numbers they fit."""
    yield normal_noise(data), 0
    starts = _starts(data)
    yield two_halves(data, starts), 1
    yield shaped_noise(data, starts, STUDENT), 2
    yield shaped_noise(data, starts, POWER), 1
    if isinstance(mixture, TwoModels):
        between = mixture.weights + mixture.share * (mixture.other - mixture.weights)
        odds = math.sqrt(mixture.share * (1.0 - mixture.share))
        apart = odds / mixture.noise * (mixture.other - mixture.weights)
        yield growing_noise(data, between, apart), data.size + 1
        sizes = np.abs(data.residuals(starts[0]))
        growth = 2.0 / math.sqrt(data.mean(sizes**2)) * data.fitted(sizes)
        yield growing_noise(data, starts[0], growth), data.size + 1


def _is_plausible(data: Regression, fit: Fit) -> bool:
    """Return whether a credible part of the rows is tampered with, unrelated to their inputs.

    Where honest labels are not linear in the inputs, or where their noise grows, the inputs say
    which rows the mixture calls tampered. An attacker who picks rows by their inputs is missed.
    """
    low, high = SHARES
    if not low <= fit.mixture.share <= high:
        return False
    columns = np.column_stack([data.rows, data.rows**2])
    left, singular, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    basis = left[:, singular > 1e-8 * singular[0]]
    tampered = fit.beliefs[0] - fit.beliefs[0].mean()
    explained = float(((tampered @ basis) ** 2).sum())
    used, free = basis.shape[1], len(tampered) - basis.shape[1] - 1
    ratio = (explained / used) / ((tampered @ tampered - explained) / free)
    return bool(fdtrc(used, free, ratio) >= UNRELATED)
