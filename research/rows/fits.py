"""The results of a study of rows: which solvers found the filter, from how many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from neurotron.lab.results.manifest import FITTING
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

__all__ = ["CELL", "ENOUGH", "SOLVED", "WRONG", "Fits", "cells_of", "load_fits", "sound_fits"]

SOLVED = 1e-10
"""A filter is found exactly if its error is at most this part of ‖w*‖."""
WRONG = 1e-6
"""A filter is wrong if its error is more than this part of ‖w*‖."""
ENOUGH = 0.95
"""A number of rows is enough if the filter is found exactly in this share of the problems."""

CELL = ("setting", "attack", "bound", "probability", "solver")
"""The columns that problems of one kind share; they differ in their rows."""
SCHEMA: dict[str, Any] = {
    "attack": pl.String,
    "bound": pl.Float64,
    "probability": pl.Float64,
    "solver": pl.String,
    "rows_per_weight": pl.Float64,
    "rows": pl.Int64,
    "tampered": pl.Int64,
    "error": pl.Float64,
    "starts": pl.Int64,
    "proven": pl.Int64,
}


@dataclass(frozen=True, eq=False)
class Fits(Stored):
    """The results of a study of rows as a table, from `load_fits`.

    Attributes
    ----------
    folder
        The folder of results with its manifest.
    damaged
        Damaged shards that were left out, with the reason. Run the study again to compute them.
    fits
        One row per fit: setting, replicate, attack, bound, probability, solver, rows_per_weight
        (N/r), rows (N), tampered (how many labels were changed), error (‖w − w*‖/‖w*‖, infinite if
        there is no filter), and for nt.solve also starts and proven (the number of tampered rows up
        to which the filter is proved to be w*).
    """

    fits: pl.DataFrame

    @cached_property
    def replicates(self) -> dict[str, int]:
        """The number of complete replicates of each setting."""
        return self.replicates_in(self.fits)

    @cached_property
    def noise(self) -> dict[str, float]:
        """The standard deviation of the honest noise in each setting."""
        return {setting["name"]: setting["noise"] for setting in self.spec["settings"]}

    @cached_property
    def exact(self) -> pl.DataFrame:
        """Whether the filter was found exactly: one row per problem and number of rows.

        This is only asked of settings without noise. A problem that was solved at two successive
        numbers of rows counts as solved at all larger ones.
        """
        sizes = pl.DataFrame(
            [
                {"setting": setting["name"], "rows_per_weight": ratio}
                for setting in self.spec["settings"]
                if setting["noise"] == 0.0
                for ratio in setting["rows_per_weight"]
            ],
            schema={"setting": pl.String, "rows_per_weight": pl.Float64},
        )
        keys = [*CELL, "replicate"]
        problems = self.fits.select(keys).unique(maintain_order=True)
        found = self.fits.select(*keys, "rows_per_weight", exact=pl.col("error") <= SOLVED)
        return (
            problems.join(sizes, on="setting", maintain_order="left_right")
            .join(found, on=[*keys, "rows_per_weight"], how="left", maintain_order="left")
            .with_columns(pl.col("exact").fill_null(value=True))
        )

    @cached_property
    def shares(self) -> pl.DataFrame:
        """How many problems were solved: one row per kind of problem and number of rows."""
        return self.exact.group_by(*CELL, "rows_per_weight", maintain_order=True).agg(
            problems=pl.len(), solved=pl.col("exact").sum().cast(pl.Int64)
        )

    @cached_property
    def smallest(self) -> pl.DataFrame:
        """The smallest N/r from which on 95 % of the problems are solved; null if there is none."""
        rows = []
        for cell, group in self.shares.group_by(CELL, maintain_order=True):
            enough = None
            for ratio, solved, total in zip(
                *(
                    group[name].to_list()[::-1]
                    for name in ("rows_per_weight", "solved", "problems")
                ),
                strict=True,
            ):
                if solved < ENOUGH * total:
                    break
                enough = ratio
            row = dict(zip(CELL, cell, strict=True))
            rows.append(row | {"problems": group["problems"][0], "smallest": enough})
        kinds = {name: SCHEMA.get(name, pl.String) for name in CELL}
        return pl.DataFrame(
            rows, schema=kinds | {"problems": pl.Int64, "smallest": pl.Float64}, orient="row"
        )

    @cached_property
    def ratios(self) -> pl.DataFrame:
        """Errors divided by those of least squares on the honest rows, in settings with noise.

        The column `size` is the bound θ in standard deviations of the noise.
        """
        noisy = pl.DataFrame(
            [
                {"setting": name, "noise": noise}
                for name, noise in self.noise.items()
                if noise > 0.0
            ],
            schema={"setting": pl.String, "noise": pl.Float64},
        )
        table = self.fits.join(noisy, on="setting", maintain_order="left")
        keys = [*(name for name in CELL if name != "solver"), "replicate", "rows_per_weight"]
        honest = table.filter(solver="honest").select(*keys, honest="error")
        return (
            table.filter(pl.col("solver") != "honest")
            .join(honest, on=keys, maintain_order="left")
            .with_columns(
                ratio=pl.col("error") / pl.col("honest"), size=pl.col("bound") / pl.col("noise")
            )
            .drop("honest")
        )

    def __repr__(self) -> str:
        units = self.fits.select("setting", "replicate").n_unique() if len(self.fits) else 0
        return (
            f"Fits of {self.spec['name']!r}: {len(self.spec['settings'])} settings, "
            f"{units} units, {len(self.fits)} fits"
        )


def load_fits(folder: str | Path) -> Fits:
    """Return the results in a folder of a study of rows as a table.

    Damaged shards are left out and listed in `Fits.damaged`.

    Parameters
    ----------
    folder
        The folder that `studies.run` or `neurotron run` has written.
    """
    held = opened(folder, FITTING, "rows")
    settings = {setting["name"]: setting for setting in held.manifest["spec"]["settings"]}
    tables, damaged = tables_of(held, lambda name, table: sound_fits(settings[name], table))
    fits = pl.concat([empty(**SCHEMA), *located(tables)])
    return Fits(held, damaged_lines(held, damaged), fits)


def sound_fits(setting: dict[str, Any], table: pl.DataFrame) -> pl.DataFrame:
    """Return the table of a unit with the types of `SCHEMA`; raise `Damaged` if it is not valid."""
    table = typed(table, SCHEMA, "rows")
    needed = table.drop("starts", "proven")
    possible = (table["error"] >= 0.0) & table["error"].is_not_nan()
    if setting["noise"] > 0.0:  # errors are shown as ratios to those of the solver "honest"
        known = table["error"].is_finite() | (table["solver"] != "honest")
        possible &= (table["error"] > 0.0) & known
    if any(needed.null_count().row(0)) or not possible.all():
        raise Damaged("it has a value that no fit can have")
    found: dict[Any, list[tuple[float, float]]] = {}
    for *cell, ratio, error in table.select(*CELL[1:], "rows_per_weight", "error").iter_rows():
        found.setdefault(tuple(cell), []).append((ratio, error))
    if [*found] != cells_of(setting) or not all(_is_walk(setting, walk) for walk in found.values()):
        raise Damaged("its attacks, solvers or numbers of rows are not those of the study")
    return table


def cells_of(setting: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    """Return the attacks at their levels and the solvers of a setting, each once, in their order.

    The setting is given by plain values, as a manifest has it.
    """
    levels = [(sweep["attack"], *level) for sweep in setting["sweeps"] for level in _levels(sweep)]
    cells = [(*level, solver) for level in levels for solver in setting["solvers"]]
    return list(dict.fromkeys(cells))


def _levels(sweep: dict[str, Any]) -> list[tuple[float, float]]:
    if sweep["attack"] == "none":
        return [(0.0, 0.0)]
    return [(bound, chance) for bound in sweep["bound"] for chance in sweep["probability"]]


def _is_walk(setting: dict[str, Any], walk: Sequence[tuple[float, float]]) -> bool:
    """Return whether these are all numbers of rows of a setting, or the first ones until solved."""
    ratios = [ratio for ratio, _ in walk]
    wanted = setting["rows_per_weight"][: len(ratios)]
    if ratios == setting["rows_per_weight"]:
        return True
    solved = [error <= SOLVED for _, error in walk]
    return ratios == wanted and setting["noise"] == 0.0 and len(walk) > 1 and all(solved[-2:])
