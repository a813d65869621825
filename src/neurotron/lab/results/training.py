"""Checks the table of a unit of training runs, which has one row per arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from neurotron._types import Index
from neurotron.lab.results.rows import Row
from neurotron.lab.results.shard import Damaged, rows_of

__all__ = ["PREDICTIONS", "SCHEMA", "sound"]

OPTIONAL = "attack_vector"
VECTORS = ("weights", "true_weights", OPTIONAL)
LISTS = (*VECTORS, "steps", "errors", "losses")
PREDICTIONS = ("prediction_error", "certified_prediction_error", "theorem1_prediction_error")
SIZES = ("radius", "root_mean_square", "theorem1_radius", "verified_radius", *PREDICTIONS)
STATUSES = ("finished", "diverged")

NUMBERS = pl.List(pl.Float64)
SCHEMA: dict[str, Any] = {
    "arm": pl.String,
    "status": pl.String,
    "stopped_at": pl.Int64,
    "radius": pl.Float64,
    "root_mean_square": pl.Float64,
    "theorem1_radius": pl.Float64,
    "verified_radius": pl.Float64,
    **dict.fromkeys(PREDICTIONS, pl.Float64),
    "weights": NUMBERS,
    "true_weights": NUMBERS,
    "attack_vector": NUMBERS,
    "steps": pl.List(pl.Int64),
    "errors": NUMBERS,
    "losses": NUMBERS,
}


def sound(table: pl.DataFrame, arms: list[str], steps: Index | None = None) -> pl.DataFrame:
    """Return the table with the types of `SCHEMA`; raise `Damaged` if it is not valid.

    Its rows must be those of the `arms`, in their order, recorded at the `steps` if these are
    given.
    """
    if table.columns != [*SCHEMA] or any(
        found not in (SCHEMA[name], pl.Null) for name, found in table.schema.items()
    ):
        raise Damaged("its columns are not those of training runs")
    rows = rows_of(table)
    if [row["arm"] for row in rows] != arms:
        raise Damaged("its arms are not those of the study")
    for row in rows:
        _require_whole(row)
        _require_possible(row)
        if not np.array_equal(row["steps"], rows[0]["steps"]):
            raise Damaged("its arms were recorded at different steps")
    if steps is not None and not np.array_equal(rows[0]["steps"], steps):
        raise Damaged("its steps are not those that the study records")
    return table.cast(pl.Schema(SCHEMA))


def _require_whole(row: Row) -> None:
    """Raise `Damaged` if a value of a row is missing, or if lists differ in length."""
    if row["status"] not in STATUSES:
        raise Damaged("it has an unknown status")
    if any(row[name] is None for name in LISTS if name != OPTIONAL):
        raise Damaged("it lacks a list")
    records = {len(row[name]) for name in ("steps", "errors", "losses")}
    vectors = {len(row[name]) for name in VECTORS if row[name] is not None}
    if len(records) > 1 or len(vectors) > 1 or 0 in records | vectors:
        raise Damaged("its lists differ in length")


def _require_possible(row: Row) -> None:
    """Raise `Damaged` if a run cannot have these values; a diverged run has infinite errors."""
    for name in (*SIZES, "errors", "losses"):
        if row[name] is not None and not (np.asarray(row[name]) >= 0.0).all():
            raise Damaged(f"its `{name}` has a number that is negative or NaN")
    for name in ("true_weights", OPTIONAL):
        if row[name] is not None and not np.isfinite(row[name]).all():
            raise Damaged(f"its `{name}` has a number that is not finite")
