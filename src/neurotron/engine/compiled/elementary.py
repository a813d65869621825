"""Compiled versions of the functions in `neurotron._formula`.

Logarithm, exponential, sine and cosine are polynomials in plain arithmetic, which the compiler
turns into vector instructions, unlike calls of the C library. They agree with the exact values to a
few units in the last place, and have the same bits on every machine. The error function, which is
between −1 and 1, has an error below 5e-16. Import this module before compiling a formula.

The functions of a `Value` do not compute: they run once, when a formula is compiled, and write the
instructions of their result. So the compiler need not analyse Python code, which would take most of
its time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing import signature
from numba.core.typing.templates import infer_global, make_concrete_template
from numba.extending import lower_builtin
from numpy.polynomial import Chebyshev, Polynomial

from neurotron import _formula

FLOAT, WORD = ir.DoubleType(), ir.IntType(64)

TURN = 2.0 * math.pi
LOG_2 = math.log(2.0)
LOG_2_HIGH = (
    math.floor(LOG_2 * 2.0**32) / 2.0**32
)  # so that products with whole numbers below 2²⁰ are exact
LOG_2_LOW = float(Decimal(2).ln() - Decimal(LOG_2_HIGH))
LARGEST = 709.0  # beyond this, eˣ overflows
BIAS = 1023
ONE = BIAS << 52
ROOT_HALF = int(np.array(math.sqrt(0.5)).view(np.uint64))
WHOLE = 0x4330000000000000
"""The bits of 2⁵²: with a whole number below 2⁵² in its low bits, a float is 2⁵² + that number."""
NEAREST = 1.5 * 2.0**52
"""Adding this rounds a number of moderate size to a whole one, which is then in the low bits."""


# ---- instructions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """A number, or its 64 bits, in the program that is being compiled."""

    builder: ir.IRBuilder
    name: ir.Value

    def _write(self, instruction: str, *others: Value | float) -> Value:
        names = (one.name if isinstance(one, Value) else self.name.type(one) for one in others)
        return Value(self.builder, getattr(self.builder, instruction)(self.name, *names))

    @property
    def bits(self) -> Value:
        """The bits of a number, as a whole number."""
        return Value(self.builder, self.builder.bitcast(self.name, WORD))

    @property
    def number(self) -> Value:
        """The number with these bits."""
        return Value(self.builder, self.builder.bitcast(self.name, FLOAT))

    def __neg__(self) -> Value:
        return self._write("fneg")

    def __add__(self, other: Value | float) -> Value:
        return self._write("fadd" if self.name.type == FLOAT else "add", other)

    def __sub__(self, other: Value | float) -> Value:
        return self._write("fsub" if self.name.type == FLOAT else "sub", other)

    def __mul__(self, other: Value | float) -> Value:
        return self._write("fmul", other)

    def __truediv__(self, other: Value) -> Value:
        return self._write("fdiv", other)

    def __lshift__(self, places: int) -> Value:
        return self._write("shl", places)

    def __rshift__(self, places: int) -> Value:
        return self._write("lshr", places)

    def __or__(self, other: int) -> Value:
        return self._write("or_", other)

    def __xor__(self, other: Value) -> Value:
        return self._write("xor", other)

    def times_plus(self, factor: Value | float, term: Value | float) -> Value:
        """Return self · factor + term, rounded once."""
        return self._write("fma", factor, term)

    def root(self) -> Value:
        """Return the square root."""
        function = self.builder.module.declare_intrinsic("llvm.sqrt", [FLOAT])
        return Value(self.builder, self.builder.call(function, [self.name]))

    def up_to(self, bound: float, value: Value, otherwise: float) -> Value:
        """Return `value` if this number is at most `bound`, else `otherwise`."""
        within = self.builder.fcmp_ordered("<=", self.name, FLOAT(bound))
        return Value(self.builder, self.builder.select(within, value.name, FLOAT(otherwise)))


# ---- polynomials ---------------------------------------------------------------------------------


def _economised(series: list[float], low: float, high: float, terms: int) -> tuple[float, ...]:
    """Return `terms` coefficients, lowest first, that approximate a power series on [low, high].

    They come from truncating its expansion in Chebyshev polynomials, which has nearly the smallest
    error of all polynomials of this length.
    """
    expansion = Polynomial(series).convert(domain=[low, high], kind=Chebyshev)
    return tuple(map(float, expansion.truncate(terms).convert(kind=Polynomial).coef))


def _polynomial(coefficients: tuple[float, ...], z: Value) -> Value:
    """Return the polynomial at z: even and odd terms apart, so that both run at the same time."""
    square = z * z
    even, odd = _horner(coefficients[::2], square), _horner(coefficients[1::2], square)
    return odd.times_plus(z, even)


def _horner(coefficients: tuple[float, ...], z: Value) -> Value:
    total = Value(z.builder, FLOAT(coefficients[-1]))
    for coefficient in coefficients[-2::-1]:
        total = total.times_plus(z, coefficient)
    return total


# The first term of each series is kept apart, so that rounding the others matters less. There are
# enough terms for an error below that of rounding:
# sin 2πt = 2πt + t³ S(t²) and cos 2πt = (1 − 16t²)(1 + t² C(t²)) for |t| ≤ ¼,
# 2 artanh s = 2s + s³ A(s²) for |s| ≤ 0.1716, e^y − 1 = y + y² G(y) for |y| ≤ (log 2)/2.
_cosine = [(-1) ** i * (math.pi / 2) ** (2 * i) / math.factorial(2 * i) for i in range(24)]
SINE = _economised(
    [(-1) ** i * TURN ** (2 * i + 1) / math.factorial(2 * i + 1) for i in range(1, 16)],
    0.0, 0.0625, 8,
)  # fmt: skip
COSINE = _economised(
    [-(16.0**i) * math.fsum(_cosine[i + 1 :]) for i in range(1, 16)], 0.0, 0.0625, 7
)  # the series of a quotient: its terms are sums of the cosine's up to i, which is minus the rest
AREA = _economised([2.0 / (2 * i + 1) for i in range(1, 16)], 0.0, 0.02944, 7)
GROWTH = _economised([1.0 / math.factorial(i + 1) for i in range(1, 18)], -0.3466, 0.3466, 10)

# 4 sin(θ/3)/sin θ · √cos(θ/3) is N(w)/D(w) for w = cos θ in [0, 1], to 1e-16: the rational function
# that agrees with it at the 13 Chebyshev points
NUMERATOR = (
    1.8612097182041991, 4.57028779709952, 4.0729647848271755, 1.603283500434147,
    0.2696243668931415, 0.015366087421699494, 0.00012771179863492417,
)  # fmt: skip
DENOMINATOR = (
    1.0, 2.9366721475962647, 3.2447683098758584, 1.6710481933933354,
    0.40193994653617326, 0.039207428241268265, 0.0010119493659883289,
)  # fmt: skip

# e^{x²} erfc x is A(x)/B(x) for x in [0, 6], so nearly that the error of erfc x is below 1e-17:
# the rational function that agrees with it at the 20 Chebyshev points of [0, 4.2]
TAIL_ABOVE = (
    1.0, 2.0244395735151537, 2.04759546067759, 1.3165708012918433, 0.5855337131929804,
    0.1856389977062065, 0.041871204245624745, 0.006485951608919795, 0.0006287284619067279,
    2.9299078589692068e-05,
)  # fmt: skip
TAIL_BELOW = (
    1.0, 3.152818740610665, 4.605170445211016, 4.112383230044338, 2.4924074882373675,
    1.074380455063068, 0.334758721665365, 0.07477196618555035, 0.011522015885405752,
    0.0011143921725297295, 5.193126484195841e-05,
)  # fmt: skip


# ---- functions -----------------------------------------------------------------------------------


def _log(u: Value) -> Value:
    """With u = 2^k m, f = m − 1, s = f/(2 + f): log u = k log 2 + f − s(f − s² A(s²)).

    Here m is in [√½, √2), and log m = 2 artanh s is close to f, which is exact.
    """
    k = (u.bits + (ONE - ROOT_HALF)) >> 52  # biased, so that it is not negative
    m = (u.bits - ((k - BIAS) << 52)).number
    power = (k | WHOLE).number - (2.0**52 + BIAS)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    rest = (-z).times_plus(_polynomial(AREA, z), f)
    return power.times_plus(LOG_2, (-s).times_plus(rest, f))


def _expm1(x: Value) -> Value:
    """With x = k log 2 + y, |y| ≤ (log 2)/2: eˣ − 1 = 2^k (e^y − 1) + (2^k − 1)."""
    shifted = x.times_plus(1.0 / LOG_2, NEAREST)
    k = shifted - NEAREST
    y = k.times_plus(-LOG_2_LOW, k.times_plus(-LOG_2_HIGH, x))
    power = ((shifted.bits + BIAS) << 52).number
    value = power.times_plus((y * y).times_plus(_polynomial(GROWTH, y), y), power - 1.0)
    return x.up_to(LARGEST, value, math.inf)


def _erf(x: Value) -> Value:
    """With a = |x|: erf a = 1 − e^{−a²} A(a)/B(a), which is 1 beyond 6."""
    a = ((x.bits << 1) >> 1).number
    grown = _expm1(a * a) + 1.0
    tail = _polynomial(TAIL_ABOVE, a) / (_polynomial(TAIL_BELOW, a) * grown)
    return (a.up_to(6.0, -tail + 1.0, 1.0).bits ^ (x.bits ^ a.bits)).number


def _from_half_turn(v: Value) -> tuple[Value, Value]:
    """Return t = v − the nearest half turn, |t| ≤ ¼, and the sign bit of (−1)^(half turns)."""
    shifted = v.times_plus(2.0, NEAREST)
    return (shifted - NEAREST).times_plus(-0.5, v), shifted.bits << 63


def _cos_turn(v: Value) -> Value:
    t, sign = _from_half_turn(v)
    edges = t.times_plus(4.0, 1.0) * t.times_plus(-4.0, 1.0)  # 1 − 16t², also exact near zero
    z = t * t
    return ((edges * z).times_plus(_polynomial(COSINE, z), edges).bits ^ sign).number


def _sin_turn(v: Value) -> Value:
    t, sign = _from_half_turn(v)
    z = t * t
    return (t.times_plus(TURN, t * z * _polynomial(SINE, z)).bits ^ sign).number


def _t4_quantile(u: Value) -> Value:
    """With sin θ = 2u − 1 and w = cos θ: 4 sin(θ/3) · √(cos(θ/3)/w) = sin θ · N(w)/(D(w) √w)."""
    w = (u * 4.0 * u.times_plus(-1.0, 1.0)).root()
    above = u.times_plus(2.0, -1.0) * _polynomial(NUMERATOR, w)
    return above / (_polynomial(DENOMINATOR, w) * w.root())


def _select(condition: Value, a: Value, b: Value) -> Value:
    return Value(a.builder, a.builder.select(condition.name, a.name, b.name))


def _compile(function: Callable[..., Any], write: Callable[..., Value], *arguments: Any) -> None:
    """Let compiled code that calls `function` use the instructions of `write`."""
    form = signature(types.float64, *arguments)
    template = make_concrete_template(function.__name__, function, [form])
    infer_global(function, types.Function(template))

    def build(context: Any, builder: Any, form: Any, names: Any) -> Any:
        return write(*(Value(builder, name) for name in names)).name

    lower_builtin(function, *arguments)(build)


_compile(_formula.erf, _erf, types.float64)
_compile(_formula.log, _log, types.float64)
_compile(_formula.expm1, _expm1, types.float64)
_compile(_formula.cos_turn, _cos_turn, types.float64)
_compile(_formula.sin_turn, _sin_turn, types.float64)
_compile(_formula.t4_quantile, _t4_quantile, types.float64)
_compile(_formula.select, _select, types.boolean, types.float64, types.float64)
