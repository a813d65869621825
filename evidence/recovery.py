"""Exact recovery: without an attack Neuro-Tron finds the filter to rounding, for every law."""

from __future__ import annotations

from functools import partial

import numpy as np
from benchmarks.workloads import FOUR_LAWS, Setting

import neurotron as nt
from evidence.store import Row, collect

REPLICATES = 20
STEPS = 200_000
BAR = 1e-13


def replicate(setting: Setting, number: int, steps: int = STEPS) -> Row:
    """Return the final error on network `number` with honest labels, and when it met the bar."""
    problem = setting.problem(seed=number)
    arm = nt.Arm(nt.NeuroTron(setting.step_size, sensing="mean"))
    run = nt.simulate(problem, [arm], steps=steps, batch_size=setting.batch_size, replicate=number)
    below = np.flatnonzero(run.errors[0] < BAR)
    return {
        "law": setting.name,
        "replicate": number,
        "final error": float(run.errors[0, -1]),
        "first record below 1e-13": int(run.steps[below[0]]) if below.size else "never",
    }


def run() -> None:
    """Compute and store the evidence, and fail if a replicate does not recover the filter."""
    title = (
        f"Recovery without attack: the paper's four laws, {REPLICATES} replicates (a network and a "
        f"stream each), at most {STEPS} steps"
    )
    units = {
        f"{setting.name} {number}": partial(replicate, setting, number)
        for setting in FOUR_LAWS
        for number in range(REPLICATES)
    }
    rows = collect("recovery", title, units)
    assert all(row["final error"] < BAR for row in rows)
