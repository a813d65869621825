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
from scipy.special import fdtrc

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.residuals.honest_noise import (
    POWER,
    STUDENT,
    Regression,
    growing_noise,
    normal_noise,
    shaped_noise,
    spread,
    two_halves,
)
from neurotron.residuals.normality import has_spike, looks_normal
from neurotron.residuals.robust import mean
from neurotron.residuals.two_laws import Fit, Kind, Mixture, Shifted, TwoModels, em, seen, weighted

MARGIN, MARGIN_OF_ONE_SIDE, MANY_ROWS = 10.0, 3.0, 300
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
FAR = 10.0
"""Rows beyond this many honest standard deviations are rejected before."""
SHARES = (0.15, 0.48)
"""Shares of tampered rows that are believed: fewer do little harm, and look like a skewed tail."""
MOST_OF_A_MODEL = 0.36
"""The largest share of another model. A larger one is as honest as the rest: on clean air fares
43 % of the rows have a model of their own, and are a kind of route (chosen there)."""
APART = 0.3
"""Least squares is tried as another solution if its outputs differ by more, in noises."""
SEPARATE = 3.5
"""Shifts of so many standard deviations leave a valley between two groups of labels, the larger of
which is honest. Closer groups may be two halves of honest noise with a flat top."""
UNRELATED = 1e-3
"""Smallest p-value of the hypothesis that the inputs do not say which rows are tampered with."""
SPLITS = (0.3, 0.5, 0.7)
"""Shares of the rows with the largest residuals where the search for a shift begins."""
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
    share
        The share of labels that were tampered with, as rows count.
    """

    weights: Array
    noise: float
    kind: Kind
    shift: float
    tampered: Array
    margin: float
    share: float

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
    found = _around(rows, labels, counts, weights, noise)
    every = np.arange(len(labels)) if counts is None else np.flatnonzero(counts > 0.0)
    some = _sample(every, SAMPLE)
    part = Regression.of(rows[some], labels[some], None if counts is None else counts[some])
    start = part.fitted(part.labels)
    size, level = math.sqrt(part.mean(part.residuals(start) ** 2)), part.residuals(weights)
    far = part.mean((np.abs(level) > FAR * noise).astype(float)) > SHARES[0]
    apart = part.mean((part.rows @ (start - weights)) ** 2) > (APART * noise) ** 2
    if noise <= 0.0 or not (far or (found is None and apart)):
        return found
    # the solution may be wrong, and its noise too: look around least squares
    other = _around(rows, labels, counts, start, size)
    return max((found, other), key=lambda each: -math.inf if each is None else each.margin)


def _around(
    rows: Regressors, labels: Array, counts: Array | None, weights: Array, noise: float
) -> HiddenAttack | None:
    """Return the attack that the rows near a solution show, if there clearly is one."""
    residuals = labels - rows @ weights
    near = np.abs(residuals) <= FAR * noise
    if counts is not None:
        near &= counts > 0.0
    used = _sample(np.flatnonzero(near), REFINED)
    if noise <= 0.0 or len(used) < max(LEAST_ROWS, ROWS_PER_WEIGHT * rows.shape[1]):
        return None
    chosen = _sample(used, SAMPLE)
    if has_spike(labels[chosen]):
        return None
    if looks_normal(rows[chosen], residuals[chosen], noise):
        return None
    back = _whitening(rows, used)

    def part(index: Index) -> Regression:
        return Regression.of(
            rows[index] @ back, residuals[index], None if counts is None else counts[index]
        )

    decided = part(chosen)
    for fit in _attacks(decided):
        margin = _margin(decided, fit)
        if margin >= _required(decided, fit.mixture):
            break
    else:
        return None
    if not _is_plausible(decided, fit):
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
        share=mean(tampered, counts),
    )


def _sample(rows: Index, most: int) -> Index:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


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


def _starts(data: Regression) -> tuple[Array, Array]:
    """Return least squares, and the solution that the residuals are of."""
    return data.fitted(data.labels), np.zeros(data.size)


def _attacks(data: Regression) -> list[Fit]:
    """Return the most likely mixture of each kind after EM, those with the largest evidence first.

    None comes near the evidence of normal noise in most tables without an attack.
    """
    least = normal_noise(data) - PROMISING
    fits = [
        max((em(data, start, SCREENING) for start in starts), key=lambda fit: fit.likelihood)
        for starts in (_one_side(data), _shifted(data, (1.0, -1.0)), _two_models(data))
    ]
    ends = [_majority(data, fit.mixture) for fit in fits if fit.evidence >= least]
    credible = [fit for fit in ends if SHARES[0] <= fit.mixture.share <= 0.5]
    return sorted(credible, key=lambda fit: -fit.evidence)


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


def _one_side(data: Regression) -> Iterator[Shifted]:
    """Yield small shifts, and the shifts that separate the largest residuals from the others."""
    yield from _shifted(data, (1.0,))
    for weights in _starts(data):
        residuals = data.residuals(weights)
        start = Shifted(weights, spread(data, weights), 0.5, 0.0, (1.0,))
        for share in SPLITS:
            raised = np.where(residuals > np.quantile(residuals, 1.0 - share), 0.95, 0.05)
            yield start.step(data, np.stack([1.0 - raised, raised]))


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
    if mixture.distance < SEPARATE * mixture.noise:
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
    if fit.mixture.share > (MOST_OF_A_MODEL if fit.mixture.distance == 0.0 else SHARES[1]):
        return False
    columns = np.column_stack([data.rows, data.rows**2])
    left, singular, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    basis = left[:, singular > 1e-8 * singular[0]]
    tampered = fit.beliefs[0] - fit.beliefs[0].mean()
    explained = float(((tampered @ basis) ** 2).sum())
    used, free = basis.shape[1], len(tampered) - basis.shape[1] - 1
    ratio = (explained / used) / ((tampered @ tampered - explained) / free)
    return bool(fdtrc(used, free, ratio) >= UNRELATED)
