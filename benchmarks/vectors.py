"""How wide the processor's vectors are, which decides much of the speed."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
from numba import njit

__all__ = ["measured_bits", "name", "without_avx512"]

REGISTERS = {"zmm": 512, "ymm": 256, "xmm": 128}
NAMES = {512: "AVX-512", 256: "AVX2", 128: "SSE"}


def measured_bits() -> int:
    """Return the width of the vectors that the compiler uses in this process, 0 if none.

    It is read from the machine code of a small loop, because what the processor could do is not
    always what the compiler was told to use.
    """

    def loop(values: np.ndarray) -> None:
        for i in range(values.size):
            values[i] = 2.0 * values[i] + 1.0

    compiled = njit(loop)
    compiled(np.ones(8))
    (code,) = compiled.inspect_asm().values()
    return next((bits for word, bits in REGISTERS.items() if re.search(rf"{word}\d", code)), 0)


def name(bits: int) -> str:
    """Return what vectors of so many bits are called."""
    return NAMES.get(bits, f"{bits} bits")


def without_avx512() -> dict[str, str]:
    """Return the variables with which the compiler uses no vectors wider than AVX2."""
    has = llvm.get_host_cpu_features()
    features = [
        f"{'+' if on and not feature.startswith(('avx512', 'avx10', 'evex512')) else '-'}{feature}"
        for feature, on in has.items()
    ]
    return {"NUMBA_CPU_NAME": llvm.get_host_cpu_name(), "NUMBA_CPU_FEATURES": ",".join(features)}
