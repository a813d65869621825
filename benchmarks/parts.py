"""Where the time of a step goes: ``python -m benchmarks.parts`` prints it as JSON.

A compiled step is a list of calls. Here the calls of one part of the step are made again and again
without the others, and timed.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks import vectors
from benchmarks.workloads import FOUR_LAWS, Workload, fewer
from neurotron.engine.compiled.program import Program

__all__ = ["PARTS", "parts_of", "seconds_per_step"]

STEPS = fewer(2000)
PARTS = {
    "draw": "draw the inputs",
    "project": "multiply them by the matrices that all arms share",
    "label": "honest labels, and the coins of the attack",
    "respond": "outputs and gradients of the arms",
    "attack": "attack the labels",
    "update": "update the weights",
}
"""The parts of a step, in their order."""


def parts_of(setting: Workload) -> dict[str, Program]:
    """Return a program for each part of a step of all arms of a setting."""
    run = setting.start(1)
    assert run._cohort is not None
    ((_, cohort),) = run._cohort.parts
    return split(cohort)


def split(cohort: Any) -> dict[str, Program]:
    """Return the calls of a compiled cohort by part; what is only done to record is left out."""
    program, seen = cohort.program, cohort.scratch.flat_seen
    bounds = program.bounds
    batch, *rest = (program.calls[a:b] for a, b in pairwise(bounds))
    projecting = [any(value is seen for value in call) for call in batch]
    first, last = projecting.index(True), len(projecting) - projecting[::-1].index(True)
    calls = {
        "draw": batch[:first],
        "project": batch[first:last],
        "label": batch[last:],
        "respond": [call for section in rest[0::3] for call in section[:-1]],
        "attack": [section[-1] for section in rest[0::3]],
        "update": [call for section in rest[2::3] for call in section],
    }
    return {
        part: Program(calls[part], [], cohort.scratch.clock, cohort.scratch.shown) for part in PARTS
    }


def seconds_per_step(program: Program, steps: int = STEPS) -> float:
    """Return the CPU time of one execution of a program, after one that is not counted."""
    nothing = np.empty(0, dtype=np.int64)
    stopped_at, records = np.empty((0, 8), dtype=np.int64), np.empty((0, *program.shown.shape))
    program.run(0, 1, nothing, stopped_at, records)
    began = time.process_time()
    program.run(0, steps, nothing, stopped_at, records)
    return (time.process_time() - began) / steps


def measure() -> dict[str, Any]:
    """Return the width of vectors, and seconds per step by law and part."""
    seconds = {
        setting.key: {part: seconds_per_step(calls) for part, calls in parts_of(setting).items()}
        for setting in FOUR_LAWS
    }
    return {"bits": vectors.measured_bits(), "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(measure()))
