"""What the planner needs to know about a guarantee: how far it reaches, and how fast."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from neurotron.attacks import Attack
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.guarantees.paper_certificate import rounding_of, theorem_and_hypotheses
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import hypotheses
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding
from neurotron.theory.search import EVALUATIONS, least
from neurotron.theory.sharp import sharp_constants
from neurotron.theory.theorem1 import Theorem1
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

__all__ = ["Choice", "Model", "PaperModel", "SharpModel"]


FEW_STEPS = 2000


class Choice(NamedTuple):
    """The best step size (None for a schedule), and a number of steps that is sufficient."""

    step_size: float | None
    steps: int


class Model(ABC):
    """A guarantee as a function of the attacker's budget."""

    MOST_EVALUATIONS: ClassVar[int] = EVALUATIONS + 2
    """Of the guarantee, in one call of `reach`."""

    only_progress: ClassVar[bool] = False
    """Whether it only allows targets below the start."""

    obstacles: list[str]
    """Assumptions that do not hold for any budget, each with what to change."""
    evaluations = 0

    @abstractmethod
    def limit(self, budget: Budget) -> float:
        """Return the best possible bound on the root mean squared error, in exact numbers."""

    @abstractmethod
    def resolution(self, budget: Budget) -> float:
        """Return the same bound for computed numbers, with what rounding errors add."""

    @abstractmethod
    def reach(self, budget: Budget, start: float, target: float) -> Choice | None:
        """Return the step size that leads from Δ_1 = `start` to `target` fastest; None if none."""

    def refined(self, budget: Budget, start: float, target: float, choice: Choice) -> Choice:
        """Return the choice with the fewest steps that are known to suffice."""
        return choice

    @abstractmethod
    def trainer(self, budget: Budget, step_size: float | None) -> NeuroTron:
        """Return the trainer with the chosen step size."""


class SharpModel(Model):
    """The sharp certificate."""

    def __init__(self, request: Request, trainer: NeuroTron, *, scheduled: bool) -> None:
        self.request, self.scheduled = request, scheduled
        self.asked = trainer
        self.resolved = request.trainer()
        sensing = np.asarray(self.resolved.sensing)
        self.constants = sharp_constants(request.problem, sensing, self.resolved.weighting)
        found = hypotheses(request, self.resolved, self.constants)
        self.obstacles = [a.explanation for a in found if a.blocking and not a.holds]

    def recursion(self, budget: Budget) -> Recursion:
        """Return F against a budget; the probability β(x) of a given attack is used if known."""
        attack = self.request.attack
        against = attack if isinstance(attack, Attack) else budget
        moments = attack_moments(
            self.constants, self.request.problem, np.asarray(self.resolved.sensing),
            self.resolved.weighting, against,
        )  # fmt: skip
        return self.constants.recursion(
            moments, self.request.problem.noise, self.request.batch_size
        )

    def limit(self, budget: Budget) -> float:
        """Return 2θτ/((1+α)λ1)."""
        return self.recursion(budget).limit

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding errors add, with any attack."""
        recursion = self.recursion(NO_ATTACK)
        return self.request.rounding(self.constants.spread, recursion.pull, recursion.square)

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with the best step size."""
        return self.limit(budget) + self.rounding.least

    def reach(self, budget: Budget, start: float, target: float) -> Choice | None:
        """Search for η below the one whose floor is the target, 2 × the best step there."""
        recursion = self.recursion(budget)
        best = recursion.step_for(target)  # 0 if the target is not above the limit
        if best <= 0.0:
            return None
        stay = None if self.scheduled else min(best, recursion.fastest)
        aim = self._aim(recursion, target, stay)
        if aim is not None and start <= aim and _floor(recursion, stay) <= math.sqrt(aim):
            return Choice(stay, 0)
        if self.scheduled:
            self.evaluations += 1
            whole = None if aim is None else recursion.time(start, aim, None)
            if aim is None or whole is None or whole == math.inf:
                return None
            return _counted(recursion, start, aim, None, whole)

        def time(step_size: float) -> float:
            aim = self._aim(recursion, target, step_size)
            if aim is None or start <= aim:  # staying there was tried above
                return math.inf
            found = recursion.time(start, aim, step_size)
            return math.inf if found is None else found

        def counted(logarithm: float) -> float:
            self.evaluations += 1
            return time(2.0 * best * math.exp(logarithm))

        where, whole = least(counted, -12.0, 0.0)
        if whole == math.inf:
            return None
        step_size = 2.0 * best * math.exp(where)
        legible = float(f"{step_size:.6g}")  # as it is printed, if that is as good
        again = time(legible)
        if again <= whole * (1.0 + 1e-6):
            step_size, whole = legible, again
        aim = self._aim(recursion, target, step_size)
        assert aim is not None
        return _counted(recursion, start, aim, step_size, whole)

    def refined(self, budget: Budget, start: float, target: float, choice: Choice) -> Choice:
        """Return the choice with its steps counted exactly where that is possible."""
        recursion = self.recursion(budget)
        aim = self._aim(recursion, target, choice.step_size)
        assert aim is not None
        steps = recursion.steps_to(start, aim, choice.step_size)
        return choice if steps is None else choice._replace(steps=steps)

    def _aim(self, recursion: Recursion, target: float, step_size: float | None) -> float | None:
        """Return what exact numbers must reach to leave room for rounding; None if nothing does."""

        def floor(delta: float) -> float:
            if step_size is not None:
                return self.rounding.floor(step_size)
            smallest, largest = recursion.step_for(delta), recursion.longest_step
            return float(self.rounding.kept(math.inf, smallest, largest))

        return self.rounding.room(target, floor)

    def trainer(self, budget: Budget, step_size: float | None) -> NeuroTron:
        """Return Neuro-Tron, with its schedule spelled out if it has one."""
        if step_size is None:
            return ScheduledTron.of(self.resolved, self.recursion(budget), self.request.start)
        return dataclasses.replace(self.asked, step_size=step_size)


def _floor(recursion: Recursion, step_size: float | None) -> float:
    return recursion.limit if step_size is None else recursion.floor(step_size)


def _counted(
    recursion: Recursion, start: float, target: float, step_size: float | None, time: float
) -> Choice:
    """Return the choice with its steps: counted where they are few, and the bound on them loose."""
    most = 1 + math.floor(time)
    if most > FEW_STEPS:
        return Choice(step_size, most)
    steps = recursion.steps_to(start, target, step_size)
    return Choice(step_size, most if steps is None else steps)


class PaperModel(Model):
    """The paper's Theorem 1."""

    only_progress = True

    def __init__(self, request: Request, trainer: NeuroTron) -> None:
        self.request = request
        self.asked = trainer
        resolved = request.trainer()
        _, found = theorem_and_hypotheses(request, resolved)
        self.obstacles = [a.explanation for a in found if not a.holds]
        self.sensing = np.asarray(resolved.sensing)

    def theorem(self, budget: Budget) -> Theorem1:
        """Return the constants against a budget."""
        return Theorem1.of(self.request.problem, self.sensing, budget, self.request.batch_size)

    def limit(self, budget: Budget) -> float:
        """Return θ/√c_trade."""
        theorem = self.theorem(budget)
        return math.sqrt(theorem.c3 / theorem.margin) if theorem.margin > 0.0 else math.inf

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with γ = 2, best without an attack."""
        theorem = self.theorem(budget)
        if theorem.margin <= 0.0:
            return math.inf
        rounded = rounding_of(theorem, self.request).floor(theorem.step_size(2.0))
        return self.limit(budget) + rounded

    def reach(self, budget: Budget, start: float, target: float) -> Choice | None:
        """Return the step size of the best γ."""
        self.evaluations += 1
        theorem = self.theorem(budget)
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
