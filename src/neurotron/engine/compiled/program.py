"""The training loop as a list of calls, each of a compiled function with its arguments.

Python writes the list once, before training. Only the functions in the list are compiled, each on
its own, so that a new formula does not recompile any other code. A small compiled loop then makes
these calls again and again, without Python. A call costs a few nanoseconds.

The arguments of a call are stored in memory, one after the other, as the compiler lays them out.
Arrays are passed by their address, so a call always sees their present content.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numba import from_dtype, types
from numba.extending import intrinsic

from neurotron._jit import Compiled, compiling, entry, inline
from neurotron._types import Array, Index
from neurotron.engine.compiled.loops import copy, fill, smallest

__all__ = ["Call", "Program"]

Call = tuple[Any, ...]
"""A function decorated by `jit`, and its arguments: arrays in C order, and numbers."""

BATCH, FORWARD, RECORD, UPDATE = range(4)
"""The sections of a program: one for the batch, and three for each block of arms."""


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
        words = [[word for value in call[1:] for word in _words(value)] for call in self.calls]
        starts = np.cumsum([0, *map(len, words)])[:-1]
        self.memory = np.array([word for one in words for word in one], dtype=np.int64)
        self.arguments = self.memory.ctypes.data + starts * self.memory.itemsize
        self.addresses = np.empty(0, dtype=np.int64)

    def compile(self) -> None:
        """Load the functions from disk; compile those that are not there."""
        if not self.addresses.size:
            used = [_compiled(call[0], tuple(map(_type, call[1:]))) for call in self.calls]
            _make_ready(list(dict.fromkeys(used)))
            self.addresses = np.array([function.address for function in used], dtype=np.int64)

    def run(self, start: int, stop: int, due: Index, stopped_at: Index, records: Array) -> None:
        """Make updates `start` … `stop` − 1; record the steps `due`, which may include `stop`.

        Records have the shape (due, *shown.shape). Blocks whose lanes have all diverged, which
        `stopped_at` tells, (blocks, 8), are left out; infinity is recorded for them.
        """
        self.compile()
        _run(
            start, stop, due, self.addresses, self.arguments, self.bounds, self.clock,
            stopped_at, self.shown, records,
        )  # fmt: skip


# ---- functions -----------------------------------------------------------------------------------

_functions: dict[tuple[Any, tuple[Any, ...]], Compiled] = {}
_one_at_a_time = threading.Lock()


def _compiled(function: Any, kinds: tuple[Any, ...]) -> Compiled:
    """Return the function that reads arguments of these types from memory, and calls `function`."""
    if (function, kinds) not in _functions:
        read = _reader(types.Tuple(kinds))

        def run(memory: int) -> None:
            function(*read(memory))

        run.__module__ = function.__module__
        run.__qualname__ = f"{function.__qualname__}-{crc32(str(kinds).encode()):08x}"
        _functions[function, kinds] = Compiled(run, types.void(types.intp))
    return _functions[function, kinds]


def _make_ready(functions: Sequence[Compiled]) -> None:
    with _one_at_a_time:
        missing = [function for function in functions if not function.load()]
        if missing:
            keeps = all(function.kept is not None for function in missing)
            with compiling(len(missing), keeps=keeps):
                for function in missing:
                    function.compile()


# ---- arguments in memory -------------------------------------------------------------------------


def _type(value: Any) -> Any:
    """Return the compiler's type of an argument."""
    if isinstance(value, np.ndarray):
        return types.Array(from_dtype(value.dtype), value.ndim, "C")
    return from_dtype(np.asarray(value).dtype)


def _words(value: Any) -> list[int]:
    """Return an argument in words of eight bytes, as the compiler lays it out."""
    if not isinstance(value, np.ndarray):
        return [int(np.asarray(value).view(np.int64))]
    if not value.flags.c_contiguous or value.itemsize != 8:
        raise TypeError(f"an argument must be in C order with 8 bytes per number: {value!r}")
    owner = parent = 0  # nobody counts references
    address = value.__array_interface__["data"][0]
    return [owner, parent, value.size, value.itemsize, address, *value.shape, *value.strides]


def _reader(kinds: Any) -> Any:
    """Return the compiled function that reads a tuple from memory."""

    @intrinsic
    def read(typing: Any, memory: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (place,) = arguments
            values = []
            for kind in kinds:
                layout = context.get_data_type(kind)
                pointer = builder.inttoptr(place, layout.as_pointer())
                model = context.data_model_manager[kind]
                values.append(model.from_data(builder, builder.load(pointer, align=8)))
                size = context.get_abi_sizeof(layout)
                place = builder.add(place, context.get_constant(types.intp, size))
            return context.make_tuple(builder, kinds, values)

        return kinds(types.intp), build

    return read


# ---- the loop ------------------------------------------------------------------------------------


@intrinsic
def _call(typing: Any, address: Any, memory: Any) -> Any:
    """Call the function at an address with the arguments in memory."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, memory = arguments
        kind = context.call_conv.get_function_type(types.none, (types.intp,))
        function = builder.inttoptr(address, kind.as_pointer())
        context.call_conv.call_function(builder, function, types.none, (types.intp,), [memory])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), build


@inline
def _call_all(addresses: Index, arguments: Index, bounds: Index) -> None:
    for i in range(bounds[0], bounds[1]):
        _call(addresses[i], arguments[i])


@entry
def _run(
    start: int,
    stop: int,
    due: Index,
    addresses: Index,
    arguments: Index,
    bounds: Index,
    clock: Index,
    stopped_at: Index,
    shown: Array,
    records: Array,
) -> None:
    recorded = 0
    for step in range(start, stop + 1):
        recording = recorded < due.size and due[recorded] == step
        if step == stop and not recording:
            break
        clock[0] = step
        _call_all(addresses, arguments, bounds[BATCH : BATCH + 2])
        for block in range(len(stopped_at)):
            section = 3 * block
            if smallest(stopped_at[block]) >= 0:  # all lanes have diverged
                if recording:
                    fill(records[recorded, block], np.inf)
                continue
            _call_all(addresses, arguments, bounds[section + FORWARD : section + FORWARD + 2])
            if recording:
                _call_all(addresses, arguments, bounds[section + RECORD : section + RECORD + 2])
                copy(shown[block], records[recorded, block])
            if step < stop:
                _call_all(addresses, arguments, bounds[section + UPDATE : section + UPDATE + 2])
        recorded += recording
