"""Operations on eight numbers at once, written with vector instructions.

A `Lanes` value is kept in vector registers: one of 512 bits, two of 256 or four of 128, as the
compiler chooses. Without this, the compiler keeps sums of products in memory, at a third of the
speed. The arithmetic of a lane does not depend on the other lanes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
EVERY_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


class LanesModel(models.PrimitiveModel):
    """Stores eight numbers as one machine vector."""

    def __init__(self, manager: Any, lanes_type: Any) -> None:
        super().__init__(manager, lanes_type, VECTOR)


class LanesType(types.Type):
    """The type of eight numbers."""

    model = LanesModel


register_model(LanesType)(LanesModel)
LANES_TYPE = LanesType("Lanes")


@intrinsic
def zeros(typing: Any) -> Any:
    """Return eight zeros."""
    return LANES_TYPE(), lambda context, builder, signature, arguments: ir.Constant(
        VECTOR, [0.0] * LANES
    )


@intrinsic
def take(typing: Any, array: Any, start: Any) -> Any:
    """Return array[start : start + 8]."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load(place, align=8)

    return LANES_TYPE(array, types.intp), build


@intrinsic
def put(typing: Any, array: Any, start: Any, lanes: Any) -> Any:
    """Write the lanes to array[start : start + 8]."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, LANES_TYPE), build


@intrinsic
def add_scaled(typing: Any, total: Any, number: Any, lanes: Any) -> Any:
    """Return total + number · lanes, rounded once: the same bits on every machine."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, number, lanes = arguments
        nothing = ir.Constant(VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        every = builder.shuffle_vector(first, nothing, EVERY_FIRST)
        name, form = f"llvm.fma.v{LANES}f64", ir.FunctionType(VECTOR, [VECTOR] * 3)
        fused = cgutils.get_or_insert_function(builder.module, form, name)
        return builder.call(fused, [every, lanes, total])

    return LANES_TYPE(LANES_TYPE, types.float64, LANES_TYPE), build


def _place(context: Any, builder: Any, array_type: Any, array: Any, start: Any) -> Any:
    parts = context.make_array(array_type)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, array_type, parts, [start], wraparound=False)
    return builder.bitcast(place, VECTOR.as_pointer())
