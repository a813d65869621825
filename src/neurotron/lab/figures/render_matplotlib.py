"""Charts for print: matplotlib, as PNG, PDF or SVG."""

from __future__ import annotations

import io
import math
import os
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron._extras import require
from neurotron.lab.figures.chart import Chart, Line, Panel, shorten, wrapped
from neurotron.lab.figures.matplotlib_cells import BAR, draw_cells, draw_scale

__all__ = ["check_picture", "draw", "encode", "save"]

FORMATS = (".png", ".pdf", ".svg")
DASHES = {"solid": "-", "dash": "--", "dashdot": "-.", "dot": ":"}
MARKERS = {
    "circle": "o", "square": "s", "triangle-up": "^", "triangle-down": "v", "diamond": "D",
    "cross": "P", "x": "X", "star": "*",
    "none": "",
}  # fmt: skip
WIDTH, HEIGHT = 2.5, 1.8
"""Of a panel among others, in inches."""
ALONE = 5.8, 3.6
"""Of a single panel."""
CHARACTER = 0.075
"""The width of a character of the note, in inches: hardly any text is wider."""


def draw(chart: Chart, path: str | Path | None = None) -> Any:
    """Return the chart as a matplotlib figure, which a notebook shows; save it to a `path`."""
    _check.instance("chart", chart, Chart)
    if path is not None:
        check_picture("path", path)
    figure = _drawn(chart)
    if path is not None:
        save(figure, path)
    return figure


def _drawn(chart: Chart) -> Any:
    columns = chart.columns or _columns(len(chart.panels))
    rows = math.ceil(len(chart.panels) / columns)
    size = ALONE if len(chart.panels) == 1 else (WIDTH, HEIGHT)
    width = columns * size[0]
    below = _below(chart, width)
    names = [_fitting(name, width - 0.5) for name in chart.legend]
    per_row = _entries_per_row(names, width)
    legend = 0.19 * math.ceil(len(names) / per_row)
    bar = BAR if chart.scale is not None else 0.0
    ticks = max((_height(panel.ticks) for panel in chart.panels), default=0.0)
    margins = _Margins(
        top=0.36 if chart.title else 0.12,
        bottom=0.3 + 0.16 * len(below) + legend + bar + ticks,
        between=0.5 + ticks,
        below=legend + bar,
    )
    figure, axes = margins.figure(rows, columns, size, chart.shared)
    for i, (place, panel) in enumerate(zip(axes.flat, chart.panels, strict=False)):
        _draw_panel(place, chart, panel)
        place.tick_params(labelleft=i % columns == 0 or not chart.shared)
    for place in axes.flat[len(chart.panels) :]:
        place.set_axis_off()
    margins.write(figure, chart, below)
    handles = [_handle(line) for line in chart.legend.values()]
    margins.write_legend(figure, list(zip(handles, names, strict=True)), per_row)
    return figure


@dataclass(frozen=True)
class _Margins:
    """The space around and between panels, in inches.

    It is computed here, because matplotlib's own layouts draw everything several times to find it.
    """

    top: float
    bottom: float
    between: float
    below: float
    """Of the legend and the scale of colours."""
    left: float = 0.72
    right: float = 0.15

    def figure(
        self, rows: int, columns: int, size: tuple[float, float], shared: bool
    ) -> tuple[Any, Any]:
        gap = 0.15 if shared else 0.6
        width = self.left + self.right + columns * size[0] + (columns - 1) * gap
        height = self.top + self.bottom + rows * size[1] + (rows - 1) * self.between + 0.22
        figure = _figure_class()(figsize=(width, height))
        axes = figure.subplots(
            rows, columns, squeeze=False, sharey=shared,
            gridspec_kw={
                "left": self.left / width, "right": 1.0 - self.right / width,
                "bottom": self.bottom / height, "top": 1.0 - (self.top + 0.22) / height,
                "wspace": gap / size[0], "hspace": self.between / size[1],
            },
        )  # fmt: skip
        return figure, axes

    def write(self, figure: Any, chart: Chart, below: list[str]) -> None:
        """Put the title and the labels into the margins."""
        width, height = figure.get_size_inches()
        middle = 0.5 * (self.bottom + height - self.top) / height
        title = _fitting(chart.title, width - self.left - self.right, 11)
        centre = self.centre(width)
        figure.text(centre, 1.0 - 0.06 / height, title, size=11, ha="center", va="top")
        figure.text(
            centre, (self.below + 0.04) / height, _plain("\n".join(below)), size=8, ha="center",
            va="bottom",
        )  # fmt: skip
        figure.text(0.08 / width, middle, _plain(chart.y_label), size=8, rotation=90, va="center")
        if chart.scale is not None:
            bar = min(4.0, width - self.left - self.right)
            left = centre * width - 0.5 * bar
            draw_scale(figure, chart.scale, left, self.below - BAR, bar)

    def write_legend(self, figure: Any, entries: list[tuple[Any, str]], per_row: int) -> None:
        """Put the legend below everything else."""
        width, height = figure.get_size_inches()
        in_rows = [entry for i in range(per_row) for entry in entries[i::per_row]]  # not columns
        figure.legend(
            [handle for handle, _ in in_rows], [name for _, name in in_rows], ncols=per_row,
            fontsize=8, frameon=False, loc="lower center",
            bbox_to_anchor=(self.centre(width), -0.05 / height), borderpad=0.2, labelspacing=0.3,
        )  # fmt: skip

    def centre(self, width: float) -> float:
        """Return where the middle of all panels is, as a part of the width."""
        return 0.5 * (self.left + width - self.right) / width


def _below(chart: Chart, width: float) -> list[str]:
    """Return the lines below the panels: what the horizontal axis is, and the note."""
    note = textwrap.wrap(chart.note, max(20, int((width + 0.5) / CHARACTER)))
    return [text for text in (chart.x_label, *note) if text]


def _fitting(text: str, width: float, size: int = 8) -> str:
    """Return text that is at most `width` inches wide; it is shortened if necessary.

    >>> _fitting("a name", 5.0), _fitting("a long name" * 9, 1.0)
    ('a name', 'a long n… name')
    """
    while len(text) > 8 and (wide := _inches(text, size)) > width:
        text = shorten(text, min(len(text) - 1, max(8, int(len(text) * width / wide))))
    return _plain(text)


def _inches(text: str, size: int) -> float:
    """Return how wide text is in print."""
    prop = require("matplotlib.font_manager").FontProperties(size=size)
    measure = require("matplotlib.textpath").text_to_path.get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        return float(measure(_plain(text), prop, False)[0]) / 72.0


def _entries_per_row(names: list[str], width: float) -> int:
    """Return how many entries of a legend fit into one row."""
    longest = max((_inches(name, 8) for name in names), default=0.1)
    most = max(1, int((width + 0.5) / (longest + 0.6)))
    rows = max(1, math.ceil(len(names) / most))
    return max(1, math.ceil(len(names) / rows))


def encode(figure: Any, suffix: str, dpi: int = 150) -> bytes:
    """Return the bytes of a picture; a PNG or PDF is the same for the same chart and versions."""
    buffer = io.BytesIO()
    fixed = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a box is drawn
        figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=fixed[suffix])
    return buffer.getvalue()


def save(figure: Any, path: str | Path) -> None:
    """Write a picture in the format of its name."""
    check_picture("path", path)
    if not callable(getattr(figure, "savefig", None)):
        raise _check.InputError(f"`figure` must be one of draw(chart), got {_check.shown(figure)}")
    Path(path).write_bytes(encode(figure, Path(path).suffix.lower()))


def check_picture(name: str, path: str | Path) -> None:
    """Refuse a picture that could not be saved, before any work."""
    if isinstance(path, Path):
        path = str(path)
    if not isinstance(path, str) or Path(path).suffix.lower() not in FORMATS:
        raise _check.InputError(
            f"`{name}` must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got "
            f"{_check.shown(path)}"
        )
    folder = _check.path(name, path).parent
    if not folder.is_dir():
        raise _check.InputError(f"`{name}`: there is no folder {str(folder)!r}")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise _check.InputError(f"`{name}`: {str(path)!r} cannot be written")


def _figure_class() -> Any:
    class Picture(require("matplotlib.figure").Figure):  # type: ignore[misc]
        """A figure that a notebook shows without pyplot, which would keep it alive."""

        def _repr_png_(self) -> bytes:
            return encode(self, ".png")

    return Picture


def _columns(panels: int) -> int:
    if panels <= 3:
        return max(panels, 1)
    return 2 if panels == 4 else 3 if panels <= 6 else 4


def _draw_panel(axes: Any, chart: Chart, panel: Panel) -> None:
    if chart.x_log and not panel.ticks:
        axes.set_xscale("log")
    if chart.y_log:
        axes.set_yscale("log")
    if chart.y_range is not None:
        axes.set_ylim(*chart.y_range)
    if chart.y_ticks:
        places, words = zip(*chart.y_ticks, strict=True)
        axes.set_yticks(places, words)
    if chart.reference is not None:
        axes.axhline(chart.reference, color="#767676", linewidth=0.8, linestyle=":")
    for line in panel.lines:
        _draw_line(axes, line, bool(panel.ticks))
    if panel.grid is not None:
        draw_cells(axes, chart, panel)
    if panel.ticks:
        names = [_plain(tick) for tick in _tick_names(panel.ticks)]
        look: dict[str, Any] = {"rotation": 20, "ha": "right"} if _is_long(panel.ticks) else {}
        axes.set_xticks(range(len(names)), names, **look)
        axes.set_xlim(-0.5, len(names) - 0.5)
    if len(chart.panels) > 1 or panel.title:
        title = shorten(panel.title, 46)
        axes.set_title(_plain(title), fontsize=9 if len(title) < 36 else 7.5, y=1.0)
    axes.xaxis.set_label_coords(0.5, -0.12)  # or matplotlib measures where a label has room
    axes.yaxis.set_label_coords(-0.15, 0.5)
    for axis, is_log in ((axes.xaxis, chart.x_log and not panel.ticks), (axes.yaxis, chart.y_log)):
        if is_log:
            _mark_powers(axis)
    axes.tick_params(labelsize=7.5)
    if panel.grid is None:
        axes.grid(alpha=0.25, linewidth=0.6)


def _draw_line(axes: Any, line: Line, ticked: bool) -> None:
    colour, marker = line.style.colour, MARKERS[line.style.marker]
    if not line.joined and line.low is None:
        axes.plot(line.x, line.y, marker, color=colour, markersize=3, alpha=0.5, mew=0)
        return
    dash = DASHES[line.style.dash] if line.joined else "none"
    every = max(1, len(line.x) // 6)
    axes.plot(
        line.x, line.y, linestyle=dash, marker=marker, color=colour, linewidth=1.4,
        markevery=1 if ticked else (every // 2, every), markersize=4 if line.joined else 5,
    )  # fmt: skip
    band = line.band()
    if band is None:
        return
    if ticked:
        axes.vlines(line.x, *band, color=colour, linewidth=1.2)
    else:
        axes.fill_between(line.x, *band, color=colour, alpha=0.15, linewidth=0)


def _handle(line: Line) -> Any:
    lines = require("matplotlib.lines")
    return lines.Line2D(
        [], [], color=line.style.colour, marker=MARKERS[line.style.marker], markersize=4,
        linestyle=DASHES[line.style.dash] if line.joined else "none",
    )  # fmt: skip


def _mark_powers(axis: Any) -> None:
    """Label powers of ten with plain text, because mathematical text is slow to draw."""
    ticker = require("matplotlib.ticker")
    low, high = axis.get_view_interval()
    axis.set_major_locator(
        ticker.LogLocator(numticks=7, subs=(1.0,) if high > 30.0 * low else (1.0, 2.0, 5.0))
    )
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))


def _is_long(ticks: tuple[str, ...]) -> bool:
    lines = (tick.split("\n") for tick in wrapped(ticks, 30))
    return sum(max(map(len, tick)) + 1 for tick in lines) > 40


def _tick_names(ticks: tuple[str, ...]) -> list[str]:
    """Return the names of ticks: wrapped if they fit next to each other, else to be rotated."""
    if _is_long(ticks):
        return [shorten(tick.replace("\n", ": "), 30) for tick in ticks]
    return wrapped(ticks, 30)


def _height(ticks: tuple[str, ...]) -> float:
    """Return how much higher names of ticks are than one line, in inches."""
    if _is_long(ticks):
        return 0.45
    return 0.12 * max((tick.count("\n") for tick in _tick_names(ticks)), default=0)


def _plain(text: str) -> str:
    r"""Return text that matplotlib does not take for mathematics, nor for a hidden entry.

    >>> _plain("_1$")
    '\u2009_1\\$'
    """
    shown = text.replace("$", r"\$")
    return f"\u2009{shown}" if shown.startswith("_") else shown
