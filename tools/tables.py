"""``python -m tools.tables``: how much label poisoning damages regressions on real tables.

Five public tables are split 20 times into three quarters to fit and one quarter to test. Labels of
the first part are attacked, and the damage of a method is its error on the honest test labels over
that of least squares on the honest training labels, minus one. The tables are files of plotnine,
scikit-learn and statsmodels: ``pip install -e '.[lab,tables]'``. The run goes on where it stopped;
its results are in out/tables, and their medians in docs/evidence.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import polars as pl

import neurotron as nt
from neurotron._types import Array
from neurotron.results import files
from neurotron.solvers import rivals, solver
from neurotron.studies.work import fingerprint

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "evidence"
SPLITS, TRAINING = 20, 0.75
SHIFT = 2.0
"""Standard deviations of the labels by which an attack shifts."""
CASES = (
    ("none", 0.0),
    ("one side", 0.1), ("one side", 0.3),
    ("other model", 0.1), ("other model", 0.3),
    ("random sign", 0.1), ("random sign", 0.3),
)  # fmt: skip

# ---- the tables ----------------------------------------------------------------------------------


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
    """Return 442 patients with ten measurements, and how the disease went on."""
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


TABLES: dict[str, Callable[[], Table]] = {
    table.__name__: table for table in (diabetes, star98, engel, randhie, diamonds)
}


@cache
def table_of(name: str) -> Table:
    """Return a table, which is read once."""
    return TABLES[name]()


# ---- one split -----------------------------------------------------------------------------------


class Split(NamedTuple):
    """Rows to fit and rows to test; columns are standardised with the rows to fit."""

    X: Array
    y: Array
    test: Table


def split_of(name: str, number: int) -> Split:
    """Return a random split of a table."""
    table = table_of(name)
    order = np.random.default_rng([number, len(table.y)]).permutation(len(table.y))
    fit, test = np.split(order, [round(TRAINING * len(order))])
    center, scale = table.X[fit].mean(axis=0), table.X[fit].std(axis=0)
    X = (table.X - center) / scale
    return Split(X[fit], table.y[fit], Table(X[test], table.y[test]))


def attacked(split: Split, attack: str, probability: float, number: int) -> Array:
    """Return the labels to fit after an attack on a random part of the rows."""
    draw = np.random.default_rng([number, 1])
    y = split.y.copy()
    bad = draw.permutation(len(y))[: round(probability * len(y))]
    shift = SHIFT * split.y.std()
    if attack == "one side":
        y[bad] += shift
    elif attack == "random sign":
        y[bad] += shift * draw.choice([-1.0, 1.0], len(bad))
    elif attack == "other model":
        honest = rivals.least_squares(_network(split), split.X, split.y, intercept=True)
        y[bad] = honest.intercept - split.X[bad] @ honest.weights
    return y


class Fitted(NamedTuple):
    """What all methods return."""

    weights: Array
    intercept: float


def _network(split: Split) -> nt.FilterNetwork:
    return nt.networks.linear(split.X.shape[1])


def _solve(network: nt.FilterNetwork, X: Array, y: Array) -> Fitted:
    solution = nt.solve(network, X, y, intercept=True)
    return Fitted(solution.weights, solution.intercept)


def _without_mixture(network: nt.FilterNetwork, X: Array, y: Array) -> Fitted:
    """Return what the solver finds if it does not look for attacks in the noise."""
    with mock.patch.object(solver, "hidden_attack", return_value=None):
        return _solve(network, X, y)


def _methods(probability: float) -> dict[str, Callable[[nt.FilterNetwork, Array, Array], Any]]:
    return {
        "least squares": lambda *rows: rivals.least_squares(*rows, intercept=True),
        "Huber": lambda *rows: rivals.huber(*rows, intercept=True),
        "TRIM, told β": lambda *rows: rivals.trim(*rows, intercept=True, tampered=probability),
        "TRIM, half": lambda *rows: rivals.trim(*rows, intercept=True),
        "solve, without mixture": _without_mixture,
        "solve": _solve,
    }


METHODS = tuple(_methods(0.0))


def error_of(fitted: Any, rows: Table) -> float:
    """Return the root of the mean squared error on rows."""
    return float(np.sqrt(np.mean((rows.y - rows.X @ fitted.weights - fitted.intercept) ** 2)))


def damages(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
    cases: tuple[tuple[str, float], ...] = CASES,
) -> list[dict[str, Any]]:
    """Return the damage of every attack to every method, in per cent, on one split of a table."""
    del text
    split = split_of(setting, replicate)
    network, rows = _network(split), []
    clean = error_of(rivals.least_squares(network, split.X, split.y, intercept=True), split.test)
    for step, (attack, probability) in enumerate(cases):
        y = attacked(split, attack, probability, replicate)
        for method, fit in _methods(probability).items():
            ratio = error_of(fit(network, split.X, y), split.test) / clean
            rows.append(
                {"attack": attack, "probability": probability, "method": method,
                 "damage": 100.0 * (ratio - 1.0)}
            )  # fmt: skip
        if progress is not None:
            progress(step + 1, len(cases))
    return rows


# ---- all splits ----------------------------------------------------------------------------------


def work() -> nt.studies.Work:
    """Return the work: all splits of all tables."""
    spec = {
        "name": "tables",
        "settings": [{"name": name} for name in TABLES],
        "shift": SHIFT,
        "training": TRAINING,
    }
    units = [(name, number) for name in TABLES for number in range(SPLITS)]
    return nt.studies.Work(spec, units, damages, steps=len(CASES))


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Return medians and the spread over splits, in per cent."""
    damage = pl.col("damage")
    keys = ("setting", "attack", "probability", "method")
    return (
        rows.group_by(keys, maintain_order=True)
        .agg(
            splits=pl.len(), median=damage.median(), low=damage.quantile(0.25, "linear"),
            high=damage.quantile(0.75, "linear"), largest=damage.max(),
        )
        .rename({"setting": "table"})
        .with_columns(
            pl.col("median", "low", "high", "largest").map_elements(_short, return_dtype=pl.Float64)
        )
    )  # fmt: skip


def _short(number: float) -> float:
    """Return three digits, and not more than two decimals."""
    return round(float(f"{number:.3g}"), 2) + 0.0


def page(table: pl.DataFrame, code: str) -> str:
    """Return the Markdown page of a summary."""
    lines = [
        "# Damage by label poisoning on real tables",
        "The error on honest test labels, over that of least squares on honest training labels, "
        f"minus one, in per cent: medians of {SPLITS} random splits. Attacks shift labels by two "
        "standard deviations of the labels (to one side, or up and down at random), or replace "
        "them by those of the linear model with the opposite coefficients. TRIM is told the share "
        "β of tampered labels, or keeps half of the rows. The spread over splits is in "
        "[tables.csv](tables.csv), and what the mixture assumes in [tables.md](../tables.md).",
        _rendered(table),
        f"Computed by `python -m tools.tables`; code {code}.",
    ]
    return "\n\n".join(lines) + "\n"


def _rendered(table: pl.DataFrame) -> str:
    header = ("table", "attack", "β", *METHODS)
    rows = [header, ("---",) * len(header)]
    for (name, attack, probability), group in table.group_by(
        ("table", "attack", "probability"), maintain_order=True
    ):
        medians = dict(zip(group["method"], group["median"], strict=True))
        rows.append(
            (str(name), str(attack), f"{probability:g}", *(f"{medians[m]:g}" for m in METHODS))
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def stored() -> tuple[pl.DataFrame, str]:
    """Return the stored summary, and the code that computed it."""
    comment, _, text = (STORE / "tables.csv").read_text().partition("\n")
    return pl.read_csv(text.encode()), comment.removeprefix("# code ")


def main() -> None:
    """Compute what is missing, and store the summary and its page."""
    code = fingerprint(damages)["code"]
    folder = ROOT / "out" / "tables" / code
    for name in TABLES:
        table_of(name)  # a missing package is reported before anything is computed
    report = nt.studies.run(work(), folder, workers=1)  # one at a time: see `_without_mixture`
    if report.interrupted or report.failures:
        sys.exit(f"tables: {len(report.failures)} units failed, see {folder / 'runs.jsonl'}")
    table = summary(nt.results.load_table(folder))
    files.write(STORE, "tables.csv", f"# code {code}\n{table.write_csv()}".encode())
    files.write(STORE, "tables.md", page(table, code).encode())


if __name__ == "__main__":
    main()
