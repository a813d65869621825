"""What the page says, as plain values for its template."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import Any

from neurotron import _check
from neurotron._digits import cell, counted
from neurotron._registry import own_names
from neurotron._text import shorten
from neurotron.lab.claims.catalog import OF_ANY_STUDY
from neurotron.lab.claims.model import MARKS, Judgement, tally
from neurotron.lab.figures.chart import Chart
from neurotron.lab.pages.headline import Headline
from neurotron.lab.pages.writing import to_toml
from neurotron.lab.results.results import Results, called
from neurotron.lab.results.text_table import TextTable

__all__ = ["first", "page", "tables"]

MOST_ROWS = 300
"""Of a table: the rest is in the folder."""
MOST_TOML = 100_000
MOST_OF_A_NUMBER = 24
"""Characters of a number or a range of numbers in a table."""
VERBATIM_OR_TEXT = re.compile(r"<(script|pre|code)\b.*?</\1>|(?<=>)[^<]+", re.S)
UNIT = re.compile(r"(?<=\d) (?=[%×])|(?<=\(\d,) (?=\d\))")
EQUALS = re.compile(r"(?<=\w) ([=≤]) (?=[\d−])")
"""Blanks around which no line may end."""


def page(results: Results, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return the content of the page of any study, except its figures and style."""
    spec = results.spec
    about = bool({*spec["claims"]} - {claim.name for claim in OF_ANY_STUDY})
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
        "wanted": results.wanted,
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


def first(rows: Sequence[Any]) -> dict[str, Any]:
    """Return as many rows as a table shows, and how many more there are."""
    return {"rows": rows[:MOST_ROWS], "more": max(0, len(rows) - MOST_ROWS)}


def _toml(results: Results) -> str:
    """Return the study as a file, if it is short enough to be on the page."""
    text = to_toml(results.spec, _asked_of_study(results))
    return text if len(text) <= MOST_TOML else ""


def _asked(results: Results, of_study: int) -> dict[str, int]:
    """Return the replicates of each setting if the study asks for so many."""
    return {
        one["name"]: min(of_study, one.get("replicates") or of_study)
        for one in results.spec["settings"]
    }


def _asked_of_study(results: Results) -> int:
    """Return the number of replicates that the study was last asked for, as far as is known."""
    most, wanted = max(1, *results.replicates.values()), results.wanted
    units = partial(_asked, results)
    return max(most, bisect_left(range(wanted), wanted, key=lambda n: sum(units(n).values())))


def _incomplete(results: Results) -> list[str]:
    """Return the settings with fewer replicates than others, or than were asked for."""
    counts, wanted = results.replicates, _asked(results, _asked_of_study(results))
    return [
        f"{results.titles[name]}: {count:,} of {wanted[name]:,} replicates"
        for name, count in counts.items()
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
