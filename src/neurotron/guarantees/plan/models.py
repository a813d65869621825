"""What the planner needs to know about a guarantee: how far it reaches, and how fast."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from neurotron.attacks import Attack
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.guarantees.certificate import ROUNDING
from neurotron.guarantees.paper_certificate import rounding_of, theorem_and_hypotheses
from neurotron.guarantees.plan.by_markov import ByMarkov, Choice, least_target
from neurotron.guarantees.plan.by_mean_path import ByMeanPath
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import hypotheses
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding
from neurotron.theory.search import EVALUATIONS
from neurotron.theory.sharp import sharp_constants
from neurotron.theory.theorem1 import Theorem1
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

MARGIN = 4.0 * ROUNDING
"""Part of a radius that is kept in reserve, so that the certificate's radius is not above it."""


class Model(ABC):
    """A guarantee as a function of the attacker's budget."""

    MOST_EVALUATIONS: ClassVar[int] = 24 * EVALUATIONS
    """Of the guarantee, in one call of `reach` or `best`."""

    only_progress: ClassVar[bool] = False
    """Whether it only allows targets below the start."""

    request: Request
    unit: float = 1.0
    """What a wanted radius is divided by to get it in the coordinates of the request."""
    obstacles: list[str]
    """Assumptions that do not hold for any budget, each with what to change."""
    evaluations = 0

    @abstractmethod
    def limit(self, budget: Budget) -> float:
        """Return the best possible radius, in exact numbers; inf if nothing is guaranteed."""

    @abstractmethod
    def resolution(self, budget: Budget) -> float:
        """Return the same radius for computed numbers, with what rounding errors add."""

    @abstractmethod
    def reach(self, budget: Budget, radius: float, steps: int | None) -> Choice | None:
        """Return the step size whose radius is at most `radius` after `steps` steps.

        If `steps` is None, it is the step size that needs the fewest. Return None if there is none.
        """

    @abstractmethod
    def best(self, budget: Budget, steps: int) -> tuple[Choice, float] | None:
        """Return the step size with the smallest radius after `steps` steps, and that radius."""

    def refined(self, budget: Budget, radius: float, choice: Choice) -> Choice:
        """Return the choice with the fewest steps that are known to suffice."""
        return choice

    @abstractmethod
    def trainer(self, budget: Budget, step_size: float | None) -> NeuroTron:
        """Return the trainer with the chosen step size."""

    def target(self, radius: float) -> float:
        """Return the Δ = ε²δ for which Markov's inequality gives the radius, with a margin."""
        return radius**2 * self.request.delta * (1.0 - MARGIN)

    def radius(self, root: Any) -> Any:
        """Return the radius that Markov's inequality gives for a root mean square."""
        return root / math.sqrt(self.request.delta)


class SharpModel(Model):
    """The sharp certificate."""

    def __init__(
        self, request: Request, trainer: NeuroTron, *, scheduled: bool, predictions: bool
    ) -> None:
        self.request, self.scheduled = request, scheduled
        self._found: dict[Budget, AttackMoments] = {}
        self.asked = trainer
        self.resolved = request.trainer()
        self.constants = sharp_constants(
            request.problem, np.asarray(self.resolved.sensing), self.resolved.weighting,
            request.coordinates,
        )  # fmt: skip
        self.unit = math.sqrt(self.constants.risk) if predictions else request.coordinates.shrinks
        found = hypotheses(request, self.resolved, self.constants)
        self.obstacles = [a.explanation for a in found if a.blocking and not a.holds]

    def recursion(self, budget: Budget) -> Recursion:
        """Return F against a budget."""
        return self.constants.recursion(
            self._moments(budget), self.request.problem.noise, self.request.batch_size
        )

    def _moments(self, budget: Budget) -> AttackMoments:
        """Return the attacker's constants; the probability β(x) of a given attack is used."""
        if budget not in self._found:
            attack = self.request.attack
            given = isinstance(attack, Attack) and budget != NO_ATTACK
            self._found[budget] = attack_moments(
                self.constants, self.request.problem, np.asarray(self.resolved.sensing),
                self.resolved.weighting, attack if given else budget, self.request.coordinates,
            )  # fmt: skip
        return self._found[budget]

    def path(self, budget: Budget) -> MeanPath:
        """Return the bounds on the mean path against a budget."""
        return self.constants.mean_path(
            self._moments(budget), self.request.problem.noise, self.request.batch_size
        )

    def limit(self, budget: Budget) -> float:
        """Return 2θτ/((1+α)λ1): the sure bound on the mean path, to which the radius tends."""
        return min(self.path(budget).limit, self.radius(self.recursion(budget).limit))

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding errors add, with any attack."""
        recursion = self.recursion(NO_ATTACK)
        return self.request.rounding(
            self.constants.spread, self.constants.s0, recursion.pull, recursion.square
        )

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with the best step size."""
        return self.limit(budget) + self.radius(self.rounding.least)

    def reach(self, budget: Budget, radius: float, steps: int | None) -> Choice | None:
        """Return the better choice of two: by Markov's inequality, or from the mean path."""
        by_path = self._paths(budget).reach(radius * (1.0 - MARGIN), steps)
        if by_path is not None and steps is not None:
            return by_path
        by_markov = self._means(budget).reach(self.target(radius))
        if by_markov is None or (steps is not None and by_markov.steps > steps):
            return by_path
        return by_markov if by_path is None else min(by_path, by_markov, key=lambda c: c.steps)

    def best(self, budget: Budget, steps: int) -> tuple[Choice, float] | None:
        """Return the better choice of two: by Markov's inequality, or from the mean path."""
        found = [self._paths(budget).best(steps)]
        target = self._means(budget).best(steps)
        if target is not None:
            found.append((target[0], self.radius(math.sqrt(target[1]))))
        return min((one for one in found if one is not None), key=lambda one: one[1], default=None)

    def refined(self, budget: Budget, radius: float, choice: Choice) -> Choice:
        """Return the choice with its steps counted one by one where that is possible."""
        counted = self._paths(budget).counted(radius * (1.0 - MARGIN), choice)
        steps = self._means(budget).counted(self.target(radius), choice)
        return min(choice, counted, steps, key=lambda c: c.steps)

    def _paths(self, budget: Budget) -> ByMeanPath:
        return ByMeanPath(self, self.recursion(budget), self.path(budget))

    def _means(self, budget: Budget) -> ByMarkov:
        return ByMarkov(self, self.recursion(budget))

    def trainer(self, budget: Budget, step_size: float | None) -> NeuroTron:
        """Return Neuro-Tron, with its schedule spelled out if it has one."""
        if step_size is None:
            purpose = self.request.coordinates.name
            return ScheduledTron.of(
                self.resolved, self.recursion(budget), self.request.start,
                purpose if purpose != "weights" else "",
            )  # fmt: skip
        return dataclasses.replace(self.asked, step_size=step_size)


class PaperModel(Model):
    """The paper's Theorem 1."""

    only_progress = True

    def __init__(self, request: Request, trainer: NeuroTron, *, predictions: bool) -> None:
        self.request = request
        self.asked = trainer
        resolved = request.trainer()
        _, found = theorem_and_hypotheses(request, resolved)
        self.obstacles = [a.explanation for a in found if not a.holds]
        self.sensing = np.asarray(resolved.sensing)
        if predictions:
            self.unit = math.sqrt(self.theorem(NO_ATTACK).risk)

    def theorem(self, budget: Budget) -> Theorem1:
        """Return the constants against a budget."""
        return Theorem1.of(self.request.problem, self.sensing, budget, self.request.batch_size)

    def limit(self, budget: Budget) -> float:
        """Return θ/√(δ c_trade)."""
        theorem = self.theorem(budget)
        if theorem.margin <= 0.0:
            return math.inf
        return self.radius(math.sqrt(theorem.c3 / theorem.margin))

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with γ = 2, best without an attack."""
        theorem = self.theorem(budget)
        if theorem.margin <= 0.0:
            return math.inf
        rounded = rounding_of(theorem, self.request).floor(theorem.step_size(2.0))
        return self.limit(budget) + self.radius(rounded)

    def reach(self, budget: Budget, radius: float, steps: int | None) -> Choice | None:
        """Return the step size of the best γ."""
        choice = self._reach(budget, self.target(radius))
        late = choice is not None and steps is not None and choice.steps > steps
        return None if late else choice

    def best(self, budget: Budget, steps: int) -> tuple[Choice, float] | None:
        """Return the smallest ε²δ within the steps, by halving."""
        found = least_target(
            lambda target: self._reach(budget, target), self.limit(budget)
            * math.sqrt(self.request.delta), self.request.start, steps,
        )  # fmt: skip
        return None if found is None else (found[0], self.radius(math.sqrt(found[1])))

    def _reach(self, budget: Budget, target: float) -> Choice | None:
        self.evaluations += 1
        theorem, start = self.theorem(budget), self.request.start
        if not target < start or theorem.margin <= 0.0:
            return None
        rounding = rounding_of(theorem, self.request)

        def gamma_of(delta: float) -> float:
            ready = math.isfinite(theorem.least_gamma(delta))
            return theorem.best_gamma(start, delta) if ready else math.inf

        def floor(delta: float) -> float:
            gamma = gamma_of(delta)
            return math.inf if gamma == math.inf else rounding.floor(theorem.step_size(gamma))

        aim = rounding.room(target, floor)
        if aim is None:
            return None
        gamma = gamma_of(aim)
        updates = theorem.updates_to(start, aim, gamma)
        return None if updates is None else Choice(theorem.step_size(gamma), updates)

    def trainer(self, budget: Budget, step_size: float | None) -> NeuroTron:
        """Return Neuro-Tron with that step size."""
        assert step_size is not None
        return dataclasses.replace(self.asked, step_size=step_size)
