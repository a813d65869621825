"""The regressions of scikit-learn, with default parameters on standardised columns.

Exceptions: quantile regression is not regularised, as careful users would want it, and its linear
program is solved by the interior-point method, which finds the same median ten times as fast.
Theil–Sen looks at 3,000 subsets of the rows rather than 10,000, to bound the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    QuantileRegressor,
    RANSACRegressor,
    TheilSenRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tools.tables.splits import CASES, Case, Regression, damages_of

__all__ = ["damages", "methods"]


def methods(probability: float) -> dict[str, Regression]:
    """Return the regressions, none of which is told the share of attacked labels."""
    del probability
    models = {
        "least squares": LinearRegression(),
        "Huber": HuberRegressor(max_iter=1_000),
        "quantile": QuantileRegressor(alpha=0.0, solver="highs-ipm"),
        "RANSAC": RANSACRegressor(random_state=0),
        "Theil–Sen": TheilSenRegressor(max_subpopulation=3_000, random_state=0),
    }
    return {name: make_pipeline(StandardScaler(), model) for name, model in models.items()}


def damages(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
    cases: tuple[Case, ...] = CASES,
) -> list[dict[str, Any]]:
    """Return the damage to the regressions of scikit-learn on one split of a table."""
    del text
    return damages_of(setting, replicate, methods, cases, progress)
