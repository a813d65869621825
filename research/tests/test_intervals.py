"""Without poison, our intervals are those of split conformal prediction in MAPIE."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import neurotron as nt

mapie = pytest.importorskip(
    "mapie.regression", reason="pip install -c constraints.txt -r research/requirements.txt"
)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("rows", [20, 99, 100, 1_000])
def test_without_poison_intervals_are_those_of_mapie(rows, level):
    draw = np.random.default_rng(rows)
    X = draw.standard_normal((rows + 150, 3))
    y = X @ [1.0, -2.0, 0.5] + draw.standard_normal(rows + 150)
    model = LinearRegression().fit(X[:100], y[:100])
    theirs = mapie.SplitConformalRegressor(model, confidence_level=level, prefit=True)
    theirs.conformalize(X[150:], y[150:])
    ours = nt.intervals(model, X[150:], y[150:], confidence_level=level, poisoned=0)
    for mine, other in zip(
        ours.predict_interval(X[100:150]), theirs.predict_interval(X[100:150]), strict=True
    ):
        assert mine.shape == other.shape
        assert mine == pytest.approx(other, rel=1e-12, abs=1e-12)
