"""How many rows are enough, as the table that reports show, and as one small CSV table."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from neurotron.lab.results.fits import CELL, Fits
from neurotron.lab.results.summary import median

__all__ = ["Needed", "compact_fits_csv", "needed", "walked"]


class Needed(NamedTuple):
    """A row of the table: how many rows are enough under one attack, by β."""

    setting: str
    solver: str
    attack: str
    cells: tuple[str, ...]
    """The smallest N/r as text, "–" if the largest one is not enough, "" if it was not tried."""


def walked(results: Fits) -> list[str]:
    """Return the settings without noise in which several numbers of rows were tried."""
    return [
        setting["name"]
        for setting in results.spec["settings"]
        if setting["noise"] == 0.0 and len(setting["rows_per_weight"]) > 1
    ]


def needed(results: Fits) -> tuple[list[float], list[Needed]]:
    """Return the β of the table's columns, and its rows: one per setting, solver and attack.

    The column β = 0 has what is needed without an attack.
    """
    smallest = results.smallest.filter(pl.col("setting").is_in(walked(results)))
    betas = sorted(set(smallest["probability"]))
    found: dict[tuple[str, str, str], dict[float, float | None]] = {}
    for row in smallest.iter_rows(named=True):
        key = (row["setting"], row["solver"], row["attack"])
        found.setdefault(key, {})[row["probability"]] = row["smallest"]
    rows = []
    for (setting, solver, attack), by_beta in found.items():
        cells = tuple(
            ("–" if by_beta[beta] is None else f"{by_beta[beta]:g}") if beta in by_beta else ""
            for beta in betas
        )
        rows.append(Needed(setting, solver, attack, cells))
    return betas, rows


COLUMNS = (
    *CELL, "rows_per_weight", "problems", "exact", "smallest", "ratio", "largest", "starts",
)  # fmt: skip


def compact_fits_csv(results: Fits) -> str:
    """Return the results of a study of rows as CSV, numbers with three digits.

    In settings with several numbers of rows there is one row per attack, level and solver, with the
    `smallest` N/r that is enough. In those with one number of rows, `exact` is the share of the
    problems in which the filter is found exactly. With noise, there is a row for each N/r, with the
    median and the `largest` of the errors divided by those of least squares on the honest rows.
    """
    rows = [*_smallest(results), *_shares(results), *_ratios(results)]
    shown = [{name: _short(row.get(name)) for name in COLUMNS} for row in rows]
    return pl.DataFrame(shown, schema=dict.fromkeys(COLUMNS, pl.String)).write_csv()


def _smallest(results: Fits) -> list[dict[str, Any]]:
    starts = results.fits.group_by(*CELL).agg(pl.col("starts").mean())
    chosen = results.smallest.filter(pl.col("setting").is_in(walked(results)))
    return chosen.join(starts, on=CELL, how="left", maintain_order="left").to_dicts()


def _shares(results: Fits) -> list[dict[str, Any]]:
    chosen = results.shares.filter(~pl.col("setting").is_in(walked(results)))
    return chosen.with_columns(exact=pl.col("solved") / pl.col("problems")).to_dicts()


def _ratios(results: Fits) -> list[dict[str, Any]]:
    return [
        dict(zip((*CELL, "rows_per_weight"), cell, strict=True))
        | {"problems": len(group), "ratio": float(median(group["ratio"].to_numpy())),
           "largest": float(group["ratio"].to_numpy().max())}
        for cell, group in results.ratios.group_by(*CELL, "rows_per_weight", maintain_order=True)
    ]  # fmt: skip


def _short(value: Any) -> str | None:
    return f"{value:.3g}" if isinstance(value, float) else None if value is None else str(value)
