"""Writes `report.html` and the pictures of a folder of results."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron._digits import up
from neurotron._extras import require
from neurotron.figures.chart import MOST_POINTS, Chart
from neurotron.figures.collection import charts
from neurotron.figures.grid import COLOURS
from neurotron.figures.render_plotly import panel_figure
from neurotron.report import content, pictures, rows_content, tables_content
from neurotron.results.damages import Damages
from neurotron.results.fits import Fits

if TYPE_CHECKING:
    from neurotron.claims import Judgement
    from neurotron.results.loading import AnyResults

__all__ = ["build", "write", "write_figures"]

PAGE = "report.html"
COMMAND = "neurotron report FOLDER --figures"
"""Draws the figures for print."""
WITHOUT_SCRIPT = "#theme, .controls, .hint, .panels { display: none }"
MOST_BYTES = 2_600_000
"""Of all figures and their tables: with the charting library, a page of less than 8 MB."""
FEWEST_POINTS = 20
MOST_FIRST = 6
"""Panels of the figure on the first screen."""
FIRST = "first-figure"
"""The name of that figure, if it is part of one."""
OWN_STYLES = re.compile(
    r'getElementById\("(\w{64})"\)\)\{var \w=document\.createElement\("style"\)'
)
"""The name by which Plotly looks for a style of maps: if nothing is called so, it adds that."""
ATTRIBUTES = ("font-size:70%", "font-weight:bold")
"""The style attributes that Plotly sets: of exponents at axes, of names in labels of points."""


def write(results: AnyResults, judgements: list[Judgement]) -> Path:
    """Write the page into the folder of the results; return its path."""
    text = build(results, judgements)
    results.folder.write(PAGE, text.encode("utf-8", "replace"))  # an error may hold half characters
    return results.folder.path / PAGE


def write_figures(
    results: AnyResults, *, workers: int = 1, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write every figure as PNG and PDF into the folder of the results; return their folder.

    Figures of an earlier report that are no longer shown are removed; all other files stay.

    Parameters
    ----------
    results
        The results, from `load_results`.
    workers
        The number of processes that draw. With more than one, a script must have its work below
        ``if __name__ == "__main__":``, because each process imports the script.
    progress
        A function that is called with the number of figures drawn and their total.
    """
    pictures.write(results.folder, charts(results), workers, progress)
    return results.folder.path / pictures.FOLDER


def build(
    results: AnyResults, judgements: list[Judgement], drawn: list[Chart] | None = None
) -> str:
    """Return the page as text, which is the same for the same results."""
    chosen = charts(results) if drawn is None else drawn
    figures = _figures(chosen)
    shown = [figure["chart"] for figure in figures]
    names = {chart.name for chart in shown}
    if isinstance(results, Fits):
        template, values = "rows.html", rows_content.page(results, judgements, shown)
    elif isinstance(results, Damages):
        template, values = "tables.html", tables_content.page(results, judgements, shown)
    else:
        template, values = "page.html", content.page(results, judgements, shown)
    first, others = _first(figures, values["headline"].figures)
    return str(
        _template(template).render(
            values,
            first=first,
            figures=others,
            left_out=[chart.title for chart in chosen if chart.name not in names],
            command=COMMAND,
            styled=OWN_STYLES.findall(_plotly()),
            **_own_text(),
        )
    )


def _own_text() -> dict[str, str]:
    """Return the scripts and styles of the page, and a policy that allows them and no others."""
    scripts = {"plotly": _plotly(), "script": _resource("page.js")}
    styles = {"style": _resource("page.css"), "without_script": WITHOUT_SCRIPT}
    sources = {
        "default-src": ["'none'"],
        "script-src": map(_source, scripts.values()),
        # Plotly makes an empty style element, which it then fills rule by rule
        "style-src": map(_source, (*styles.values(), "")),
        # browsers take hashes of attributes with this word only
        "style-src-attr": ["'unsafe-hashes'", *map(_source, ATTRIBUTES)],
        "img-src": ["data:", "blob:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    policy = "; ".join(f"{name} {' '.join(allowed)}" for name, allowed in sources.items())
    return scripts | styles | {"policy": policy}


def _source(text: str) -> str:
    """Return how a policy names an inline script or style: by its hash."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _figures(chosen: list[Chart]) -> list[dict[str, Any]]:
    """Return the charts for the template; if too large, points and then charts are dropped.

    The points of heat maps cannot be reduced. Heat maps are removed last, because each replaces
    many lines.
    """
    figures = [_figure(chart) for chart in chosen]
    most = MOST_POINTS
    while sum(map(_size, figures)) > MOST_BYTES and most > FEWEST_POINTS:
        most //= 2
        said = f" On this page lines and dots are thinned to {most} points each."
        figures = [
            _figure(replace(chart.thinned(most), caption=chart.caption + said))
            if chart.lines
            else figure
            for chart, figure in zip(chosen, figures, strict=True)
        ]
    while sum(map(_size, figures)) > MOST_BYTES:
        figures.remove(max(figures, key=lambda one: (one["scale"] is None, _size(one))))
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
                return _figure(part) | {"whole": chart}, figures
    return None, figures


def _size(figure: dict[str, Any]) -> int:
    """Return about how many characters a figure has on the page, with its table."""
    return len(figure["json"]) + 200 * len(figure["numbers"])


def _figure(chart: Chart) -> dict[str, Any]:
    panels = [{"title": panel.title, **panel_figure(chart, panel)} for panel in chart.panels]
    return {
        "chart": chart,
        "whole": None,
        "json": _json({"panels": panels, "reference": chart.reference}),
        "entries": [
            {"name": name, "colour": line.style.colour, "dash": line.style.dash,
             "marker": line.style.marker, "joined": line.joined}
            for name, line in chart.legend.items()
        ],
        "scale": None if chart.scale is None else {
            "label": chart.scale.label, "ticks": chart.scale.ticks(), "colours": COLOURS,
        },
        "has_steps": any(not panel.ticks for panel in chart.panels),
        "numbers": chart.numbers(),
    }  # fmt: skip


def _json(value: Any) -> str:
    """Return JSON that is safe inside a <script>, because nothing in it can end the script."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _template(name: str) -> Any:
    jinja = require("jinja2")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja.FunctionLoader(_resource),
    )  # fmt: skip
    environment.filters |= {
        "levels": content.levels, "number": content.number, "up": up,
        "unbroken": lambda markup: type(markup)(content.unbroken(markup)),
    }  # fmt: skip
    return environment.get_template(name)


def _resource(name: str) -> str:
    return files("neurotron.report").joinpath(name).read_text("utf-8")


def _plotly() -> str:
    """Return the script of the charting library, which the page contains once."""
    return str(require("plotly.offline").get_plotlyjs()).replace("</script", r"<\/script")
