"""Public tables, which are files inside installed packages, and one simulated table.

The files are read without importing the packages that bring them. Where a package is missing, the
error says how to install it.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import neurotron as nt

Array = npt.NDArray[np.float64]


class PublicTable(NamedTuple):
    """Inputs, without a column of ones, and labels."""

    X: Array
    y: Array


def file_in(package: str, path: str) -> Path:
    """Return a file that a package brings, without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise nt.InputError(
            f"the public tables need {package}: pip install -r research/requirements.txt"
        )
    file = Path(found.submodule_search_locations[0]) / path
    if not file.is_file():
        raise nt.InputError(
            f"the installed {package} has no file {path}: install the version that constraints.txt "
            "names"
        )
    return file


def _lines(package: str, path: str) -> list[list[str]]:
    """Return the rows of a CSV file that a package brings."""
    content = file_in(package, path).read_bytes()
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


def diamonds() -> PublicTable:
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
    return PublicTable(_inputs(used, "price"), used["price"])


def randhie() -> PublicTable:
    """Return 8,000 person-years of a health insurance: log(1 + visits to a doctor)."""
    columns = _columns(_lines("statsmodels", "datasets/randhie/randhie.csv"))
    chosen = np.random.default_rng(0).permutation(len(columns["mdvis"]))[:8_000]
    return PublicTable(_inputs(columns, "mdvis")[chosen], np.log1p(columns["mdvis"][chosen]))


def trump_approval() -> PublicTable:
    """Return 1,001 days: the day, five polls, and the rating of one model made of many polls."""
    columns = _columns(_lines("river", "datasets/trump_approval.csv.gz"))
    columns["ordinal_date"] -= columns["ordinal_date"].min()
    return PublicTable(_inputs(columns, "five_thirty_eight"), columns["five_thirty_eight"])


def engel() -> PublicTable:
    """Return the income and the expense for food of 235 households, as logarithms."""
    columns = _columns(_lines("statsmodels", "datasets/engel/engel.csv"))
    return PublicTable(np.log(columns["income"])[:, None], np.log(columns["foodexp"]))


def star98() -> PublicTable:
    """Return 303 school districts: the share of pupils above the median in mathematics.

    The inputs are the 12 main effects, without their products.
    """
    columns = _columns(_lines("statsmodels", "datasets/star98/star98.csv"))
    share = columns["PR50M"] / columns["MATHTOT"]
    return PublicTable(_inputs(columns, "MATHTOT", "PR50M")[:, :12], share)


def diabetes() -> PublicTable:
    """Return 442 patients: ten measurements, and how far the disease was a year later."""
    inputs, labels = (
        np.array([line[0].split() if len(line) == 1 else line for line in lines], dtype=float)
        for lines in (
            _lines("sklearn", "datasets/data/diabetes_data_raw.csv.gz"),
            _lines("sklearn", "datasets/data/diabetes_target.csv.gz"),
        )
    )
    return PublicTable(inputs, labels[:, 0])


def stackloss() -> PublicTable:
    """Return 21 days of a chemical plant: three conditions, and how much ammonia was lost."""
    columns = _columns(_lines("statsmodels", "datasets/stackloss/stackloss.csv"))
    return PublicTable(_inputs(columns, "STACKLOSS"), columns["STACKLOSS"])


CELL_INPUTS, CELL_FILTER, CELL_STRIDE = 24, 8, 2
CELL_NOISE = 0.1
"""Standard deviation of the noise of the cell, in those of its labels without noise."""


def cell() -> PublicTable:
    """Return 1,000 trials of a simulated cell, whose answer is not linear in its inputs.

    It sees a stripe of 24 points. One filter of 8 weights, a bright spot with a dark surround, is
    applied at every second place, rectified and averaged. Inputs and noise are normal.
    """
    draw = np.random.default_rng(8)
    square = (np.arange(CELL_FILTER) - 0.5 * (CELL_FILTER - 1)) ** 2
    filter_ = np.exp(-0.5 * square) - 0.4 * np.exp(-0.5 * square / 1.8**2)
    network = nt.networks.convolution(CELL_INPUTS, CELL_FILTER, CELL_STRIDE)
    X = draw.standard_normal((1_000, CELL_INPUTS))
    y = network(filter_, X)
    return PublicTable(X, y + CELL_NOISE * y.std() * draw.standard_normal(len(y)))


SHAPES = {
    "diamonds": (20_000, 9),
    "randhie": (8_000, 9),
    "trump_approval": (1_001, 6),
    "engel": (235, 1),
    "diabetes": (442, 10),
    "star98": (303, 12),
    "stackloss": (21, 3),
    "cell": (1_000, CELL_INPUTS),
}
"""The number of rows and columns of each table: a file of another size is another table."""
TABLES: dict[str, Callable[[], PublicTable]] = {
    table.__name__: table
    for table in (
        diamonds, randhie, trump_approval, engel, diabetes, star98, stackloss, cell,
    )
}  # fmt: skip
LOGARITHMS = ("diamonds", "randhie", "engel")
"""Tables whose labels are logarithms."""


@cache
def table_of(name: str) -> PublicTable:
    """Return a table, which is read once."""
    table = TABLES[name]()
    if table.X.shape != SHAPES[name]:
        raise nt.InputError(
            f"the table {name!r} must have {SHAPES[name][0]:,} rows and {SHAPES[name][1]} columns, "
            f"the installed one has {len(table.X):,} and {table.X.shape[1]}: install the version "
            "that constraints.txt names"
        )
    return table
