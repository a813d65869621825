"""Heat maps: cells with numbers, the scale that makes them colours, and how both are drawn."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap

from neurotron._types import Array
from neurotron.lab.figures.chart import Chart, Line, Number, Panel
from neurotron.lab.figures.styles import Style

COLOURS = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip
"""Viridis, from dark to bright: even to the eye, colour-blind or not, and in a grey print."""

REGION = Style("#111111", "none", "dash")
"""Of the outline on a heat map: over a white line, to be seen on every colour."""

DARK = 0.42
"""Of the scale: on darker cells the numbers are white."""

CELLS = LinearSegmentedColormap.from_list("cells", COLOURS)

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

    colours = COLOURS

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

    def draw(self, figure: Any, axes: Any) -> None:
        """Draw the scale of colours next to axes of matplotlib, with its words."""
        places, words = zip(*self.ticks(), strict=True) if self.ticks() else ((), ())
        bar = figure.colorbar(ScalarMappable(cmap=CELLS), ax=axes.ravel().tolist(), aspect=40)
        bar.set_ticks(places, labels=words)
        bar.ax.tick_params(labelsize=7, length=2)


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
    region: str = ""
    """What the outline is called."""

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

    @property
    def legend(self) -> tuple[Line, ...]:
        """The outline as a line for the legend, if any cell is outlined."""
        nowhere = np.empty(0)
        return (Line(self.region, nowhere, nowhere, REGION),) if self.borders() else ()

    def numbers(self, panel: Panel) -> list[Number]:
        """Return the numbers of the cells, row by row."""
        return [
            Number(
                panel.title, self.rows[i], panel.ticks[j] + " (outlined)" * bool(self.marked[i, j]),
                *(float(part[i, j]) for part in (self.values, self.low, self.high)),
            )
            for i, j in np.argwhere(~np.isnan(self.values)).tolist()
        ]  # fmt: skip

    def draw(self, axes: Any, chart: Chart, panel: Panel) -> None:
        """Draw the cells on axes of matplotlib, each with its number, and the outline over them."""
        scale: Any = chart.scale
        places = scale.places(self.values)
        columns, rows = range(len(panel.ticks) + 1), range(len(self.rows) + 1)
        axes.pcolormesh(
            [x - 0.5 for x in columns], [y - 0.5 for y in rows], places, cmap=CELLS,
            vmin=0.0, vmax=1.0, edgecolors="white", linewidth=0.6,
        )  # fmt: skip
        longest = max(5, *(len(scale.word(value)) for value in self.values.flat))
        size = min(8.0, 240.0 / (len(self.values[0]) * longest))  # as large as fits all cells
        for (i, j), value in np.ndenumerate(self.values):
            colour = "white" if is_dark(places[i, j]) else "black"
            axes.text(j, i, scale.word(value), size=size, color=colour, ha="center", va="center")
        x = [place for x0, _, x1, _ in self.borders() for place in (x0, x1, math.nan)]
        y = [place for _, y0, _, y1 in self.borders() for place in (y0, y1, math.nan)]
        for colour, width, dash in (("white", 3.2, "-"), (REGION.colour, 1.5, (0, (3, 1.5)))):
            if x:
                axes.plot(
                    x, y, color=colour, linewidth=width, linestyle=dash, clip_on=False,
                    solid_capstyle="projecting",
                )  # fmt: skip

    def traces(self, chart: Chart, panel: Panel) -> list[dict[str, Any]]:
        """Return the cells and their outline, which is visible on every colour, for Plotly.

        Dark cells with white numbers and bright cells with black numbers are separate traces.
        """
        scale: Any = chart.scale
        places, last = scale.places(self.values), len(COLOURS) - 1
        dark = is_dark(places)
        cells: dict[str, Any] = {
            "type": "heatmap", "meta": panel.title, "zmin": 0.0, "zmax": 1.0, "xgap": 1, "ygap": 1,
            "colorscale": [[i / last, colour] for i, colour in enumerate(COLOURS)],
            "texttemplate": "%{text}", "showscale": False, "hoverongaps": False,
            "hovertemplate": "%{hovertext}<extra></extra>",
        }  # fmt: skip
        words = np.array([[scale.word(value) for value in row] for row in self.values.tolist()])
        rows, columns = words.shape
        hovers = np.array(
            [[self._hover(chart, panel, i, j) for j in range(columns)] for i in range(rows)]
        )
        traces = [
            cells | {
                "z": _rows(np.where(here, places, np.nan)), "textfont": {"color": colour},
                "text": np.where(here, words, "").tolist(),
                "hovertext": np.where(here, hovers, "").tolist(),
            }
            for here, colour in ((dark, "#ffffff"), (~dark, "#000000"))
            if not np.isnan(places[here]).all()
        ]  # fmt: skip
        x = [place for x0, _, x1, _ in self.borders() for place in (x0, x1, None)]
        y = [place for _, y0, _, y1 in self.borders() for place in (y0, y1, None)]
        outline: dict[str, Any] = {
            "type": "scatter", "meta": self.region, "mode": "lines", "x": x, "y": y,
            "hoverinfo": "skip", "showlegend": False, "cliponaxis": False,
        }  # fmt: skip
        wide, narrow = {"color": "#ffffff", "width": 5}, {"color": REGION.colour, "width": 2}
        looks = wide, narrow | {"dash": "dot"}
        return [*traces, *(outline | {"line": look} for look in looks if x)]

    def _hover(self, chart: Chart, panel: Panel, i: int, j: int) -> str:
        value, low, high = (part[i, j] for part in (self.values, self.low, self.high))
        where = f"{chart.y_label} {self.rows[i]}, {chart.x_label} {panel.ticks[j]}"
        return f"{html.escape(where)}<br>{value:.3g} ({low:.3g} … {high:.3g})"


def _rows(table: Array) -> list[list[float | None]]:
    """Return a table for JSON: what is not a number is null."""
    return [[None if math.isnan(z) else round(z, 4) for z in row] for row in table.tolist()]


def is_dark(places: Array) -> Any:
    """Return at which places of a scale white text is easier to read than black text."""
    return places < DARK
