"""Philox4x32-10, compiled: the random number generator behind `Stream`.

Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011. This module is imported on the
first draw only, because it loads the compiler.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurotron._jit import entry, inline, jit
from neurotron._types import Array

__all__ = ["fill_from_python", "fill_pairs", "philox"]

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
DROP = np.uint64(12)
ONE = np.uint64(0x3FF0000000000000)


Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


def _rounds(count: int) -> Callable[..., Words]:
    """Return `count` rounds of Philox as straight code: without a loop, blocks run in parallel."""
    if count == 0:
        return inline(lambda c0, c1, c2, c3, k0, k1: (c0, c1, c2, c3))
    rest = _rounds(count - 1)

    @inline
    def rounds(
        c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
    ) -> Words:
        p0, p1 = MULTIPLIER_0 * (c0 & LOW), MULTIPLIER_1 * (c2 & LOW)
        c0, c2 = (p1 >> HALF) ^ c1 ^ k0, (p0 >> HALF) ^ c3 ^ k1
        return rest(c0, p1 & LOW, c2, p0 & LOW, (k0 + WEYL_0) & LOW, (k1 + WEYL_1) & LOW)

    return rounds


_ten_rounds = _rounds(10)


@inline
def philox(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, key: np.uint64) -> Words:
    """Return the four 32-bit words of Philox4x32-10, each in the low half of a 64-bit one."""
    return _ten_rounds(c0, c1, c2, c3, key & LOW, key >> HALF)


@inline
def _unit(low: np.uint64, high: np.uint64) -> float:
    """Return (52 bits + ½) · 2⁻⁵², computed from the number in [1, 2) with these bits."""
    bits = (low | (high << HALF)) >> DROP
    return np.uint64(bits | ONE).view(np.float64) - (1.0 - 2.0**-53)


@jit
def fill_pairs(key: np.uint64, purpose: np.uint64, step: np.uint64, u: Array, v: Array) -> None:
    """Fill u and v with uniforms on (0, 1), 52 bits each: never 0, never 1."""
    low, high = step & LOW, step >> HALF
    for block in range(u.size):
        w0, w1, w2, w3 = philox(np.uint64(block), purpose, low, high, key)
        u[block] = _unit(w0, w1)
        v[block] = _unit(w2, w3)


@entry
def fill_from_python(
    key: np.uint64, purpose: np.uint64, step: np.uint64, u: Array, v: Array
) -> None:
    """Fill u and v, called from Python."""
    fill_pairs(key, purpose, step, u, v)
