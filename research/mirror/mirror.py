"""Claims of the study `mirror`: which trainer recovers the filter, and which ends at −w*."""

from __future__ import annotations

from typing import Any

import polars as pl

from neurotron.lab import Interval, rate
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Phrase
from neurotron.lab.claims.model import Claim, Finding, above
from neurotron.lab.results.results import once
from neurotron.lab.training.runs import Runs

OFTEN = 0.9
"""The share of networks that a trainer must recover to do so as a rule."""


@once
def _ends(results: Runs) -> list[tuple[str, pl.DataFrame]]:
    """Return, for every law, a table of where Neuro-Tron and SGD ended on each network.

    A network counts once: with the first of each algorithm, at the first level that both meet.
    """
    runs = results.runs.filter(pl.col("bound") * pl.col("probability") > 0.0)
    level, tables = ["replicate", "attack_text", "bound", "probability"], []
    for (setting,), group in runs.group_by("setting", maintain_order=True):
        ours, theirs = (
            group.filter(algorithm=name).select(*level, "outcome") for name in ("neuro-tron", "sgd")
        )
        both = ours.join(theirs, on=level, suffix="_sgd", maintain_order="left_right")
        if len(both):
            once = both.unique("replicate", keep="first", maintain_order=True)
            tables.append((results.titles[str(setting)], once))
    return tables


def _count(rows: Any) -> int:
    return int(rows.sum())


def recovers(results: Runs) -> list[Finding]:
    """Count the networks on which Neuro-Tron recovers the filter."""
    findings = []
    for title, ends in _ends(results):
        recovered, total = _count(ends["outcome"] == "recovered"), len(ends)
        found = rate(recovered, total)
        measure = f"share of networks on which Neuro-Tron recovers w* (above {100.0 * OFTEN:g} %)"
        findings.append(
            Finding.of(title, measure, found, total, holds=above(OFTEN, found),
                       count=recovered, total=total)
        )  # fmt: skip
    return findings


def more_often(results: Runs) -> list[Finding]:
    """Count, among the networks that only one of the two recovers, those that Neuro-Tron does."""
    findings = []
    for title, ends in _ends(results):
        ours, theirs = (ends[name] == "recovered" for name in ("outcome", "outcome_sgd"))
        only_ours, only_theirs = _count(ours & ~theirs), _count(theirs & ~ours)
        differ = only_ours + only_theirs
        measure = (
            f"of {differ} networks that only one of Neuro-Tron and SGD recovers, the share that "
            f"Neuro-Tron does (above 1/2); SGD recovers {_count(theirs)} of {len(ends)}"
        )
        found = rate(only_ours, differ) if differ else Interval(0.5, 0.0, 1.0)  # nothing decides
        findings.append(
            Finding.of(title, measure, found, len(ends), holds=above(0.5, found),
                       count=only_ours, total=differ)
        )  # fmt: skip
    return findings


def ends_at_mirror(results: Runs) -> list[Finding]:
    """Count where SGD ended on the networks that it did not recover, for all laws together."""
    ends = [table["outcome_sgd"] for _, table in _ends(results)]
    lost = sum(_count(outcomes != "recovered") for outcomes in ends)
    if not lost:
        return []
    mirrored = sum(_count(outcomes == "mirror") for outcomes in ends)
    found = rate(mirrored, lost)
    measure = (
        "share of the networks that SGD does not recover on which it ends in the direction of −w*, "
        "with a cosine above ½ (above 1/2)"
    )
    holds = above(0.5, found)
    return [Finding.of("all laws", measure, found, lost, holds=holds, count=mirrored, total=lost)]


# ---- the claims

neuro_tron_recovers = Claim(
    "neuro-tron-recovers",
    f"Neuro-Tron recovers the filter on more than {100.0 * OFTEN:g} % of the networks.",
    of_runs(recovers),
    short="Neuro-Tron finds w* on over 90 % of networks",
    phrase=Phrase("w* is found on {count} of {total} networks"),
    figures=("mirror-filter",),
)
more_often_than_sgd = Claim(
    "more-often-than-sgd",
    "Neuro-Tron recovers the filter on more networks than SGD does.",
    of_runs(more_often),
    short="Neuro-Tron finds w* more often than SGD",
    phrase=Phrase(
        "on {count} of {replicates} networks only Neuro-Tron finds w*, on {rest} only SGD"
    ),
    figures=("mirror-filter",),
)
sgd_ends_at_mirror = Claim(
    "sgd-ends-at-mirror",
    "Where SGD does not recover the filter, it mostly ends in the direction of its mirror "
    "image −w*.",
    of_runs(ends_at_mirror),
    short="Where SGD fails, it goes towards −w*",
    phrase=Phrase(
        "in the direction of −w* on {count} of the {total} networks that SGD does not recover"
    ),
    figures=("mirror-filter",),
)
