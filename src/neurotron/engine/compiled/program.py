"""The training loop as a list of calls, each of a compiled function with its arguments.

Python writes the list once, before training. Only the functions in the list are compiled, each on
its own, so that a new formula does not recompile any other code. A small compiled loop then makes
these calls again and again, without Python.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from neurotron._jit import Compiled, compiling, entry, inline, interruptible
from neurotron._types import Array, Index
from neurotron.engine.compiled.callers import call, callers_of, kind_of, type_of, words_of
from neurotron.engine.compiled.lanes import LANES

Call = tuple[Any, ...]
"""A function decorated by `jit`, and its arguments: arrays in C order, and numbers."""


class Program:
    """What happens in a step: the calls for the batch, and for each block of arms.

    A block has three sections: calls that compute residuals, that record, and that update weights.
    `clock` contains the present step, and `shown` what was recorded for each block last.
    """

    def __init__(
        self,
        batch: Iterable[Call],
        blocks: Sequence[Sequence[Iterable[Call]]],
        clock: Index,
        shown: Array,
    ) -> None:
        sections = [list(batch), *(list(calls) for block in blocks for calls in block)]
        self.calls = [call for section in sections for call in section]
        self.bounds = np.cumsum([0, *map(len, sections)])
        self.clock, self.shown = clock, shown
        words = [[word for value in call[1:] for word in words_of(value)] for call in self.calls]
        self.memory = np.array([word for one in words for word in one], dtype=np.int64)
        self.starts = np.cumsum([0, *map(len, words)])[:-1]
        self.table = np.empty((0, 3), dtype=np.int64)
        """The addresses of each call: of its caller, of the function, and of its arguments."""

    def __reduce__(self) -> Any:
        raise TypeError(
            "a program contains addresses in memory, so it can be neither copied nor kept"
        )

    def compile(self) -> None:
        """Load the functions from disk; compile those that are not there."""
        if not len(self.table):
            with interruptible():  # LLVM calls back into Python where code is loaded, too
                functions = _ready(self.calls)
                callers = callers_of(function.kinds for function in functions)
            memory = self.memory.ctypes.data + self.starts * self.memory.itemsize
            addresses = [function.address for function in functions]
            self.table = np.column_stack([callers, addresses, memory])

    def run(self, start: int, stop: int, due: Index, stopped_at: Index, records: Array) -> None:
        """Make updates `start` … `stop` − 1; record the steps `due`, which may include `stop`.

        Records have the shape (due, *shown.shape). Blocks whose lanes have all diverged, which
        `stopped_at` tells, (blocks, 8), are left out; infinity is recorded for them.
        """
        self.compile()
        flat = stopped_at.reshape(-1), self.shown.reshape(-1), records.reshape(-1)
        _run(start, stop, due, self.table.reshape(-1), self.bounds, self.clock, *flat)


# ---- functions -----------------------------------------------------------------------------------

_functions: dict[tuple[Any, ...], Compiled] = {}
"""The functions that were used so far, by the function itself and the kinds of its arguments."""
_one_at_a_time = threading.Lock()


def _ready(calls: Sequence[Call]) -> list[Compiled]:
    """Return the functions of calls, loaded or compiled."""
    with _one_at_a_time:
        functions = [_function(*call) for call in calls]
        missing = [function for function in dict.fromkeys(functions) if not function.load()]
        if missing:
            with compiling(*missing):
                for function in missing:
                    function.compile()
        return functions


def _function(function: Any, *arguments: Any) -> Compiled:
    key = function, *map(kind_of, arguments)
    if key not in _functions:
        _functions[key] = Compiled(function, tuple(map(type_of, arguments)))
    return _functions[key]


# ---- the loop ------------------------------------------------------------------------------------


@inline
def _call_all(calls: Index, start: int, stop: int) -> None:
    for i in range(start, stop):
        call(calls[3 * i], calls[3 * i + 1], calls[3 * i + 2])


@entry
def _run(
    start: int,
    stop: int,
    due: Index,
    calls: Index,
    bounds: Index,
    clock: Index,
    stopped_at: Index,
    shown: Array,
    records: Array,
) -> None:
    """Run a program; see `Program.run`. All arrays are flat, which is faster to compile."""
    recorded, blocks = 0, stopped_at.size // LANES
    for step in range(start, stop + 1):
        recording = recorded < due.size and due[recorded] == step
        if step == stop and not recording:
            break
        clock[0] = step
        _call_all(calls, bounds[0], bounds[1])
        for block in range(blocks):
            section, running = 3 * block, 0
            for lane in range(LANES):
                running += stopped_at[block * LANES + lane] < 0
            if running:
                _call_all(calls, bounds[section + 1], bounds[section + 2])
                if recording:
                    _call_all(calls, bounds[section + 2], bounds[section + 3])
                if step < stop:
                    _call_all(calls, bounds[section + 3], bounds[section + 4])
            if recording:
                for e in range(block * 2 * LANES, (block + 1) * 2 * LANES):
                    records[recorded * shown.size + e] = shown[e] if running else np.inf
        recorded += recording
