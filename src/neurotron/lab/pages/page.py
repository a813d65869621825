"""Writes `report.html` and the pictures of a folder of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurotron.lab.claims.model import Judgement
from neurotron.lab.figures.chart import MOST_POINTS, Chart
from neurotron.lab.figures.collection import charts
from neurotron.lab.pages import content, pictures
from neurotron.lab.pages.frame import figure_of, render, size_of
from neurotron.lab.results.results import Results

__all__ = ["build", "write", "write_figures"]

PAGE = "report.html"
COMMAND = "neurotron report FOLDER --figures"
"""Draws the figures for print."""
MOST_BYTES = 2_600_000
"""Of all figures and their tables: with the charting library, a page of less than 8 MB."""
FEWEST_POINTS = 20
MOST_FIRST = 6
"""Panels of the figure on the first screen."""
FIRST = "first-figure"
"""The name of that figure, if it is part of one."""


def write(results: Results, judgements: list[Judgement]) -> Path:
    """Write the page into the folder of the results; return its path."""
    text = build(results, judgements)
    results.folder.write(PAGE, text.encode("utf-8", "replace"))  # an error may hold half characters
    return results.folder.path / PAGE


def write_figures(results: Results, *, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write every figure as PNG and PDF into the folder of the results; return their folder.

    Figures of an earlier report that are no longer shown are removed; all other files stay.

    Parameters
    ----------
    results
        The results, from `load_results`.
    progress
        A function that is called with the number of figures drawn and their total.
    """
    pictures.write(results.folder, charts(results), progress)
    return results.folder.path / pictures.FOLDER


def build(results: Results, judgements: list[Judgement], drawn: list[Chart] | None = None) -> str:
    """Return the page as text, which is the same for the same results."""
    chosen = charts(results) if drawn is None else drawn
    figures = _figures(chosen)
    shown = [figure["chart"] for figure in figures]
    names = {chart.name for chart in shown}
    values = content.page(results, judgements, shown)
    first, others = _first(figures, values["headline"].figures)
    more = {
        "first": first,
        "figures": others,
        "left_out": [chart.title for chart in chosen if chart.name not in names],
        "command": COMMAND,
    }
    return render("page.html", values | more)


def _figures(chosen: list[Chart]) -> list[dict[str, Any]]:
    """Return the charts for the template; if too large, points and then charts are dropped.

    The points of heat maps cannot be reduced. Heat maps are removed last, because each replaces
    many lines.
    """
    figures = [figure_of(chart) for chart in chosen]
    most = MOST_POINTS
    while sum(map(size_of, figures)) > MOST_BYTES and most > FEWEST_POINTS:
        most //= 2
        said = f" On this page lines and dots are thinned to {most} points each."
        figures = [
            figure_of(replace(chart.thinned(most), caption=chart.caption + said))
            if chart.lines
            else figure
            for chart, figure in zip(chosen, figures, strict=True)
        ]
    while sum(map(size_of, figures)) > MOST_BYTES:
        figures.remove(max(figures, key=lambda one: (one["scale"] is None, size_of(one))))
    return figures


def _first(
    figures: list[dict[str, Any]], wanted: Sequence[str]
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return the figure that fits on the first screen, and all others."""
    for start in (*wanted, ""):
        for figure in figures:
            chart = figure["chart"]
            if chart.name.startswith(start):
                if len(chart.panels) <= MOST_FIRST:
                    return figure, [other for other in figures if other is not figure]
                part = replace(chart, name=FIRST, panels=chart.panels[:MOST_FIRST])
                return figure_of(part) | {"whole": chart}, figures
    return None, figures
