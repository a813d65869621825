"""What guarantees cost: ``python -m benchmarks.verifying`` measures it and keeps the table.

All figures are CPU time in a running process with one thread of BLAS: of one call, or of all
verifications and certificates of a unit of a study. The first one of every workload is not counted.
The table goes to docs/evidence/verifying.csv and into docs/performance.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import neurotron as nt
from benchmarks import growth, page, table
from benchmarks.workloads import PAPER as SETTINGS
from benchmarks.workloads import QUICK
from neurotron._threads import one_blas_thread
from neurotron.lab.training import unit
from neurotron.lab.training.building import build_arms, build_problem

__all__ = ["GRID", "NAME", "TITLE", "UNITS", "WORKLOADS", "compute", "measure"]

NAME, TITLE = "verifying", "Verification (`python -m benchmarks.verifying`)"
ROUNDS = 5


class VerifyingTask(NamedTuple):
    """A filter, fresh rows, and what is known about attackers and noise."""

    problem: nt.Problem
    weights: np.ndarray
    X: np.ndarray
    y: np.ndarray
    options: dict[str, Any]


Make = Callable[[], VerifyingTask]


def rows_of(
    network: nt.FilterNetwork, law: nt.ProductLaw, rows: int, **options: Any
) -> VerifyingTask:
    """Return rows with the labels of a filter, a share of which is raised by 4."""
    draw = np.random.default_rng(0)
    problem = nt.Problem.draw(network, law, seed=1)
    assert problem.true_weights is not None
    pairs = law.pairs(rows, network.n_inputs)
    X = law.inputs(draw.random(pairs), draw.random(pairs), rows, network.n_inputs)
    y = network(problem.true_weights, X) + 4.0 * (draw.random(rows) < options["probability"])
    return VerifyingTask(problem, problem.true_weights + 1e-3, X, y, options)


def table_of(rows: int) -> VerifyingTask:
    """Return rows of a linear network whose inputs are a table of 1,000 rows."""
    draw = np.random.default_rng(0)
    law = nt.Empirical(draw.standard_normal((1_000, 20)))
    problem = nt.Problem.draw(nt.networks.linear(20), law, seed=1)
    assert problem.true_weights is not None
    X = law.rows[draw.integers(1_000, size=rows)]
    y = X @ problem.true_weights + 0.1 * draw.standard_normal(rows)
    return VerifyingTask(problem, problem.true_weights, X, y, {"probability": 0.05})


PAPER = nt.networks.symmetric(100, 25, 10, seed=1)
paper = partial(rows_of, PAPER, nt.Normal())

WORKLOADS: dict[str, Make] = {
    "the paper's network, 10 % attacked": partial(paper, 10_000, probability=0.1),
    "the paper's network, exact labels, 30 % attacked by coins": partial(
        paper, 10_000, probability=0.3, attacker="coin", noise=0.0
    ),
    "the paper's network, exact labels, 45 % attacked by coins": partial(
        paper, 10_000, probability=0.45, attacker="coin", noise=0.0
    ),
    "the paper's network, Laplace inputs, 10 % attacked": partial(
        rows_of, PAPER, nt.Laplace(), 10_000, probability=0.1
    ),
    "20 weights, linear, a table of inputs, 5 % attacked": partial(table_of, 10_000),
}
"""What is verified, with 10,000 rows each."""
MOST = 0.5
"""Seconds of CPU that each of them may take."""
UNITS = {"normal-1": (0.12, 0.12), "student-t-4": (0.12, 0.12), "outer-weights-1": (0.06, 0.03)}
"""Settings of the paper's study, with the seconds of CPU that a unit may and should take."""

GRID: dict[int, Make] = {
    rows: partial(paper, rows, probability=0.3, attacker="coin", noise=0.0)
    for rows in (1_000, 4_000, 16_000, 64_000)
}
"""Numbers of rows that grow."""


def seconds(make: Make) -> float:
    """Return the CPU time of a verification."""
    problem, weights, X, y, options = make()
    began = time.process_time()
    nt.verify(problem, weights, X, y, **options)
    return time.process_time() - began


def seconds_of_unit(name: str) -> float:
    """Return the CPU time that a unit of a setting takes after all its arms are trained."""
    setting = SETTINGS[name]
    problem = build_problem(setting, 0)
    arms = build_arms(setting, problem, 0)
    runs = [*unit.runs_of(setting, problem, arms, 0, None)]
    began = time.process_time()
    unit.verified_radii(setting.verify, runs, None)
    for arm in arms:
        unit.guarantees_of(setting, problem, arm)
    return time.process_time() - began


def measure(rounds: int = ROUNDS) -> tuple[table.Rounds, growth.Curves]:
    """Return the seconds of every workload and unit, and the curve in milliseconds."""
    with one_blas_thread():
        bars = {name: _rounds(partial(seconds, make), rounds) for name, make in WORKLOADS.items()}
        bars |= {name: _rounds(partial(seconds_of_unit, name), rounds) for name in UNITS}
        curve = {rows: 1e3 * _rounds(partial(seconds, make), rounds) for rows, make in GRID.items()}
    return bars, {"rows N": curve}


def _rounds(timed: Callable[[], float], rounds: int) -> np.ndarray:
    timed()
    return np.array([timed() for _ in range(rounds)])


def compute(bars: table.Rounds, curves: growth.Curves) -> list[table.Row]:
    """Return the rows of the table."""
    rows = [
        table.at_most(f"10,000 rows, {name}, CPU seconds", bars[name], MOST, MOST)
        for name in WORKLOADS
    ]
    rows += [
        table.at_most(f"all arms of a unit of `{name}`, with certificates, CPU seconds",
                      bars[name], *limits)
        for name, limits in UNITS.items()
    ]  # fmt: skip
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
