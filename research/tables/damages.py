"""The results of a study of public tables: what attacks on labels cost each method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from neurotron.lab.results.manifest import DAMAGING
from neurotron.lab.results.shard import Damaged
from neurotron.lab.results.stored import (
    Stored,
    damaged_lines,
    empty,
    located,
    opened,
    tables_of,
    typed,
)
from neurotron.lab.results.summary import Interval

__all__ = [
    "CASE", "CELL", "SHIFTS", "Damages", "attacks_of", "cells_of", "load_damages", "methods_of",
    "middle", "sound_damages",
]  # fmt: skip

CASE = ("setting", "attack", "shift", "probability")
"""The columns that the fits to the same labels share."""
CELL = (*CASE, "method")
SCHEMA: dict[str, Any] = {
    "attack": pl.String,
    "shift": pl.Float64,
    "probability": pl.Float64,
    "method": pl.String,
    "rows": pl.Int64,
    "repeated": pl.Float64,
    "tampered": pl.Int64,
    "reference": pl.Float64,
    "error": pl.Float64,
    "mixture": pl.Boolean,
}
SHIFTS = ("one-side", "random-sign")
"""The attacks that move labels by a number of standard deviations; others replace labels."""
TAIL = 0.025
"""The probability with which an interval of a median may lie on one side of it."""


@dataclass(frozen=True, eq=False)
class Damages(Stored):
    """The results of a study of public tables, from `load_damages`.

    Attributes
    ----------
    folder
        The folder of results with its manifest.
    damaged
        Damaged shards that were left out, with the reason. Run the study again to compute them.
    fits
        One row per fit: setting, replicate (the number of the split), attack, shift, probability,
        method, rows (that were fitted), repeated (the largest share of them with the same honest
        label), tampered (how many labels were changed), reference (the error of least squares
        without an attack, on the same test rows), error (of the method, infinite if it cannot be
        fitted), and for `NeuroTronRegressor` whether it assumed a mixture.
    """

    fits: pl.DataFrame

    @cached_property
    def replicates(self) -> dict[str, int]:
        """The number of complete replicates of each setting."""
        return self.replicates_in(self.fits)

    @cached_property
    def leads(self) -> dict[str, str]:
        """The first method of each setting, with which the others are compared."""
        return {
            setting["name"]: methods_of(self.spec, setting)[0] for setting in self.spec["settings"]
        }

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

    def __repr__(self) -> str:
        units = self.fits.select("setting", "replicate").n_unique() if len(self.fits) else 0
        return (
            f"Damages of {self.spec['name']!r}: {len(self.spec['settings'])} tables, "
            f"{units} splits, {len(self.fits)} fits"
        )


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


def load_damages(folder: str | Path) -> Damages:
    """Return the results in a folder of a study of public tables.

    Damaged shards are left out and listed in `Damages.damaged`.

    Parameters
    ----------
    folder
        The folder that `studies.run` or `neurotron run` has written.
    """
    held = opened(folder, DAMAGING, "public tables")
    spec = held.manifest["spec"]
    tables, damaged = tables_of(held, lambda name, table: sound_damages(spec, name, table))
    fits = pl.concat([empty(**SCHEMA), *located(tables)])
    return Damages(held, damaged_lines(held, damaged), fits)


def sound_damages(spec: dict[str, Any], setting: str, table: pl.DataFrame) -> pl.DataFrame:
    """Return the table of a unit with the types of `SCHEMA`; raise `Damaged` if it is not valid."""
    table = typed(table, SCHEMA, "a public table")
    possible = (
        (table["error"] >= 0.0)
        & table["error"].is_not_nan()
        & (table["reference"] > 0.0)
        & table["reference"].is_finite()
    )
    if any(table.drop("mixture").null_count().row(0)) or not possible.all():
        raise Damaged("it has a value that no fit can have")
    if table.select(*CELL[1:]).rows() != cells_of(spec, setting):
        raise Damaged("its attacks or methods are not those of the study")
    return table


def cells_of(spec: dict[str, Any], setting: str) -> list[tuple[str, float, float, str]]:
    """Return the attacks and the methods of a setting, each pair once, in their order.

    The study is given by plain values, as a manifest has it.
    """
    (chosen,) = (one for one in spec["settings"] if one["name"] == setting)
    attacks = [attack for sweep in chosen["sweeps"] for attack in attacks_of(sweep)]
    methods = methods_of(spec, chosen)
    return list(dict.fromkeys((*attack, method) for attack in attacks for method in methods))


def methods_of(spec: dict[str, Any], setting: dict[str, Any]) -> list[str]:
    """Return the labels of the methods of a setting, which is one of the study's."""
    return list(setting["methods"] or spec["methods"])


def attacks_of(sweep: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return the attack of a sweep at each share of the labels: its name, its shift, the share."""
    if sweep["attack"] == "none":
        return [("none", 0.0, 0.0)]
    shift = sweep["shift"] if sweep["attack"] in SHIFTS else 0.0
    return [(sweep["attack"], shift, share) for share in sweep["probability"]]
