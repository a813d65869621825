"""Which steps are recorded, and what is recorded there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index

Record = Literal["log", "all"] | int


class Records(NamedTuple):
    """Recorded errors and losses; they are infinite, never NaN, for arms that have diverged."""

    steps: Index
    """(records,)."""
    errors: Array | None
    """‖w − w*‖, (records, arms); None if w* is not known."""
    losses: Array
    """Mean squared residual on the next batch, (records, arms)."""

    def __repr__(self) -> str:
        return f"Records({_check.shapes(self._asdict())})"

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Records:
        """Return the records of consecutive parts of a run as one."""
        errors = [part.errors for part in parts if part.errors is not None]
        return cls(
            np.concatenate([part.steps for part in parts]),
            np.concatenate(errors) if errors else None,
            np.concatenate([part.losses for part in parts]),
        )

    @classmethod
    def of_diverged(cls, steps: Index, arms: int, unknown: bool) -> Records:
        """Return the records at `steps` of arms that have all diverged."""
        infinite = np.full((len(steps), arms), np.inf)
        return cls(steps, None if unknown else infinite, infinite)

    def frozen(self) -> Records:
        """Return itself, made read-only."""
        for array in self:
            if array is not None:
                array.flags.writeable = False
        return self

    def at(self, chosen: Index) -> Records:
        """Return the records at the chosen positions."""
        errors = None if self.errors is None else self.errors[chosen]
        return Records(self.steps[chosen], errors, self.losses[chosen])


PER_DECADE = 40
MOST = 10_000_000


def recorded_steps(record: Record, steps: int) -> Index:
    """Return the recorded steps of a run: 0, the last step, and others chosen by `record`.

    ``"log"`` records 40 steps per decade, ``"all"`` every step, and a number s every s-th step. A
    number beyond `steps` records the first and the last step only. A longer run records the same
    steps and more. More than ten million records are refused, as they would not fit into memory.

    >>> recorded_steps(40, 100)
    array([  0,  40,  80, 100])
    """
    if isinstance(record, str):
        _check.choice("record", record, ("log", "all"))
    else:
        record = _check.integer("record", record, 1)
    if record == "log":
        exponents = np.arange(np.log10(max(steps, 1)) * PER_DECADE + 1)
        inner = np.unique(np.rint(10.0 ** (exponents / PER_DECADE)).astype(np.intp))
        before = np.append(0, inner)
    else:
        every = record if isinstance(record, int) else 1
        if steps // every > MOST:
            raise _check.InputError(
                f"record={record!r} would store {steps // every:,} records, more than fit into "
                f"memory: use record={-(-steps // MOST)} or a larger number"
            )
        before = np.arange(0, steps, min(every, max(steps, 1)), dtype=np.intp)
    return np.append(before[before < steps], steps)
