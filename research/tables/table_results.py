"""The damages of the study: what attacks on labels cost each method."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from neurotron.lab import Interval, Results

CASE = ("setting", "attack", "shift", "probability")
"""The columns that the fits to the same labels share."""
CELL = (*CASE, "method")
TAIL = 0.025
"""The probability with which an interval of a median may lie on one side of it."""
NUMBERS = ("damage", "damage_low", "damage_high", "largest", "more_low", "more_high")
SCHEMA: dict[str, Any] = (
    dict.fromkeys(("setting", "attack"), pl.String)
    | dict.fromkeys(("shift", "probability"), pl.Float64)
    | {"method": pl.String, "splits": pl.Int64, "mixtures": pl.Int64}
    | dict.fromkeys(NUMBERS, pl.Float64)
)


class Damages:
    """One row per fit, and what follows from them."""

    def __init__(self, results: Results) -> None:
        self.results, self.fits, self.titles = results, results.table, results.titles
        self.methods = {name: one["methods"] for name, one in results.settings.items()}
        """The methods of each setting: label and estimator."""
        self.leads = {name: next(iter(methods)) for name, methods in self.methods.items()}
        """The first method of each setting, with which the others are compared."""
        self.texts = {label: text for one in self.methods.values() for label, text in one.items()}

    @cached_property
    def damages(self) -> pl.DataFrame:
        """The fits with their damage, and how much more it is than that of the first method.

        The `damage` is the error divided by that of least squares without an attack, minus one.
        `more` is the damage minus that of the first method on the same labels.
        """
        keys = [*CASE, "replicate"]
        table = self.fits.with_columns(damage=pl.col("error") / pl.col("reference") - 1.0)
        leads = pl.DataFrame(
            {"setting": [*self.leads], "method": [*self.leads.values()]},
            schema={"setting": pl.String, "method": pl.String},
        )
        lead = table.join(leads, on=["setting", "method"]).select(*keys, lead="damage")
        more = (pl.col("damage") - pl.col("lead")).fill_nan(0.0)  # if neither can be fitted
        return table.join(lead, on=keys, how="left", maintain_order="left").with_columns(more=more)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Return the medians over the splits: one row per table, attack, share and method.

        `damage` is a median with its interval, and `largest` is the largest damage. From `more_low`
        to `more_high` is the interval of the median of how much more damage a method has than the
        first one on the same split. `mixtures` is the number of splits in which the first method
        assumes an attack that hides in the noise.
        """
        rows = []
        for cell, group in self.damages.group_by(CELL, maintain_order=True):
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
            [{"setting": setting, "method": method} for setting, method in self.leads.items()]
        )
        of_lead = pl.when(leads).then(pl.col("mixtures")).otherwise(0).max().over(CASE)
        return table.with_columns(mixtures=of_lead)


def middle(values: npt.ArrayLike) -> Interval:
    """Return the median of values with its 95 % interval, which supposes no law of the values.

    The ends of the interval are the values of one rank from below and from above, as far inside as
    the binomial law allows. Of fewer than six values, the interval has no ends.

    >>> middle(range(1, 21))
    Interval(estimate=10.5, low=6.0, high=15.0)
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(values, np.float64))
    count = len(ordered)
    rank = int(np.searchsorted(bdtr(np.arange(count), count, 0.5), TAIL, side="right"))
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (-np.inf, np.inf)
    centre = ordered[(count - 1) // 2], ordered[count // 2]
    median = centre[0] if centre[0] == centre[1] else 0.5 * (centre[0] + centre[1])
    return Interval(float(median), float(low), float(high))


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


def compact_csv(found: Results) -> str:
    """Return the summary as CSV: one line for each table, attack and share, in per cent.

    It has the columns of all methods, as in "damage: Huber". A method that is not fitted to a table
    has empty cells.
    """
    results = Damages(found)
    table = results.summary
    keys = (*CASE, "splits", "mixtures")
    methods = [name for name in results.texts if name in set(table["method"])]
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
