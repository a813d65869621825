r"""A bound on the fourth moment of the deviations from the mean path (docs/theory.md (e)).

A deviation Z becomes Y + ηm in a step of size η, where ‖Y‖ ≤ f‖Z‖ and m has mean 0 given the past.
With z = ‖Z‖, and given the past,

.. math:: E\|Y + \eta m\|^4 \le f^4 z^4 + 2 \eta^2 f^2 z^2 (v + 2 a^2)
          + 4 \eta^3 f z a (k^2 + \sqrt3 v) + \eta^4 (k^4 + 3 v^2) ,

where v ≥ E‖m‖², a² ≥ E⟨u, m⟩² for every unit vector u, and k⁴ is b⁻³ times the fourth moment of
one of the b deviations whose mean is m. They are polynomials in z, since ‖w − w*‖ ≤ B + z for the
sure bound B of the mean path. The moments of z follow from V ≥ E z² and from U ≥ E z⁴.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._types import Array
from neurotron.laws.projections import largest_root
from neurotron.problem import Problem
from neurotron.theory.attack_moments import AttackMoments
from neurotron.theory.coordinates import ORIGINAL, Coordinates, output_form
from neurotron.theory.course import Bounds
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import largest_factor
from neurotron.theory.spread import root_of

MOST_STEPS = 20_000
"""Steps after which fourth moments are still followed, in Python."""
RARE = 1e-4
"""The part of δ for rounding errors beyond any size that matters: it costs 25 millionths."""
ROOT3 = math.sqrt(3.0)
EIGHTH = 105.0
"""E g⁸ of a standard normal g."""


def coefficients(
    eta: Any, factor: Any, s: Any, root: Any, v2: Any, v1: Any, v0: Any, a1: Any, a0: Any,
    k1: Any, k0: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return c, h and r such that cU + h√U + r bounds E‖Z‖⁴ after a step of size η, elementwise.

    Before it, ‖w − w*‖ ≤ `s` + z and √E z² ≤ `root`. So E z ≤ √V and E z³ ≤ √(VU). The other
    numbers are those of v, a and k as polynomials of ‖w − w*‖.
    """
    v0, v1 = (v2 * s + v1) * s + v0, 2.0 * v2 * s + v1  # now as polynomials of z
    a0, k0 = a1 * s + a0, k1 * s + k0
    q0, q1, q2 = k0 * k0, 2.0 * k0 * k1, k1 * k1
    r0, r1, r2 = q0 + ROOT3 * v0, q1 + ROOT3 * v1, q2 + ROOT3 * v2
    two, three, four = 2.0 * (eta * factor) ** 2, 4.0 * eta**3 * factor, eta**4
    rest = four * (q0 * q0 + 3.0 * v0 * v0)
    first = three * a0 * r0 + four * 2.0 * (q0 * q1 + 3.0 * v0 * v1)
    second = two * (v0 + 2.0 * a0 * a0) + three * (a0 * r1 + a1 * r0)
    second = second + four * (q1 * q1 + 2.0 * q0 * q2 + 3.0 * (v1 * v1 + 2.0 * v0 * v2))
    third = two * (v1 + 4.0 * a0 * a1) + three * (a0 * r2 + a1 * r1)
    third = third + four * 2.0 * (q1 * q2 + 3.0 * v1 * v2)
    whole = factor**4 + two * (v2 + 2.0 * a1 * a1) + three * a1 * r2
    whole = whole + four * (q2 * q2 + 3.0 * v2 * v2)
    return whole, third * root, rest + (first + second * root) * root


@dataclass(frozen=True)
class FourthMoment:
    """The recursion for U.

    Parameters
    ----------
    path
        The recursion for B and V, which has v.
    along, along_disturbed
        a = `along` ‖w − w*‖ + `along_disturbed`.
    single, single_disturbed
        k = `single` ‖w − w*‖ + `single_disturbed`.
    """

    path: MeanPath
    along: float
    along_disturbed: float
    single: float
    single_disturbed: float

    def follow(self, known: Bounds, etas: Array, away: float = 0.0) -> Array:
        """Return U after 0, 1, … steps of sizes `etas` from a start that is not random.

        `known` has B and √V after these numbers of steps. Rounding errors move the weights by at
        most `away`.
        """
        path = self.path
        factors = largest_factor(etas, path.low, path.high)
        with np.errstate(all="ignore"):  # what overflows is no bound
            parts = coefficients(
                etas, factors, known.path[:-1] + away, known.spread[:-1],
                path.square, path.linear, path.constant,
                self.along, self.along_disturbed, self.single, self.single_disturbed,
            )  # fmt: skip
        fourth, found = 0.0, [0.0]
        for whole, half, rest in zip(*(part.tolist() for part in parts), strict=True):
            fourth = whole * fourth + half * math.sqrt(fourth) + rest
            found.append(fourth)
        return np.array(found)

    def radii(self, known: Bounds, etas: Array, delta: float, rounding: float) -> Array:
        """Return B + (U/δ)^¼ after 0, 1, … steps of sizes `etas`, from a start that is not random.

        In every step the root mean square of what rounding errors add up to is at most `rounding`.
        With probability 1 − `RARE` δ, it is nowhere more than the number `away` below, by
        Chebyshev's inequality for each step.
        """
        with np.errstate(all="ignore"):
            away = rounding * math.sqrt(max(len(etas), 1) / (RARE * delta))
            fourth = self.follow(known, etas, away) / ((1.0 - RARE) * delta)
            return np.asarray(known.path + fourth**0.25 + away)


def fourth_moment(
    problem: Problem,
    sensing: Array,
    weighting: str | None,
    path: MeanPath,
    moments: AttackMoments,
    probability: float,
    batch_size: int,
    coordinates: Coordinates = ORIGINAL,
) -> FourthMoment | None:
    r"""Return the recursion for U; None if its constants are not known.

    They are those of normal inputs x with the same Σ, for independent coordinates whose moments are
    not larger, and for linear images of these. With the form of `output_form`, e = f_w − f_{w*} and
    d = w − w*,

    .. math:: E[e^2 (u^\top Mx)^2] \le d^\top \mathrm{form}\left(
              \|M\Sigma M^\top\| \Sigma + 2 \Sigma M^\top M \Sigma \right) d .

    Parameters
    ----------
    problem, sensing, weighting, coordinates
        As for `sharp_constants`.
    path, moments
        The recursion for B and V, and the constants of the attacker.
    probability
        β, the largest probability with which a label is attacked.
    batch_size
        The size b of a batch.
    """
    noise, kurtosis = problem.noise, problem.noise_kurtosis if problem.noise > 0.0 else 0.0
    found = root_of(problem.law, problem.network.n_inputs)
    light = found is not None and found[0].light_tailed
    covariance, other = problem.covariance, weighting is not None or moments.batch_aware
    if not light or covariance is None or other or math.isinf(kurtosis):
        return None
    matrix = coordinates.updates(sensing)
    second = matrix @ covariance @ matrix.T
    width, mixed = largest_root(second), covariance @ matrix.T
    sizes = np.linalg.eigvalsh(second)
    k1, k2, k3, k4 = (
        2.0 ** (j - 1) * math.factorial(j - 1) * float((sizes**j).sum()) for j in (1, 2, 3, 4)
    )  # the cumulants of ‖Mx‖² for normal x, from which its moments follow
    fourth = (k1**2 + k2) ** 0.25
    eighth = (k1**4 + 6.0 * k2 * k1**2 + 3.0 * k2**2 + 4.0 * k3 * k1 + k4) ** 0.125
    network, gate = problem.network, problem.network.mean_gate
    odd = network.odd_slope * largest_root(coordinates.form(gate @ covariance @ gate.T))
    even = network.even_lipschitz * largest_root(
        coordinates.form(network.mean_congruence(covariance))
    )
    along = output_form(network, width**2 * covariance + 2.0 * mixed @ mixed.T)
    theta, b = moments.bound, float(batch_size)
    heavy = theta * probability**0.25 + kurtosis**0.25 * noise
    return FourthMoment(
        path,
        along=largest_root(coordinates.form(along)) / b**0.5,
        along_disturbed=(theta * math.sqrt(probability) + noise) * width / b**0.5,
        single=(EIGHTH**0.125 * (odd + even) * eighth + path.high) / b**0.75,
        single_disturbed=(heavy * fourth + path.push) / b**0.75,
    )
