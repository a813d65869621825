r"""The search for the filter: starts, the descent from each of them, and the judge between them.

A descent is an iterated regression with Cauchy weights, whose width is lowered step by step. It
finds the filter exactly if it begins in its basin. Which basin is the right one is judged on the
same rows by the mean of √(|residual| / ‖x‖), which the true filter minimises for every attack on
fewer than half of the labels at every input, if there are enough rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from neurotron._types import Array
from neurotron.residuals.robust import TINY, increment, leverages, mean, median
from neurotron.solvers.linearized import Linearized, View

Progress: TypeAlias = Callable[[int, int], object]
"""A function of the number of starts so far and of the most there can be."""

WIDTHS = ((2.0, 1e-3, 15), (1.0, 1e-5, 15), (0.5, 1e-8, 20), (0.25, 1e-12, 30))
"""The widths of the Cauchy weights, in medians of the residuals, and the most rounds of each.

The second number is the smallest median, in typical labels. Without it the median would be zero
where most rows agree already, such as those without any of several rare features, and the rows that
determine the other weights would not count.
"""
CONVERGED = 1e-13
LOOSE, CLOSE = 0.02, 0.15
"""For a linear network, a change of the outputs by less than this part of the median residual ends
a width, and filters whose outputs are closer than this part are the same. If most labels are exact,
this median is zero."""
STALLED, PROGRESS = 12, 0.97
"""A width ends after this many rounds in which the median residual did not fall by 3 %."""
CLIP, LEAST_MEDIAN, ODD_ROUNDS = 0.2, 1e-3, 30
"""The odd start clips residuals at this part of their median, for so many rounds."""
STARTS, LEAST_STARTS, AGREEING = 40, 5, 3
"""At most 40 starts; after 5, it is enough that the best filter was found 3 more times."""
PEELS = (0.5, 0.33)
"""Peeled starts use the rows that the best filter explains worst, from these quantiles on."""
ROWS_TO_PEEL = 6
"""Rows for each weight that peeling needs."""
FITS = 1e-9
"""Residuals up to this part of the typical label count as none during the search."""
MOST_LOSS = 1e3
"""Largest term of the loss, where typical labels and inputs are 1."""
SAME = 1e-3
"""Filters whose relative distance is smaller are the same."""


@dataclass
class Found:
    """The best filter of a search, and how it was found."""

    point: Array
    loss: float
    starts: int
    stopped: str
    converged: bool
    """Whether the search ended before all starts were tried."""
    by_majority: bool = False
    """Whether it was chosen because it keeps or explains more rows than the search's own filter."""


def search(
    rows: Linearized,
    shared: int,
    draw: np.random.Generator,
    most: int = STARTS,
    first: Array | None = None,
    core: Linearized | None = None,
    tell: Callable[[int], object] = lambda tried: None,
) -> Found:
    """Return the best of the filters that descents from several starts find.

    At most `most` starts are tried, and `first` is the first of them if it is given. Filters that
    fit more than half of the rows exactly are compared by how many they fit, others by their loss.
    Two different filters have at most `shared` rows in common, so the search ends as soon as a
    filter fits so many rows that no other can fit more. Descents use the rows of `core`, or all if
    it is not given, and filters are compared on all rows. After every start, `tell` is called with
    their number.
    """
    core = rows if core is None else core
    best, score, agreeing, tried = np.zeros(rows.size), (1.0, np.inf), 0, 0
    starts, stopped, converged = _Starts(core, draw), f"all {most} starts were tried", False
    while tried < most:
        start = starts.next(best) if first is None or tried else first
        point = descend(core, start, best if tried else None)
        tried += 1
        tell(tried)
        if not np.isfinite(point).all():
            continue
        residuals = rows.residuals(point)
        exact = np.abs(residuals) <= FITS
        active = rows.active(rows.gradient(point)) if exact.any() else None
        fits = int((exact if active is None else exact & active).sum())
        new = (-fits if 2 * fits > len(rows) else 0.0, loss(rows, residuals))
        near = SAME * np.linalg.norm(point)
        if rows.linear:
            near = max(near, CLOSE * np.median(np.abs(residuals)))
        same = tried > 1 and np.linalg.norm(point - best) <= near
        agreeing += same
        if new < score:
            agreeing = agreeing if same else 0
            best, score = point, new
        if 2 * fits > len(rows) + shared:
            stopped, converged = "no other filter can fit as many rows exactly", True
            break
        if tried >= LEAST_STARTS and agreeing >= AGREEING:
            stopped, converged = f"the same filter was found from {agreeing + 1} starts", True
            break
    return Found(best, score[1], tried, stopped, converged)


def loss(rows: Linearized, residuals: Array) -> float:
    """Return the mean of √(|residual| / ‖x‖), by which filters are compared.

    A term is at most `MOST_LOSS`, so that wild labels do not drown the others.
    """
    return mean(np.minimum(np.sqrt(np.abs(residuals) / rows.norms), MOST_LOSS), rows.counts)


def descend(rows: Linearized, point: Array, best: Array | None = None) -> Array:
    """Return the end of an iterated regression with Cauchy weights of falling width.

    Residuals are divided by the leverage of their row, so that no row counts more because its
    gradient is long. For a linear network with noise it ends at `best` if it comes close to it.
    """
    for width, floor, rounds in WIDTHS:
        least, stalled = np.inf, 0
        for _ in range(rounds):
            view = View(rows, point)
            if len(view) <= rows.size:
                return point
            sizes = np.abs(view.residuals) / view.leverages
            middle = median(sizes, view.counts)
            ratios = np.minimum(sizes / (width * max(middle, floor)), 1e100)
            weights = 1.0 / (1.0 + ratios**2) / view.leverages**2
            change = increment(view.rows, view.counted(weights), view.residuals)
            point = point + change
            if not np.isfinite(point).all():
                return point
            moved = np.linalg.norm(change)
            if moved <= CONVERGED * np.linalg.norm(point):
                break
            if rows.linear and moved <= LOOSE * middle * np.sqrt(rows.size):
                break
            stalled = 0 if middle < PROGRESS * least else stalled + 1
            least = min(least, middle)
            if stalled >= STALLED:
                break
        if best is not None and rows.linear:
            close = CLOSE * median(np.abs(view.residuals), view.counts)
            if np.linalg.norm(point - best) <= close:
                return best
    return point


class _Starts:
    """The starts, one after the other; some depend on the best filter so far.

    First the regression on the odd part of the output, then its mirror. Then the rows that the best
    filter explains worst are solved alone, because a wrong filter explains tampered rows, and
    honest ones are among the others. All further starts are random.
    """

    def __init__(self, rows: Linearized, draw: np.random.Generator) -> None:
        self.rows, self.draw = rows, draw
        self.odd = odd_start(rows)
        self.kinds = self._kinds()

    def next(self, best: Array) -> Array:
        """Return the next start."""
        kind, quantile = next(self.kinds)
        if kind == "odd":
            return self.odd
        if kind == "mirror":
            return _mirror(self.rows, self.odd)
        if kind == "peeled":
            return self._peeled(best, quantile)
        return self._random(near_odd=kind == "near odd")

    def _kinds(self) -> Iterator[tuple[str, float]]:
        yield "odd", 0.0
        yield "mirror", 0.0
        for quantile in PEELS if len(self.rows) >= ROWS_TO_PEEL * self.rows.size else ():
            yield "peeled", quantile
        while True:
            yield "near odd", 0.0
            yield "random", 0.0

    def _peeled(self, best: Array, quantile: float) -> Array:
        misfits = np.abs(self.rows.residuals(best)) / self.rows.norms
        worst = self.rows.part(np.flatnonzero(misfits >= np.quantile(misfits, quantile)))
        point = descend(worst, odd_start(worst))
        return point if np.isfinite(point).all() else _mirror(self.rows, best)

    def _random(self, *, near_odd: bool) -> Array:
        point = self.draw.standard_normal(self.rows.size)
        length = np.linalg.norm(self.odd)
        point /= np.linalg.norm(point)
        if near_odd and length > 0.0:
            point += self.odd / length
        return _rescaled(self.rows, point)


def odd_start(rows: Linearized) -> Array:
    """Return the L1 regression of the labels on the odd part of the output.

    The odd part is linear in the weights. The even part is another regressor: ‖x‖ takes its level,
    and that of attacks which only raise labels.
    """
    q = rows.projected.shape[2]
    columns = [rows.odd] if rows.linear else [rows.odd, rows.norms]
    if rows.offset:
        columns.append(np.ones(len(rows)))
    design = np.column_stack(columns)
    units = np.maximum(rows.norms if rows.linear else leverages(design, rows.counts), TINY)
    base = 1.0 / units**2 if rows.counts is None else rows.counts / units**2
    point, weights = np.zeros(design.shape[1]), np.ones(len(rows))
    for _ in range(ODD_ROUNDS):
        change = increment(design, weights * base, rows.y - design @ point)
        point = point + change
        sizes = np.abs(rows.y - design @ point) / units
        middle = max(median(sizes, rows.counts), LEAST_MEDIAN)
        if rows.linear and np.linalg.norm(change) <= LOOSE * middle * np.sqrt(q):
            break
        clip = CLIP * middle
        weights = np.minimum(1.0, clip / np.maximum(sizes, TINY))
    return np.append(point[:q], point[-1]) if rows.offset else point[:q]


def _mirror(rows: Linearized, point: Array) -> Array:
    """Return the point with the opposite filter, and the same intercept."""
    return np.append(-point[:-1], point[-1]) if rows.offset else -point


def _rescaled(rows: Linearized, point: Array) -> Array:
    """Return the multiple of a random filter that fits best in the mean of |residual|."""
    y = rows.y
    if rows.offset:
        level = median(y, rows.counts)
        point, y = np.append(point[:-1], 0.0), y - level
    outputs = rows.outputs(point)
    some = np.abs(outputs) > 1e-9 * np.abs(outputs).max(initial=0.0)
    if some.any():
        sizes = np.abs(outputs[some])
        counts = sizes if rows.counts is None else sizes * rows.counts[some]
        factor = median(y[some] / outputs[some], counts)
        if factor <= 0.0:
            factor = float(np.median(np.abs(y)) / np.median(sizes))
        point = point * factor
    return np.append(point[:-1], level) if rows.offset else point
