"""The results of a study as one small CSV table."""

from __future__ import annotations

import numpy as np
import polars as pl

from neurotron.lab import Results, median
from neurotron.lab.training.runs import CLOSE, EXACT, Runs
from neurotron.lab.training.summary import OUTCOMES, steps_to

MOST_BYTES = 50_000
REACHED = 1e-10
"""The table lists the first step at which a run reaches this error."""

LEVEL = ("attack", "bound", "probability")
KEYS = (
    ("setting", "trainer", *LEVEL),
    ("trainer", *LEVEL),
    ("setting", "trainer", "attack"),
    ("trainer", "attack"),
    ("setting", "trainer"),
)
"""The columns that identify a row, from the finest grouping to the coarsest."""
COLUMNS = ("runs", *OUTCOMES, "exact", "close", "median", "least", "largest", "radius", "steps")
VERIFIED = ("verified", "verified_radius")
"""More columns of studies that verify their runs."""


def compact_csv(found: Results, most_bytes: int = MOST_BYTES) -> str:
    """Return one row per arm as CSV, or one row per coarser group to stay below `most_bytes`.

    The columns are the number of runs; the share of each outcome, and of errors below 1e-12 (exact)
    and 1e-6 (close); the median, smallest and largest final error; and the median certified radius
    and the median number of steps to an error of 1e-10, empty if there is none. If the study
    verifies its runs, there are also the share of them with a verified radius and the median of
    this radius, empty if it is infinite. Numbers have three digits.
    """
    results = Runs.of(found)
    steps = steps_to(results, REACHED).rename({"steps": "reached"})
    few = [name for name, recorded in results.steps.items() if len(recorded) <= 2]
    known = ~pl.col("setting").is_in(few)  # without records in between, the step is not known
    steps = steps.with_columns(reached=pl.when(known).then("reached"))
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
                **_verified(group["verified_radius"].drop_nulls()),
            }
        )
    more = VERIFIED if runs["verified_radius"].count() else ()
    return pl.DataFrame(rows, schema=dict.fromkeys((*keys, *COLUMNS, *more), pl.String))


def _verified(radii: pl.Series) -> dict[str, str | None]:
    """Return how many runs have a verified radius, and the median radius."""
    if not len(radii):
        return dict.fromkeys(VERIFIED)
    return {
        "verified": _short(float(np.isfinite(radii.to_numpy()).mean())),
        "verified_radius": _middle(radii),
    }


def _middle(values: pl.Series) -> str | None:
    """Return the median, where missing values count as infinite; an infinite median is empty."""
    found = float(median(values.cast(pl.Float64).fill_null(np.inf).to_numpy()))
    return None if found == np.inf else _short(found)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
