"""From tables to findings: one for each case of a table, over its replicates.

A table has the columns `case` (where), `replicate` and `value`. Where it has the columns `group`
and `as_published`, findings have them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from neurotron._intervals import Interval
from neurotron._types import Array
from neurotron.lab.claims.model import Finding
from neurotron.lab.results.results import once
from neurotron.lab.results.summary import bootstrap, rate
from neurotron.lab.training.summary import longest

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

ATTACK = "alternating-sign"
"""The attack of Table 1."""
ATTACKED = pl.col("bound") * pl.col("probability") > 0.0
OURS = pl.col("algorithm") == "neuro-tron"
MEDIAN = partial(pl.Expr.quantile, quantile=0.5, interpolation="equiprobable")
"""The median as `neurotron.lab.median` has it, which is one of the values."""

Holds = Callable[[Interval], bool | None]


def titled(results: Runs, runs: pl.DataFrame, *also: str) -> pl.DataFrame:
    """Return runs whose case is the title of their setting, and further columns."""
    title = pl.col("setting").replace_strict(results.titles, return_dtype=pl.String)
    return runs.with_columns(case=pl.concat_str(title, *also, separator=", "))


@once
def table1(results: Runs) -> pl.DataFrame:
    """Return the columns of Table 1: settings where Neuro-Tron meets its attack at three bounds.

    Of each algorithm there is the first trainer only.
    """
    runs = titled(results, results.runs.filter(attack=ATTACK))
    first = pl.col("trainer") == pl.col("trainer").first().over("setting", "algorithm")
    runs, found = runs.filter(first), []
    for _, group in runs.group_by("setting", maintain_order=True):
        if len(longest(levels_met(group.filter(OURS)), 0)) >= 3:
            found.append(group)
    return pl.concat([runs.clear(), *found])


def levels_met(runs: pl.DataFrame) -> list[tuple[float, float]]:
    """Return the levels (θ, β) of runs, in order."""
    return sorted(runs.select("bound", "probability").unique().iter_rows())


def finding(case: str, measure: str, values: Array, holds: Holds, **more: Any) -> list[Finding]:
    """Return the finding of the median of independent values; none if there are no values."""
    if not len(values):
        return []
    found = bootstrap(values)
    return [Finding.of(case, measure, found, len(values), holds=holds(found), **more)]


def medians(
    table: pl.DataFrame, measure: str, holds: Holds, by: Sequence[str] = ()
) -> list[Finding]:
    """Return a finding for each case: the median over replicates of the median of each.

    Values that are null or NaN do not count. If `by` is given, a case is split by more columns.
    """
    found, known = [], table.filter(pl.col("value").is_not_nan())
    for (case, *_), group in known.group_by("case", *by, maintain_order=True):
        each = group.group_by("replicate").agg(MEDIAN(pl.col("value"))).sort("replicate")
        more = {name: group[name][0] for name in ("group", "as_published") if name in group.columns}
        found += finding(str(case), measure, each["value"].to_numpy(), holds, **more)
    return found


def largest(table: pl.DataFrame, measure: str, holds: Callable[[float], bool]) -> list[Finding]:
    """Return a finding for each case about every run: whether it holds for the largest value.

    The measure may have ``{most}`` for it, and ``{total}`` for the number of runs.
    """
    found = []
    for (case,), group in table.group_by("case", maintain_order=True):
        values, most = group["value"].to_numpy(), float(group["value"].max())  # type: ignore[arg-type]
        found.append(
            Finding.of(str(case), measure.format(most=most, total=len(values)), bootstrap(values),
                       group["replicate"].n_unique(), holds=holds(most), worst=most,
                       total=len(values))
        )  # fmt: skip
    return found


def none_above(
    table: pl.DataFrame,
    measure: str,
    excused: Callable[[pl.DataFrame, Array], bool] = lambda group, misses: False,
) -> list[Finding]:
    """Return a finding for each case: the share of replicates with a value above 1.

    Values that are null do not count. The measure may have ``{most}`` and ``{total}``. If
    `excused(group, misses)`, with the number of misses of each replicate, the case is undecided.
    """
    found = []
    for (case,), group in table.group_by("case", maintain_order=True):
        total = group["value"].count()
        if not total:
            continue
        most = float(group["value"].max())  # type: ignore[arg-type]
        above = group.group_by("replicate").agg((pl.col("value") > 1.0).sum())
        misses = above["value"].to_numpy()
        holds = None if most > 1.0 and excused(group, misses) else most <= 1.0
        found.append(
            Finding.of(str(case), measure.format(most=most, total=total),
                       rate(int((misses > 0).sum()), len(misses)), len(misses), holds=holds,
                       worst=most, count=int(misses.sum()), total=total)
        )  # fmt: skip
    return found
