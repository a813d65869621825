"""The fits of the study: which solvers found the filter, from how many rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars as pl
from rows import SOLVED, listed

import neurotron as nt

WRONG = 1e-6
"""A filter is wrong if its error is more than this part of ‖w*‖."""
ENOUGH = 0.95
"""A number of rows is enough if the filter is found exactly in this share of the problems."""
CELL = ("setting", "attack", "bound", "probability", "solver")
"""The columns that problems of one kind share; they differ in their rows."""


class Fits:
    """One row per fit, and what follows from them."""

    def __init__(self, results: nt.lab.Results) -> None:
        self.results, self.fits, self.titles = results, results.table, results.titles
        self.settings = results.settings

    def walked(self) -> list[str]:
        """Return the settings without noise in which several numbers of rows were tried."""
        return [
            name
            for name, one in self.settings.items()
            if one["noise"] == 0.0 and len(listed(one["rows_per_weight"])) > 1
        ]

    @cached_property
    def noise(self) -> dict[str, float]:
        """The standard deviation of the honest noise in each setting."""
        return {setting["name"]: setting["noise"] for setting in self.settings.values()}

    @cached_property
    def exact(self) -> pl.DataFrame:
        """Whether the filter was found exactly: one row per problem and number of rows.

        This is only asked of settings without noise. A problem that was solved at two successive
        numbers of rows counts as solved at all larger ones.
        """
        sizes = pl.DataFrame(
            [
                {"setting": setting["name"], "rows_per_weight": ratio}
                for setting in self.settings.values()
                if setting["noise"] == 0.0
                for ratio in map(float, listed(setting["rows_per_weight"]))
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
        kinds: Any = {name: self.fits.schema[name] for name in CELL}
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


COLUMNS = (
    *CELL, "rows_per_weight", "problems", "exact", "smallest", "ratio", "largest", "starts",
)  # fmt: skip


def compact_csv(results: nt.lab.Results) -> str:
    """Return the results as CSV, numbers with three digits.

    In settings with several numbers of rows there is one row per attack, level and solver, with the
    `smallest` N/r that is enough. In those with one number of rows, `exact` is the share of the
    problems in which the filter is found exactly. With noise, there is a row for each N/r, with the
    median and the `largest` of the errors divided by those of least squares on the honest rows.
    """
    fits = Fits(results)
    walked = pl.col("setting").is_in(fits.walked())
    starts = fits.fits.group_by(*CELL).agg(pl.col("starts").mean())
    smallest = fits.smallest.filter(walked)
    shares = fits.shares.filter(~walked)
    rows = [
        *smallest.join(starts, on=CELL, how="left", maintain_order="left").to_dicts(),
        *shares.with_columns(exact=pl.col("solved") / pl.col("problems")).to_dicts(),
        *(
            dict(zip((*CELL, "rows_per_weight"), cell, strict=True))
            | {"problems": len(group), "ratio": float(nt.lab.median(group["ratio"].to_numpy())),
               "largest": float(group["ratio"].to_numpy().max())}
            for cell, group in fits.ratios.group_by(*CELL, "rows_per_weight", maintain_order=True)
        ),
    ]  # fmt: skip
    shown = [{name: _short(row.get(name)) for name in COLUMNS} for row in rows]
    return pl.DataFrame(shown, schema=dict.fromkeys(COLUMNS, pl.String)).write_csv()


def _short(value: Any) -> str | None:
    return f"{value:.3g}" if isinstance(value, float) else None if value is None else str(value)
