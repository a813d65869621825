"""What all pages share: their template, their figures, and the policy that lets nothing else in."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from neurotron._digits import cell, up
from neurotron._extras import require
from neurotron.lab.figures.chart import Chart
from neurotron.lab.figures.render_plotly import panel_figure

WITHOUT_SCRIPT = "#theme, .controls, .hint, .panels { display: none }"
OWN_STYLES = re.compile(
    r'getElementById\("(\w{64})"\)\)\{var \w=document\.createElement\("style"\)'
)
"""The name by which Plotly looks for a style of maps: if nothing is called so, it adds that."""
ATTRIBUTES = ("font-size:70%", "font-weight:bold")
"""The style attributes that Plotly sets: of exponents at axes, of names in labels of points."""
VERBATIM_OR_TEXT = re.compile(r"<(script|pre|code)\b.*?</\1>|(?<=>)[^<]+", re.S)
UNIT = re.compile(r"(?<=\d) (?=[%×])|(?<=\(\d,) (?=\d\))")
EQUALS = re.compile(r"(?<=\w) ([=≤]) (?=[\d−])")
"""Blanks around which no line may end."""


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a page as text: a template of this folder, filled with values that are escaped."""
    return str(
        _template(template).render(values, styled=OWN_STYLES.findall(plotly()), **_own_text())
    )


def _own_text() -> dict[str, str]:
    """Return the scripts and styles of the page, and a policy that allows them and no others."""
    scripts = {"plotly": plotly(), "script": _resource("page.js")}
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


def size_of(figure: dict[str, Any]) -> int:
    """Return about how many characters a figure has on the page, with its table."""
    return len(figure["json"]) + 200 * len(figure["numbers"])


def figure_of(chart: Chart) -> dict[str, Any]:
    """Return a chart as the template takes it: its panels for Plotly, its legend, its numbers."""
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
        "scale": chart.scale,
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
        "number": cell, "up": up,
        "unbroken": lambda markup: type(markup)(unbroken(markup)),
    }  # fmt: skip
    return environment.get_template(name)


def unbroken(markup: str) -> str:
    r"""Return markup in whose text no line ends between a number and its unit, or around "=".

    Scripts, code and files are left as they are.

    >>> unbroken("<p id='a = 1'>β = 1, 95 % of N(0, 1)</p><code>a = 1</code>")
    "<p id='a = 1'>β\xa0=\xa01, 95\xa0% of N(0,\xa01)</p><code>a = 1</code>"
    """

    def glued(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        return EQUALS.sub("\u00a0\\1\u00a0", UNIT.sub("\u00a0", found[0]))

    return VERBATIM_OR_TEXT.sub(glued, markup)


def _resource(name: str) -> str:
    return files("neurotron.lab.pages").joinpath(name).read_text("utf-8")


def plotly() -> str:
    """Return the script of the charting library, which the page contains once."""
    return str(require("plotly.offline").get_plotlyjs()).replace("</script", r"<\/script")
