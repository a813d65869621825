r"""Second and fourth moments of x under an even weight ω(x), which the sharp certificate needs.

For x = B z with coordinates z whose signs are independent and fair, all follow from the pair
moments c_ij = E[ω² z_i² z_j²] (docs/theory.md, section (e)): with G' = BᵀGB,

.. math:: E[\omega^2 (x^\top G x) xx^\top] = B Q B^\top, \qquad
          Q_{ij} = 2 c_{ij} G'_{ij} \;(i \ne j), \qquad Q_{ii} = \textstyle\sum_j c_{ij} G'_{jj} .

Without weights ω = 1. With "inverse-norm" weights ω = ‖x‖⁻², and the moments exist however heavy
the tails of x are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array
from neurotron.laws.moments import LOG_S, STEP
from neurotron.laws.projections import (
    NORMAL,
    QUADRATURE_SLACK,
    SLACK,
    largest_root,
    tau_of_normals,
    tau_of_rows,
)

if TYPE_CHECKING:
    from neurotron.laws.base import ProductLaw

WEIGHTINGS = ("inverse-norm",)
LEAST = 1e-150
"""A row of smaller norm is treated as zero, as in the engine: it never changes weights."""
QUADRATURE = 1e-8
"""Relative margin by which moments from quadrature are rounded to the safe side."""
STRIDE = 5
"""A double integral takes every fifth node, which still leaves an error of less than 1e-8."""


@dataclass(frozen=True, eq=False, repr=False)
class EvenMoments:
    """Moments of x under an even weight ω; None where they are infinite or not known."""

    covariance: Array | None
    """E[ω xxᵀ], (n, n)."""
    squared: Array | None
    """E[ω² xxᵀ], (n, n)."""
    tau: Callable[[Array], float] | None
    """M ↦ an upper bound on E[ω |uᵀMx|] for every unit vector u, (r, n) to a number."""
    quartic: Callable[[Array], Array] | None
    """G ↦ E[ω² (xᵀGx) xxᵀ], (n, n) to (n, n)."""

    def __repr__(self) -> str:
        known = [name for name, value in vars(self).items() if value is not None]
        return f"EvenMoments(known: {', '.join(known) or 'none'})"

    def image(self, matrix: Array) -> EvenMoments:
        """Return the moments of Bx under the same weight, a function of x."""

        def through(inner: Array | None) -> Array | None:
            return None if inner is None else matrix @ inner @ matrix.T

        inner_tau, inner_quartic = self.tau, self.quartic
        return EvenMoments(
            through(self.covariance),
            through(self.squared),
            None if inner_tau is None else lambda sensing: inner_tau(sensing @ matrix),
            None
            if inner_quartic is None
            else lambda gram: matrix @ inner_quartic(matrix.T @ gram @ matrix) @ matrix.T,
        )


def by_covariance(covariance: Array | None) -> Callable[[Array], float] | None:
    """Return M ↦ √λ_max(MΣMᵀ), which is a bound on τ for every law without weights."""
    if covariance is None:
        return None
    return lambda sensing: largest_root(sensing @ covariance @ sensing.T)


def _by_factor(factor: Callable[[float], float], deviation: float) -> Callable[[Array], float]:
    """Return M ↦ factor(ℓ) · deviation · ‖M‖, with ℓ = max_j ‖Me_j‖²/‖M‖².

    All a = Mᵀu have ‖a‖ ≤ ‖M‖ and |a_j| ≤ ‖Me_j‖.
    """

    def tau(sensing: Array) -> float:
        norm = largest_root(sensing @ sensing.T)
        if norm == 0.0 or not math.isfinite(norm):
            return norm
        share = float(((sensing / norm) ** 2).sum(axis=0).max()) * (1.0 + 2.0 * SLACK)
        return factor(min(share, 1.0)) * deviation * norm

    return tau


def of_product(law: ProductLaw, n: int, weighting: str | None) -> EvenMoments:
    """Return the moments of i.i.d. symmetric coordinates."""
    if weighting is not None:
        return _of_weighted_product(law, n)
    if math.isinf(law.variance):
        return EvenMoments(None, None, None, None)
    one = np.eye(n)
    pairs = None
    if math.isfinite(law.kurtosis):
        pairs = law.variance**2 * (np.ones((n, n)) + (law.kurtosis - 1.0) * one)
    deviation = math.sqrt(law.variance)
    equal = float(_equal_weights(law, n, np.zeros(1))[0]) * law.unit / deviation
    equal *= 1.0 + QUADRATURE_SLACK
    tau = _by_factor(lambda share: min(law.projection_factor(share), equal), deviation)
    return EvenMoments(law.variance * one, law.variance * one, tau, _quartic(pairs))


def _of_weighted_product(law: ProductLaw, n: int) -> EvenMoments:
    r"""Return the moments for ω = ‖x‖⁻² by quadrature, rounded to the safe side.

    .. math:: E\|x\|^{-2} = \int \psi_0^n\, ds, \quad c_{ij} = \int s\, \psi_1^2 \psi_0^{n-2} ds,
              \quad c_{ii} = \int s\, \psi_2 \psi_0^{n-1} ds .

    E[ω xxᵀ] = P(x ≠ 0)/n · I by symmetry, and n c_ii + n(n−1) c_ij = P(x ≠ 0). With κ the factor
    of the law tilted by e^{−s‖x‖²}, whose coordinates have the variance ψ_1/ψ_0,

    .. math:: E[\omega |a^\top x|] \le \kappa \|a\| \int \psi_0^{n-1/2} \psi_1^{1/2}\, ds .

    For scale mixtures of normals it is at most that of the direction with equal entries.
    """
    one = np.eye(n)
    if law.transforms is None:
        return EvenMoments(None, None, None, None)
    psi0, psi1, psi2 = law.transforms
    with np.errstate(under="ignore"):
        fourth = _integral(psi2 * psi0 ** (n - 1), power=1)
        mixed = _integral(psi1**2 * psi0 ** (n - 2), power=1) if n > 1 else 0.0
        inverse = _integral(psi0**n, power=0) / law.unit**2 * (1.0 + QUADRATURE)
        by_variance = psi0 ** (n - 0.5) * np.sqrt(psi1)
        tilted = _integral(by_variance, power=0) / law.unit
    covariance = (fourth + (n - 1) * mixed) * (1.0 - QUADRATURE) * one
    squared = None if math.isinf(inverse) else inverse / n * one
    pairs = (np.full((n, n), mixed) + (fourth - mixed) * one) * (1.0 + QUADRATURE)
    plain = math.sqrt(inverse / n)
    known = math.isfinite(min(tilted, plain))
    if known:
        nodes = np.exp(LOG_S[::STRIDE])
        size = by_variance[::STRIDE] * nodes
        used = size > 1e-18 * size.max()
        means = np.zeros(len(nodes))
        means[used] = _equal_weights(law, n, nodes[used])
        plain = min(plain, _integral(means, power=0) / law.unit)

    def factor(share: float) -> float:
        return min(law.projection_factor(share, tilted=True) * tilted, plain)

    tau = _by_factor(factor, 1.0 + QUADRATURE_SLACK) if known else None
    return EvenMoments(covariance, squared, tau, _quartic(pairs))


def _equal_weights(law: ProductLaw, n: int, tilts: Array) -> Array:
    r"""Return E[e^{−s‖x‖²}|Σx_j|]/√n for each s, in the law's unit; inf if no V is known.

    No other a of length 1 has a larger E[e^{−s‖x‖²}|aᵀx|]: for x_j = √V_j z_j, with z_j normal, it
    is a concave function of the squares a_j² that does not depend on their order. Under the
    density times e^{−s‖x‖²}, the precisions 1/V_j become 1/V_j + 2s, and with φ(λ) = E e^{−λV} then

    .. math:: E\sqrt{\textstyle\sum V_j}
              = \frac{1}{2\sqrt\pi} \int_0^\infty (1 - \varphi^n) \lambda^{-3/2} d\lambda .
    """
    mixture = law.variances()
    if mixture is None:
        return np.full(len(tilts), math.inf)
    precision, nodes = 1.0 / np.clip(mixture[0], 1e-300, 1e300), np.exp(LOG_S[::STRIDE])
    found = []
    for s in tilts:
        variances = 1.0 / (precision + 2.0 * s)
        masses = mixture[1] * np.sqrt(precision * variances)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            total = float(masses.sum())
            missing = -np.expm1(-np.outer(nodes, variances)) @ (masses / total)
            root = _integral(-np.expm1(n * np.log1p(-np.minimum(missing, 1.0))), power=-1.5)
            found.append(total**n * root)
    return np.array(found) * NORMAL / math.sqrt(4.0 * math.pi * n)


def of_weighted_normal_image(matrix: Array, scale: float) -> EvenMoments:
    r"""Return the moments of x = B z, z normal, for ω = ‖x‖⁻².

    In the frame of the eigenvectors of BBᵀ the coordinates of x are independent, of variances λ_j:

    .. math:: E[x_i^2 x_j^2 e^{-s\|x\|^2}] = \frac{\lambda_i}{1+2s\lambda_i}
              \frac{\lambda_j}{1+2s\lambda_j} \prod_l (1 + 2s\lambda_l)^{-1/2} \quad (i \ne j),

    and three times that for i = j. In other words, ω times the density of x is an integral over s
    of normal densities with the variances λ_j/(1 + 2sλ_j), each times the product.
    """
    variances, frame = np.linalg.eigh(matrix @ matrix.T * scale**2)
    largest = float(variances[-1])
    ratio = np.where(variances > 1e-13 * len(variances) * largest, variances / largest, 0.0)
    if ratio[ratio > 0.0].min() < 1e-9:  # the nodes of the quadrature do not cover such ratios
        return EvenMoments(None, None, None, None)
    with np.errstate(under="ignore"):
        denominator = 1.0 + 2.0 * np.outer(np.exp(LOG_S), ratio)
        decay = np.exp(-0.5 * np.log(denominator).sum(axis=1))
        tilted = ratio / denominator
        second = np.array([_integral(decay * column, power=0) for column in tilted.T])
        weights = STEP * np.exp(2.0 * LOG_S) * decay
        pairs = (tilted * weights[:, None]).T @ tilted
        both = np.array([_integral(decay * column, power=1) for column in tilted.T])
        inverse = _integral(decay, power=0) / largest
        density = STEP * np.exp(LOG_S) * decay
    pairs = (pairs + 2.0 * np.diag(np.diag(pairs))) * (1.0 + QUADRATURE)
    covariance = (frame * (second * (1.0 - QUADRATURE))) @ frame.T
    squared = None
    if math.isfinite(inverse):
        squared = (frame * (both / largest * (1.0 + QUADRATURE))) @ frame.T
    used = density > 1e-18 * density.max()

    def tau(sensing: Array) -> float:
        mixed = tau_of_normals(sensing @ frame, tilted[used], density[used]) / math.sqrt(largest)
        plain = math.inf if squared is None else largest_root(sensing @ squared @ sensing.T)
        return min(mixed * (1.0 + QUADRATURE_SLACK), plain)

    independent = EvenMoments(None, None, None, _quartic(pairs)).image(frame)
    known = np.count_nonzero(ratio) > 1  # in one dimension the mean of 1/|x| is infinite
    return EvenMoments(covariance, squared, tau if known else None, independent.quartic)


def of_rows(rows: Array, weighting: str | None, counts: Array) -> EvenMoments:
    """Return the moments of a row drawn at random: means over all rows, with cω in place of ω."""
    weights = counts * weights_of_rows(rows, weighting)
    count = len(rows)
    covariance = (rows.T * weights) @ rows / count
    squared = (rows.T * weights**2) @ rows / count

    def quartic(gram: Array) -> Array:
        along = np.einsum("ij,ij->i", rows @ gram, rows)
        return (rows.T * (weights**2 * along)) @ rows / count

    def tau(sensing: Array) -> float:
        return tau_of_rows((weights[:, None] * rows) @ sensing.T)

    return EvenMoments(covariance, squared, tau, quartic)


def weights_of_rows(rows: Array, weighting: str | None) -> Array:
    """Return ω of each row, (N,): 0 for an all-zero row, which never changes the weights."""
    if weighting is None:
        return np.ones(len(rows))
    norms = np.linalg.norm(rows, axis=1)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms >= LEAST)
    return inverse**2


def _quartic(pairs: Array | None) -> Callable[[Array], Array] | None:
    """Return G ↦ Q for the pair moments c."""
    if pairs is None:
        return None

    def quartic(gram: Array) -> Array:
        q = 2.0 * pairs * gram
        np.fill_diagonal(q, pairs @ np.diag(gram))
        return q

    return quartic


def _integral(values: Array, power: float) -> float:
    """Return ∫ s^power f(s) ds from values of f at all nodes or at equidistant ones.

    Both tails are geometric sums.
    """
    stride = -(-len(LOG_S) // len(values))
    with np.errstate(under="ignore"):
        integrand = values * np.exp((power + 1.0) * LOG_S[::stride])
    total = float(integrand.sum())
    if total == math.inf:
        return math.inf
    for end, inner in ((integrand[0], integrand[1]), (integrand[-1], integrand[-2])):
        if end > 1e-300:
            ratio = float(end / inner)
            if ratio > 1.0 - 1e-6:
                return math.inf
            total += float(end) * ratio / (1.0 - ratio)
    return STEP * stride * total
