r"""The paper's Theorem 1, with exact constants (paper, section 3.1 and its proof; docs/errata.md).

With :math:`m_i = E\|x\|^i`, :math:`\beta_i = E[\beta(x)\|x\|^i]`,

.. math::
    B &= (\beta_1 m_2 + m_2^2)(1 - \tfrac1b) + (\beta_3 + m_4)/b, \qquad
    B' = (\beta_1^2 + \beta_1 m_2)(1 - \tfrac1b) + (\beta_2 + \beta_3)/b, \\
    c_1 &= (1+\alpha)^2 \lambda_3 B, \quad c_2 = \theta^2 B', \quad c_3 = \theta^2 \beta_1, \quad
    b_* = (1+\alpha)\lambda_1/\lambda_2 - \beta_1, \quad c_{trade} = b_*/\beta_1, \\
    \eta &= \frac{b_*}{\gamma c_1 \lambda_2}, \qquad \Delta_{t+1} \le (1 - \kappa) \Delta_t + s, \\
    \kappa &= \frac{b_*^2}{c_1} \frac{\gamma - 1}{\gamma^2}, \qquad
    s = \left(\frac{b_*}{\gamma c_1}\right)^2 c_2 + \frac{b_*}{\gamma c_1} c_3 .

Case 1 of the theorem (θ = 0) is the same with every β_i = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.attack_moments import attacked_rows
from neurotron.theory.constants import lambda1, lambda2, lambda3, sensing_of

ALMOST_ONE = math.nextafter(1.0, 0.0)


@dataclass(frozen=True)
class Theorem1:
    """The constants of the paper's Theorem 1 for a problem, sensing matrix, attack and batch size.

    Create it with `Theorem1.of`. For a guarantee in words, use ``certify(…, method="theorem1")``.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.relu_gate(n_inputs=10)
    >>> problem = nt.Problem.draw(network, nt.Normal(scale=10.0), seed=1)
    >>> theorem = Theorem1.of(problem, network.mean_gate, nt.Budget(bound=0.1, probability=0.1), 16)
    >>> round(theorem.trade_off, 4) == round(nt.theory.gaussian_trade_off(10, 10.0, 0.1), 4)
    True
    """

    pull: float
    """1 + α in the paper; 2c for other activations, whose odd part has the slope c."""
    lipschitz: float
    """1 + α in the paper, a Lipschitz constant of its activation; c + Λ for other activations."""
    lambda1: float
    lambda2: float
    lambda3: float
    bound: float
    attacked: tuple[float, float, float]
    """The moments β_1, β_2, β_3; all 0 without an attack."""
    norms: tuple[float, float, float, float]
    """The norm moments m_1, m_2, m_3, m_4."""
    batch_size: int

    @classmethod
    def of(
        cls, problem: Problem, sensing: Array, attack: Attack | Budget | None, batch_size: int
    ) -> Theorem1:
        """Return the constants of a problem.

        The moments of β(x) are means over rows of data, or use its largest value.
        """
        if _check.instance("problem", problem, Problem).law.weighted:
            raise _check.InputError(
                f"Theorem 1 does not cover sample weights, which {problem.law!r} has: use "
                "method='sharp', or rows without weights"
            )
        batch_size = _check.integer("batch_size", batch_size, 1)
        sensing = sensing_of(problem, sensing)
        budget = budget_of(attack)
        theta, beta = budget.bound, budget.probability
        if theta is None or beta is None:
            raise _check.InputError(f"the attack has no finite bound: {attack!r}")
        m1, m2, m3, m4 = (problem.norm_moment(order) for order in (1, 2, 3, 4))
        rows = attacked_rows(problem, sensing, attack)
        if theta * beta == 0.0:
            attacked = (0.0, 0.0, 0.0)
        elif rows is None:
            attacked = (beta * m1, beta * m2, beta * m3)
        else:
            norms = np.linalg.norm(rows[0], axis=1)
            b1, b2, b3 = (float((rows[1] * norms**order).mean()) for order in (1, 2, 3))
            attacked = (b1, b2, b3)
        return cls(
            pull=2.0 * problem.network.odd_slope,
            lipschitz=_lipschitz(problem.network),
            lambda1=lambda1(problem, sensing),
            lambda2=lambda2(sensing),
            lambda3=problem.once("λ3", lambda: lambda3(problem.network)),
            bound=theta if any(attacked) else 0.0,
            attacked=attacked,
            norms=(m1, m2, m3, m4),
            batch_size=batch_size,
        )

    # ---- constants -------------------------------------------------------------------------------

    @property
    def margin(self) -> float:
        """b_* = β_1 c_trade = (1+α)λ1/λ2 − β_1, which is finite also without an attack."""
        return self.pull * self.lambda1 / self.lambda2 - self.attacked[0]

    @property
    def trade_off(self) -> float:
        """c_trade = (1+α)λ1/(β_1 λ2) − 1 (Theorem 1, case 2); inf without attack."""
        return self.margin / self.attacked[0] if self.attacked[0] > 0.0 else math.inf

    @property
    def c1(self) -> float:
        """(1+α)² λ3 B."""
        b, (beta1, _, beta3), (_, m2, _, m4) = self.batch_size, self.attacked, self.norms
        spread = (beta1 * m2 + m2**2) * (1.0 - 1.0 / b) + (beta3 + m4) / b
        return self.lipschitz**2 * self.lambda3 * spread

    @property
    def c2(self) -> float:
        """θ² B'."""
        b, (beta1, beta2, beta3), m2 = self.batch_size, self.attacked, self.norms[1]
        return self.bound**2 * ((beta1**2 + beta1 * m2) * (1.0 - 1.0 / b) + (beta2 + beta3) / b)

    @property
    def c3(self) -> float:
        """θ² β_1."""
        return self.bound**2 * self.attacked[0]

    @property
    def case_constant(self) -> float:
        """b_*²/c1, the first number that the paper asks γ to exceed.

        Without an attack it is C = λ1²/(λ2² λ3 B_0) of case 1. It is at most 1, and for other
        activations than leaky ReLUs at most 4. In both cases γ > 1 is enough (docs/errata.md#e2).
        """
        return self.margin**2 / self.c1

    @property
    def risk(self) -> float:
        """(1+α)² λ3 m_2, which bounds the mean squared prediction error by ‖w − w*‖²."""
        return self.lipschitz**2 * self.lambda3 * self.norms[1]

    @property
    def largest_probability(self) -> float:
        """The probability β below which the trade-off is positive: (1+α)λ1/(m_1 λ2)."""
        return self.pull * self.lambda1 / (self.norms[0] * self.lambda2)

    @property
    def scale_needed(self) -> float:
        """The factor above which scaled inputs have c_trade > 0 at the same θ (Remark 1)."""
        towards = self.pull * self.lambda1
        return self.attacked[0] * self.lambda2 / towards if towards > 0.0 else math.inf

    def largest_bound(self, target: float) -> float:
        """Return θ* = √(ε²δ c_trade) for ε²δ = `target`; Theorem 1 requires θ < θ*."""
        return math.sqrt(max(target * self.trade_off, 0.0))

    # ---- step size and steps ---------------------------------------------------------------------

    def step_size(self, gamma: float) -> float:
        """Return the step size η = b_*/(γ c1 λ2)."""
        return self.margin / (gamma * self.c1 * self.lambda2)

    def gamma(self, step_size: float) -> float:
        """Return the γ that belongs to a step size."""
        return self.margin / (step_size * self.c1 * self.lambda2)

    def rate(self, gamma: float) -> float:
        """Return κ = b_*²/c1 (1/γ − 1/γ²), the rate at which the error falls in each step.

        It is 1 if one step reaches w*. A smaller rate holds, too, so 1 is rounded down.
        """
        return min(self.case_constant * (gamma - 1.0) / gamma**2, ALMOST_ONE)

    def floor(self, gamma: float) -> float:
        """Return s/κ = (c2/c1 + γ c3/b_*)/(γ − 1), the limit of Δ."""
        return (self.c2 / self.c1 + gamma * self.c3 / self.margin) / (gamma - 1.0)

    def after(self, start: float, updates: int | Array | Index, gamma: float) -> Array:
        """Return the bound s/κ + (Δ_1 − s/κ)(1 − κ)^updates on Δ after some updates."""
        floor = self.floor(gamma)
        decay = np.exp(np.asarray(updates, np.float64) * math.log1p(-self.rate(gamma)))
        return np.asarray(floor + (start - floor) * decay)

    def updates_to(self, start: float, target: float, gamma: float) -> int | None:
        """Return the smallest number of updates with Δ ≤ `target`, which is T − 1 for T iterates.

        Return None if the floor for this γ is not below the target.
        """
        if start <= target:
            return 0
        floor = self.floor(gamma)
        if floor >= target:
            return None
        rate = -math.log1p(-self.rate(gamma))
        whole = math.log((start - floor) / (target - floor)) / rate if rate > 0.0 else math.inf
        if whole == math.inf:
            return None
        updates = max(math.ceil(whole) - 1, 0)
        while self.after(start, updates, gamma) > target:
            updates += max(1, updates >> 50)  # the logarithm is exact only up to rounding
        return updates

    def c_rate(self, gamma: float) -> float:
        """Return c_rate = (γ − 1)/(B'/((1+α)²λ3 B) + γ/c_trade); inf without an attack.

        It is such that θ²/c_rate is the limit of Δ, the paper's c_rate for every batch size and
        every β (docs/errata.md#e3).
        """
        floor = self.floor(gamma)
        return self.bound**2 / floor if floor > 0.0 else math.inf

    def updates_by_rate(self, start: float, target: float, gamma: float) -> int | None:
        """Return log(Δ_1/(ε²δ − θ²/c_rate))/log(1/(1 − κ)), the paper's T − 1 with its constant.

        It drops a negative term of the recursion, so it is never below `updates_to`, which is exact
        and is what certificates and plans use. Return None if the floor is not below the target.
        """
        room = target - self.floor(gamma)
        rate = -math.log1p(-self.rate(gamma))
        if start <= target:
            return 0
        return math.ceil(math.log(start / room) / rate) if room > 0.0 and rate > 0.0 else None

    def least_gamma(self, target: float) -> float:
        """Return the number γ must exceed, (ε²δ + c2/c1)/(ε²δ − c3/b_*) but at least 1.

        It is inf if no γ reaches the target ε²δ.
        """
        slack = target - self.c3 / self.margin
        return max((target + self.c2 / self.c1) / slack, 1.0) if slack > 0.0 else math.inf

    # ---- prediction risk (paper, section 3.4) ----------------------------------------------------

    def risk_ratio(self, delta: float) -> float:
        """Return (1+α)² λ3 m_2/(δ c_trade).

        If it is below 1, the prediction risk is at most θ*² with probability 1 − δ.
        """
        if self.trade_off <= 0.0:
            return math.inf
        return self.lipschitz**2 * self.lambda3 * self.norms[1] / (delta * self.trade_off)


def _lipschitz(network: FilterNetwork) -> float:
    return 1.0 + network.leak if network.activation is None else network.activation.steepest
