"""What attacks cost on public tables: medians over splits with intervals, and one small CSV."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from neurotron.lab.results.damages import CASE, CELL, Damages, middle
from neurotron.lab.results.sharing import once

__all__ = ["NUMBERS", "compact_damages_csv", "percent", "standing", "summarise_damages"]

NUMBERS = ("damage", "damage_low", "damage_high", "largest", "more_low", "more_high")
SCHEMA: dict[str, Any] = (
    dict.fromkeys(("setting", "attack"), pl.String)
    | dict.fromkeys(("shift", "probability"), pl.Float64)
    | {"method": pl.String, "splits": pl.Int64, "mixtures": pl.Int64}
    | dict.fromkeys(NUMBERS, pl.Float64)
)


@once
def summarise_damages(results: Damages) -> pl.DataFrame:
    """Return the medians over the splits: one row per table, attack, share and method.

    `damage` is a median with its interval, and `largest` is the largest damage. From `more_low` to
    `more_high` is the interval of the median of how much more damage a method has than the first
    one on the same split. `mixtures` is the number of splits in which the first method assumes an
    attack that hides in the noise.
    """
    rows = []
    for cell, group in results.damages.group_by(CELL, maintain_order=True):
        damage, more = (middle(group[name].to_numpy()) for name in ("damage", "more"))
        rows.append(
            dict(zip(CELL, cell, strict=True))
            | {"splits": len(group), "mixtures": int(group["mixture"].sum())}
            | {"damage": damage.estimate, "damage_low": damage.low, "damage_high": damage.high}
            | {"largest": float(group["damage"].max())}  # type: ignore[arg-type]
            | {"more_low": more.low, "more_high": more.high}
        )
    table = pl.DataFrame(rows, schema=SCHEMA)
    leads = pl.struct("setting", "method").is_in(
        [{"setting": setting, "method": method} for setting, method in results.leads.items()]
    )
    of_lead = pl.when(leads).then(pl.col("mixtures")).otherwise(0).max().over(CASE)
    return table.with_columns(mixtures=of_lead)


def standing(row: dict[str, Any]) -> str:
    """Return how a method stands to the first one: "less" damage, "more", or neither ("same")."""
    if row["more_high"] < 0.0:
        return "less"
    return "more" if row["more_low"] > 0.0 else "same"


def percent(share: float) -> str:
    """Return a share in per cent, with three digits and not more than two decimals.

    >>> percent(0.004567), percent(11.6049), percent(math.inf), percent(-0.00001)
    ('0.46', '1160', 'inf', '0')
    """
    if not math.isfinite(share):
        return str(share)
    return f"{round(float(f'{100.0 * share:.3g}'), 2) + 0.0:g}"


def compact_damages_csv(results: Damages) -> str:
    """Return the summary as CSV: one line for each table, attack and share, in per cent.

    It has the columns of all methods, as in "damage: Huber". A method that is not fitted to a table
    has empty cells.
    """
    table = summarise_damages(results)
    keys = (*CASE, "splits", "mixtures")
    methods = [name for name in results.spec["methods"] if name in set(table["method"])]
    columns = [*keys, *(f"{number}: {method}" for number in NUMBERS for method in methods)]
    lines = []
    for case, group in table.group_by(CASE, maintain_order=True):
        line: dict[str, str] = dict(zip(CASE, map(_short, case), strict=True))
        for row in group.iter_rows(named=True):
            line |= {name: str(row[name]) for name in ("splits", "mixtures")}
            line |= {f"{number}: {row['method']}": percent(row[number]) for number in NUMBERS}
        lines.append({name: line.get(name) for name in columns})
    return pl.DataFrame(lines, schema=dict.fromkeys(columns, pl.String)).write_csv()


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
