"""How many moderate errors are found beside far ones.

Tables have normal inputs in eight columns, an intercept, and normal noise of scale 1. Two per cent
of the labels are wrong by a moderate amount; in some tables two more per cent are far typos.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import neurotron as nt

ROWS, COLUMNS = 1_500, 8
SHARE = 0.02
"""The share of moderate errors, and that of far ones."""
SIZES = (6.7, 8.0, 10.0)
"""How far moderate errors are, in standard deviations of the noise."""
FAR = (50.0, 400.0)
"""Far errors are uniform between these."""
FEW_DEVIATIONS = 5.0
"""The rival suspects labels whose residual is more than this many median absolute deviations."""
FOUND, FOUND_FAR, HONEST = "moderate errors found", "far errors found", "honest rows suspected"
HELD, RIVAL, RIVAL_HONEST = "intervals that hold the share", "found by MAD", "honest rows by MAD"


class TwoSizesCase(NamedTuple):
    """A kind of tables."""

    size: float
    side: str
    far: float


CASES = [TwoSizesCase(*each) for each in product(SIZES, ("up", "either"), (0.0, SHARE))]


def measure(setting: dict[str, Any], replicate: int, seed: int) -> dict[str, Any]:
    """Return how many of the errors of one table are found."""
    case = TwoSizesCase(*(setting[name] for name in TwoSizesCase._fields))
    draw = np.random.default_rng([seed, replicate])
    X = draw.standard_normal((ROWS, COLUMNS))
    y = X @ draw.standard_normal(COLUMNS) + draw.standard_normal(ROWS)
    moderate, far = np.split(
        draw.permutation(ROWS)[: round((SHARE + case.far) * ROWS)], [round(SHARE * ROWS)]
    )
    signs = draw.choice([-1.0, 1.0], ROWS)
    y[moderate] += case.size * (signs[moderate] if case.side == "either" else 1.0)
    y[far] += draw.uniform(*FAR, len(far)) * signs[far]
    with warnings.catch_warnings(action="ignore"):
        model = nt.NeuroTronRegressor().fit(X, y)
    residuals = np.abs(y - model.predict(X))
    by_rival = residuals > FEW_DEVIATIONS * np.median(residuals) / 0.6745  # normal quartile
    honest = np.delete(np.arange(ROWS), np.concatenate([moderate, far]))
    low, high = model.attacked_fraction_interval_
    return {
        FOUND: float(model.suspects_[moderate].mean()),
        FOUND_FAR: float(model.suspects_[far].mean()) if len(far) else None,
        HONEST: float(model.suspects_[honest].mean()),
        HELD: bool(low <= SHARE + case.far <= high),
        RIVAL: float(by_rival[moderate].mean()),
        RIVAL_HONEST: float(by_rival[honest].mean()),
    }


STUDY = nt.Study(
    "two-sizes",
    [{"name": f"case-{i}", **case._asdict()} for i, case in enumerate(CASES)],
    measure,
    {FOUND: float, FOUND_FAR: float, HONEST: float, HELD: bool, RIVAL: float, RIVAL_HONEST: float},
    replicates=20,
)


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """Return the mean shares of each kind of tables."""
    kinds = pl.DataFrame(STUDY.settings).select(
        pl.col("name").alias("setting"), *TwoSizesCase._fields
    )
    digits = {FOUND: 3, FOUND_FAR: 3, HONEST: 5, HELD: 3, RIVAL: 3, RIVAL_HONEST: 5}
    shares = [pl.col(name).mean().round(places) for name, places in digits.items()]
    found = table.group_by("setting").agg(
        pl.len().alias("tables"), *shares, least=pl.col(FOUND).min().round(3)
    )
    return kinds.join(found, on="setting", maintain_order="left").drop("setting")
