"""How often the strict last step is taken on honest tables, as docs/tables.md says it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import neurotron as nt
from neurotron.solvers.table import Table

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
NOISE = {
    "normal": lambda draw, X: draw.standard_normal(len(X)),
    "Student": lambda draw, X: draw.standard_t(3, len(X)),
    "Laplace": lambda draw, X: draw.laplace(size=len(X)),
    "lognormal": lambda draw, X: draw.lognormal(0.0, 0.8, len(X)),
    "exponential": lambda draw, X: draw.exponential(size=len(X)),
    "uniform": lambda draw, X: draw.uniform(-1.0, 1.0, len(X)),
    "growing": lambda draw, X: draw.standard_normal(len(X)) * np.exp(0.5 * X[:, 0]),
    "bent": lambda draw, X: 0.5 * draw.standard_normal(len(X)) + 0.4 * X[:, 0] ** 2,
    "counts": lambda draw, X: draw.poisson(1.0, len(X)) * 1.0,
    "rounded": lambda draw, X: np.round(draw.standard_normal(len(X))),
}
INPUTS = {
    "normal": lambda draw, size: draw.standard_normal(size),
    "heavy tails": lambda draw, size: draw.standard_t(4, size),
    "rare flags": lambda draw, size: np.where(
        np.arange(size[1]) % 2 == 0, draw.standard_normal(size), draw.random(size) < 0.08
    ),
}
SIZES, SEEDS = ((200, 5), (300, 9), (500, 19), (1000, 5)), 20


def honest_tables():
    """Yield tables whose labels are not attacked."""
    for noise, inputs, size, seed in itertools.product(
        NOISE.values(), INPUTS.values(), SIZES, range(SEEDS)
    ):
        draw = np.random.default_rng([seed, *size])
        X = inputs(draw, size)
        yield X, X.sum(axis=1) + noise(draw, X)


def test_it_is_rarely_taken_on_honest_tables(monkeypatch):
    taken, check = [], Table.checked_by_leverage

    def noted(self, searched, found, point, scale, tolerance):
        after = check(self, searched, found, point, scale, tolerance)
        taken.append(after[0] is not point)
        return after

    monkeypatch.setattr(Table, "checked_by_leverage", noted)
    tables = [*honest_tables()]
    for X, y in tables:
        nt.solve(nt.networks.linear(X.shape[1]), X, y, intercept=True)
    said = " ".join(PAGE.read_text().split())
    assert f"taken for {sum(taken)} of {len(tables):,} honest synthetic tables" in said
