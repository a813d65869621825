"""`NeuroTronRegressor` and HuberRegressor: ``python -m benchmarks.regressor`` compares their costs.

Both fit the same 50,000 rows of 20 columns in one process, one after the other in every round, with
as many threads as BLAS uses by default, and again with one thread. The first fits are not counted.
Memory is what a fit needs
at its peak, without its input, in copies of the input. The table goes to
docs/evidence/regressor.csv and into docs/performance.md.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import HuberRegressor

import neurotron as nt
from benchmarks import page, table
from benchmarks.workloads import QUICK
from neurotron._threads import one_blas_thread

__all__ = ["CASES", "NAME", "TITLE", "compute", "measure"]

NAME, TITLE = "regressor", "The regressor (`python -m benchmarks.regressor`)"
ROUNDS = 7
ROWS, COLUMNS, NOISE, SHARE = 50_000, 20, 0.5, 0.3
FAR, NEAR = 20.0, 3.0
"""How far poisoned labels are raised, in standard deviations of the noise."""


class RegressorRows(NamedTuple):
    """Inputs and labels."""

    X: np.ndarray
    y: np.ndarray


def rows_of(rows: int, *, share: float, shift: float, units: bool) -> RegressorRows:
    """Return normal inputs and labels with normal noise, a share of which is raised.

    With `units`, the columns have sizes from 0.01 to 1,000.
    """
    draw = np.random.default_rng(0)
    X = draw.standard_normal((rows, COLUMNS))
    y = X @ draw.standard_normal(COLUMNS) + 1.0 + NOISE * draw.standard_normal(rows)
    y[draw.random(rows) < share] += shift * NOISE
    return RegressorRows(X * np.logspace(-2.0, 3.0, COLUMNS) if units else X, y)


Make = Callable[[int], RegressorRows]
CASES: dict[str, Make] = {
    "columns of one size, no poison": partial(rows_of, share=0.0, shift=0.0, units=False),
    "columns of one size, 30 % poisoned": partial(rows_of, share=SHARE, shift=FAR, units=False),
    "columns of many sizes, no poison": partial(rows_of, share=0.0, shift=0.0, units=True),
    "columns of many sizes, 30 % poisoned": partial(rows_of, share=SHARE, shift=FAR, units=True),
    "columns of one size, 30 % poisoned within the noise": partial(
        rows_of, share=SHARE, shift=NEAR, units=False
    ),
}
"""What is fitted. The last one is the dearest: an attack that hides in the noise."""
MODELS: dict[str, Callable[[], Any]] = {"ours": nt.NeuroTronRegressor, "Huber": HuberRegressor}


def cost(model: str, rows: RegressorRows) -> tuple[float, float]:
    """Return the wall time and the CPU time of a fit, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    _fit(model, rows)
    return time.perf_counter() - wall, time.process_time() - cpu


def copies(model: str, rows: RegressorRows) -> float:
    """Return the peak of the memory that a fit needs, in copies of its inputs."""
    tracemalloc.start()
    _fit(model, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / rows.X.nbytes


def _fit(model: str, rows: RegressorRows) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Huber's regression reaches its limit of iterations
        MODELS[model]().fit(rows.X, rows.y)


def measure(rounds: int = ROUNDS, rows: int = ROWS) -> table.Rounds:
    """Return wall time, CPU time and memory of every case and model, by round."""
    found: dict[str, np.ndarray] = {}
    for case, make in CASES.items():
        data = make(rows)
        for model in MODELS:
            found[f"{case}, {model}, copies"] = np.array([copies(model, data)])
        costs = np.array([[cost(model, data) for model in MODELS] for _ in range(rounds)])
        with one_blas_thread():
            alone = np.array([[cost(model, data) for model in MODELS] for _ in range(rounds)])
        for index, model in enumerate(MODELS):
            found[f"{case}, {model}, wall"] = costs[:, index, 0]
            found[f"{case}, {model}, cpu"] = costs[:, index, 1]
            found[f"{case}, {model}, alone"] = alone[:, index, 1]
    return found


def compute(found: table.Rounds) -> list[table.Row]:
    """Return the rows of the table."""
    made = []
    for case in CASES:
        ours, huber = (
            {what: found[f"{case}, {model}, {what}"] for what in ("wall", "cpu", "alone", "copies")}
            for model in MODELS
        )
        bar = table.plain if "within" in case else partial(table.at_most, floor=1.0, aim=1.0)
        made += [
            bar(f"{case}: wall time / that of HuberRegressor", ours["wall"] / huber["wall"]),
            table.plain("— CPU time / that of HuberRegressor", ours["cpu"] / huber["cpu"]),
            table.plain("— the same, with one thread for both", ours["alone"] / huber["alone"]),
            table.plain("— CPU seconds", ours["cpu"]),
            table.plain("— memory, copies of the input", ours["copies"]),
            table.plain("— memory of HuberRegressor, copies of the input", huber["copies"]),
        ]
    return [row._replace(group=NAME) for row in made]


def main() -> None:
    """Measure, keep, print; fail if a bar is missed."""
    if QUICK:
        print(table.render(compute(measure(1, 2_000)), "A rehearsal that keeps nothing.", TITLE))
        return
    page.publish(
        compute(measure()), f"Fits of {ROWS:,} × {COLUMNS} rows, {ROUNDS} rounds", NAME, TITLE
    )


if __name__ == "__main__":
    main()
