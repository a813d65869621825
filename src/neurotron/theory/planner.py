"""`plan`: of bound, probability, accuracy and steps, give three and get the fourth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.problem import Problem
from neurotron.simulation import MOST_SAMPLES, MOST_STEPS
from neurotron.theory.certificate import ROUNDING, Certificate
from neurotron.theory.exposure import Budget, budget_of
from neurotron.theory.guarantee import certify
from neurotron.theory.plan_models import Model, PaperModel, SharpModel
from neurotron.theory.request import Request
from neurotron.theory.search import HALVINGS, halve
from neurotron.trainers import Arm, NeuroTron

__all__ = ["MOST_EVALUATIONS", "NotAchievable", "Plan", "plan"]

MOST_EVALUATIONS = (HALVINGS + 4) * Model.MOST_EVALUATIONS
"""A search never evaluates a guarantee more often than this."""

MARGIN = 4.0 * ROUNDING
"""Part of ε²δ that is kept in hand, so that the certificate's radius is not above ε."""


class NotAchievable(_check.InputError):
    """What was asked for cannot be guaranteed; the message says why, and what is nearest."""


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """What to run, for how long, and what is then guaranteed."""

    arm: Arm
    steps: int
    certificate: Certificate
    asked: str
    """Which of bound, probability, accuracy and steps was the question."""
    answer: float
    evaluations: int
    """How often a guarantee was evaluated on the way."""

    def __str__(self) -> str:
        name = {"bound": "θ", "probability": "β", "accuracy": "ε", "steps": "T"}[self.asked]
        value = f"{self.steps:,}" if self.asked == "steps" else f"{self.answer:.6g}"
        sign = {"accuracy": "=", "steps": "="}.get(self.asked, "up to")
        head = f"Plan: {self.asked} {name} {sign} {value}, with {self.arm.trainer!r}."
        return f"{head}\n{self.certificate}"

    def __repr__(self) -> str:
        return f"Plan({self.asked}={self.answer:.6g}, steps={self.steps}, {self.certificate!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "asked": self.asked,
            "answer": self.answer,
            "steps": self.steps,
            "trainer": repr(self.arm.trainer),
            "certificate": self.certificate.to_dict(),
        }


def plan(
    problem: Problem,
    attack: Attack | Budget | None,
    *,
    batch_size: int,
    accuracy: float | None = None,
    steps: int | None = None,
    failure: float = 0.05,
    sensing: str | Array = "optimal",
    weighting: str | None = None,
    step_size: str = "constant",
    initial_error: float | None = None,
    method: str = "sharp",
) -> Plan:
    """Return step size, steps and guarantee; exactly one of four numbers is left out and found.

    The four are the attacker's `bound` θ and `probability` β (in the attack or `Budget`), the
    `accuracy` ε and the `steps`. Found are the fewest steps, the smallest ε, the largest θ or β for
    which ‖w − w*‖ ≤ ε holds with chance 1 − δ, each on the safe side. What cannot be guaranteed
    raises `NotAchievable`, with the reason and what is nearest.

    Parameters
    ----------
    problem, batch_size
        What would be simulated.
    attack
        Whom to guarantee against: an attack, a `Budget` (with at most one number left out), or
        None for honest labels.
    accuracy, steps, failure
        ε, the number of updates, and δ.
    sensing, weighting
        The trainer's, as in `NeuroTron`.
    step_size
        "constant" for the best single step size, "scheduled" for the best at every step.
    initial_error
        A bound on ‖w_1 − w*‖, for those who do not know w*.
    method
        "sharp", or "theorem1" for the paper's.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.Adaptive(bound=0.25, probability=0.2)
    >>> found = nt.plan(problem, attack, accuracy=0.5, batch_size=16)
    >>> run = nt.simulate(problem, [found.arm], steps=found.steps, batch_size=16)
    >>> bool(run.errors[0, -1] <= 0.5)
    True
    >>> nt.plan(problem, attack, accuracy=0.1, batch_size=16)
    Traceback (most recent call last):
    neurotron.theory.planner.NotAchievable: not achievable, because an attacker with θ = 0.25, β = \
0.2 can hold the guaranteed root mean squared error at 0.02837; the nearest achievable accuracy is \
above 0.1269
    """
    _check.instance("problem", problem, Problem)
    budget = _budget(attack)
    asked = _asked(budget, accuracy, steps)
    _check.choice("method", method, ("sharp", "theorem1"))
    _check.choice("step_size", step_size, ("constant", "scheduled"))
    if method == "theorem1" and step_size == "scheduled":
        raise _check.InputError("Theorem 1 is about one step size: use method='sharp'")
    trainer = NeuroTron(1.0, sensing, weighting=weighting)
    request = Request(
        problem,
        Arm(trainer),
        _check.integer("batch_size", batch_size, 1, MOST_SAMPLES),
        None if steps is None else _check.integer("steps", steps, 1, MOST_STEPS),
        _check.number("failure", failure, "(0, 1)"),
        problem.initial_error(initial_error),
        attack if asked in ("steps", "accuracy") else _filled(budget, method),
    )
    if accuracy is not None:
        accuracy = _check.number("accuracy", accuracy, "(0, 1e150]")
    model: Model
    if method == "sharp":
        model = SharpModel(request, trainer, scheduled=step_size == "scheduled")
    else:
        model = PaperModel(request, trainer)
    if model.obstacles:
        raise NotAchievable(f"not achievable, because of {'; '.join(model.obstacles)}")
    if method == "theorem1" and accuracy is not None and accuracy**2 * failure >= request.start:
        raise NotAchievable(
            "not achievable, because Theorem 1 speaks of ε²δ < ‖w₁ − w*‖² only: the nearest "
            f"achievable accuracy is below {request.initial_error / math.sqrt(failure):.4g}"
        )
    search = _Search(model, budget, request, accuracy)
    theta, beta, target = getattr(search, asked)()
    found = dataclasses.replace(budget, bound=theta, probability=beta)
    choice = model.reach(found, request.start, target)
    assert choice is not None
    made = model.steps(found, request.start, target, choice.step_size) if steps is None else steps
    if made is None or made > MOST_STEPS:
        raise NotAchievable(f"not achievable, because it takes more than {MOST_STEPS:,} steps")
    attacker = attack if isinstance(attack, Attack) else None
    arm = Arm(model.trainer(found, choice.step_size), attacker)
    certificate = certify(
        problem, arm, batch_size=batch_size, steps=made, failure=failure,
        initial_error=initial_error, method=method,
        budget=None if attacker else found,
    )  # fmt: skip
    assert accuracy is None or certificate.radius <= accuracy
    answers = {
        "bound": theta, "probability": beta, "accuracy": certificate.radius, "steps": float(made)
    }  # fmt: skip
    return Plan(arm, made, certificate, asked, answers[asked], model.evaluations)


def _budget(attack: Attack | Budget | None) -> Budget:
    if attack is not None and not isinstance(attack, (Attack, Budget)):
        raise _check.InputError(f"`attack` must be an Attack or a Budget, got {attack!r}")
    return budget_of(attack)


def _filled(budget: Budget, method: str) -> Budget:
    """Return the budget with a number for what is asked, to check the hypotheses with.

    The sharp certificate needs to know that somebody attacks; c_trade > 0 is not asked for yet.
    """
    some = 1.0 if method == "sharp" else 0.0
    return dataclasses.replace(
        budget,
        bound=some if budget.bound is None else budget.bound,
        probability=some if budget.probability is None else budget.probability,
    )


def _asked(budget: Budget, accuracy: float | None, steps: int | None) -> str:
    given = {
        "bound": budget.bound, "probability": budget.probability, "accuracy": accuracy,
        "steps": steps,
    }  # fmt: skip
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        left = f"{' and '.join(missing)} are missing" if missing else "all four are given"
        raise _check.InputError(
            f"leave out exactly one of bound, probability, accuracy and steps: {left}"
        )
    return missing[0]


class _Search:
    """The four searches: each returns (θ, β, ε²δ) that can be guaranteed within the steps."""

    def __init__(
        self, model: Model, budget: Budget, request: Request, accuracy: float | None
    ) -> None:
        self.model, self.budget, self.start = model, budget, request.start
        self.failure, self.most = request.failure, request.steps or MOST_STEPS
        self.target = 0.0
        if accuracy is not None:
            self.target = accuracy**2 * request.failure * (1.0 - MARGIN)

    def steps(self) -> tuple[float, float, float]:
        """Check that the accuracy can be reached at all."""
        theta, beta = self._both()
        limit = self.model.limit(self.budget)
        if self.target <= limit**2:
            nearest = limit / math.sqrt(self.failure)
            # a start within the accuracy is no answer: training would be free to leave it
            raise NotAchievable(
                f"not achievable, because an attacker with θ = {theta:g}, β = {beta:g} can hold "
                f"the guaranteed root mean squared error at {limit:.4g}; the nearest achievable "
                f"accuracy is above {nearest:.4g}"
            )
        if self.model.reach(self.budget, self.start, self.target) is None:
            raise NotAchievable(
                f"not achievable, because it takes more than {MOST_STEPS:,} steps: the accuracy is "
                f"too close to the limit {limit / math.sqrt(self.failure):.6g}"
            )
        return theta, beta, self.target

    def accuracy(self) -> tuple[float, float, float]:
        """Return the smallest ε²δ within the steps, by halving log(√(ε²δ) − limit)."""
        theta, beta = self._both()
        root, limit = math.sqrt(self.start), self.model.limit(self.budget)
        if root <= limit:
            raise NotAchievable(
                f"not achievable, because the start, ‖w − w*‖ ≤ {root:.4g}, is already better than "
                f"the {limit:.4g} at which an attacker with θ = {theta:g}, β = {beta:g} can hold "
                "the guaranteed root mean squared error"
            )

        def target(logarithm: float) -> float:
            return (limit + math.exp(logarithm)) ** 2

        high = math.log(root - limit)
        best = halve(lambda at: self._within(theta, beta, target(at)), high, high - 100.0)
        return theta, beta, min(target(best), self.start)

    def bound(self) -> tuple[float, float, float]:
        """Return the largest θ, by halving between 0 and where the limit is the accuracy."""
        beta = self.budget.probability
        assert beta is not None
        self._require_clean()
        unit = self.model.limit(dataclasses.replace(self.budget, bound=1.0))
        if unit == 0.0:
            raise NotAchievable("nobody attacks with probability 0: every bound is tolerated")
        top = math.sqrt(self.target) / unit if math.isfinite(unit) else 0.0
        theta = halve(lambda at: self._within(at, beta, self.target), 0.0, top)
        return theta, beta, self.target

    def probability(self) -> tuple[float, float, float]:
        """Return the largest β in [0, 1]."""
        theta = self.budget.bound
        assert theta is not None
        self._require_clean()
        if self._within(theta, 1.0, self.target):
            return theta, 1.0, self.target
        return theta, halve(lambda at: self._within(theta, at, self.target), 0.0, 1.0), self.target

    def _both(self) -> tuple[float, float]:
        assert self.budget.bound is not None
        assert self.budget.probability is not None
        return self.budget.bound, self.budget.probability

    def _within(self, theta: float, beta: float, target: float) -> bool:
        budget = dataclasses.replace(self.budget, bound=theta, probability=beta)
        choice = self.model.reach(budget, self.start, target)
        return choice is not None and choice.steps <= self.most

    def _require_clean(self) -> None:
        """Refuse what is impossible even with honest labels."""
        if self._within(0.0, 0.0, self.target):
            return
        choice = self.model.reach(Budget(0.0, 0.0), self.start, self.target)
        nearest = "" if choice is None else f"; the nearest achievable is {choice.steps:,.0f} steps"
        raise NotAchievable(
            f"not achievable, because even with honest labels {self.most:,} steps do not suffice"
            f"{nearest}"
        )
