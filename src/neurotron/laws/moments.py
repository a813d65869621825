r"""Norm moments of product laws by quadrature (THEORY §2).

With :math:`\psi_p(s) = E[x^{2p} e^{-s x^2}]` of one coordinate, and every term positive,

.. math::
    m_1 &= \frac{n}{\sqrt\pi} \int_0^\infty s^{-1/2} \psi_1 \psi_0^{n-1}\, ds, \\
    m_3 &= \frac{1}{\sqrt\pi} \int_0^\infty s^{-1/2}
           \left[ n \psi_2 \psi_0^{n-1} + n(n-1) \psi_1^2 \psi_0^{n-2} \right] ds .

Both integrals are trapezoid sums in log s, and ψ a trapezoid sum in log x (or, on a bounded
support, in a variable that flattens both ends): for analytic densities the error falls
exponentially in 1/step.
"""

from __future__ import annotations

import math

import numpy as np

from neurotron._types import Array
from neurotron.laws.base import ProductLaw

__all__ = ["laplace_transforms", "norm_moment"]

STEP = 0.1
LOG_S = np.arange(-120.0, 60.0, STEP)


def norm_moment(law: ProductLaw, order: int, n_inputs: int) -> float:
    """Return E‖x‖^order of `law` in n dimensions, order 1 … 4."""
    if law.tail <= order:
        return math.inf
    n, variance = n_inputs, law.variance
    m2 = n * variance
    m4 = n * (law.kurtosis + n - 1.0) * variance**2 if math.isfinite(law.kurtosis) else math.inf
    if order == 2:
        return m2
    if order == 4:
        return m4
    if law.density(np.array([law.unit])) is None:
        return math.sqrt(m2) if order == 1 else math.sqrt(m2 * m4)
    return _odd_moment(law, order, n)


def _odd_moment(law: ProductLaw, order: int, n: int) -> float:
    s, psi0, psi1, psi2 = law.transforms
    with np.errstate(under="ignore"):
        if order == 1:
            values = n * psi1 * psi0 ** (n - 1)
        else:
            values = n * psi2 * psi0 ** (n - 1)
            if n > 1:
                values = values + n * (n - 1) * psi1**2 * psi0 ** (n - 2)
        integrand = values * np.sqrt(s)  # s^{-1/2} ds = s^{1/2} d(log s)
    # Below the smallest s the integrand falls like a power of s: sum that geometric tail exactly.
    rate = min(0.5, (law.tail - order) / 2.0)
    below = integrand[0] / math.expm1(rate * STEP)
    total = STEP * (float(integrand.sum()) + float(below)) / math.sqrt(math.pi)
    return total * law.unit**order


def laplace_transforms(law: ProductLaw) -> tuple[Array, Array, Array, Array]:
    """Return nodes s and ψ_0, ψ_1, ψ_2 there, for the law measured in its own `unit`."""
    x, weight = _nodes(law.support / law.unit)
    density = law.density(x * law.unit)
    assert density is not None
    mass = density * weight
    mass /= mass.sum()  # the same as 2 · unit · mass, less the rounding of singular densities
    s = np.exp(LOG_S)
    with np.errstate(under="ignore"):
        decay = np.exp(-np.outer(s, x * x))
        zero, one, two = (decay @ (mass * x ** (2 * p)) for p in range(3))
    return s, zero, one, two


def _nodes(support: float) -> tuple[Array, Array]:
    """Return nodes x > 0 and weights dx up to `support`."""
    if math.isinf(support):
        x = np.exp(np.arange(-50.0, 66.0, STEP))
        return x, x * STEP
    step = 0.01
    t = np.arange(-3.5, 3.5 + step, step)
    lower = 1.0 / (1.0 + np.exp(-math.pi * np.sinh(t)))
    upper = 1.0 / (1.0 + np.exp(math.pi * np.sinh(t)))
    inside = lower < 1.0  # where rounding does not put a node on the edge of the support
    weight = support * lower * upper * math.pi * np.cosh(t) * step
    return support * lower[inside], weight[inside]
