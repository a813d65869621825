"""Claims about prediction errors, the root of the paper's prediction risk (section 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from neurotron.lab.claims.measuring import ATTACKED, largest, none_above, titled
from neurotron.lab.training.summary import distinct_runs

if TYPE_CHECKING:
    from neurotron.lab.claims.model import Finding
    from neurotron.lab.training.runs import Runs

__all__ = ["predictions_as_certified", "risk_below_attack"]


def risk_below_attack(results: Runs) -> list[Finding]:
    """Divide prediction errors by θ* where the condition of section 3.4 holds."""
    promised = pl.col("theorem1_radius") < pl.col("initial_error")
    runs = distinct_runs(results).filter(ATTACKED, promised, pl.col("risk_ratio") < 1.0)
    parts = runs.with_columns(value=pl.col("prediction_error") / pl.col("theta_star"))
    return largest(
        titled(results, parts, "arm"),
        "prediction error divided by θ* (at most 1 in every run)",
        lambda most: most <= 1.0,
    )


def predictions_as_certified(results: Runs) -> list[Finding]:
    """Count runs whose prediction error is above the certified one, setting by setting."""
    runs = distinct_runs(results).filter(
        pl.col("radius") < pl.col("initial_error"),
        pl.col("certified_prediction_error").is_finite(),
        pl.col("prediction_error").is_not_null(),
    )
    parts = runs.with_columns(
        value=pl.col("prediction_error") / pl.col("certified_prediction_error")
    )
    return none_above(
        titled(results, parts, "trainer"),
        "share of replicates with a prediction error above the certified one (none; the largest of "
        "{total} is {most:.2g} of it)",
    )
