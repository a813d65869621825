"""A study in one small table: as fine as fits, three digits, CSV."""

from __future__ import annotations

import numpy as np
import polars as pl

from neurotron.results.summary import OUTCOMES, median, steps_to
from neurotron.results.tables import CLOSE, EXACT, Results

__all__ = ["MOST_BYTES", "compact_csv"]

MOST_BYTES = 50_000
REACHED = 1e-10
"""The error whose first step is noted."""

LEVEL = ("attack", "bound", "probability")
KEYS = (
    ("setting", "trainer", *LEVEL),
    ("trainer", *LEVEL),
    ("setting", "trainer", "attack"),
    ("trainer", "attack"),
    ("setting", "trainer"),
)
"""What a row may be of, the finest first."""
COLUMNS = ("runs", *OUTCOMES, "exact", "close", "median", "least", "largest", "radius", "steps")


def compact_csv(results: Results, most_bytes: int = MOST_BYTES) -> str:
    """Return one row per arm, or per coarser group if that would be too long, as CSV.

    Columns: how many runs; the share of each outcome, and of errors below 1e-12 (exact) and 1e-6
    (close); the median, least and largest final error; the median certified radius and the median
    steps to an error of 1e-10, empty where there is none. Numbers have three digits.
    """
    steps = steps_to(results, REACHED).rename({"steps": "reached"})
    if len(results.steps) <= 2:  # only beginning and end: when it was reached is not known
        steps = steps.with_columns(reached=pl.lit(None, pl.Int64))
    runs = results.runs.join(
        steps, on=["setting", "replicate", "arm"], how="left", maintain_order="left"
    ).with_columns(attack=pl.col("attack_text"))
    for keys in KEYS:
        text = _table(runs, keys).write_csv()
        if len(text.encode()) <= most_bytes:
            return text
    return text


def _table(runs: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    rows: list[dict[str, str | None]] = []
    for values, group in runs.group_by(*keys, maintain_order=True):
        errors, outcomes = group["error"].to_numpy(), group["outcome"].to_list()
        who = {name: _short(value) for name, value in zip(keys, values, strict=True)}
        rows.append(
            {
                **who,
                "runs": str(len(group)),
                **{name: _short(outcomes.count(name) / len(outcomes)) for name in OUTCOMES},
                "exact": _short(float((errors < EXACT).mean())),
                "close": _short(float((errors < CLOSE).mean())),
                "median": _short(float(median(errors))),
                "least": _short(float(errors.min())),
                "largest": _short(float(errors.max())),
                "radius": _middle(group["radius"]),
                "steps": _middle(group["reached"]),
            }
        )
    return pl.DataFrame(rows, schema=dict.fromkeys((*keys, *COLUMNS), pl.String))


def _middle(values: pl.Series) -> str | None:
    """Return the median; what is missing counts as larger than all else, and is empty."""
    found = float(median(values.cast(pl.Float64).fill_null(np.inf).to_numpy()))
    return None if found == np.inf else _short(found)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
