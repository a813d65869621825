"""The four searches behind `plan`: each stays on the safe side, and ends."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from neurotron import _check
from neurotron._digits import up
from neurotron.attacks.budget import Budget
from neurotron.guarantees.plan.models import Choice, Model
from neurotron.guarantees.request import Request
from neurotron.guarantees.training_certificate import ROUNDING
from neurotron.simulation import MOST_STEPS
from neurotron.theory.search import HALVINGS, halve

__all__ = ["MOST_EVALUATIONS", "Found", "NotAchievable", "Search"]

MOST_EVALUATIONS = (HALVINGS + 4) * Model.MOST_EVALUATIONS
"""A search never evaluates a guarantee more often than this."""

MARGIN = 4.0 * ROUNDING
"""Part of ε²δ that is kept in hand, so that the certificate's radius is not above ε."""


class NotAchievable(_check.InputError):
    """What was asked for cannot be guaranteed; the message says why, and what is nearest."""


class Found(NamedTuple):
    """What can be guaranteed: against whom, with which step size, and within how many steps."""

    bound: float
    probability: float
    choice: Choice


class Search:
    """The searches, named after what they find.

    Parameters
    ----------
    model
        How far a guarantee reaches.
    budget
        The attacker's, without what is asked.
    request
        Start, steps (None if asked) and failure δ.
    accuracy
        ε, None if asked.
    """

    def __init__(
        self, model: Model, budget: Budget, request: Request, accuracy: float | None
    ) -> None:
        self.model, self.budget, self.start = model, budget, request.start
        self.failure, self.most = request.failure, request.steps or MOST_STEPS
        self.target = 0.0
        if accuracy is not None:
            self.target = accuracy**2 * request.failure * (1.0 - MARGIN)
            if model.only_progress and self.target >= self.start:
                raise NotAchievable(
                    "not achievable, because Theorem 1 needs ε²δ < ‖w₁ − w*‖²; the "
                    f"nearest achievable accuracy is below {self._radius(self.start):.4g}"
                )
            self._require_resolved(Budget(0.0, 0.0))

    def steps(self) -> Found:
        """Find the step size that needs the fewest steps."""
        limit = self.model.limit(self.budget)
        if self.target <= limit**2:  # even for a start within it: training would be free to leave
            raise NotAchievable(
                f"not achievable, because an attacker with {self._attacker} can hold the "
                f"guaranteed root mean squared error at {limit:.4g}; the nearest achievable "
                f"accuracy is above {up(self._radius(limit**2))}"
            )
        self._require_resolved(self.budget)
        choice = self._reach(self.budget, self.target)
        if choice is None:
            raise NotAchievable(
                f"not achievable, because it takes more than {MOST_STEPS:,} steps, or so many that "
                "their rounding errors are too large: the accuracy is too close to what no number "
                f"of steps reaches, {self._radius(self.model.resolution(self.budget) ** 2):.6g}"
            )
        choice = self.model.refined(self.budget, self.start, self.target, choice)
        return self._found(self.budget, choice)

    def accuracy(self) -> Found:
        """Find the smallest ε²δ within the steps, by halving log(√(ε²δ) − limit)."""
        root, limit = math.sqrt(self.start), self.model.limit(self.budget)
        if root <= limit:
            raise NotAchievable(
                f"not achievable, because the start, ‖w − w*‖ ≤ {root:.4g}, is already better than "
                f"the {limit:.4g} at which an attacker with {self._attacker} can hold the "
                "guaranteed root mean squared error"
            )

        def target(logarithm: float) -> float:
            return min((limit + math.exp(logarithm)) ** 2, self.start)

        high = math.log(root - limit)
        best = halve(
            lambda at: self._reach(self.budget, target(at)) is not None, high, high - 100.0
        )
        choice = self._reach(self.budget, target(best))
        if choice is None:
            raise NotAchievable(
                f"not achievable, because {self.most:,} steps are not certain to bring the weights "
                "any closer than they are"
            )
        return self._found(self.budget, choice)

    def bound(self) -> Found:
        """Find the largest θ, by halving between 0 and where the limit is the accuracy."""
        unit = self.model.limit(self._with(bound=1.0))
        if unit == 0.0:
            raise NotAchievable("nobody attacks with probability 0: every bound is tolerated")
        if unit == math.inf:
            raise NotAchievable(
                "not achievable, because no bound above 0 is tolerated: c_trade is not positive "
                f"with probability {self.budget.probability:g}"
            )
        return self._largest("bound", min(math.sqrt(self.target) / unit, 1e70))

    def probability(self) -> Found:
        """Find the largest β in [0, 1]."""
        always = self._with(probability=1.0)
        choice = self._reach(always, self.target)
        return self._largest("probability", 1.0) if choice is None else self._found(always, choice)

    def _largest(self, name: str, top: float) -> Found:
        """Find the largest number below `top` that the attacker's budget may have."""
        self._require_clean()
        best = halve(
            lambda at: self._reach(self._with(**{name: at}), self.target) is not None, 0.0, top
        )
        legible = float(f"{best * (1.0 - 5e-6):.6g}")  # as it is printed, and not above
        budget = self._with(**{name: legible})
        choice = self._reach(budget, self.target)
        assert choice is not None
        return self._found(budget, choice)

    def _require_resolved(self, budget: Budget) -> None:
        """Refuse an accuracy that rounding errors alone could spoil."""
        resolved = self.model.resolution(budget)
        if self.target <= resolved**2 and math.isfinite(resolved):
            raise NotAchievable(
                "not achievable, because floating point is not certain to resolve it: rounding "
                f"errors alone may hold the root mean squared error at {up(resolved)}; the nearest "
                f"achievable accuracy is above {up(self._radius(resolved**2))}"
            )

    def _require_clean(self) -> None:
        """Refuse what is impossible even with honest labels."""
        honest = Budget(0.0, 0.0)
        if self._reach(honest, self.target) is not None:
            return
        choice = self.model.reach(honest, self.start, self.target)
        nearest = "" if choice is None else f"; the nearest achievable is {choice.steps:,.0f} steps"
        raise NotAchievable(
            f"not achievable, because even with honest labels {self.most:,} steps do not suffice"
            f"{nearest}"
        )

    def _reach(self, budget: Budget, target: float) -> Choice | None:
        """Return the best step size that reaches the target within the steps."""
        choice = self.model.reach(budget, self.start, target)
        return None if choice is None or choice.steps > self.most else choice

    def _with(self, *, bound: float | None = None, probability: float | None = None) -> Budget:
        return dataclasses.replace(
            self.budget,
            bound=self.budget.bound if bound is None else bound,
            probability=self.budget.probability if probability is None else probability,
        )

    def _found(self, budget: Budget, choice: Choice) -> Found:
        assert budget.bound is not None
        assert budget.probability is not None
        return Found(budget.bound, budget.probability, choice)

    def _radius(self, target: float) -> float:
        return math.sqrt(target / self.failure)

    @property
    def _attacker(self) -> str:
        return f"θ = {self.budget.bound:g}, β = {self.budget.probability:g}"
