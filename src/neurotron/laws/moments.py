r"""Norm moments of product laws by quadrature.

With :math:`\psi_p(s) = E[x^{2p} e^{-s x^2}]` for one coordinate,

.. math::
    m_1 &= \frac{n}{\sqrt\pi} \int_0^\infty s^{-1/2} \psi_1 \psi_0^{n-1}\, ds, \\
    m_3 &= \frac{1}{\sqrt\pi} \int_0^\infty s^{-1/2}
           \left[ n \psi_2 \psi_0^{n-1} + n(n-1) \psi_1^2 \psi_0^{n-2} \right] ds .

All terms are positive. Both integrals are trapezoid sums in log s, and ψ is a sum over points |x|
with their probabilities. If the law has a density, this is a trapezoid sum in log x; if it has
quantiles, the sum is over a variable that spaces out both ends of the unit interval. For analytic
integrands the error falls exponentially in 1/step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array

if TYPE_CHECKING:
    from neurotron.laws.base import ProductLaw

STEP = 0.1
LOG_S = np.arange(-120.0, 60.0, STEP)


def norm_moment(law: ProductLaw, order: int, n: int) -> float:
    """Return E‖x‖^order of `law` in n dimensions, or an upper bound if ψ is not known."""
    if law.tail <= order:
        return math.inf
    m2 = n * law.variance
    m4 = n * (law.kurtosis + n - 1.0) * law.variance**2
    if order == 2:
        return m2
    if order == 4:
        return m4
    if law.transforms is None:
        return math.sqrt(m2) if order == 1 else math.sqrt(m2 * m4)
    psi0, psi1, psi2 = law.transforms
    with np.errstate(under="ignore"):
        if order == 1:
            values = n * psi1 * psi0 ** (n - 1)
        else:
            values = n * psi2 * psi0 ** (n - 1)
            if n > 1:
                values = values + n * (n - 1) * psi1**2 * psi0 ** (n - 2)
    return integrate(values, rate=min(0.5, (law.tail - order) / 2.0)) * law.unit**order


def integrate(values: Array, rate: float) -> float:
    """Return π^{−1/2} ∫ s^{−1/2} f(s) ds from values of f at the nodes.

    Below the smallest node the integrand in log s falls like s^rate, so that tail is a geometric
    sum.
    """
    with np.errstate(under="ignore"):
        integrand = values * np.exp(LOG_S / 2.0)  # s^{−1/2} ds = s^{1/2} d(log s)
    below = float(integrand[0]) / math.expm1(rate * STEP)
    return STEP * (float(integrand.sum()) + below) / math.sqrt(math.pi)


def laplace_transforms(law: ProductLaw) -> tuple[Array, Array, Array] | None:
    """Return ψ_0, ψ_1, ψ_2 at the nodes exp(LOG_S), with x measured in the law's `unit`."""
    points = law.masses()
    if points is None:
        return None
    x, mass = points
    with np.errstate(under="ignore"):
        decay = np.exp(-np.outer(np.exp(LOG_S), x * x))
        zero, one, two = (decay @ (mass * x ** (2 * p)) for p in range(3))
    return zero, one, two


def masses_of_density(law: ProductLaw) -> tuple[Array, Array] | None:
    """Return points x/unit = e^y and their probabilities; None without a usable density.

    A density that does not sum to one over the points has its mass elsewhere, or is wrong.
    """
    x = np.exp(np.arange(-50.0, 66.0, STEP))
    density = law.density(x * law.unit)
    if density is None:
        return None
    mass = 2.0 * density * law.unit * x * STEP
    return (x, mass) if abs(float(mass.sum()) - 1.0) < 1e-9 else None


def unit_interval(step: float = 0.01) -> tuple[Array, Array, Array]:
    """Return points w of (0, 1), their distances 1 − w to one, and weights that sum to one.

    The spacing is doubly exponential, down to e^−700 at zero, so quantiles at w reach any tail.
    """
    t = np.arange(-6.1, 6.1 + step / 2, step)
    bend = math.pi * np.sinh(t)
    to_zero, to_one = (1.0 / (1.0 + np.exp(sign * bend)) for sign in (1.0, -1.0))
    weight = to_zero * to_one * math.pi * np.cosh(t) * step
    return to_zero, to_one, weight / weight.sum()
