"""What an audit costs: ``python -m benchmarks.auditing`` measures it and keeps the table.

The default audit of the diabetes table is measured as a user waits for it, in seconds of wall time
with a thread per processor, and in CPU time. Audits of single estimators, without alternatives, are
measured in CPU time. The table goes to docs/evidence/auditing.csv and into docs/performance.md.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

import neurotron as nt
from benchmarks import page, table
from benchmarks.workloads import QUICK

__all__ = ["ESTIMATORS", "MOST", "NAME", "TITLE", "compute", "measure"]

NAME, TITLE = "auditing", "Audits (`python -m benchmarks.auditing`)"
ROUNDS = 3
MOST = 60.0
"""Seconds that the default audit of the diabetes table may take."""
ESTIMATORS = ("ridge", "kernel-ridge", "huber", "forest:trees=30", "neurotron")
BUDGET = nt.Budget(bound=50.0, probability=0.1)


class Spent(NamedTuple):
    """How long something took."""

    wall: float
    cpu: float


def spent(estimator: str, remedies: str | tuple[str, ...]) -> Spent:
    """Return how long an audit of the diabetes table takes."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    wall, cpu = time.perf_counter(), time.process_time()
    nt.audit(estimator, X, y, budget=BUDGET, tolerance=0.1, remedies=remedies)
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def measure(rounds: int = ROUNDS) -> dict[str, list[Spent]]:
    """Return how long audits take: the default one, and those of single estimators."""
    found = {"default": [spent("ridge", "usual") for _ in range(rounds)]}
    return found | {name: [spent(name, ()) for _ in range(rounds)] for name in ESTIMATORS}


def compute(found: dict[str, list[Spent]]) -> list[table.Row]:
    """Return the rows of the table."""
    default = found["default"]
    wall, cpu = (np.array(each) for each in zip(*default, strict=True))
    rows = [
        table.at_most("default audit of diabetes, seconds of wall time", wall, MOST, MOST),
        table.plain("the same, CPU seconds", cpu),
    ]
    for name in ESTIMATORS:
        alone = np.array([each.cpu for each in found[name]])
        rows.append(table.plain(f"{name} without alternatives, CPU seconds", alone))
    return [row._replace(group=NAME) for row in rows]


def main() -> None:
    """Measure, keep, print; fail if a bar is missed."""
    if QUICK:
        print(table.render(compute(measure(1)), "A rehearsal that keeps nothing.", TITLE))
        return
    what = f"442 rows, 5 splits, {ROUNDS} rounds, a thread per processor"
    page.publish(compute(measure()), what, NAME, TITLE)


if __name__ == "__main__":
    main()
