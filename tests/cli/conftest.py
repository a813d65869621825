"""The table that the tests of commands for tables share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="session")
def rows() -> dict[str, np.ndarray]:
    """60 rows: price = 2 size + 3 age + 1, of which rows 5, 17 and 42 are poisoned."""
    draw = np.random.default_rng(3)
    size, age = draw.integers(0, 90, 60) / 8, draw.integers(0, 90, 60) / 4
    price = 2 * size + 3 * age + 1 + draw.normal(0, 0.05, 60).round(3)
    price[[4, 16, 41]] += [50.0, 200.0, -100.0]
    return {"size": size, "age": age, "price": price}


@pytest.fixture
def data(rows, tmp_path, monkeypatch) -> Path:
    """The rows as a CSV file in the current folder."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(rows).write_csv("data.csv")
    return Path("data.csv")
