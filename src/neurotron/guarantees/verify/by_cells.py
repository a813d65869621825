"""Theorem B: up to half of the labels, cell by cell; useful if labels are exact or nearly so."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from neurotron._types import Array
from neurotron.guarantees.verify.case import Case, Found, by_chance
from neurotron.theory.cells import Cells
from neurotron.theory.explained import ROUNDED, deviation

REACH = 1e3
"""The true filter is taken to be at most so many times as long as the one that is verified."""
PATTERNS = 1.5
"""Rounding counts half as much again, because it may also put an input into a wrong cell."""


class CellsTheorem:
    """The share of rows that a filter explains among those in its own cells."""

    name = "cells"

    def __init__(self, case: Case, cells: Cells, slope: float) -> None:
        self.case, self.cells, self.slope = case, cells, slope

    def verify(self, delta: float) -> Found:
        """Return the smallest radius over all levels."""
        case = self.case
        inside = self.cells.contain(case.active)
        if not inside.any():
            return Found()
        part = _Part(case, len(inside), int(inside.sum()), delta / 2.0)
        sizes = case.sizes(PATTERNS)[inside]
        order = np.argsort(sizes)
        level, reach = sizes[order], np.maximum.accumulate(case.inputs.reach[inside][order])
        shares = np.arange(1, part.count + 1) / part.count
        farthest = (REACH + 1.0) * float(np.linalg.norm(case.weights))
        radius = np.full(part.count, farthest)
        for _ in range(3):  # rounding is counted up to the radius that is known so far
            found = self.cells.radius(level + reach * radius, self.slope, part.honest(shares))
            radius = np.minimum(radius, found * ROUNDED)
        best = int(radius.argmin())
        needed = part.needed if case.exact else None  # with noise, rows alone do not help
        nothing = Found(threshold=part.threshold, rows_needed=needed)
        if not radius[best] < farthest:
            return nothing
        return dataclasses.replace(
            nothing, radius=float(radius[best]), level=float(level[best]),
            share=float(shares[best]),
        )  # fmt: skip


class _Part:
    """The rows inside the cells, and what attackers can do among them."""

    def __init__(self, case: Case, rows: int, count: int, delta: float) -> None:
        self.rows, self.count, self.delta = rows, count, delta
        self.coins, self.beta = case.attacker == "coin", case.probability
        self.region = count / rows - deviation(rows, delta)
        self.threshold = deviation(count, delta) + self._attacked(self.region)

    def _attacked(self, region: float) -> float:
        """Return the most labels that an attacker can have among those in the cells."""
        if self.coins:
            return self.beta
        return self.beta / region if region > 0.0 else math.inf

    def honest(self, shares: Array) -> Array:
        """Return a lower bound on the probability of an honest row that is explained."""
        explained = self.region * (shares - self.threshold)
        left = 1.0 - self.beta if self.coins else 1.0
        usable = (shares > self.threshold) & (self.region > 0.0) & (left > 0.0)
        return np.where(usable, explained / max(left, 1e-300), 0.0)

    @property
    def needed(self) -> int | None:
        """From how many rows on a perfect filter is verified, in about 95 of 100 tables."""
        part = self.count / self.rows
        if 2.0 * self._attacked(part) >= 1.0:
            return None

        def enough(rows: int) -> bool:
            off = deviation(rows, self.delta)
            attacked = self._attacked(part)
            if self.coins:
                attacked = min(attacked + by_chance(self.beta, rows * part), 1.0)
            region = part - by_chance(part, rows) - off
            return 1.0 - attacked > off / math.sqrt(part) + self._attacked(region)

        low, high = 0, 1
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high


def cells_theorem(case: Case) -> CellsTheorem | None:
    """Return the theorem, if it applies: it depends on the network, the law and the filter alone.

    It needs gates, few cells, independent noise or none, and coordinates with a bounded density.
    """
    if case.linear or case.noise == "even":
        return None
    if case.inputs.partition is None:
        return None
    partition, slope = case.inputs.partition
    cells = partition.cells(case.weights)
    return None if cells is None else CellsTheorem(case, cells, slope)
