"""The tables: files of plotnine, scikit-learn and statsmodels, read without importing these."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurotron._types import Array

__all__ = ["LOGARITHMS", "TABLES", "Table", "diabetes", "diamonds", "table_of"]


class Table(NamedTuple):
    """Inputs, without a column of ones, and labels."""

    X: Array
    y: Array


def _lines(package: str, path: str) -> list[list[str]]:
    """Return the rows of a CSV file that a package brings, without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(
            f"the tables need the packages of an extra: pip install -e '.[tables]' ({package})"
        )
    content = (Path(found.submodule_search_locations[0]) / path).read_bytes()
    text = (gzip.decompress(content) if path.endswith(".gz") else content).decode()
    return [*csv.reader(io.StringIO(text))]


def _columns(lines: list[list[str]]) -> dict[str, Array]:
    names, *rows = lines
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


def _inputs(columns: dict[str, Array], *without: str) -> Array:
    return np.column_stack([values for name, values in columns.items() if name not in without])


GRADES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": tuple("JIHGFED"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}
"""The ordered categories of diamonds, from worst to best; they are numbered."""


def diamonds() -> Table:
    """Return 20,000 diamonds: logarithms of price and sizes, shape in per cent, and grades."""
    names, *rows = _lines("plotnine", "data/diamonds.csv")
    graded = [
        [GRADES[name].index(value) if name in GRADES else float(value)
         for name, value in zip(names, row, strict=True)]
        for row in rows
    ]  # fmt: skip
    columns = dict(zip(names, np.array(graded, dtype=float).T, strict=True))
    sized = (columns["x"] > 0.0) & (columns["y"] > 0.0) & (columns["z"] > 0.0)
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(sized))[:20_000]
    logs = {"carat", "x", "y", "z", "price"}
    used = {
        name: np.log(values[chosen]) if name in logs else values[chosen]
        for name, values in columns.items()
    }
    return Table(_inputs(used, "price"), used["price"])


def engel() -> Table:
    """Return the income and the expense for food of 235 households, as logarithms."""
    columns = _columns(_lines("statsmodels", "datasets/engel/engel.csv"))
    return Table(np.log(columns["income"])[:, None], np.log(columns["foodexp"]))


def star98() -> Table:
    """Return 303 school districts: the share of pupils above the median in mathematics.

    The inputs are the 12 main effects, without their products.
    """
    columns = _columns(_lines("statsmodels", "datasets/star98/star98.csv"))
    share = columns["PR50M"] / columns["MATHTOT"]
    return Table(_inputs(columns, "MATHTOT", "PR50M")[:, :12], share)


def diabetes() -> Table:
    """Return 442 patients: ten measurements, and how far the disease was a year later."""
    inputs, labels = (
        np.array([line[0].split() if len(line) == 1 else line for line in lines], dtype=float)
        for lines in (
            _lines("sklearn", "datasets/data/diabetes_data_raw.csv.gz"),
            _lines("sklearn", "datasets/data/diabetes_target.csv.gz"),
        )
    )
    return Table(inputs, labels[:, 0])


def randhie() -> Table:
    """Return 8,000 person-years of a health insurance: log(1 + visits to a doctor)."""
    columns = _columns(_lines("statsmodels", "datasets/randhie/randhie.csv"))
    chosen = np.random.default_rng(0).permutation(len(columns["mdvis"]))[:8_000]
    return Table(_inputs(columns, "mdvis")[chosen], np.log1p(columns["mdvis"][chosen]))


def stackloss() -> Table:
    """Return 21 days of a chemical plant: three conditions, and how much ammonia was lost."""
    columns = _columns(_lines("statsmodels", "datasets/stackloss/stackloss.csv"))
    return Table(_inputs(columns, "STACKLOSS"), columns["STACKLOSS"])


TABLES: dict[str, Callable[[], Table]] = {
    table.__name__: table for table in (diamonds, randhie, engel, diabetes, star98, stackloss)
}
LOGARITHMS = ("diamonds", "randhie", "engel")
"""Tables whose labels are logarithms."""


@cache
def table_of(name: str) -> Table:
    """Return a table, which is read once."""
    return TABLES[name]()
