"""Which steps are recorded."""

from __future__ import annotations

from typing import Literal

import numpy as np

from neurotron import _check
from neurotron._types import Index

__all__ = ["PER_DECADE", "Record", "recorded_steps"]

Record = Literal["log", "all"] | int

PER_DECADE = 40
MOST = 10_000_000


def recorded_steps(record: Record, steps: int) -> Index:
    """Return the recorded steps of a run: always 0 and the last, in between as `record` says.

    ``"log"`` gives 40 steps a decade, ``"all"`` every step, a number s every s-th. Which steps are
    recorded up to some point never depends on how much longer the run is. More than ten million
    records are refused: they would not fit.

    >>> recorded_steps(40, 100)
    array([  0,  40,  80, 100])
    """
    if isinstance(record, str):
        _check.choice("record", record, ("log", "all"))
    else:
        _check.integer("record", record, 1)
    if record == "log":
        exponents = np.arange(np.log10(max(steps, 1)) * PER_DECADE + 1)
        inner = np.unique(np.rint(10.0 ** (exponents / PER_DECADE)).astype(np.intp))
        before = np.append(0, inner)
    else:
        every = 1 if record == "all" else record
        if steps // every > MOST:
            raise _check.InputError(
                f"record={record!r} would keep {steps // every:,} records: record every "
                f"{-(-steps // MOST):,} steps or fewer times"
            )
        before = np.arange(0, steps, every)
    return np.append(before[before < steps], steps)
