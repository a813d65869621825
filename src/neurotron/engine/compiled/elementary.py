"""Compiled versions of the functions in `neurotron._formula`.

Logarithm, exponential, sine and cosine are polynomials in plain arithmetic, which the compiler
turns into vector instructions, unlike calls of the C library. They agree with the C library to a
few units in the last place. Import this module before compiling a formula.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from neurotron import _formula
from neurotron._jit import implements, inline, jit

TURN = 2.0 * math.pi
LOG_2 = math.log(2.0)
LOG_2_HIGH = (
    math.floor(LOG_2 * 2.0**32) / 2.0**32
)  # so that products with whole numbers below 2²⁰ are exact
LOG_2_LOW = float(Decimal(2).ln() - Decimal(LOG_2_HIGH))
LARGEST = 709.0  # beyond this, eˣ overflows
ROOT_HALF = np.uint64(np.array(math.sqrt(0.5)).view(np.uint64))
EXPONENT = np.uint64(52)
BIAS = np.uint64(1023)
ONE = np.uint64(0x3FF0000000000000)
WHOLE = np.uint64(0x4330000000000000)
"""The bits of 2⁵²: with a whole number below 2⁵² in its low bits, a float is 2⁵² + that number."""


def _economised(series: list[float], low: float, high: float, terms: int) -> tuple[float, ...]:
    """Return `terms` coefficients, highest first, that approximate a power series on [low, high].

    They come from truncating its expansion in Chebyshev polynomials, which has nearly the smallest
    error of all polynomials of this length.
    """
    expansion = Polynomial(series).convert(domain=[low, high], kind=Chebyshev)
    return tuple(map(float, expansion.truncate(terms).convert(kind=Polynomial).coef[::-1]))


# enough terms for an error below that of rounding:
# sin x = x S(x²) and cos x = C(x²) for |x| ≤ π/4, log((1 + s)/(1 − s)) = s A(s²) for |s| ≤ 0.1716,
# e^y − 1 = y G(y) for |y| ≤ (log 2)/2
SINE = _economised([(-1) ** i / math.factorial(2 * i + 1) for i in range(12)], 0.0, 0.617, 7)
COSINE = _economised([(-1) ** i / math.factorial(2 * i) for i in range(12)], 0.0, 0.617, 8)
AREA = _economised([2.0 / (2 * i + 1) for i in range(16)], 0.0, 0.02944, 8)
GROWTH = _economised([1.0 / math.factorial(i + 1) for i in range(18)], -0.3466, 0.3466, 11)


@jit
def _polynomial(coefficients: tuple[float, ...], z: float) -> float:
    """Return the polynomial at z by Horner's rule."""
    total = 0.0
    for coefficient in coefficients:
        total = total * z + coefficient
    return total


@implements(_formula.select)
def _select(condition: Any, a: Any, b: Any) -> Any:
    def select(condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b

    return select


@implements(_formula.log, inline="always")
def _log(u: Any) -> Any:
    def log(u: Any) -> Any:
        """U = 2^k m with m in [√½, √2): log u = k log 2 + 2 artanh((m − 1)/(m + 1))."""
        bits = np.float64(u).view(np.uint64)
        k = (bits + ONE - ROOT_HALF) >> EXPONENT  # biased, so that it is not negative
        m = np.uint64(bits - ((k - BIAS) << EXPONENT)).view(np.float64)
        power = np.uint64(k | WHOLE).view(np.float64) - (2.0**52 + 1023.0)
        s = (m - 1.0) / (m + 1.0)
        return power * LOG_2 + s * _polynomial(AREA, s * s)

    return log


@implements(_formula.expm1, inline="always")
def _expm1(x: Any) -> Any:
    def expm1(x: Any) -> Any:
        """With x = k log 2 + y, |y| ≤ (log 2)/2: eˣ − 1 = 2^k (e^y − 1) + (2^k − 1)."""
        k = np.floor(np.minimum(x, LARGEST) * (1.0 / LOG_2) + 0.5)
        y = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
        power = np.uint64(np.float64(k + (2.0**52 + 1023.0)).view(np.uint64) << EXPONENT)
        scale = power.view(np.float64)
        value = scale * (y * _polynomial(GROWTH, y)) + (scale - 1.0)
        return value if x <= LARGEST else np.inf

    return expm1


@inline
def _quarter(v: float) -> tuple[float, float]:
    """Return the nearest quarter turn, 0 … 4, and the angle to it, at most π/4."""
    quarter = np.floor(4.0 * v + 0.5)
    return quarter, (v - 0.25 * quarter) * TURN


@implements(_formula.cos_turn, inline="always")
def _cos_turn(v: Any) -> Any:
    def cos_turn(v: Any) -> Any:
        quarter, x = _quarter(v)
        aside = (quarter == 1.0) | (quarter == 3.0)
        value = x * _polynomial(SINE, x * x) if aside else _polynomial(COSINE, x * x)
        return -value if (quarter == 1.0) | (quarter == 2.0) else value

    return cos_turn


@implements(_formula.sin_turn, inline="always")
def _sin_turn(v: Any) -> Any:
    def sin_turn(v: Any) -> Any:
        quarter, x = _quarter(v)
        aside = (quarter == 1.0) | (quarter == 3.0)
        value = _polynomial(COSINE, x * x) if aside else x * _polynomial(SINE, x * x)
        return -value if (quarter == 2.0) | (quarter == 3.0) else value

    return sin_turn
