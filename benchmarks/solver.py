"""What `nt.solve` costs: ``python -m benchmarks.solver`` measures it and keeps the table.

All figures are CPU time of one call in a running process, with one thread of BLAS. The first call
of every workload is not counted. The table goes to docs/evidence/solver.csv and into
docs/performance.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from research.rows.row_solvers import RowTask, answer

import neurotron as nt
from benchmarks import growth, page, table
from benchmarks.workloads import QUICK
from neurotron._threads import one_blas_thread

__all__ = ["BARS", "GRIDS", "NAME", "TITLE", "compute", "measure"]

NAME, TITLE = "solver", "The solver (`python -m benchmarks.solver`)"
ROUNDS = 5

Make = Callable[[], RowTask]


def rows_of(network: nt.FilterNetwork, rows: int, share: float, noise: float) -> RowTask:
    """Return normal inputs with the labels of a filter, a share of which is raised by 4."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((rows, network.n_inputs))
    weights = draw.standard_normal(network.filter_size)
    y = network(weights, X) + noise * draw.standard_normal(rows)
    tampered = draw.random(rows) < share
    return RowTask(network, X, y + 4.0 * tampered, tampered, weights)


def _linear(n: int) -> nt.FilterNetwork:
    return nt.networks.linear(n)


def _symmetric(r: int) -> nt.FilterNetwork:
    return nt.networks.symmetric(4 * r, r, 10, seed=1)


BARS: dict[str, tuple[Make, float | None]] = {
    "500 rows, 100 weights, ten gates, 30 % tampered": (
        partial(rows_of, _symmetric(100), 500, 0.3, 0.0), 0.2),
    "500 rows, 100 weights, linear, 30 % tampered": (
        partial(rows_of, _linear(100), 500, 0.3, 0.0), 0.2),
    "50,000 rows, 20 weights, linear, 30 % tampered": (
        partial(rows_of, _linear(20), 50_000, 0.3, 0.0), 1.0),
    "50,000 rows, 20 weights, linear, 30 % tampered, noise": (
        partial(rows_of, _linear(20), 50_000, 0.3, 0.1), 1.0),
    "300 rows, the paper's network, 40 % tampered": (
        partial(rows_of, _symmetric(25), 300, 0.4, 0.0), None),
    "500 rows, the paper's network, 40 % tampered, noise": (
        partial(rows_of, _symmetric(25), 500, 0.4, 0.1), None),
    "1,000,000 rows, 20 weights, linear, 30 % tampered, noise": (
        partial(rows_of, _linear(20), 1_000_000, 0.3, 0.1), None),
}  # fmt: skip
"""What is solved, and how many seconds of CPU it may take."""

RIVALS = ("solve", "trim", "l1", "huber", "least-squares", "soft-l1", "cauchy")
"""Solvers that get the same 500 rows of the paper's network, 40 % of them tampered with."""

GRIDS: dict[str, dict[int, Make]] = {
    "rows N": {
        rows: partial(rows_of, _symmetric(25), rows, 0.3, 0.0)
        for rows in (125, 250, 500, 1000, 2000, 4000)
    },
    "rows N, linear": {
        rows: partial(rows_of, _linear(20), rows, 0.3, 0.0)
        for rows in (1000, 4000, 16_000, 64_000, 256_000)
    },
    "weights r, with 20 rows for each": {
        r: partial(rows_of, _symmetric(r), 20 * r, 0.3, 0.0) for r in (5, 10, 20, 40, 80, 160)
    },
}
"""Sizes that grow: the others are those of the paper's network, or of 20 weights if linear."""


def seconds(make: Make, solver: str = "solve") -> float:
    """Return the CPU time of solving a table."""
    task = make()
    began = time.process_time()
    answer(solver, task)
    return time.process_time() - began


def measure(rounds: int = ROUNDS) -> tuple[table.Rounds, growth.Curves]:
    """Return the seconds of every workload, and the curves in milliseconds."""
    with one_blas_thread():
        bars = {name: _rounds(make, rounds) for name, (make, _) in BARS.items()}
        same = partial(rows_of, _symmetric(25), 500, 0.4, 0.0)
        bars |= {name: _rounds(same, rounds, name) for name in RIVALS}
        curves = {
            name: {value: 1e3 * _rounds(make, rounds) for value, make in grid.items()}
            for name, grid in GRIDS.items()
        }
    return bars, curves


def _rounds(make: Make, rounds: int, solver: str = "solve") -> np.ndarray:
    seconds(make, solver)
    return np.array([seconds(make, solver) for _ in range(rounds)])


def compute(bars: table.Rounds, curves: growth.Curves) -> list[table.Row]:
    """Return the rows of the table."""
    rows = []
    for name, (_, most) in BARS.items():
        what = f"{name}, CPU seconds"
        found = table.plain(what, bars[name])
        rows.append(found if most is None else table.at_most(what, bars[name], most, most))
    for name in RIVALS:
        what = f"500 rows, the paper's network, 40 % tampered, `{name}`, CPU seconds"
        rows.append(table.plain(what, bars[name]))
    for name, curve in curves.items():
        what = f"slope of the time against {name} ({min(curve):,} … {max(curve):,})"
        rows.append(table.plain(what, growth.slopes(curve).all))
    return [row._replace(group=NAME) for row in rows]


def main() -> None:
    """Measure, keep, print; fail if a bar is missed."""
    if QUICK:
        print(table.render(compute(*measure(1)), "A rehearsal that keeps nothing.", TITLE))
        return
    page.publish(compute(*measure()), f"CPU time of one call, {ROUNDS} rounds", NAME, TITLE)


if __name__ == "__main__":
    main()
