"""What the planner asks of the paper's Theorem 1."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from neurotron._types import Array
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.guarantees.paper_certificate import (
    resolved,
    rounded_roots,
    theorem_and_hypotheses,
)
from neurotron.guarantees.plan.models import First
from neurotron.guarantees.request import Request
from neurotron.simulation import MOST_STEPS
from neurotron.theory.course import rounded_up
from neurotron.theory.theorem1 import Theorem1
from neurotron.trainers import NeuroTron


class PaperModel:
    """The paper's Theorem 1 like a `SharpModel`; its bounds are known in closed form."""

    most, long = MOST_STEPS, math.inf
    schedules, views, of_rows = None, 1, False

    def __init__(self, request: Request, trainer: NeuroTron, *, predictions: bool) -> None:
        self.request, self.asked = request, trainer
        trained = request.trainer()
        _, found = theorem_and_hypotheses(request, trained)
        self.obstacles = [a.explanation for a in found if not a.holds]
        self.sensing, self.unit = np.asarray(trained.sensing), 1.0
        if predictions and not self.obstacles:
            self.unit = math.sqrt(self.theorem(NO_ATTACK).risk)
        self.start = self.unit * request.initial_error
        self.scale = self.unit / math.sqrt(request.delta)
        self.most_wanted = self.scale * request.initial_error

    def theorem(self, budget: Budget) -> Theorem1:
        """Return the constants against a budget."""
        return Theorem1.of(self.request.problem, self.sensing, budget, self.request.batch_size)

    def largest(self, budget: Budget) -> Array:
        """Return the step size of γ = 1."""
        return np.array([self.theorem(budget).step_size(1.0)])

    def shift(self, budget: Budget) -> float:
        """Return 0: the theorem is about exact labels."""
        return 0.0

    def limit(self, budget: Budget) -> float:
        """Return θ/√(δ c_trade)."""
        theorem = self.theorem(budget)
        if theorem.margin <= 0.0:
            return math.inf
        return self.scale * math.sqrt(theorem.c3 / theorem.margin)

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and the least that rounding errors add in the long run."""
        theorem = self.theorem(budget)
        return self.scale * resolved(theorem, self.request) if theorem.margin > 0.0 else math.inf

    def easy(self, budget: Budget) -> float:
        """Return the best radius, which may take any number of steps."""
        return self.resolution(budget)

    def radii(self, budget: Budget, sizes: Array, steps: int) -> Array:
        """Return the radii of all step sizes; inf where the theorem does not apply."""
        theorem = self.theorem(budget)
        found = [self._radius(theorem, theorem.gamma(size), steps) for size in sizes[0].tolist()]
        return np.array([found])

    def _radius(self, theorem: Theorem1, gamma: float, steps: int) -> float:
        if theorem.margin <= 0.0 or gamma <= 1.0:
            return math.inf
        root, added = rounded_roots(theorem, self.request, gamma, np.array(steps))
        found = float(root + added)
        return rounded_up(self.scale * found, 0) if found < self.request.initial_error else math.inf

    def first(self, budget: Budget, sizes: Array, radius: float, most: int) -> First | None:
        """Return the fewest steps of all step sizes, by halving."""
        theorem = self.theorem(budget)
        found = np.array([self._steps(theorem, size, radius, most) for size in sizes[0].tolist()])
        steps = float(found.min())
        if steps > most:
            return None
        return First(int(steps), self.radii(budget, sizes, int(steps)))

    def _steps(self, theorem: Theorem1, size: float, radius: float, most: int) -> float:
        """Return the number of steps after which the radius is reached; inf if never."""
        gamma = theorem.gamma(size)
        if theorem.margin <= 0.0 or gamma <= 1.0:
            return math.inf
        _, added = rounded_roots(theorem, self.request, gamma, None)
        aim = radius / float(rounded_up(self.scale, 0)) - float(added)
        steps = theorem.updates_to(self.request.start, aim**2, gamma) if aim > 0.0 else None
        if steps is None:
            return math.inf
        return steps + (self._radius(theorem, gamma, steps) > radius)

    def sooner(self, budget: Budget, step_size: float, radius: float, steps: int) -> int:
        """Return the same number of steps: the theorem has no fourth moments."""
        return steps

    def trainer(self, budget: Budget, step_size: float) -> NeuroTron:
        """Return Neuro-Tron with that step size."""
        return dataclasses.replace(self.asked, step_size=step_size)
