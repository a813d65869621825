"""Heat maps for print: cells, the outlined region, and the scale of their colours."""

from __future__ import annotations

import math
from typing import Any

from neurotron._extras import require
from neurotron.lab.figures.chart import Chart, Panel
from neurotron.lab.figures.grid import COLOURS, Grid, Scale, is_dark
from neurotron.lab.figures.styles import REGION

__all__ = ["BAR", "draw_cells", "draw_scale"]

BAR = 0.42
"""The height of the scale with its words, in inches."""


def draw_cells(axes: Any, chart: Chart, panel: Panel) -> None:
    """Draw the cells of a panel, each with its number, and the outline over them."""
    assert panel.grid is not None
    assert chart.scale is not None
    places = chart.scale.places(panel.grid.values)
    columns, rows = range(len(panel.ticks) + 1), range(len(panel.grid.rows) + 1)
    axes.pcolormesh(
        [x - 0.5 for x in columns], [y - 0.5 for y in rows], places, cmap=_colours(),
        vmin=0.0, vmax=1.0, edgecolors="white", linewidth=0.6,
    )  # fmt: skip
    _write_numbers(axes, chart.scale, panel.grid, places)
    borders = panel.grid.borders()
    x = [place for x0, _, x1, _ in borders for place in (x0, x1, math.nan)]
    y = [place for _, y0, _, y1 in borders for place in (y0, y1, math.nan)]
    for colour, width, dash in (("white", 3.2, "-"), (REGION.colour, 1.5, (0, (3, 1.5)))):
        if borders:
            axes.plot(
                x, y, color=colour, linewidth=width, linestyle=dash, clip_on=False,
                solid_capstyle="projecting",
            )  # fmt: skip
    axes.set_yticks(range(len(panel.grid.rows)), panel.grid.rows)


def _write_numbers(axes: Any, scale: Scale, grid: Grid, places: Any) -> None:
    """Write into each cell its number, as large as fits all of them."""
    longest = max(5, *(len(scale.word(value)) for value in grid.values.flat))
    size = min(8.0, 240.0 / (len(grid.values[0]) * longest))
    for i, row in enumerate(grid.values):
        for j, value in enumerate(row):
            colour = "white" if is_dark(places[i, j]) else "black"
            word = scale.word(value)
            axes.text(j, i, word, size=size, color=colour, ha="center", va="center")


def draw_scale(figure: Any, scale: Scale, left: float, bottom: float, width: float) -> None:
    """Draw the scale of colours, with its words below; places are in inches."""
    wide, high = figure.get_size_inches()
    axes = figure.add_axes((left / wide, (bottom + 0.2) / high, width / wide, 0.1 / high))
    axes.imshow(
        [[i / 255.0 for i in range(256)]], cmap=_colours(), vmin=0.0, vmax=1.0, aspect="auto",
        extent=(0.0, 1.0, 0.0, 1.0),
    )  # fmt: skip
    places, words = zip(*scale.ticks(), strict=True) if scale.ticks() else ((), ())
    axes.set_xticks(places, words)
    axes.set_yticks([])
    axes.tick_params(labelsize=7, length=2, pad=1)


def _colours() -> Any:
    return require("matplotlib.colors").LinearSegmentedColormap.from_list("cells", COLOURS)
