"""Certified and measured errors on tables, for docs/theory.md.

The tables are a synthetic one with skewed columns, on which no linear model is right, and the
tables diabetes and diamonds of the study `tables`. All have an intercept, and their labels are in
units of their standard deviation. Neuro-Tron is trained many times on rows drawn with replacement.
The certificate is about the distance to the fit of the unattacked table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from research.pages import markdown
from research.tables import public_tables as tables
from research.tables.public_tables import PublicTable

import neurotron as nt
from neurotron._types import Array
from neurotron.lab import bootstrap

BOUND, PROBABILITY = 1.0, 0.3
BATCH_SIZE, RUNS = 16, 40
STEP_SIZES = {"skewed": 1e-3, "diabetes": 1e-3, "diamonds": 5e-5}
"""Small enough that the certified error is near its limit. A few rows of diamonds are so far from
the others that it needs the smallest step."""
PATIENCE = 10.0
"""The number of steps is this divided by step size and leak: the start no longer matters then."""
LEAK = 0.3

# ---- the tables ----------------------------------------------------------------------------------


def skewed() -> PublicTable:
    """Return 400 rows of five skewed, correlated columns; labels are not linear in them.

    Labels grow with a power of one column and with the root of another, and noise grows with a
    third.
    """
    draw = np.random.default_rng(0)
    mixed = draw.standard_normal((400, 5)) @ (np.eye(5) + 0.4 * draw.standard_normal((5, 5)))
    X = np.exp(0.8 * mixed / mixed.std(axis=0))
    noise = draw.standard_normal(400) * (0.3 + 0.5 * X[:, 2])
    return PublicTable(X, 0.4 * X[:, 0] ** 1.5 + 1.5 * np.sqrt(X[:, 1]) - 0.5 * X[:, 3] + noise)


TABLES: dict[str, Callable[[], PublicTable]] = {
    table.__name__: table for table in (skewed, tables.diabetes, tables.diamonds)
}


@cache
def table_of(name: str) -> PublicTable:
    """Return a table with an intercept; columns and labels have standard deviation 1."""
    X, y = TABLES[name]()
    X, y = ((values - values.mean(axis=0)) / values.std(axis=0) for values in (X, y))
    return PublicTable(np.column_stack([X, np.ones(len(y))]), y)


def whitened(X: Array) -> Array:
    """Return rows whose second moment is the identity.

    The distance of two filters is then the root mean squared difference of their predictions.
    """
    values, frame = np.linalg.eigh(X.T @ X / len(X))
    return np.asarray(X @ (frame / np.sqrt(values)) @ frame.T)


# ---- one case ------------------------------------------------------------------------------------


class TableCase(NamedTuple):
    """What is trained on a table."""

    table: str
    leak: float = 1.0
    inputs: str = "standardised"
    """Or "whitened"."""

    @property
    def network(self) -> str:
        """The network in words."""
        return "linear" if self.leak == 1.0 else f"one gate, leak {self.leak:g}"

    @property
    def trainer(self) -> nt.NeuroTron:
        """The trainer with the step size of the table."""
        return nt.NeuroTron(STEP_SIZES[self.table])

    @property
    def steps(self) -> int:
        """The number of steps."""
        return round(PATIENCE / STEP_SIZES[self.table] / self.leak)


CASES = (
    *(TableCase(name, inputs=inputs) for name in TABLES for inputs in ("standardised", "whitened")),
    TableCase("skewed", LEAK, "whitened"),
)


def problem_of(case: TableCase) -> nt.Problem:
    """Return the problem of a case, whose w* is the fit that the certificate is about."""
    X, y = table_of(case.table)
    X = whitened(X) if case.inputs == "whitened" else X
    network = nt.networks.relu_gate(X.shape[1], leak=case.leak)
    problem = nt.Problem.from_rows(network, X, y, replacement=True)
    fit = nt.certify(problem, case.trainer, steps=0).centre
    assert fit is not None
    return nt.Problem.from_rows(network, X, y, replacement=True, true_weights=fit)


def arms_of(case: TableCase) -> dict[str, nt.Arm]:
    """Return the attacks, each as an arm."""
    level = {"bound": BOUND, "probability": PROBABILITY}
    attacks = {
        "none": None,
        "adaptive": nt.attacks.Adaptive(**level),
        "intercept": nt.attacks.Constant(**level),
    }
    return {name: nt.Arm(case.trainer, attack) for name, attack in attacks.items()}


class MeasuredErrors(NamedTuple):
    """The errors of all runs of an arm."""

    errors: Array
    """Distances ‖w − w°‖, (runs,)."""
    predictions: Array
    """Root mean squared differences of predictions over the rows, (runs,)."""


def measure(problem: nt.Problem, arms: list[nt.Arm], steps: int, runs: int) -> list[MeasuredErrors]:
    """Train every arm many times."""
    data, network = problem.data, problem.network
    assert isinstance(data, nt.data.Rows)
    assert problem.true_weights is not None
    weights = np.stack(
        [
            nt.simulate(
                problem, arms, steps=steps, batch_size=BATCH_SIZE, replicate=number, record=steps
            ).weights
            for number in range(runs)
        ],
        axis=1,
    )
    errors = np.linalg.norm(weights - problem.true_weights, axis=2)
    fitted = network(problem.true_weights, data.X)
    return [
        MeasuredErrors(
            of_arm,
            np.array([_root_mean_square(network(w, data.X) - fitted) for w in trained]),
        )
        for of_arm, trained in zip(errors, weights, strict=True)
    ]


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def rows_of(case: TableCase, runs: int = RUNS) -> Iterator[dict[str, str | float]]:
    """Yield what is certified and what is measured under every attack."""
    problem = problem_of(case)
    arms = arms_of(case)
    found = measure(problem, [*arms.values()], case.steps, runs)
    for (attack, arm), measured in zip(arms.items(), found, strict=True):
        certificate = nt.certify(problem, arm, steps=case.steps, batch_size=BATCH_SIZE)
        assert (certificate.kind, certificate.about) == ("theorem", "table")
        root, low, high = (math.sqrt(it) for it in bootstrap(measured.errors**2, np.mean))
        numbers = {
            "certified": certificate.root_mean_square, "measured": root, "low": low, "high": high,
            "ratio": certificate.root_mean_square / root,
            "radius": certificate.radius, "largest": measured.errors.max(),
            "certified prediction error": certificate.prediction_error,
            "measured prediction error": _root_mean_square(measured.predictions),
            "largest prediction error": measured.predictions.max(),
        }  # fmt: skip
        yield {
            "table": case.table, "network": case.network, "inputs": case.inputs, "attack": attack,
            "runs": runs, **{name: float(f"{value:.3g}") for name, value in numbers.items()},
        }  # fmt: skip


# ---- all cases -----------------------------------------------------------------------------------


def errors(setting: dict[str, Any], replicate: int, seed: int) -> list[dict[str, Any]]:
    """Return what is certified and measured in a case: all runs are one unit."""
    del replicate, seed
    return [*rows_of(TableCase(*(setting[name] for name in TableCase._fields)))]


TEXTS, NUMBERS = ("table", "network", "inputs", "attack"), (
    "certified", "measured", "low", "high", "ratio", "radius", "largest",
    "certified prediction error", "measured prediction error", "largest prediction error",
)  # fmt: skip
STUDY = nt.Study(
    "table-certificates",
    [{"name": f"{one.table}-{one.inputs}-{one.leak:g}", **one._asdict()} for one in CASES],
    errors,
    dict.fromkeys(TEXTS, str) | {"runs": int} | dict.fromkeys(NUMBERS, float),
    replicates=1,
)


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of all cases."""
    return table.drop("setting", "replicate")


def page(table: pl.DataFrame) -> str:
    """Return the Markdown page of all cases."""
    steps = ", ".join(f"{size:g} ({name})" for name, size in STEP_SIZES.items())
    lines = [
        "# Certificates for tables: certified and measured errors",
        "Neuro-Tron is trained on rows drawn with replacement, with the optimal sensing matrix, "
        f"batches of {BATCH_SIZE} and a constant step size η: {steps}. It makes {PATIENCE:g}/η "
        f"steps ({PATIENCE:g}/(ηα) for one gate of leak α). The table *skewed* is synthetic: 400 "
        "rows with correlated lognormal columns, and labels that are not linear in them, with "
        "noise that depends on the inputs. The tables "
        "*diabetes* (442 rows) and *diamonds* (20,000 rows) are those of [tables.md]"
        "(../tables.md). All have an intercept, and labels are in units of their standard "
        "deviation. An attack "
        f"changes labels by at most θ = {BOUND:g} with probability β = {PROBABILITY:g}: away from "
        "the fit w° (adaptive) or always up (intercept).",
        "*Certified* is the bound on the root mean square (RMS) of ‖w − w°‖, and *measured* the "
        f"value of {table['runs'][0]} runs with its 95 % interval. If inputs are whitened, ‖w − "
        "w°‖ of a linear network is the RMS difference of predictions over the rows; if they are "
        "standardised, it is about the coefficients. The *prediction error* is that difference in "
        "all cases: what is certified with 95 % confidence, the RMS over runs and the largest of "
        f"all runs. Radii are in [{STUDY.name}.csv]({STUDY.name}.csv).",
        _rendered(table),
    ]
    return "\n\n".join(lines)


HEADER = (
    "table", "network", "inputs", "attack", "certified", "measured", "ratio",
    "prediction error: certified", "measured", "largest",
)  # fmt: skip


def _rendered(table: pl.DataFrame) -> str:
    lines: list[Sequence[str]] = [HEADER]
    lines += [
        (
            row["table"], row["network"], row["inputs"], row["attack"], f"{row['certified']:g}",
            f"{row['measured']:g} ({row['low']:g} … {row['high']:g})", f"{row['ratio']:g}",
            f"{row['certified prediction error']:g}", f"{row['measured prediction error']:g}",
            f"{row['largest prediction error']:g}",
        )
        for row in table.iter_rows(named=True)
    ]  # fmt: skip
    return markdown(lines)
