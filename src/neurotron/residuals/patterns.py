"""Patterns in the residuals that a model does not describe: groups, curves, growing noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, chdtri, ndtri
from scipy.stats import rankdata

from neurotron._types import Array, Mask
from neurotron.residuals.honest_noise import Regression, growing_noise
from neurotron.residuals.robust import NORMAL_MEDIAN

RARE = 1e-3
"""The probability that a table without a pattern seems to have one, for each kind of pattern."""
MOST_ROWS = 2_000
"""The most rows that are looked at, spread evenly over the table."""
MOST_COLUMNS, MOST_OF_PAIRS = 50, 10
"""The most columns that are looked at one by one, and in pairs."""
MOST_GROWING, FIRST_GROWTH = 20, 3.0
"""The most columns that noise may grow with, and by how much it grows where a fit starts."""
LEAST_ROWS = 50
"""Fewer rows show no pattern."""
BINS, LEAST_IN_BIN = 10, 5
WINSOR = 3.0
"""Larger residuals and inputs count as so many standard deviations, by the median."""
LEAST_CURVED, LEAST_GROWTH = 0.1, 0.3
"""The least share of the variance that a curve explains, and the least rank correlation."""
ROUNDS, SETTLED, APART, VALLEY = 200, 1e-3, 2.5, 2.5
"""Two groups are at least 2.5 standard deviations apart, and between them there are fewer labels
than in the smaller one, by 2.5 standard errors. At most one in 200 tables of uniform, exponential
or lognormal noise then seems to have two groups."""

RARELY, MANY_HITS, LEAST_HITS = 0.1, 0.3, 3
"""A column is rare if at most a tenth of its values are not 0. Three suspects, and 30 % of such
rows, are many, if as many would be rare among rows that are chosen by chance."""


class Groups(NamedTuple):
    """Two groups of residuals: the share of the smaller one, and how far apart they are."""

    share: float
    distance: float


class Pattern(NamedTuple):
    """How strongly residuals depend on something: on columns, or on the predictions."""

    strength: float
    columns: tuple[int, ...]
    """The columns by number; empty for the predictions."""


def groups_in(residuals: Array) -> Groups | None:
    """Return the two groups in which residuals come; None if they do not clearly do so.

    Two normal laws with one spread say where the groups are. As most honest noise has one peak,
    however heavy or skewed its tails are, there must be a valley between them.

    >>> draw = np.random.default_rng(0)
    >>> groups_in(draw.uniform(size=1000)) is None
    True
    >>> shifted = draw.standard_normal(1000) + 5.0 * (np.arange(1000) < 400)
    >>> round(groups_in(shifted).share, 1)
    0.4
    """
    if len(residuals) < LEAST_ROWS:
        return None
    residuals, unit = _winsorized(residuals[:: _step(len(residuals))])
    centres, spread, shares = _two_normal_laws(residuals)
    distance = float(centres[1] - centres[0])
    if spread == 0.0 or distance < APART * spread:
        return None
    places = (centres[0], centres.mean(), centres[1])
    left, between, right = (
        int((np.abs(residuals - place) < 0.5 * spread).sum()) for place in places
    )
    least = min(left, right)
    if least - between <= VALLEY * math.sqrt(least + between):
        return None
    return Groups(float(shares.min()), unit * distance)


def _two_normal_laws(residuals: Array) -> tuple[Array, float, Array]:
    """Return centres, the common spread and the shares of two normal laws, by EM."""
    centres = np.quantile(residuals, [0.2, 0.8])
    spread, shares = 0.5 * float(residuals.std()), np.array([0.5, 0.5])
    for _ in range(ROUNDS):
        if spread == 0.0:
            break
        away = residuals[:, None] - centres
        logs = np.log(shares) - 0.5 * (away / spread) ** 2
        beliefs = np.exp(logs - logs.max(axis=1, keepdims=True))
        beliefs /= beliefs.sum(axis=1, keepdims=True)
        totals = np.maximum(beliefs.sum(axis=0), 1e-9)
        new = residuals @ beliefs / totals
        moved, centres = float(np.abs(new - centres).max()), new
        spread = math.sqrt(float((beliefs * (residuals[:, None] - new) ** 2).sum(axis=1).mean()))
        shares = totals / totals.sum()
        if moved <= SETTLED * spread:
            break
    order = np.argsort(centres)
    return centres[order], spread, shares[order]


def curve_in(rows: Array, predicted: Array, residuals: Array) -> Pattern | None:
    """Return what the residuals follow a curve in; None if they do not clearly do so.

    The residuals are averaged over tenths of the predictions and of each column, and compared with
    products of two columns. Their variance may depend on the inputs.
    """
    if len(residuals) < LEAST_ROWS:
        return None
    residuals = _winsorized(residuals)[0]
    residuals = residuals - residuals.mean()
    if not residuals.any():
        return None
    columns = list(_columns(rows, predicted))
    pairs = list(combinations(columns[1:], 2)) if len(columns) <= MOST_OF_PAIRS + 1 else []
    rare, found = RARE / (len(columns) + len(pairs)), []
    for place, values in columns:
        found.append(Pattern(_between_bins(values, residuals, rare), place))
    for (one, left), (other, right) in pairs:
        product = _winsorized(left)[0] * _winsorized(right)[0]
        found.append(Pattern(_along(product, residuals, rare), one + other))
    best = max(found, key=lambda pattern: pattern.strength)
    return best if best.strength > LEAST_CURVED else None


def growth_in(rows: Array, predicted: Array, residuals: Array) -> Pattern | None:
    """Return what the size of the residuals grows with; None if it does not clearly do so.

    It is measured by rank correlation with the predictions and with each column, and with their
    distances from the median.
    """
    if len(residuals) < LEAST_ROWS:
        return None
    ranks, found = _ranks(np.abs(residuals)), []
    columns = list(_columns(rows, predicted))
    for place, values in columns:
        away = float(ranks @ _ranks(np.abs(values - np.median(values))))
        found.append(Pattern(max(abs(float(ranks @ _ranks(values))), away), place))
    best = max(found, key=lambda pattern: pattern.strength)
    least = -float(ndtri(0.25 * RARE / len(columns))) / math.sqrt(len(ranks) - 1.0)
    return best if best.strength > max(least, LEAST_GROWTH) else None


def growing(rows: Array, residuals: Array) -> float:
    """Return the log-likelihood of honest noise whose size grows with a column.

    It is less by ½ log N for each number that is fitted. It is −∞ if the sizes of the residuals
    clearly depend on no single column, or if there are many columns.
    """
    grows = growth_in(rows, np.zeros(len(rows)), residuals)
    if grows is None or rows.shape[1] > MOST_GROWING:
        return -math.inf
    units = [_winsorized(column)[0] for column in rows.T]
    data = Regression.of(np.column_stack([*units, np.ones(len(rows))]), residuals, None)
    start, growth = np.zeros((2, data.size))
    growth[list(grows.columns)] = FIRST_GROWTH
    return growing_noise(data, start, growth) - data.size * math.log(len(rows))


def rare_in(rows: Array, suspects: Mask) -> Pattern | None:
    """Return a column that is rarely other than 0, and then often belongs to a suspect."""
    counts, hits = (np.count_nonzero(part, axis=0) for part in (rows, rows[suspects]))
    shares = hits / np.maximum(counts, 1)
    often = (hits >= LEAST_HITS) & (shares > MANY_HITS) & (counts <= RARELY * len(rows))
    surprise = bdtrc(np.maximum(hits - 1, 0), counts, float(suspects.mean()))
    places = np.flatnonzero(often & (surprise < RARE / rows.shape[1]))
    if not len(places):
        return None
    worst = int(places[shares[places].argmax()])
    return Pattern(float(shares[worst]), (worst,))


def some_of(mask: Mask) -> npt.NDArray[np.intp]:
    """Return the places of enough of these rows to see a pattern, spread evenly over them."""
    places = np.flatnonzero(mask)
    return places[:: _step(len(places))]


def _step(rows: int) -> int:
    return max(math.ceil(rows / MOST_ROWS), 1)


def _columns(rows: Array, predicted: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield the predictions, and each column if there are not too many."""
    yield (), predicted
    if rows.shape[1] <= MOST_COLUMNS:
        for place in range(rows.shape[1]):
            yield (place,), rows[:, place]


def _winsorized(values: Array) -> tuple[Array, float]:
    """Return centred values in units of their spread, at most 3, and the unit."""
    centred = values - np.median(values)
    unit = float(np.median(np.abs(centred))) / NORMAL_MEDIAN
    if unit == 0.0:
        unit = float(np.abs(centred).max()) / WINSOR or 1.0
    return np.clip(centred / unit, -WINSOR, WINSOR), unit


def _between_bins(values: Array, residuals: Array, rare: float) -> float:
    """Return the share of variance that the means over tenths explain, or 0 if it may be chance."""
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
    places = np.searchsorted(edges, values, side="right")
    sizes = np.bincount(places)
    means = np.bincount(places, residuals) / np.maximum(sizes, 1)
    squares = np.bincount(places, residuals**2) / np.maximum(sizes, 1) - means**2
    used = (sizes >= LEAST_IN_BIN) & (squares > 0.0)
    freedom = int(used.sum())
    if freedom < 2:
        return 0.0
    statistic = float((sizes[used] * means[used] ** 2 / squares[used]).sum())
    if statistic <= float(chdtri(freedom, rare)):
        return 0.0
    left = float(sizes @ squares) / (len(residuals) - freedom)
    return 1.0 - left / (float(residuals @ residuals) / (len(residuals) - 1))


def _along(feature: Array, residuals: Array, rare: float) -> float:
    """Return the share of variance that a feature explains, or 0 if it may be chance."""
    feature = feature - feature.mean()
    terms = feature * residuals
    error = float(np.linalg.norm(terms))
    if error == 0.0 or abs(float(terms.sum())) <= -float(ndtri(0.5 * rare)) * error:
        return 0.0
    return float(terms.sum()) ** 2 / float((feature @ feature) * (residuals @ residuals))


def _ranks(values: Array) -> Array:
    """Return the ranks as a vector of length 1 around 0; all 0 if the values are equal."""
    ranks = rankdata(values) - 0.5 * (len(values) + 1)
    length = float(np.linalg.norm(ranks))
    return np.asarray(ranks / length if length > 0.0 else ranks)
