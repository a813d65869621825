"""The page of a folder of results: what it says, and how it and the pictures are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron._digits import cell, counted
from neurotron._references import code_allowed
from neurotron._registry import own_names
from neurotron._text import shorten
from neurotron.lab.claims.catalog import OF_ANY_STUDY, evaluate
from neurotron.lab.claims.catalog import write as write_verdicts
from neurotron.lab.claims.model import MARKS, Judgement, tally
from neurotron.lab.figures.chart import MOST_POINTS, Chart
from neurotron.lab.figures.collection import charts
from neurotron.lab.pages import pictures
from neurotron.lab.pages.frame import figure_of, render, size_of
from neurotron.lab.pages.headline import Headline
from neurotron.lab.pages.writing import to_toml
from neurotron.lab.results.results import Results, called, load
from neurotron.lab.results.text_table import TextTable

PAGE = "report.html"
COMMAND = "neurotron report FOLDER --figures"
"""Draws the figures for print."""
MOST_BYTES = 2_600_000
"""Of all figures and their tables: with the charting library, a page of less than 8 MB."""
FEWEST_POINTS = 20
MOST_FIRST = 6
"""Panels of the figure on the first screen."""
MOST_ROWS = 300
"""Of a table: the rest is in the folder."""
MOST_TOML = 100_000
MOST_OF_A_NUMBER = 24
"""Characters of a number or a range of numbers in a table."""
FIRST = "first-figure"
"""The name of that figure, if it is part of one."""


def report(folder: str | Path, *, allow_code: bool = False) -> list[Judgement]:
    """Judge the claims of the study in a folder, and write claims.json and report.html there.

    Parameters
    ----------
    folder
        The folder that `neurotron run` or `nt.lab.run` has written.
    allow_code
        Whether claims and charts may be imported that the folder names and this process has not
        given to a study itself. Allow it only for folders that you trust.

    Returns
    -------
    list of Judgement
        The verdict on each claim.
    """
    _check.instance("allow_code", allow_code, bool)
    results = load(folder)
    with code_allowed(results.spec["code"]) if allow_code else nullcontext():
        judgements = evaluate(results)
        write_verdicts(results, judgements)
        write(results, judgements)
    return judgements


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
    values = _content(results, judgements, shown)
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
            if chart.scale is None
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


def _content(results: Results, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return what the page of any study says, as plain values for its template."""
    spec = results.spec
    about = bool({*spec["claims"]} - {*OF_ANY_STUDY})
    listed = tables(results)
    return {
        "headline": _headline(results, judgements),
        "title": spec["title"] or spec["name"],
        "spec": spec,
        "units": counted([sum(results.replicates.values())], "unit"),
        "replicates": counted(results.replicates.values(), "replicate"),
        "verdicts": _verdicts(judgements, {chart.name: chart for chart in charts}, listed),
        "untested": sum(not judgement.conclusive for judgement in judgements),
        "count": tally([judgement for judgement in judgements if judgement.conclusive]),
        "names_sources": about and any(judgement.claim.source for judgement in judgements),
        "tables": [_shown(table) for table in listed],
        "failures": first(results.failures),
        "damaged": first(results.damaged),
        "incomplete": first(_incomplete(results)),
        "wanted": sum(results.asked.values()) if results.folder.events() else 0,
        "toml": _toml(results),
        "names_code": not all(name.startswith("neurotron.") for name in own_names(results.spec)),
        "environment": results.folder.manifest["environment"],
        "study_hash": results.folder.manifest["study"],
        "computed": _computed(results),
    }


def tables(results: Results) -> list[TextTable]:
    """Return the tables of the results of any study: those that its functions return."""
    found = []
    for name in results.spec["tables"]:
        table = called(name, results)
        if table is not None:
            found.append(_check.instance(f"the result of {name}", table, TextTable))
    if not any(table.name == "settings" for table in found):
        found.append(_settings(results))
    return found


def _settings(results: Results) -> TextTable:
    """Return the settings of a study, with the keys that its function gets."""
    keys = dict.fromkeys(
        key for one in results.settings.values() for key in one if key not in ("name", "title")
    )
    rows = [
        (results.titles[name], *(_short(one.get(key)) for key in keys), results.replicates[name])
        for name, one in results.settings.items()
    ]
    columns = ("setting", *keys, "computed replicates")
    return TextTable("settings", "The settings", columns, rows, on_terminal=False)


def _short(value: Any) -> Any:
    """Return a value of a setting as a table shows it."""
    if isinstance(value, dict | list):
        return shorten(json.dumps(value, ensure_ascii=False), 200)
    return value


def _shown(table: TextTable) -> dict[str, Any]:
    """Return a table as the template takes it: columns of short cells are aligned like numbers."""
    texts = [[cell(value) for value in row] for row in table.rows]
    columns = zip(*(row for row in texts if len(row) > 1), strict=True)
    short = [all(len(one) <= MOST_OF_A_NUMBER for one in column) for column in columns]
    return {"table": table, "short": short or [False] * len(table.columns), **first(texts)}


def _headline(results: Results, judgements: list[Judgement]) -> Headline:
    """Return what the results show, in the words of the study or by its verdicts."""
    if results.spec["headline"] is not None:
        name = results.spec["headline"]
        return _check.instance(f"the result of {name}", called(name, results), Headline)
    said = tally([judgement for judgement in judgements if judgement.conclusive])
    return Headline(said or results.spec["title"] or results.spec["name"])


def first(rows: Sequence[Any]) -> dict[str, Any]:
    """Return as many rows as a table shows, and how many more there are."""
    return {"rows": rows[:MOST_ROWS], "more": max(0, len(rows) - MOST_ROWS)}


def _toml(results: Results) -> str:
    """Return the study as a file, if it is short enough to be on the page."""
    text = to_toml(results.spec, max(results.asked.values()))
    return text if len(text) <= MOST_TOML else ""


def _incomplete(results: Results) -> list[str]:
    """Return the settings with fewer replicates than others, or than were asked for."""
    wanted = results.asked
    return [
        f"{results.titles[name]}: {count:,} of {wanted[name]:,} replicates"
        for name, count in results.replicates.items()
        if count < wanted[name]
    ]


def _verdicts(
    judgements: list[Judgement], charts: dict[str, Chart], listed: list[TextTable]
) -> list[dict[str, Any]]:
    """Return the claims that the results test, each with the figures and tables that show it."""
    there = {table.name for table in listed}
    return [
        {
            "claim": judgement.claim,
            "short": judgement.claim.short or judgement.claim.statement,
            "statement": judgement.claim.statement if judgement.claim.short else "",
            "verdict": judgement.verdict,
            "effect": judgement.effect,
            "findings": judgement.findings,
            "mark": MARKS[judgement.verdict],
            "kind": judgement.verdict.replace(" ", "-"),
            "charts": [charts[name] for name in judgement.claim.figures if name in charts],
            "section": judgement.claim.section if judgement.claim.section in there else "",
        }
        for judgement in judgements
        if judgement.conclusive
    ]


def _computed(results: Results) -> dict[str, Any]:
    """Return when, where and for how long it was computed, as far as runs.jsonl records it."""
    events = results.folder.events()
    times = sorted(str(event["time"]) for event in events if "time" in event)
    machines = sorted({str(event["machine"]) for event in events if event.get("machine")})
    seconds = [event["seconds"] for event in events if isinstance(event.get("seconds"), float)]
    return {
        "first": times[0] if times else "",
        "last": times[-1] if times else "",
        "machines": machines,
        "seconds": f"{sum(seconds):,.0f}" if seconds else "",
    }
