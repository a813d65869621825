"""Charts for the page: every panel is a Plotly figure, so that a narrow page stacks them.

The page adds what depends on its reader: theme, width, and whether a line is shown.
"""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np

from neurotron._types import Array
from neurotron.lab.figures.chart import Chart, Line, Panel, wrapped


def panel_figure(chart: Chart, panel: Panel) -> dict[str, Any]:
    """Return data and layout of a panel as Plotly takes them, in plain values for JSON."""
    drawn = (line for line in panel.lines if len(line.x))
    traces = [trace for line in drawn for trace in _traces(line, bool(panel.ticks))]
    if panel.cells is not None:
        traces += panel.cells.traces(chart, panel)
    layout = {"xaxis": _x_axis(chart, panel), "yaxis": _y_axis(chart, panel)}
    return {"data": traces, "layout": layout}


def _x_axis(chart: Chart, panel: Panel) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": _escape(chart.x_label)}}
    if panel.ticks:
        places = list(range(len(panel.ticks)))
        texts = [_lines(tick) for tick in wrapped(panel.ticks, 24)]
        ends = [-0.5, len(places) - 0.5]
        return axis | {"tickvals": places, "ticktext": texts, "range": ends, "type": "linear"}
    return axis | {"type": "log" if chart.x_log else "linear"}


def _y_axis(chart: Chart, panel: Panel) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "title": {"text": _escape(chart.y_label)}, "type": "log" if chart.y_log else "linear",
        "exponentformat": "power" if chart.y_log else "none",
    }  # fmt: skip
    if chart.y_ticks:
        places, words = zip(*chart.y_ticks, strict=True)
        axis |= {"tickvals": list(places), "ticktext": [_lines(word) for word in words]}
    if chart.y_range is not None:
        return axis | {"range": list(chart.y_range)}
    if chart.shared and chart.y_log:
        low, high = chart.heights
        return axis | {"range": [math.log10(low) - 0.2, math.log10(high) + 0.2]}
    return axis


def _traces(line: Line, ticked: bool) -> list[dict[str, Any]]:
    """Return a line and its band, or its points; `meta` is what the legend of the page calls it."""
    is_dots = not line.joined and line.low is None
    marker = {"symbol": line.style.marker, "color": line.style.colour, "size": 5 if is_dots else 8}
    trace: dict[str, Any] = {
        "type": "scatter", "meta": line.name, "x": _plain(line.x), "y": _plain(line.y),
        "mode": "lines+markers" if line.joined else "markers", "marker": marker,
        "hovertemplate": _hover(line, ticked), "text": _texts(line), "showlegend": False,
    }  # fmt: skip
    if is_dots:
        return [trace | {"opacity": 0.6}]
    trace["line"] = {"color": line.style.colour, "dash": line.style.dash, "width": 2}
    band = line.band()
    if ticked and band is not None:
        trace["error_y"] = {
            "type": "data", "symmetric": False, "array": _plain(band[1] - line.y),
            "arrayminus": _plain(line.y - band[0]), "color": line.style.colour, "width": 4,
        }  # fmt: skip
        return [trace]
    marker["maxdisplayed"] = 8
    if band is None:
        return [trace]
    around = {
        "type": "scatter", "meta": line.name, "mode": "lines", "fill": "toself", "opacity": 0.18,
        "x": _plain(np.concatenate([line.x, line.x[::-1]])),
        "y": _plain(np.concatenate([band[1], band[0][::-1]])),
        "fillcolor": line.style.colour, "line": {"width": 0, "color": line.style.colour},
        "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip
    return [around, trace]


def _hover(line: Line, ticked: bool) -> str:
    name = _escape(line.name).replace("%", "&#37;")  # Plotly fills in what stands in %{…}
    at = "" if ticked else "<br>step %{x:,d}"
    return f"<b>{name}</b>{at}<br>%{{text}}<extra></extra>"


def _texts(line: Line) -> list[str]:
    """Return the text of each point: its value and interval, or its note."""
    if line.notes:
        return [
            f"{value:.3g}; {_escape(note)}" for value, note in zip(line.y, line.notes, strict=True)
        ]
    if line.low is None or line.high is None:
        return [f"{value:.3g}" for value in line.y]
    return [
        f"{value:.3g} ({low:.3g} … {high:.3g})"
        for value, low, high in zip(line.y, line.low, line.high, strict=True)
    ]


def _plain(values: Array) -> list[float]:
    """Return numbers with as many digits as a reader can see.

    >>> _plain(np.array([0.123456, 1000.0]))
    [0.12346, 1000.0]
    """
    return [float(f"{value:.5g}") for value in values]


def _lines(text: str) -> str:
    """Return text with line breaks as Plotly writes them."""
    return _escape(text).replace("\n", "<br>")


def _escape(text: str) -> str:
    """Return text without what Plotly takes for markup or mathematics."""
    return html.escape(text, quote=False).replace("$", "&#36;")
