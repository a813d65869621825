"""Charts for print: matplotlib, as PNG, PDF or SVG."""

from __future__ import annotations

import io
import math
import os
import warnings
from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron._extras import require
from neurotron._text import wrap
from neurotron.lab.figures.chart import Chart, Line, Panel, shorten, wrapped

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
CHARACTER = 0.07
"""The width of a character of a legend or a note, in inches; few texts are wider."""


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
    width = columns * size[0] + 0.8
    most = int(width / CHARACTER)
    names = [_plain(shorten(name, most - 10)) for name in chart.legend]
    lines = math.ceil(len(names) / max(1, most // (10 + max(map(len, names), default=0))))
    per_row = math.ceil(len(names) / max(1, lines))
    below = [text for text in (chart.x_label, *wrap(chart.note, most).split("\n")) if text]
    height = rows * (size[1] + 0.4) + 0.17 * (len(below) + lines) + 0.5
    figure = _figure_class()(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=chart.shared)
    for place, panel in zip(axes.flat, chart.panels, strict=False):
        _draw_panel(place, chart, panel)
    for place in axes.flat[len(chart.panels) :]:
        place.set_axis_off()
    figure.suptitle(_plain(shorten(chart.title, int(0.75 * most))), size=11)
    figure.supylabel(_plain(chart.y_label), size=8)
    if chart.scale is not None:
        chart.scale.draw(figure, axes)
    entries = [*zip(map(_handle, chart.legend.values()), names, strict=True)]
    in_rows = [entry for i in range(per_row) for entry in entries[i::per_row]]  # not columns
    legend = figure.legend(
        [handle for handle, _ in in_rows], [name for _, name in in_rows], ncols=max(1, per_row),
        title=_plain("\n".join(below)), title_fontsize=8, fontsize=8, frameon=False,
        loc="outside lower center", borderpad=0.0, labelspacing=0.3,
    )  # fmt: skip
    legend.get_title().set_multialignment("center")
    return figure


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
    folder = _check.path(name, path, *FORMATS).parent
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
    if panel.cells is not None:
        panel.cells.draw(axes, chart, panel)
    if panel.ticks:
        names = [_plain(tick) for tick in _tick_names(panel.ticks)]
        look: dict[str, Any] = {"rotation": 20, "ha": "right"} if _is_long(panel.ticks) else {}
        axes.set_xticks(range(len(names)), names, **look)
        axes.set_xlim(-0.5, len(names) - 0.5)
    if len(chart.panels) > 1 or panel.title:
        title = shorten(panel.title, 46)
        axes.set_title(_plain(title), fontsize=9 if len(title) < 36 else 7.5, y=1.0)
    for axis, is_log in ((axes.xaxis, chart.x_log and not panel.ticks), (axes.yaxis, chart.y_log)):
        if is_log:
            _mark_powers(axis)
    axes.tick_params(labelsize=7.5)
    if panel.cells is None:
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


def _plain(text: str) -> str:
    r"""Return text that matplotlib does not take for mathematics, nor for a hidden entry.

    >>> _plain("_1$")
    '\u2009_1\\$'
    """
    shown = text.replace("$", r"\$")
    return f"\u2009{shown}" if shown.startswith("_") else shown
