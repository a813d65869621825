"""What the page says, as plain values for its template."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from neurotron._digits import counted
from neurotron.lab.claims.catalog import CLAIMS, OF_ANY_STUDY, PAPER
from neurotron.lab.claims.judging import departure
from neurotron.lab.claims.model import MARKS, PUBLISHED_CODE_ONLY, tally
from neurotron.lab.figures.chart import Chart
from neurotron.lab.report.headline import Rivalry, headline, rivalry
from neurotron.lab.results.summary import (
    OUTCOMES,
    certified,
    distinct_runs,
    outcomes_by_trainer,
    rate,
)
from neurotron.lab.studies.spec import MISSES
from neurotron.lab.studies.writing import to_toml

if TYPE_CHECKING:
    from neurotron.lab.claims import Judgement
    from neurotron.lab.results.loading import AnyResults
    from neurotron.lab.results.tables import Results

__all__ = ["first", "levels", "number", "of_any", "page"]

MOST_ROWS = 300
"""Of a table: the rest is in the folder."""
MOST_TOML = 100_000
VERIFIED = f"{100.0 * (1.0 - MISSES):g} %"
"""The confidence of a verified radius."""
VERBATIM_OR_TEXT = re.compile(r"<(script|pre|code)\b.*?</\1>|(?<=>)[^<]+", re.S)
UNIT = re.compile(r"(?<=\d) (?=[%×])|(?<=\(\d,) (?=\d\))")
EQUALS = re.compile(r"(?<=\w) ([=≤]) (?=[\d−])")
"""Blanks around which no line may end."""


def page(results: Results, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return the content of the page of training runs, except its figures and style."""
    return of_any(results, judgements, charts) | {
        "headline": headline(results),
        "story": _story(rivalry(results), judgements),
        "about_paper": _names_any(results, {claim.name for claim in PAPER}),
        "outcomes": first(outcomes_by_trainer(results)),
        "titles": results.titles,
        "steps": counted(_own(results, "steps"), "step"),
        "replicates_of": results.replicates,
        "outcome_names": OUTCOMES,
        "certificates": _certificates(results),
        "verification": _verification(results),
    }


def of_any(results: AnyResults, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return the content that the pages of all kinds of studies have."""
    spec = results.spec
    return {
        "title": spec["title"] or spec["name"],
        "spec": spec,
        "units": counted([sum(results.replicates.values())], "unit"),
        "replicates": counted(results.replicates.values(), "replicate"),
        "verdicts": _verdicts(judgements, {chart.name: chart for chart in charts}),
        "departure": departure(results),
        "untested": sum(not judgement.conclusive for judgement in judgements),
        "count": tally([judgement for judgement in judgements if judgement.conclusive]),
        "story": None,
        "verification": None,
        "names_sources": _names_any(results, set(CLAIMS) - {claim.name for claim in OF_ANY_STUDY}),
        "settings": first(spec["settings"]),
        "failures": first(results.failures),
        "damaged": first(results.damaged),
        "incomplete": first(_incomplete(results)),
        "wanted": results.wanted,
        "toml": _toml(results),
        "environment": results.folder.manifest["environment"],
        "study_hash": results.folder.manifest["study"],
        "computed": _computed(results),
    }


def _names_any(results: AnyResults, names: set[str]) -> bool:
    return not names.isdisjoint(results.spec["claims"])


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


def number(value: float | None) -> str:
    """Return a number as a table shows it.

    >>> number(0.000123456), number(math.inf), number(None), number(0.5)
    ('0.000123', '∞', '', '0.5')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    return f"{value:.3g}"


def levels(values: Sequence[float]) -> str:
    """Return the levels of a sweep as text of at most one line.

    >>> levels([0.5, 1.0])
    '0.5, 1'
    """
    words = [number(value) for value in values]
    if len(words) > 20:
        words[10:-3] = [f"… ({len(words)} in all) …"]
    return ", ".join(words)


def first(rows: Sequence[Any]) -> dict[str, Any]:
    """Return as many rows as a table shows, and how many more there are."""
    return {"rows": rows[:MOST_ROWS], "more": max(0, len(rows) - MOST_ROWS)}


def _toml(results: AnyResults) -> str:
    """Return the study as a file, if it is short enough to be on the page."""
    text = to_toml({**results.spec, "replicates": _asked_of_study(results)})
    return text if len(text) <= MOST_TOML else ""


def _asked(results: AnyResults, of_study: int) -> dict[str, int]:
    """Return the replicates of each setting if the study asks for so many."""
    return {
        one["name"]: min(of_study, one.get("replicates") or of_study)
        for one in results.spec["settings"]
    }


def _asked_of_study(results: AnyResults) -> int:
    """Return the number of replicates that the study was last asked for, as far as is known."""
    most, wanted = max(1, *results.replicates.values()), results.wanted
    units = partial(_asked, results)
    return max(most, bisect_left(range(wanted), wanted, key=lambda n: sum(units(n).values())))


def _incomplete(results: AnyResults) -> list[str]:
    """Return the settings with fewer replicates than others, or than were asked for."""
    counts, wanted = results.replicates, _asked(results, _asked_of_study(results))
    return [
        f"{results.titles[name]}: {count:,} of {wanted[name]:,} replicates"
        for name, count in counts.items()
        if count < wanted[name]
    ]


def _verdicts(judgements: list[Judgement], charts: dict[str, Chart]) -> list[dict[str, Any]]:
    """Return the claims that the results test, each with the figures that show it."""
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
        }
        for judgement in judgements
        if judgement.conclusive
    ]


def _story(pair: Rivalry | None, judgements: list[Judgement]) -> dict[str, str] | None:
    """Return the numbers for the paragraph about SGD, if these results support what it says."""
    verdicts = {judgement.claim.name: judgement.verdict for judgement in judgements}
    both = ("smaller-error-than-sgd", "faster-than-sgd")
    if pair is None or any(verdicts.get(name) != PUBLISHED_CODE_ONLY for name in both):
        return None
    if not pair.mirrored:
        return None
    interval = rate(pair.mirrored, pair.networks)
    return {
        "networks": f"{pair.networks:,}", "mirrored": f"{pair.mirrored:,}",
        "found": f"{pair.found:,}",
        "interval": f"{100.0 * interval.low:.0f} to {100.0 * interval.high:.0f} %",
    }  # fmt: skip


def _certificates(results: Results) -> dict[str, Any]:
    """Return what is certified, one statement per arm, and the arms without a certificate."""
    runs, sure = distinct_runs(results), certified(results)
    arm = ["setting", "trainer", "attack_text", "bound", "probability"]
    column = pl.col
    statements = (
        sure.group_by(arm, maintain_order=True)
        .agg(
            runs=pl.len(), least=column("radius").min(), largest=column("radius").max(),
            measured=column("error").max(), outside=(column("part") > 1.0).sum(),
        )
        .join(runs.group_by(arm).agg(of=pl.len()), on=arm, maintain_order="left")
        .to_dicts()
    )  # fmt: skip
    uncertain = runs.select(arm).unique(maintain_order=True).join(sure, on=arm, how="anti")
    silent = uncertain.group_by("setting", "trainer", maintain_order=True).len().iter_rows()
    return {
        "statements": first(statements),
        "silent": [
            (results.titles[setting], trainer, levels) for setting, trainer, levels in silent
        ],
        "confidence": f"{100.0 * (1.0 - results.spec['failure']):g} %",
        "theorem1": len(runs.filter(pl.col("theorem1_radius") < pl.col("initial_error"))),
        "runs": len(runs.filter(algorithm="neuro-tron")),
    }


def _verification(results: Results) -> dict[str, Any] | None:
    """Return what fresh rows prove about the runs, one row per setting and trainer.

    Runs that are the same may have been verified against different attackers, so all count.
    """
    column = pl.col
    asked = results.runs.filter(column("verified_radius").is_not_null(), status="finished")
    if not len(asked):
        return None
    proved = column("verified_radius").is_finite()
    rows = (
        asked.group_by("setting", "trainer", maintain_order=True)
        .agg(
            runs=pl.len(), verified=proved.sum(),
            least=column("verified_radius").filter(proved).min(),
            largest=column("verified_radius").filter(proved).max(),
            outside=(column("error") > column("verified_radius")).sum(),
        )
        .to_dicts()
    )  # fmt: skip
    fresh = counted(filter(None, _own(results, "verify")), "row")
    return {"rows": first(rows), "fresh": fresh, "confidence": VERIFIED}


def _own(results: Results, key: str) -> list[int]:
    """Return the number that each setting has of its own, or else the study's."""
    shared = results.spec.get(key, 0)
    return [one.get(key, shared) for one in results.spec["settings"]]


def _computed(results: AnyResults) -> dict[str, Any]:
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
