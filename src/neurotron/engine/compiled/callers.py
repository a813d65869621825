"""Calls of compiled functions whose address and arguments are numbers in memory.

The arguments of a call are stored one after the other, in words of eight bytes. For each list of
types of arguments there is a caller: it gets the address of a function and that of the arguments,
loads them, and calls the function. Arrays are passed by their address, so that a call sees their
present content. A call costs a few nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

Types = tuple[Any, ...]
"""The compiler's types of the arguments of a function."""


def kind_of(value: Any) -> Any:
    """Return something that identifies an argument's type, faster than the type itself."""
    return (value.dtype, value.ndim) if isinstance(value, np.ndarray) else type(value)


def type_of(value: Any) -> Any:
    """Return the compiler's type of an argument."""
    if isinstance(value, np.ndarray):
        return types.Array(from_dtype(value.dtype), value.ndim, "C")
    return from_dtype(np.asarray(value).dtype)


def words_of(value: Any) -> list[int]:
    """Return an argument in words of eight bytes, as compiled functions expect it."""
    if not isinstance(value, np.ndarray):
        return [int(np.asarray(value).view(np.int64))]
    if not value.flags.c_contiguous or value.itemsize != 8:
        raise TypeError(f"an argument must be in C order with 8 bytes per number: {value!r}")
    owner = parent = 0  # nobody counts references
    address = value.__array_interface__["data"][0]
    return [owner, parent, value.size, value.itemsize, address, *value.shape, *value.strides]


_callers: dict[Types, int] = {}
_libraries: list[Any] = []
"""The code of the callers, which must stay in memory."""


def callers_of(wanted: Iterable[Types]) -> list[int]:
    """Return the addresses of the callers for some types of arguments."""
    wanted = list(wanted)
    with global_compiler_lock:
        new = set(wanted).difference(_callers)
        if new:
            _add_callers(new)
    return [_callers[kinds] for kinds in wanted]


def _add_callers(wanted: Iterable[Types]) -> None:
    """Create callers, without the compiler's front end: that takes two milliseconds each."""
    context = cpu_target.target_context
    library = context.codegen().create_library("neurotron callers")
    module = library.create_ir_module("neurotron callers")
    names = {kinds: f"neurotron_caller_{len(_callers) + i}" for i, kinds in enumerate(wanted)}
    for kinds, name in names.items():
        _write_caller(module, name, context.call_conv.get_function_type(types.none, kinds))
    library.add_ir_module(module)
    library.finalize()
    _libraries.append(library)
    for kinds, name in names.items():
        _callers[kinds] = library.get_pointer_to_function(name)


def _write_caller(module: Any, name: str, called: Any) -> None:
    word = ir.IntType(64)
    form = ir.FunctionType(ir.VoidType(), [called.as_pointer(), word.as_pointer()])
    caller = ir.Function(module, form, name)
    function, memory = caller.args
    builder = ir.IRBuilder(caller.append_basic_block())
    values = [builder.alloca(kind.pointee) for kind in called.args[:2]]  # for what it may return
    for number, kind in enumerate(called.args[2:]):
        place = builder.bitcast(builder.gep(memory, [word(number)]), kind.as_pointer())
        values.append(builder.load(place, align=8))
    builder.call(function, values)
    builder.ret_void()


@intrinsic
def call(typing: Any, caller: Any, function: Any, memory: Any) -> Any:
    """Let a caller call the function at an address with the arguments in memory."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        caller, *rest = arguments
        form = ir.FunctionType(ir.VoidType(), [word.type for word in rest])
        builder.call(builder.inttoptr(caller, form.as_pointer()), rest)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), build
