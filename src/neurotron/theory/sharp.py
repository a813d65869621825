r"""The constants of the sharp certificate and its recursion (docs/theory.md (e)).

Under an even weight ω(x) (1 without weights), with :math:`\Sigma = E[\omega xx^\top]`:

.. math::
    \lambda_1 &= \lambda_{\min}(\mathrm{sym}(\bar A \Sigma M^\top)), \quad
    L_1 = \tfrac{1+\alpha}2 \|M \Sigma \bar A^\top\|_2, \quad
    Q = E[\omega^2 \|Mx\|^2 xx^\top], \\
    L_2^2 &= \lambda_{\max}\left( \left(\tfrac{1+\alpha}2\right)^2 \bar A Q \bar A^\top
        + \left(\tfrac{1-\alpha}2\right)^2 \tfrac1k \sum_i q_i^2 A_i Q A_i^\top \right), \\
    \tau &= \sup_{\|u\|=1} E[\beta \omega |u^\top M x|], \quad
    s_2^2 = E[\beta \omega^2 \|Mx\|^2], \quad s_0^2 = E[\omega^2 \|Mx\|^2] .

Every constant is rounded to the safe side by more than its numerical error.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.laws import WEIGHTINGS
from neurotron.laws.projections import SLACK, largest_root
from neurotron.problem import Problem
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.constants import sensing_of
from neurotron.theory.coordinates import ORIGINAL, Coordinates, output_form
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.recursion import Recursion
from neurotron.theory.table import EXACT, Misfit, TableFit, has_fit


@dataclass(frozen=True)
class SharpConstants:
    """The constants of a problem and a trainer, which do not depend on the attack.

    A constant is infinite if one of its moments is infinite or overflows.
    """

    gain: float
    """c with E[ωe dᵀMx] ≥ c λ1 ‖d‖² for the error e of the output: (1+α)/2 by parity."""
    lambda1: float
    L1: float
    L2: float
    tau: float
    """sup E[ω|uᵀMx|], which is τ for an attack on all labels."""
    s0: float
    risk: float
    """The c with E[(f_w(x) − f_{w*}(x))²] ≤ c ‖w − w*‖²."""
    spread: float = math.inf
    """√E[ω²‖x‖²‖Mx‖²], by which rounding errors of labels are multiplied in the weights."""
    skew: float = math.inf
    """The norm of the antisymmetric part of c MΣĀᵀ; 0 for sensing="optimal"."""
    misfit: Misfit = EXACT

    def largest(self, *, disturbed: bool) -> float:
        """Return the largest constant in use, which is finite if all moments needed exist.

        τ and s0 are needed only if labels are `disturbed` by an attack or by noise.
        """
        return max(self.lambda1, self.L1, self.L2, *((self.tau, self.s0) if disturbed else ()))

    @property
    def pulls(self) -> tuple[float, float]:
        """Bounds ℓ ≤ h with ‖I − η c MΣĀᵀ‖ ≤ max(|1 − ηℓ|, |1 − ηh|) for every η ≥ 0."""
        return self.gain * self.lambda1 - self.skew, self.L1 + self.skew

    def recursion(self, moments: AttackMoments, noise: float, batch_size: int) -> Recursion:
        """Return F for batches of b = `batch_size` and label `noise` of standard deviation ς.

        An attacker that sees the whole batch can make its change of one label depend on the other
        samples and on their noise.
        """
        others = 1.0 - 1.0 / batch_size
        square, linear, constant = self._alone(moments, noise)
        pushed = moments.bound * moments.tau
        if moments.batch_aware:
            low = high = -self.L2
            seen = moments.bound * moments.s1 + 2.0 * (self._noisy(noise) + self.misfit.s1)
            together = pushed * seen
        else:
            (low, high), together = self.pulls, pushed**2
        return Recursion(
            pull=2.0 * self.gain * self.lambda1,
            push=2.0 * pushed,
            square=square / batch_size + others * self.L1**2,
            linear=linear / batch_size,
            constant=constant / batch_size + others * together,
            low=others * low if others else 0.0,
            high=others * high if others else 0.0,
        )

    def mean_path(self, moments: AttackMoments, noise: float, batch_size: int) -> MeanPath:
        """Return what the mean path of the weights and the deviations from it obey."""
        square, linear, constant = self._alone(moments, noise)
        if moments.batch_aware:
            honest = math.hypot(self._noisy(noise), self.misfit.s2)
            share = moments.s2**2 + (batch_size - 1.0) * moments.tau * moments.s1
            tampered = moments.bound * math.sqrt(share)
            linear = 2.0 * (self.misfit.along + tampered * self.L2)
            constant = (honest + tampered) ** 2
        sizes = (v / batch_size for v in (square, linear, constant))
        return MeanPath(*self.pulls, moments.bound * moments.tau, *sizes)

    def _alone(self, moments: AttackMoments, noise: float) -> tuple[float, float, float]:
        """Return v₂, v₁, v₀ with E[ω²ρ²‖Mx‖²] ≤ v₂Δ + v₁√Δ + v₀ for the residual ρ of one label.

        Honest noise has mean 0 given the sample, and the coin of an attack is tossed without
        looking at the residual.
        """
        misfit, tossed = self.misfit, moments.bound * moments.coin
        disturbed = moments.bound * moments.s2 + self._noisy(noise)
        return (
            self.L2**2,
            2.0 * (misfit.along + tossed * self.L2),
            disturbed**2 + misfit.s2 * (misfit.s2 + 2.0 * tossed),
        )

    def _noisy(self, noise: float) -> float:
        return noise * self.s0 if noise > 0.0 else 0.0  # without noise 0, also if s0 is infinite


def sharp_constants(
    problem: Problem,
    sensing: Array,
    weighting: str | None = None,
    coordinates: Coordinates = ORIGINAL,
) -> SharpConstants:
    """Return the constants λ1, L1, L2, τ and s0 of a trainer with sensing matrix M.

    Parameters
    ----------
    problem
        The problem to train on.
    sensing
        The sensing matrix M, shape (r, n).
    weighting
        None for ω = 1, or "inverse-norm" for ω = ‖x‖⁻².
    coordinates
        The coordinates in which distances are measured.
    """
    matrix = sensing_of(_check.instance("problem", problem, Problem), sensing)
    _check.instance("coordinates", coordinates, Coordinates)
    if weighting is not None:
        _check.choice("weighting", weighting, WEIGHTINGS)
    return problem.once(
        ("sharp constants", matrix.tobytes(), weighting, coordinates),
        lambda: _find_constants(problem, matrix, weighting, coordinates),
    )


def _find_constants(
    problem: Problem, old: Array, weighting: str | None, coordinates: Coordinates
) -> SharpConstants:
    network = problem.network
    m, gate = coordinates.updates(old), coordinates.gates(network.mean_gate)
    moments, gain = problem.even_moments(weighting), network.odd_slope
    product = None if moments.covariance is None else gate @ moments.covariance @ m.T
    risk = _risk(problem, coordinates)
    if product is None or not np.isfinite(product).all():
        none = math.inf
        return SharpConstants(gain, none, none, none, none, none, risk)
    size = float(np.linalg.norm(product, 2))
    l1, l2, spread = gain * size * (1.0 + SLACK), math.inf, math.inf
    if moments.quartic is not None:
        form = output_form(network, moments.quartic(m.T @ m))
        l2 = max(largest_root(coordinates.form(form)), l1)
        spread = math.sqrt(float(np.trace(moments.quartic(old.T @ old))) * (1.0 + SLACK))
    found = SharpConstants(
        gain=gain,
        lambda1=float(np.linalg.eigvalsh((product + product.T) / 2.0)[0]) - SLACK * size,
        L1=l1,
        L2=l2,
        tau=math.inf if moments.tau is None else moments.tau(m),
        s0=math.inf
        if moments.squared is None
        else math.sqrt(float(np.trace(m @ moments.squared @ m.T)) * (1.0 + SLACK)),
        risk=risk,
        spread=spread,
        skew=gain * float(np.linalg.norm(product - product.T, 2)) / 2.0 * (1.0 + SLACK),
    )
    if coordinates.of_gate:
        found = _of_leaky_gate(found, problem, m, coordinates)
    if not has_fit(problem, coordinates) or found.lambda1 <= 0.0 or not math.isfinite(found.L2):
        return found
    misfit = TableFit.of(problem, old, weighting, coordinates).misfit(found.L2)
    return dataclasses.replace(found, misfit=misfit)


def _of_leaky_gate(
    found: SharpConstants, problem: Problem, sensing: Array, coordinates: Coordinates
) -> SharpConstants:
    """Return the constants of one leaky gate, whose inputs need not be symmetric.

    Its pull is H with αE[zzᵀ] ≤ H ≤ E[zzᵀ], and E[zzᵀ] is the identity up to rounding. So is the
    matrix that makes the sensed x from z.
    """
    alpha, moments = problem.network.leak, problem.even_moments()
    gate = coordinates.gates(problem.network.mean_gate)
    assert moments.covariance is not None
    assert moments.quartic is not None
    one = np.eye(len(gate))
    rounded = float(np.linalg.norm(gate @ moments.covariance @ gate.T - one, 2)) + SLACK
    rounded += 2.0 * float(np.linalg.norm(sensing @ np.linalg.pinv(gate) - one, 2))
    largest = 1.0 + rounded
    quartic = gate @ moments.quartic(sensing.T @ sensing) @ gate.T
    return dataclasses.replace(
        found,
        gain=alpha,
        lambda1=1.0 - rounded / alpha,
        L1=largest,
        L2=max(largest_root(quartic), largest),
        risk=largest,
        skew=rounded,
    )


def sharp_recursion(
    problem: Problem,
    sensing: Array,
    weighting: str | None,
    attack: Attack | Budget | None,
    batch_size: int,
) -> Recursion:
    """Return the recursion F, from which step sizes are found; raise an error if there is none."""
    constants = sharp_constants(problem, sensing, weighting)
    moments = attack_moments(constants, problem, sensing, weighting, attack)
    _require(constants, problem, weighting, disturbed=is_disturbed(problem, attack))
    return constants.recursion(moments, problem.noise, batch_size)


def fastest_step(problem: Problem, sensing: Array, weighting: str | None, batch_size: int) -> float:
    """Return the step size that contracts fastest without an attack, or say why there is none.

    Noise and attacks play no part in it.
    """
    constants = sharp_constants(problem, sensing, weighting)
    _require(constants, problem, weighting, disturbed=False)
    moments = attack_moments(constants, problem, sensing, weighting, None)
    return constants.recursion(moments, 0.0, batch_size).fastest


def _require(
    constants: SharpConstants, problem: Problem, weighting: str | None, *, disturbed: bool
) -> None:
    """Refuse constants that no step size can be found from."""
    if not math.isfinite(constants.largest(disturbed=disturbed)):
        raise _check.InputError(
            f"finding a step size needs moments of {problem.law!r} that are infinite or not known: "
            f"give step_size a number{_weights_too(problem, weighting)}"
        )
    if constants.lambda1 <= 0.0:
        raise _check.InputError(
            f"finding a step size needs λ1 > 0, but this sensing matrix has λ1 = "
            f"{constants.lambda1:.3g}: use sensing='optimal', or give step_size a number"
        )


def _weights_too(problem: Problem, weighting: str | None) -> str:
    """Return the advice to use weights if they help, else nothing."""
    helps = weighting is None and problem.even_moments("inverse-norm").quartic is not None
    return ", or weighting='inverse-norm'" if helps else ""


def is_disturbed(problem: Problem, attack: Attack | Budget | None) -> bool:
    """Return whether labels may differ from those of w*."""
    budget = budget_of(attack)
    return problem.noise > 0.0 or (budget.bound != 0.0 and budget.probability != 0.0)


def risk_constant(problem: Problem) -> float:
    """Return c with E[(f_w(x) − f_{w*}(x))²] ≤ c ‖w − w*‖² over new inputs x.

    It is infinite where no such c is known: without second moments, or if inputs are not
    symmetric and the network is not linear.
    """
    law = problem.law
    exact = law.symmetric or problem.network.is_linear
    return _risk(problem) if exact else math.inf


def _risk(problem: Problem, coordinates: Coordinates = ORIGINAL) -> float:
    """Return the same constant as if inputs were symmetric."""
    covariance = problem.covariance
    if covariance is None:
        return math.inf
    return largest_root(coordinates.form(output_form(problem.network, covariance))) ** 2
