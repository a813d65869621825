"""A figure as plain numbers: what every renderer draws, and tests read without pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from neurotron._text import narrow
from neurotron._types import Array, Index
from neurotron.lab.figures.styles import Style

MOST_POINTS = 150
"""Of a line: as many as the eye tells apart in a panel."""

SMALLEST = 1e-17
"""Where an error of zero is drawn on a logarithmic axis."""

STEPS = "steps (updates)"
ERROR = "error ‖w − w*‖"


@dataclass(frozen=True, eq=False)
class Line:
    """A line with a band, or dots; if its panel has ticks, x is a position among them."""

    name: str
    x: Array
    y: Array
    style: Style
    low: Array | None = None
    high: Array | None = None
    joined: bool = True
    notes: tuple[str, ...] = ()
    """The text to show for each dot."""
    is_limit: bool = False
    """Whether it is one height over all ticks, from the first to the last."""

    def thinned(self, most: int) -> Line:
        """Return the line with at most `most` points, chosen evenly on both kinds of axes."""
        keep = (
            spread(self.x, most) if self.joined else spread(np.arange(1.0, len(self.x) + 1), most)
        )
        low, high = (None if end is None else end[keep] for end in (self.low, self.high))
        notes = tuple(np.array(self.notes, dtype=object)[keep]) if self.notes else ()
        return replace(self, x=self.x[keep], y=self.y[keep], low=low, high=high, notes=notes)

    def band(self) -> tuple[Array, Array] | None:
        """Return the band as it is drawn; infinite ends are put a little beyond finite ones."""
        if self.low is None or self.high is None or not len(self.x):
            return None
        finite = self.high[np.isfinite(self.high)]
        top = max(finite.max(initial=0.0), 10.0 * self.y.max())
        return np.minimum(self.low, top), np.minimum(self.high, top)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    lines: tuple[Line, ...]
    ticks: tuple[str, ...] = ()
    """Names along the horizontal axis, at 0, 1, 2, …; none for a numeric axis."""
    cells: Any = None
    """What it shows below its lines and draws itself, such as the cells of a heat map.

    It has `is_empty`, and the methods `traces(chart, panel)`, which returns it for Plotly in plain
    values, `draw(axes, chart, panel)` on axes of matplotlib, and `numbers(panel)`.
    """

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        cells = self.cells is not None and not self.cells.is_empty
        return not cells and not any(len(line.x) for line in self.lines)


class Number(NamedTuple):
    """A number that is drawn, and its interval."""

    panel: str
    line: str
    at: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Chart:
    """One figure: panels that share labels and scales."""

    name: str
    """Of its files, and of its place on the page."""
    title: str
    caption: str
    """What is shown, and over how many replicates."""
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    note: str = ""
    """The caption in a few words, for the picture itself."""
    x_log: bool = True
    y_log: bool = True
    y_range: tuple[float, float] | None = None
    y_ticks: tuple[tuple[float, str], ...] = ()
    """Heights with words, where numbers would say less."""
    interval: str = "95 % interval"
    """What the low and high ends of its numbers are."""
    reference: float | None = None
    """A height to mark, as 1 among ratios."""
    scale: Any = None
    """The scale of the colours of a heat map.

    It has a `label`, `colours` from one end to the other, and the methods `ticks()`, which returns
    places from 0 to 1 and their words, and `draw(figure, axes)` for matplotlib.
    """
    columns: int | None = None
    """Panels side by side in print, if that matters."""
    short_title: str = ""
    """What links to it say, if its title is long."""

    @property
    def measure(self) -> str:
        """What the numbers of the chart measure."""
        return self.y_label if self.scale is None else self.scale.label

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines and dots."""
        return tuple(line for panel in self.panels for line in panel.lines)

    @property
    def legend(self) -> dict[str, Line]:
        """The lines of the legend, one for each name."""
        found: dict[str, Line] = {}
        for line in self.lines:
            found.setdefault(line.name, line)
        return found

    @cached_property
    def shared(self) -> bool:
        """Whether all panels share one vertical scale; they do unless it would flatten some."""
        if self.y_range is not None or not self.y_log:
            return True
        spans = [np.log10(high / low) for low, high in self._heights]
        low, high = self.heights
        return bool(np.log10(high / low) <= max(2.0 * np.median(spans), 1.0))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(panel.is_empty for panel in self.panels)

    @property
    def heights(self) -> tuple[float, float]:
        """The least and the largest height of all lines and bands."""
        lows, highs = zip(*self._heights, strict=True)
        return min(lows), max(highs)

    @cached_property
    def _heights(self) -> list[tuple[float, float]]:
        return [_heights(panel) for panel in self.panels]

    def thinned(self, most: int) -> Chart:
        """Return the chart with at most `most` points per line."""
        panels = tuple(
            replace(panel, lines=tuple(line.thinned(most) for line in panel.lines))
            for panel in self.panels
        )
        return replace(self, panels=panels)

    def numbers(self) -> list[Number]:
        """Return the numbers for a table next to the figure: ends of lines, or points at ticks.

        Dots are left out: there are too many, and their median is a separate point.
        """
        found: list[Number] = []
        for panel in self.panels:
            if panel.cells is not None:
                found += panel.cells.numbers(panel)
            for line in panel.lines:
                if not len(line.x) or (not line.joined and line.low is None):
                    continue
                if line.is_limit:
                    found.append(Number(panel.title, line.name, "all", line.y[0], None, None))
                    continue
                for i in range(len(line.x)) if panel.ticks else (len(line.x) - 1,):
                    at = panel.ticks[round(line.x[i])] if panel.ticks else f"{line.x[i]:,.0f}"
                    low, high = (
                        None if end is None else float(end[i]) for end in (line.low, line.high)
                    )
                    found.append(Number(panel.title, line.name, at, float(line.y[i]), low, high))
        return found


def _heights(panel: Panel) -> tuple[float, float]:
    parts = [part for line in panel.lines for part in (line.y, *(line.band() or ()))]
    drawn = np.concatenate([np.ones(0), *parts])
    return (float(drawn.min()), float(drawn.max())) if len(drawn) else (1.0, 1.0)


def line_of(
    name: str,
    x: Array | Index,
    y: Array,
    style: Style,
    low: Array | None = None,
    high: Array | None = None,
) -> Line:
    """Return a line for logarithmic axes, without points that are too close to tell apart.

    It begins at the first positive x and ends where y is not finite; zeros are drawn at `SMALLEST`.
    """
    shown = (x > 0) & np.isfinite(y)
    ends = [None if end is None else np.maximum(end[shown], SMALLEST) for end in (low, high)]
    heights = np.maximum(y[shown], SMALLEST)
    whole = Line(name, np.asarray(x, np.float64)[shown], heights, style, ends[0], ends[1])
    return whole.thinned(MOST_POINTS)


def spread(x: Array | Index, most: int) -> Any:
    """Return which of increasing x to keep, so that they are even on both kinds of axes.

    Half of them are nearest to even steps of a logarithmic axis, half of a linear one.
    """
    keep = np.ones(len(x), dtype=bool)
    if len(x) > most:
        first = max(float(x[0]), 1.0)
        places = np.concatenate(
            [np.geomspace(first, x[-1], most // 2), np.linspace(x[0], x[-1], most - most // 2)]
        )
        keep[:] = False
        keep[np.clip(np.searchsorted(x, places), 0, len(x) - 1)] = True
        keep[-1] = True
    return keep


def wrapped(ticks: Sequence[str], most: int) -> list[str]:
    r"""Return names for ticks, cut to at most `most` characters and wrapped to the width of a tick.

    >>> wrapped(["first-sample SGD\n3 of 4", "SGD\n4 of 4", "x\n"], 24)
    ['first-sample\nSGD\n3 of 4', 'SGD\n4 of 4', 'x\n']
    """
    width = max(10, 40 // max(1, len(ticks)))

    def lines(tick: str) -> str:
        name, *rest = tick.split("\n")
        return "\n".join([*narrow(shorten(name, most), width), *rest])

    return [lines(tick) for tick in ticks]


def shorten(text: str, most: int) -> str:
    """Return text of at most `most` characters; the middle is cut, where names are often the same.

    >>> shorten("Neuro-Tron, η = 1e-4", 12)
    'Neuro-…1e-4'
    """
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 2]}…{text[-tail:]}"
