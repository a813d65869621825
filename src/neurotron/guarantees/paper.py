"""What the paper says beside its theorem: Remark 1.2, sections 3.3 to 3.5 and the conclusion.

`unique_minimum` is Remark 1.2, `impersonated_mean` the near-optimality of section 3.5, and
`biased_weights` the conclusion's question about corrupted inputs. `paper_numbers` puts the
constants of a certificate by Theorem 1 into words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from string import Formatter

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Impersonation
from neurotron.data import Corrupted
from neurotron.guarantee import Assumption, Guarantee
from neurotron.guarantees.assumptions import parity
from neurotron.guarantees.certificate import Certificate
from neurotron.problem import Problem
from neurotron.simulation import MOST_SAMPLES, MOST_STEPS
from neurotron.theory.constants import lambda3, sensing_of
from neurotron.trainers import Arm, NeuroTron

NEGLIGIBLE, CANCELLED = 1e-14, 1e-28
"""Parts of the largest eigenvalue, and of the gates' own size, that are zero up to rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UniqueMinimum(Guarantee):
    """Whether w* is the only minimum of the risk, and what that rests on."""

    growth: float
    """c with E[ω(x) (f_w(x) − f_{w*}(x))²] ≥ c ‖w − w*‖² for every w; 0 if none is known."""
    weighting: str | None
    """The weight ω of that mean: None for 1, "inverse-norm" where inputs have no variance."""

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return "distance of every minimum of the risk from w*"

    @property
    def statement(self) -> str:
        """What is proved, or which assumption is missing, in one sentence."""
        if self.holds:
            weighted = "" if self.weighting is None else " weighted by ‖x‖⁻²"
            return (
                "The true filter w* is the only minimum: the risk E(f_w(x) − f_w*(x))²"
                f"{weighted} is at least {self.growth:.4g} ‖w − w*‖²."
            )
        names = " and ".join(assumption.name for assumption in self.failed)
        return f"It is not proved that w* is the only minimum, because this does not hold: {names}."


def unique_minimum(problem: Problem) -> UniqueMinimum:
    r"""Return whether w* is the only filter without risk, or which assumption is missing.

    This is Remark 1.2 of the paper, with a bound (docs/theory.md (c)). The risk of a filter is at
    least that of its odd part, which is linear in w − w*:

    .. math:: E(f_w - f_{w^*})^2 \ge c\,\|w - w^*\|^2, \qquad
              c = \left(\tfrac{1+\alpha}2\right)^2 \lambda_{\min}(\bar A \Sigma \bar A^\top) .

    It needs no fourth moments and no sensing matrix: symmetric inputs, or a network that is linear,
    and a mean gate whose outputs Āx are not linearly dependent.

    Parameters
    ----------
    problem
        The problem; its true weights need not be known.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(scale=2.0))
    >>> nt.guarantees.unique_minimum(problem).growth
    1.0
    >>> opposite = nt.networks.from_gates([[[1.0, 0.0]], [[-1.0, 0.0]]])  # f_w = f_(−w)
    >>> print(nt.guarantees.unique_minimum(nt.Problem.draw(opposite, nt.Normal())).statement)
    It is not proved that w* is the only minimum, because this does not hold: rank(ĀΣ) = r.
    """
    network = _check.instance("problem", problem, Problem).network
    problem.data.require_seen("a unique minimum")
    assumptions = [] if network.is_linear else [parity(problem)]
    weighting = None if problem.covariance is not None else "inverse-norm"
    covariance = problem.weighted_covariance(weighting)
    if covariance is None:
        raise _check.InputError(
            f"the second moments of {problem.law!r} are not known, not even with inverse-norm "
            "weights: take Empirical(rows) as the law, with rows drawn from it"
        )
    spread = network.mean_gate @ covariance @ network.mean_gate.T
    cancelled = CANCELLED * lambda3(network) * float(np.linalg.norm(covariance, 2))
    assumptions.append(_full_rank(spread, cancelled))
    holds = all(assumption.holds for assumption in assumptions)
    least = float(np.linalg.eigvalsh(spread)[0])
    growth = network.odd_slope**2 * least if holds else 0.0
    return UniqueMinimum(
        kind="theorem", radius=0.0 if holds else math.inf, confidence=1.0, growth=growth,
        assumptions=tuple(assumptions), weighting=weighting,
    )  # fmt: skip


def _full_rank(spread: Array, cancelled: float) -> Assumption:
    """Return the assumption that no direction of the weights is without effect on Āx.

    Gates that cancel leave rounding errors in Ā, whose squares are below `cancelled`.
    """
    eigenvalues = np.linalg.eigvalsh(spread)
    rank = int((eigenvalues > max(NEGLIGIBLE * float(eigenvalues[-1]), cancelled)).sum())
    return Assumption(
        "rank(ĀΣ) = r",
        "The outputs Āx of the mean gate Ā = (1/k) Σ q_i A_i are linearly independent.",
        f"the rank is {rank} of {len(eigenvalues)}",
        f"rank {len(eigenvalues)}",
        rank == len(eigenvalues),
        "The filter can be changed without changing the odd part of the labels: use gates that do "
        "not cancel, and inputs that are not linearly dependent.",
    )


# ---- limits of the mean --------------------------------------------------------------------------


def impersonated_mean(
    problem: Problem, arm: Arm, *, steps: npt.ArrayLike, batch_size: int = 1
) -> Array:
    r"""Return the mean of the weights after each number of `steps`, an array of shape (steps, r).

    Under `Impersonation` of w_adv with constant β, and a bound that is never reached, the mean
    follows exactly

    .. math:: E[w_{t+1} - \bar w] = (I - \eta \tfrac{1+\alpha}2 M \Sigma \bar A^\top)
              E[w_t - \bar w], \qquad \bar w = w^* + \beta (w_{adv} - w^*) .

    At β = 1 the data are exactly those of w_adv, so no algorithm that recovers the filter from
    honest data can do better (docs/theory.md (c)).

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> problem = nt.Problem.draw(
    ...     nt.networks.relu_gate(2), nt.Rademacher(), true_weights=[1.0, 2.0])
    >>> liar = nt.attacks.Impersonation(weights=[3.0, 2.0], bound=2.0, probability=0.5)
    >>> arm = nt.Arm(nt.NeuroTron(0.5), liar)
    >>> nt.guarantees.impersonated_mean(problem, arm, steps=[0, 100]).round(6)
    array([[1., 1.],
           [2., 2.]])
    """
    truth = _truth(_check.instance("problem", problem, Problem))
    _check.instance("arm", arm, Arm)
    _check.integer("batch_size", batch_size, 1, MOST_SAMPLES)
    counts = np.atleast_1d(_check.whole_numbers("steps", steps, 0, MOST_STEPS))
    attack = _check.instance("attack", arm.attack, Impersonation)
    trainer = arm.trainer.resolve(problem, batch_size=batch_size, steps=0, attack=attack)
    if type(trainer) is not NeuroTron:
        raise _check.InputError(
            "the mean is known only for NeuroTron with a constant step size: give a number"
        )
    covariance = problem.weighted_covariance(trainer.weighting)
    if covariance is None:
        raise _check.InputError(f"{problem.law!r} has no finite covariance")
    goal = truth + attack.probability * (attack.weights - truth)
    gate, pull = problem.network.mean_gate, problem.network.odd_slope
    matrix = np.asarray(trainer.sensing) @ covariance @ gate.T
    step = np.eye(len(truth)) - float(trainer.step_size) * pull * matrix
    start = problem.initial_weights - goal
    return np.stack([goal + np.linalg.matrix_power(step, int(count)) @ start for count in counts])


def biased_weights(problem: Problem, sensing: npt.ArrayLike) -> Array:
    r"""Return the weights w̄ at which Neuro-Tron's mean update is zero, with corrupted inputs.

    Labels are those of x, and the trainer sees x'. If (x, x') and (−x, −x') have the same law, only
    the odd parts of the outputs count, which are linear, so

    .. math:: M E[x'x'^\top] \bar A^\top \bar w = M E[x'x^\top] \bar A^\top w^* .

    This is a limit of the mean, not a guarantee: it is known only because the corruption is. It
    does not depend on the slope of the activation.

    Parameters
    ----------
    problem
        A problem whose data are `data.Corrupted`.
    sensing
        The sensing matrix M, shape (r, n).

    Examples
    --------
    >>> import neurotron as nt
    >>> noisy = nt.data.Corrupted(nt.Normal(), scale=0.5)
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(2), noisy, true_weights=[1.0, 2.0])
    >>> biased_weights(problem, [[1.0, 0.0], [0.0, 1.0]])  # w*/(1 + 0.5²)
    array([0.8, 1.6])
    """
    data = _check.instance("problem", problem, Problem).data
    if not isinstance(data, Corrupted):
        raise _check.InputError(f"the inputs of {data!r} are not corrupted, so w̄ is w* itself")
    data.law.require_symmetric("the limit of the mean")
    truth = _truth(problem)
    moments = data.seen_moments(problem.network)
    if moments is None:
        raise _check.InputError(
            f"E[x'x'ᵀ] or E[x'xᵀ] is not known for {data!r}: take normal inputs, or "
            "Empirical(rows) with rows drawn from the law"
        )
    matrix, gate = sensing_of(problem, sensing), problem.network.mean_gate
    seen, mixed = (matrix @ moment @ gate.T for moment in moments)
    if np.linalg.matrix_rank(seen) < len(seen):
        raise _check.InputError(
            "`sensing` leaves more than one limit, because M E[x'x'ᵀ] Āᵀ has no inverse: use "
            "another matrix, such as problem.sensing_matrix('optimal')"
        )
    return np.asarray(np.linalg.solve(seen, mixed @ truth))


def _truth(problem: Problem) -> Array:
    """Return w*, which must be known."""
    if problem.true_weights is None:
        raise _check.InputError("the problem has no `true_weights`: give them to Problem.draw")
    return problem.true_weights


# ---- numbers in words ----------------------------------------------------------------------------

NUMBERS = (
    "c_trade = {c_trade:.4g}; case 2 of Theorem 1 needs it to be positive.",
    "γ = {gamma:.4g}; it must exceed 1, and need not exceed C = {C:.2g}, as the paper asks.",
    "c_rate = {c_rate:.4g}. With it, the paper's formula T = O(log(‖w₁ − w*‖²/(ε²δ − θ²/c_rate))) "
    "needs {steps_by_c_rate:,.0f} steps for this radius, where the recursion itself needs "
    "{steps_exact:,.0f}; the smaller number is used.",
    "(1+α)²λ₃m₂/(δ c_trade) = {risk_ratio:.4g}. Below 1, the risk E(f_w(x) − f_w*(x))² is at most "
    "θ*², with the same probability (section 3.4).",
    "θ* = {theta_star:.4g}.",
)


def paper_numbers(certificate: Certificate) -> list[str]:
    """Return what the paper says with the constants of a certificate by Theorem 1."""
    if certificate.method != "theorem1":
        return []
    known = {
        name: value for name, value in certificate.constants.items()
        if value != 0.0 and math.isfinite(value)
    }  # fmt: skip
    return [
        text.format_map(known) for text in NUMBERS
        if all(name in known for _, name, _, _ in Formatter().parse(text) if name)
    ]  # fmt: skip
