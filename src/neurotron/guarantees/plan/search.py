"""The four searches behind `plan`: each stays on the safe side and is sure to end."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from neurotron import _check
from neurotron._digits import counted, up
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.data import Rows
from neurotron.guarantees.plan.by_markov import Choice
from neurotron.guarantees.plan.models import Model
from neurotron.simulation import MOST_STEPS
from neurotron.theory.search import HALVINGS, halve

MOST_EVALUATIONS = (HALVINGS + 4) * Model.MOST_EVALUATIONS
"""A search never evaluates a guarantee more often than this."""

ABOVE = 1.01
"""A radius that is larger than the best one by this factor is suggested instead of it."""

LARGEST = 1e70
"""The largest bound θ of an attack."""

BETTER = 1.001
"""Factor by which an answer must be better to be of interest."""

LEGIBLE = 30
"""Halvings for a number of which six digits are printed."""


class NotAchievable(_check.InputError):
    """What was asked for cannot be guaranteed. The message says why, and what can be.

    It has the number of `steps` that would suffice, if that is the reason; else infinity.
    """

    def __init__(self, message: str, steps: float = math.inf) -> None:
        super().__init__(message)
        self.steps = steps


class Found(NamedTuple):
    """What can be guaranteed: against which attack, with which step size, in how many steps."""

    bound: float
    probability: float
    choice: Choice
    radius: float = math.inf
    """The best radius, if that is asked."""

    def goodness(self, asked: str) -> float:
        """Return a number that is larger for a better answer to what is asked."""
        if asked == "steps":
            return -self.choice.steps
        return -self.radius if asked == "radius" else float(getattr(self, asked))


class Search:
    """The searches, named after what they find.

    Parameters
    ----------
    model
        How far a guarantee reaches.
    budget
        The attacker's, without what is asked.
    radius
        ε, None if asked.
    start
        The error at the start, which a radius that is asked for must improve.
    """

    def __init__(self, model: Model, budget: Budget, radius: float | None, start: float) -> None:
        request, self.worth = model.request, start
        self.model, self.budget, self.start = model, budget, request.start
        self.most = request.steps or MOST_STEPS
        fit, rows = request.fit, budget.rows or 0
        self.moved = 0.0 if fit is None else fit.moved(1.0, rows)
        self.unit = model.unit
        self.shift = 0.0 if fit is None else fit.off + (budget.bound or 0.0) * self.moved
        self.wanted = 0.0 if radius is None else radius / self.unit - self.shift

    def run(self, asked: str) -> Found:
        """Find what is asked: steps, radius, bound or probability."""
        if asked != "radius":
            self._require_possible()
        found = getattr(self, asked)()
        assert isinstance(found, Found)
        return found

    def beats(self, found: Found, asked: str) -> bool:
        """Return whether a better answer may be found, which is much faster than to find it."""
        if asked == "radius":
            return True
        if asked == "steps":
            most = found.choice.steps - 1
            return most > 0 and self.model.reach(self.budget, self.wanted, most) is not None
        better = BETTER * float(getattr(found, asked))
        if better > (1.0 if asked == "probability" else LARGEST):
            return False
        return self._reach(self._with(**{asked: better})) is not None

    def _require_possible(self) -> None:
        """Refuse a radius that no attack and no number of steps make possible."""
        model = self.model
        if self.wanted <= 0.0:
            complete = self.budget.bound is not None and self.budget.probability is not None
            raise NotAchievable(
                "not achievable, because the fit of the unchanged labels of the table is only "
                f"known to within {up(self.unit * self.shift)}. "
                f"{self._ask(self.model.limit(self.budget) if complete else 0.0)}"
            )
        if model.only_progress and model.target(self.wanted) >= self.start:
            raise NotAchievable(
                "not achievable, because Theorem 1 needs a radius that is better than the "
                f"start: ε²δ < ‖w₁ − w*‖². Ask for a radius below "
                f"{self.unit * model.radius(math.sqrt(self.start)):.4g}."
            )
        self._require_resolved(NO_ATTACK)

    def steps(self) -> Found:
        """Find the step size that needs the fewest steps."""
        limit = self.model.limit(self.budget)
        if self.wanted <= limit:  # even for a start within it: training would be free to leave
            raise NotAchievable(
                f"not achievable, because an attack with {self._attack} can keep the guaranteed "
                f"error at {self.unit * limit:.4g}. {self._ask(limit)}"
            )
        self._require_resolved(self.budget)
        choice = self.model.reach(self.budget, self.wanted, None)
        if choice is None or choice.steps > MOST_STEPS:
            raise NotAchievable(
                f"not achievable, because it would take more than {MOST_STEPS:,} steps, or so many "
                "that their rounding errors become too large. "
                f"{self._ask(self.model.resolution(self.budget))}"
            )
        return self._found(self.budget, self.model.refined(self.budget, self.wanted, choice))

    def radius(self) -> Found:
        """Find the smallest radius within the steps."""
        root, limit = math.sqrt(self.start), self.model.limit(self.budget)
        found = self.model.best(self.budget, self.most)
        radius = math.inf if found is None else self.unit * (found[1] + self.shift)
        if found is not None and radius < self.worth + self.unit * self.shift:
            return self._found(self.budget, found[0])._replace(radius=radius)
        if root <= limit:
            raise NotAchievable(
                f"not achievable: training starts at an error of {self.unit * root:.4g}, which is "
                f"already better than the {self.unit * limit:.4g} at which an attack with "
                f"{self._attack} can keep the guaranteed error. Plan against a weaker attack."
            )
        raise NotAchievable(
            "not achievable, because no step size is certain to reduce the error within "
            f"{counted(self.most, 'step')}. Use more steps."
        )

    def bound(self) -> Found:
        """Find the largest θ, by halving between 0 and where the limit is the radius."""
        if self.budget.rows is not None:
            return self._stored_bound()
        unit = self.model.limit(self._with(bound=1.0))
        if unit == 0.0:
            raise NotAchievable(
                "every bound is tolerated, because the probability of an attack is 0: give a "
                "probability above 0"
            )
        if unit == math.inf:
            raise NotAchievable(
                "not achievable, because no bound above 0 is tolerated: with probability "
                f"{self.budget.probability:g}, c_trade is not positive. Use a smaller probability, "
                "or method='sharp'."
            )
        return self._largest("bound", min(self.wanted / unit, LARGEST))

    def _stored_bound(self) -> Found:
        """Find the largest θ of stored labels, which move the fit by a multiple of θ."""
        self._require_clean()
        found = self.model.best(NO_ATTACK, self.most)
        assert found is not None
        spare = self.wanted * (1.0 - 1e-8) - found[1]
        if self.moved == 0.0 or spare <= 0.0:
            raise NotAchievable(
                "every bound is tolerated, because no label is changed: give more `rows`"
                if self.moved == 0.0
                else "not achievable, because training leaves no room for an attack. Use more "
                "steps, or ask for a larger radius."
            )
        return Found(_legible(spare / self.moved), 0.0, found[0])

    def probability(self) -> Found:
        """Find the largest β in [0, 1]."""
        always = self._with(probability=1.0)
        choice = self._reach(always)
        return self._largest("probability", 1.0) if choice is None else self._found(always, choice)

    def _largest(self, name: str, top: float) -> Found:
        """Find the largest number below `top` that the attacker's budget may have."""
        self._require_clean()
        best = halve(
            lambda at: self._reach(self._with(**{name: at})) is not None, 0.0, top, LEGIBLE,
            _legible,
        )  # fmt: skip
        budget = self._with(**{name: _legible(best)})
        choice = self._reach(budget)
        assert choice is not None
        return self._found(budget, choice)

    def _require_resolved(self, budget: Budget) -> None:
        """Refuse a radius that rounding errors alone could spoil."""
        resolved = self.model.resolution(budget)
        if self.wanted <= resolved and math.isfinite(resolved):
            units = ""
            if isinstance(self.model.request.problem.data, Rows):
                units = " Standardise columns whose values are of very different sizes."
            raise NotAchievable(
                "not achievable, because floating point is not certain to resolve it: rounding "
                f"errors alone may keep the guaranteed error at {up(self.unit * resolved)}. "
                f"{self._ask(resolved)}{units}"
            )

    def _require_clean(self) -> None:
        """Refuse what is impossible even with honest labels."""
        if self._reach(NO_ATTACK) is not None:
            return
        choice = self.model.reach(NO_ATTACK, self.wanted, None)
        remedy = "" if choice is None else f" {choice.steps:,.0f} steps suffice."
        raise NotAchievable(
            f"not achievable, because {self.most:,} steps are not enough even with honest labels."
            f"{remedy}",
            math.inf if choice is None else choice.steps,
        )

    def _reach(self, budget: Budget) -> Choice | None:
        """Return the best step size that reaches the radius within the steps."""
        return self.model.reach(budget, self.wanted, self.most)

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

    def _ask(self, least: float) -> str:
        """Say which radius to ask for, above the radius that cannot be reached."""
        least = self.unit * (least + self.shift)
        return f"Ask for a radius above {up(least)}, such as {up(ABOVE * least)}."

    @property
    def _attack(self) -> str:
        return f"θ = {self.budget.bound:g}, β = {self.budget.probability:g}"


def _legible(number: float) -> float:
    """Return a number as it is printed, and not above."""
    return float(f"{number * (1.0 - 5e-6):.6g}")
