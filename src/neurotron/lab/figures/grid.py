"""The cells of a heat map as plain numbers, and the scale that makes them colours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._types import Array

__all__ = ["COLOURS", "Border", "Grid", "Scale", "is_dark"]

COLOURS = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip
"""Viridis, from dark to bright: even to the eye, colour-blind or not, and in a grey print."""

DARK = 0.42
"""Of the scale: on darker cells the numbers are white."""

MOST_TICKS = 6

Border = tuple[float, float, float, float]
"""A line between two cells: x and y of one end, x and y of the other."""


@dataclass(frozen=True)
class Scale:
    """One scale of colours for all panels of a chart: bright is good."""

    label: str
    """What the numbers are."""
    low: float
    high: float
    is_log: bool = True
    small_is_good: bool = True
    endless: str = "∞"
    """What a cell says whose number is infinite."""

    def places(self, values: Array) -> Array:
        """Return where numbers are between dark (0) and bright (1); NaN where there is none.

        >>> Scale("error", 1e-4, 1.0).places(np.array([1e-4, 1e-2, np.inf]))
        array([1. , 0.5, 0. ])
        """
        clipped = np.clip(values, self.low, self.high)
        ends = np.array([self.low, self.high])
        if self.is_log:
            clipped, ends = np.log10(clipped), np.log10(ends)
        part = (clipped - ends[0]) / (ends[1] - ends[0])
        return np.asarray(1.0 - part if self.small_is_good else part)

    def word(self, value: float) -> str:
        """Return a number as text that is short enough for a cell.

        >>> scale = Scale("error", 1e-17, 1.0)
        >>> [scale.word(value) for value in (3.21e-13, 0.0314, 2.5, 0.0, np.inf, np.nan)]
        ['3e-13', '0.031', '2.5', '0', '∞', '']
        """
        if math.isnan(value):
            return ""
        if math.isinf(value):
            return self.endless
        if value == 0.0 or 1e-3 <= value < 1e3:
            return f"{value:.2g}" if value < 100.0 else f"{value:.0f}"
        digits, _, exponent = f"{value:.0e}".partition("e")
        return f"{digits}e{int(exponent)}"

    def ticks(self) -> list[tuple[float, str]]:
        """Return places and words along the scale, from dark to bright."""
        if self.is_log:
            first, last = math.ceil(np.log10(self.low)), math.floor(np.log10(self.high))
            every = max(1, math.ceil((last - first) / (MOST_TICKS - 1)))
            values = [10.0**power for power in range(first, last + 1, every)]
        else:
            values = list(np.linspace(self.low, self.high, 5))
        places = self.places(np.array(values))
        pairs = zip(places, values, strict=True)
        return sorted((float(place), self.word(value)) for place, value in pairs)


@dataclass(frozen=True, eq=False)
class Grid:
    """A number at every pair of a row and a column; the columns are the ticks of its panel."""

    rows: tuple[str, ...]
    """From the bottom to the top."""
    values: Array
    """Shape (rows, columns); NaN where there are no runs."""
    low: Array
    high: Array
    marked: Any
    """The cells of the region that is outlined."""

    @property
    def is_empty(self) -> bool:
        """Whether no cell has a number."""
        return bool(np.isnan(self.values).all())

    def borders(self) -> list[Border]:
        """Return the outline of the marked cells; the cell of row i and column j is around (j, i).

        >>> none = np.zeros((1, 2))
        >>> Grid(("a",), none, none, none, np.array([[True, False]])).borders()
        [(-0.5, -0.5, -0.5, 0.5), (0.5, -0.5, 0.5, 0.5), (-0.5, -0.5, 0.5, -0.5),
         (-0.5, 0.5, 0.5, 0.5)]
        """
        around = np.pad(np.asarray(self.marked, dtype=bool), 1)
        upright = np.argwhere(around[1:-1, 1:] != around[1:-1, :-1])
        level = np.argwhere(around[1:, 1:-1] != around[:-1, 1:-1])
        return [
            *((j - 0.5, i - 0.5, j - 0.5, i + 0.5) for i, j in upright.tolist()),
            *((j - 0.5, i - 0.5, j + 0.5, i - 0.5) for i, j in level.tolist()),
        ]


def is_dark(places: Array) -> Any:
    """Return at which places of a scale white text is easier to read than black text."""
    return places < DARK
