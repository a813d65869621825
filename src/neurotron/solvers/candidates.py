"""Other filters than that of the search, and the one order in which filters are compared.

A wrong filter explains tampered rows, so honest ones are among the rows that it rejects: they are
solved alone. And where a filter is a compromise between two others, the rows with the smallest
residuals belong to one of them: concentration steps (FAST-LTS; Rousseeuw and Van Driessen 2006) fit
a fixed part of the rows, those with the smallest residuals, until these no longer change.

The order is: first, a filter that explains more than half of the rows exactly wins, the one that
explains the most. Then a filter that rejects more than half of the rows loses to one that keeps
more of them on a common scale. Only then the loss of the search decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Index, Mask
from neurotron.residuals.robust import (
    BISQUARE,
    NORMAL_MEDIAN,
    honest_scale,
    increment,
    mean,
    median,
)
from neurotron.solvers.linearized import Linearized, View
from neurotron.solvers.search import CONVERGED, FITS, ROWS_TO_PEEL, Found, descend, loss, odd_start

PARTS = (0.15, 0.3, 0.5)
"""The parts of the rows that concentration steps fit. The rows nearest to a compromise between two
filters are of one kind only if they are few: with exact labels, 0.15 alone finds 90 % of the true
filters that all three find (near filters, docs/evidence/minorities.csv)."""
CORE, CORE_PER_WEIGHT = 1_000, 48
"""Rows of a linear network on which candidates are fitted, as the first starts of the search are;
all rows that are searched judge them."""
HALF = 0.5
REJECTED = 0.3
"""Where a filter rejects a smaller part of the rows, it is that of the majority."""
ROUNDS = 30
SCALES = 2.5
"""Rows within so many common scales are kept, where two filters are compared by the rows they keep:
nearly all rows of a filter's own (98.8 % under normal noise), and few of another one's."""


class Standing(NamedTuple):
    """How a filter stands in the order of comparison."""

    point: Array
    sizes: Array
    """|residual| of the rows, whose gradient may be zero."""
    exact: int
    """How many rows it fits exactly; 0 if too few of these have a gradient to tell anything."""
    rejected: float
    """The share of rows that it rejects on its own scale."""
    scale: float
    loss: float

    @classmethod
    def of(cls, rows: Linearized, point: Array) -> Standing:
        """Return the standing of a filter."""
        residuals = rows.residuals(point)
        sizes = np.abs(residuals)
        fits = sizes <= FITS
        active = rows.active(rows.gradient(point)) if fits.any() else None
        known = int((fits if active is None else fits & active).sum())
        exact = int(fits.sum()) if known > 2 * rows.size else 0
        start = median(sizes, rows.counts) / NORMAL_MEDIAN
        scale = honest_scale(sizes, rows.counts, start, FITS, rows.size)
        rejected = mean((sizes > BISQUARE * scale).astype(float), rows.counts)
        return cls(point, sizes, exact, rejected, scale, loss(rows, residuals))

    def beats(self, other: Standing, counts: Array | None) -> bool:
        """Return whether this filter comes before another one in the order of comparison."""
        half = HALF * len(self.sizes)
        if max(self.exact, other.exact) > half:
            return self.exact > other.exact
        if other.rejected > HALF:
            limit = SCALES * max(self.scale, other.scale)
            kept, rival = (
                mean((each.sizes <= limit).astype(float), counts) for each in (self, other)
            )
            return kept > rival
        return False


def best_of(rows: Linearized, found: Found) -> Found:
    """Return the first in the order of comparison of what a search found and other candidates."""
    best = Standing.of(rows, found.point)
    if 2 * best.exact > len(rows) + rows.size:  # no other filter can fit as many rows exactly
        return found
    few = max(CORE, CORE_PER_WEIGHT * rows.size)
    some = rows
    if rows.linear and len(rows) > few:
        some = rows.part(np.sort(np.random.default_rng(0).choice(len(rows), few, replace=False)))
    for point in _candidates(some, found.point):
        if not np.isfinite(point).all():
            continue
        rival = Standing.of(rows, point)
        if rival.beats(best, rows.counts):
            best = rival
    if best.point is found.point:
        return found
    return replace(found, point=best.point, loss=best.loss, by_majority=True)


def _candidates(rows: Linearized, point: Array) -> Iterator[Array]:
    """Yield filters that explain rows which a filter does not explain, or a part of its rows."""
    least_squares = concentrated(rows, point, 1.0)
    for start in (point, least_squares):
        for part in PARTS:
            near = concentrated(rows, start, part)
            sizes = np.abs(rows.residuals(near))
            if np.count_nonzero(sizes <= FITS) > 2 * rows.size:  # labels are exact
                yield near
                yield from _of_the_rest(rows, sizes > FITS)
    standing = Standing.of(rows, point)
    if standing.rejected > REJECTED:
        rest = standing.sizes > max(BISQUARE * standing.scale, FITS)
        yield from _of_the_rest(rows, rest)


def _of_the_rest(rows: Linearized, rest: Mask) -> Iterator[Array]:
    """Yield the filter of some rows, and what concentration steps on all rows make of it."""
    few = np.flatnonzero(rest)
    if len(few) < ROWS_TO_PEEL * rows.size:
        return
    alone = rows.part(few)
    point = descend(alone, odd_start(alone))
    if np.isfinite(point).all():
        yield point
        yield concentrated(rows, point, HALF)


def concentrated(rows: Linearized, point: Array, part: float) -> Array:
    """Return the end of concentration steps, which fit a part of the rows with a gradient.

    Each is a step of least squares on the rows with the smallest residuals. `part` is 1 for least
    squares on all rows.
    """
    before: Index | None = None
    for _ in range(ROUNDS):
        view = View(rows, point)
        most = round(part * len(view))
        if most <= rows.size:
            break
        sizes = np.abs(view.residuals)
        kept = np.flatnonzero(sizes <= np.partition(sizes, most - 1)[most - 1])
        counts = np.ones(len(kept)) if view.counts is None else view.counts[kept]
        change = increment(view.rows[kept], counts, view.residuals[kept])
        if not np.isfinite(change).all():
            break
        point = point + change
        still = before is not None and np.array_equal(kept, before)
        if still and np.linalg.norm(change) <= CONVERGED * np.linalg.norm(point):
            break
        if still and rows.linear:  # the next step would not move it
            break
        before = kept
    return point
