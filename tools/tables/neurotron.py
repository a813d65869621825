"""`NeuroTronRegressor` with default parameters, and TRIM, whose code is in this package too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from unittest import mock

import numpy as np

from neurotron._types import Array
from neurotron.estimator.regressor import NeuroTronRegressor
from neurotron.networks import linear
from neurotron.solvers import rivals, solver
from tools.tables.splits import CASES, Case, Regression, damages_of

__all__ = ["OURS", "WITHOUT_MIXTURE", "damages", "methods"]

OURS = "NeuroTron"
WITHOUT_MIXTURE = "NeuroTron, without mixture"


class Trim:
    """TRIM, which is told the share of attacked labels, or keeps half of the rows."""

    def __init__(self, tampered: float = 0.5) -> None:
        self.tampered = tampered

    def fit(self, X: Array, y: Array) -> Self:
        """Fit the labels of the rows that fit best."""
        network = linear(X.shape[1])
        self.fitted = rivals.trim(network, X, y, intercept=True, tampered=self.tampered)
        return self

    def predict(self, X: Array) -> Array:
        """Return the labels of rows."""
        return np.asarray(X @ self.fitted.weights + self.fitted.intercept)


class WithoutMixture(NeuroTronRegressor):
    """The regressor if it does not look for attacks in the noise."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the model that most rows agree with."""
        with mock.patch.object(solver, "hidden_attack", return_value=None):
            return super().fit(X, y, sample_weight)


def methods(probability: float) -> dict[str, Regression]:
    """Return the regressions; only one is told the share of attacked labels."""
    return {
        "TRIM, told β": Trim(probability),
        "TRIM, half": Trim(),
        WITHOUT_MIXTURE: WithoutMixture(),
        OURS: NeuroTronRegressor(),
    }


def damages(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
    cases: tuple[Case, ...] = CASES,
) -> list[dict[str, Any]]:
    """Return the damage to `NeuroTronRegressor` and to TRIM on one split of a table."""
    del text
    return damages_of(setting, replicate, methods, cases, progress)
