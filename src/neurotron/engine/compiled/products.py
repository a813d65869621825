"""The two matrix products of a step, with sums in a fixed order.

The bits of an entry depend on its own row and column only, not on how many there are. Matrices of
eight columns are flat: number 8 i + a is in row i and column a.
"""

from __future__ import annotations

from neurotron._jit import jit
from neurotron._types import Array, Index
from neurotron.engine.compiled.lanes import LANES, add_scaled, put, take, zeros


@jit
def product(left: Array, columns: Index, right: Array, out: Array, width: int, at: int) -> None:
    """Set out[i, at + a] = Σ_j left[i, columns[j]] right[j, a], where `out` is `width` wide."""
    rows, i = left.shape[0], 0
    while i + 4 <= rows:  # four rows at once, so that each load of `right` is used four times
        s0, s1, s2, s3 = zeros(), zeros(), zeros(), zeros()
        for j in range(columns.size):
            c, lanes = columns[j], take(right, j * LANES)
            s0 = add_scaled(s0, left[i, c], lanes)
            s1 = add_scaled(s1, left[i + 1, c], lanes)
            s2 = add_scaled(s2, left[i + 2, c], lanes)
            s3 = add_scaled(s3, left[i + 3, c], lanes)
        put(out, i * width + at, s0)
        put(out, (i + 1) * width + at, s1)
        put(out, (i + 2) * width + at, s2)
        put(out, (i + 3) * width + at, s3)
        i += 4
    while i < rows:
        s0 = zeros()
        for j in range(columns.size):
            s0 = add_scaled(s0, left[i, columns[j]], take(right, j * LANES))
        put(out, i * width + at, s0)
        i += 1


@jit
def add_transposed_product(left: Array, columns: Index, right: Array, out: Array) -> None:
    """Add Σ_i left[i, columns[j]] right[i, a] to out[j, a]."""
    rows, j = left.shape[0], 0
    while j + 4 <= columns.size:
        c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        at = j * LANES
        s0, s1 = take(out, at), take(out, at + LANES)
        s2, s3 = take(out, at + 2 * LANES), take(out, at + 3 * LANES)
        for i in range(rows):
            lanes = take(right, i * LANES)
            s0 = add_scaled(s0, left[i, c0], lanes)
            s1 = add_scaled(s1, left[i, c1], lanes)
            s2 = add_scaled(s2, left[i, c2], lanes)
            s3 = add_scaled(s3, left[i, c3], lanes)
        put(out, at, s0)
        put(out, at + LANES, s1)
        put(out, at + 2 * LANES, s2)
        put(out, at + 3 * LANES, s3)
        j += 4
    while j < columns.size:
        s0 = take(out, j * LANES)
        for i in range(rows):
            s0 = add_scaled(s0, left[i, columns[j]], take(right, i * LANES))
        put(out, j * LANES, s0)
        j += 1
