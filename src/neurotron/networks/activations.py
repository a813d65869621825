r"""Activations whose odd part is linear: σ(z) = c z + ψ(z) with an even function ψ.

The theory of Neuro-Tron uses nothing else of an activation. For inputs x and −x of the same law the
even part ψ cancels, so the mean update sees the network as if it were linear with the slope c. The
Lipschitz constant Λ of ψ bounds what the even part adds to the noise of an update.

=============  =========================  ===  ======
activation     ψ(z)                       c    Λ
=============  =========================  ===  ======
softplus       log(2 cosh(z/2))           ½    ½
SiLU           (z/2) tanh(z/2)            ½    0.5999
GELU           (z/2) erf(z/√2)            ½    0.6290
leaky ReLU     ((1 − α)/2) |z|            (1 + α)/2, (1 − α)/2 with the leak α
=============  =========================  ===  ======

The leaky ReLU is the paper's. A network has it unless another activation is given, and its kink
allows faster and stronger methods, so it has code of its own (`FilterNetwork.leak`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._formula import erf, expm1, log, select
from neurotron._pickling import Pickled

Formula = Callable[[Any], Any]


@dataclass(frozen=True)
class Activation(Pickled):
    """An activation σ(z) = c z + ψ(z), where ψ is even.

    Use "softplus", "silu" or "gelu" by name, or give the even part of your own and check it with
    `check_activation`.

    Parameters
    ----------
    name
        What it is called in messages.
    even, even_slope
        ψ(z) and its derivative, as elementwise functions of numbers.
    lipschitz
        Λ: |ψ(y) − ψ(z)| ≤ Λ|y − z| for all y and z. Guarantees depend on it, so it must never be
        too small.
    slope
        c, the slope of the odd part, above 0.

    Examples
    --------
    >>> import neurotron as nt
    >>> smooth = Activation("root", lambda z: np.sqrt(1 + z * z) / 2,
    ...                     lambda z: z / np.sqrt(1 + z * z) / 2, lipschitz=0.5)
    >>> nt.check_activation(smooth)
    >>> smooth.value(np.array([0.0, 100.0])).round(3)
    array([  0.5  , 100.002])
    """

    name: str
    even: Formula
    even_slope: Formula
    lipschitz: float
    slope: float = 0.5

    def __post_init__(self) -> None:
        _check.text("name", self.name)
        for name in ("even", "even_slope"):
            _check.function(name, getattr(self, name), "(z)")
        for name, interval in (("lipschitz", "[0, 1e70]"), ("slope", "[1e-70, 1e70]")):
            object.__setattr__(self, name, _check.number(name, getattr(self, name), interval))

    def __repr__(self) -> str:
        return f"Activation({self.name})"

    @property
    def steepest(self) -> float:
        """A Lipschitz constant of σ: c + Λ."""
        return self.slope + self.lipschitz

    def value(self, z: Any) -> Any:
        """Return σ(z)."""
        return self.slope * z + self.even(z)

    def derivative(self, z: Any) -> Any:
        """Return σ'(z)."""
        return self.slope + self.even_slope(z)

    def in_units(self, unit: float) -> Activation:
        """Return z ↦ (σ(u z) − σ(0))/u: the change of σ from 0, where all is in units of u."""
        even, even_slope, zero = self.even, self.even_slope, self.even(0.0)
        return replace(
            self,
            even=lambda z: (even(unit * z) - zero) / unit,
            even_slope=lambda z: even_slope(unit * z),
        )


# The formulas use e^{|z|} − 1 because, unlike tanh, it is compiled to vector instructions. Beyond
# |z| = 40, e^{−|z|} is less than rounding.


def softplus_even(z: Any) -> Any:
    """Return log(2 cosh(z/2)) = |z|/2 − log(1 − 1/(1 + e^{|z|}))."""
    size = np.abs(z)
    return 0.5 * size - log(1.0 - 1.0 / (2.0 + expm1(select(size < 40.0, size, 40.0))))


def softplus_slope(z: Any) -> Any:
    """Return tanh(z/2)/2 = sign(z) (1/2 − 1/(1 + e^{|z|}))."""
    size = np.abs(z)
    return np.copysign(0.5 - 1.0 / (2.0 + expm1(select(size < 40.0, size, 40.0))), z)


def silu_even(z: Any) -> Any:
    """Return (z/2) tanh(z/2)."""
    size = np.abs(z)
    return size * (0.5 - 1.0 / (2.0 + expm1(select(size < 40.0, size, 40.0))))


def silu_slope(z: Any) -> Any:
    """Return its derivative, t + z (1/4 − t²) with t = tanh(z/2)/2."""
    size = np.abs(z)
    half = np.copysign(0.5 - 1.0 / (2.0 + expm1(select(size < 40.0, size, 40.0))), z)
    return half + z * (0.25 - half * half)


def gelu_even(z: Any) -> Any:
    """Return (z/2) erf(z/√2)."""
    return 0.5 * z * erf(z * ROOT_HALF)


def gelu_slope(z: Any) -> Any:
    """Return its derivative, erf(z/√2)/2 + z e^{−z²/2}/√(2π)."""
    size = np.abs(z)
    near = select(size < 35.0, size, 35.0)  # beyond, e^{−z²/2} is less than rounding
    tail = np.copysign(near, z) * INVERSE_ROOT / (1.0 + expm1(0.5 * near * near))
    return 0.5 * erf(z * ROOT_HALF) + tail


ROOT_HALF = 0.7071067811865476
INVERSE_ROOT = 0.3989422804014327

BUILT_IN: dict[str, Activation] = {
    "softplus": Activation("softplus", softplus_even, softplus_slope, lipschitz=0.5),
    "silu": Activation("silu", silu_even, silu_slope, lipschitz=0.5998393202),
    "gelu": Activation("gelu", gelu_even, gelu_slope, lipschitz=0.6289041452),
}
"""The built-in activations besides the leaky ReLU, by name."""
OTHER_NAMES = {"swish": "silu"}
NOT_COVERED = ("tanh", "sigmoid", "logistic", "elu", "selu", "mish", "sin")
"""Activations that people may ask for, whose odd part is not linear."""


def activation_of(value: object) -> Activation | None:
    """Return the activation that is given itself or by its name; None for the leaky ReLU."""
    if value is None or isinstance(value, Activation):
        return value
    if isinstance(value, str):
        name = OTHER_NAMES.get(value.lower(), value.lower())
        if name in BUILT_IN:
            return BUILT_IN[name]
        if name in ("relu", "leaky-relu"):
            return None
        if name in NOT_COVERED:
            raise _check.InputError(
                f"{value!r} is no activation of these networks, because its odd part is not "
                f"linear: use one of {', '.join(map(repr, BUILT_IN))}, or 'relu'"
            )
        raise _check.unknown("activation", value, [*BUILT_IN, "relu"])
    raise _check.InputError(
        f"`activation` must be one of {', '.join(map(repr, BUILT_IN))}, or an Activation, got "
        f"{_check.shown(value)}"
    )
