"""Neuro-Tron against SGD: the one that the published code ran, and true SGD."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from neurotron.lab.claims.measuring import ATTACKED, OURS, medians, table1
from neurotron.lab.claims.model import Finding, below
from neurotron.lab.training.summary import steps_to

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = ["faster", "smaller_error"]

PUBLISHED, TRUE = "first-sample-sgd", "sgd"
ALL, BOTH = "in all runs", "where both recover"
GROUPS = {
    (PUBLISHED, BOTH): "the published SGD",
    (PUBLISHED, ALL): "the published SGD",
    (TRUE, BOTH): "true SGD where both find w*",
    (TRUE, ALL): "true SGD in all runs",
}
"""What is compared with: what the paper called SGD uses only the first sample of a batch."""
MET = ["replicate", "bound", "probability"]


def _compared(runs: pl.DataFrame, column: str, measure: str) -> list[Finding]:
    """Compare with both kinds of SGD: in all runs, and where both trainers recover the filter.

    Each replicate counts with its median over the levels of the attack.
    """
    findings = []
    settings = runs.filter(ATTACKED).partition_by("setting", maintain_order=True)
    for setting, (rival, where) in itertools.product(settings, GROUPS):
        theirs = setting.filter(algorithm=rival)
        pairs = setting.filter(OURS).join(theirs, on=MET, suffix="_sgd", maintain_order="left")
        if where == BOTH:
            pairs = pairs.filter(outcome="recovered", outcome_sgd="recovered")
        table = pairs.with_columns(
            case=pl.format("{} against {}, {}", "case", "trainer_sgd", pl.lit(where)),
            value=pl.col(column) / pl.col(f"{column}_sgd"),
            group=pl.lit(GROUPS[rival, where]),
            as_published=pl.lit(rival == PUBLISHED),
        )
        findings += medians(table, measure, partial(below, 1.0))
    return findings


def smaller_error(results: Runs) -> list[Finding]:
    """Divide final errors of Neuro-Tron by those of the rival."""
    return _compared(table1(results), "error", "error divided by that of SGD (below 1)")


def faster(results: Runs) -> list[Finding]:
    """Divide the steps of Neuro-Tron to a tenth of the initial error by those of the rival."""
    never = pl.col("steps").cast(pl.Float64).fill_null(float("inf"))
    reached = steps_to(results, "0.1×").with_columns(never)
    runs = table1(results).join(reached, on=["setting", "replicate", "arm"], maintain_order="left")
    measure = (
        "steps to a tenth of the initial error, divided by those of SGD (below 1; it is 0 if only "
        "SGD never gets there)"
    )
    return _compared(runs, "steps", measure)
