"""Choices of the planner, and those for a radius √(Δ/δ), by Markov's inequality."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from neurotron.theory.long_run import FOLLOWED
from neurotron.theory.recursion import Recursion
from neurotron.theory.search import halve, least

if TYPE_CHECKING:
    from neurotron.guarantees.plan.models import SharpModel


class Choice(NamedTuple):
    """The best step size (None for a schedule), and a number of steps that is sufficient."""

    step_size: float | None
    steps: int


def least_target(
    reach: Callable[[float], Choice | None], limit: float, start: float, steps: int
) -> tuple[Choice, float] | None:
    """Return the smallest Δ that is reached within the steps, by halving log(√Δ − limit)."""
    root = math.sqrt(start)
    if root <= limit:
        return None

    def target(logarithm: float) -> float:
        return min((limit + math.exp(logarithm)) ** 2, start)

    def fine(logarithm: float) -> bool:
        choice = reach(target(logarithm))
        return choice is not None and choice.steps <= steps

    high = math.log(root - limit)
    best = target(halve(fine, high, high - 100.0))
    choice = reach(best)
    return None if choice is None or choice.steps > steps else (choice, best)


def legible_step(step_size: float) -> float:
    """Return a step size as it is printed."""
    return float(f"{step_size:.6g}")


@dataclass(frozen=True)
class ByMarkov:
    """Step sizes for a bound Δ on E‖w − w*‖²."""

    model: SharpModel
    recursion: Recursion

    def reach(self, target: float) -> Choice | None:
        """Search for η below the one whose floor is the target, 2 × the best step there."""
        recursion, start = self.recursion, self.model.request.start
        best = recursion.step_for(target)  # 0 if the target is not above the limit
        if best <= 0.0:
            return None
        scheduled = self.model.scheduled
        stay = None if scheduled else min(best, recursion.fastest)
        aim = self._aim(target, stay)
        if aim is not None and start <= aim and self._floor(stay) <= math.sqrt(aim):
            return Choice(stay, 0)
        if scheduled:
            self.model.evaluations += 1
            whole = None if aim is None else recursion.time(start, aim, None)
            if aim is None or whole is None or whole == math.inf:
                return None
            return self._counted(aim, None, whole)

        def time(step_size: float) -> float:
            aim = self._aim(target, step_size)
            if aim is None or start <= aim:  # staying there was tried above
                return math.inf
            found = recursion.time(start, aim, step_size)
            return math.inf if found is None else found

        def counted(logarithm: float) -> float:
            self.model.evaluations += 1
            return time(2.0 * best * math.exp(logarithm))

        where, whole = least(counted, -12.0, 0.0)
        if whole == math.inf:
            return None
        step_size = 2.0 * best * math.exp(where)
        legible = legible_step(step_size)
        again = time(legible)
        if again <= whole * (1.0 + 1e-6):
            step_size, whole = legible, again
        aim = self._aim(target, step_size)
        assert aim is not None
        return self._counted(aim, step_size, whole)

    def best(self, steps: int) -> tuple[Choice, float] | None:
        """Return the smallest Δ within the steps."""
        start = self.model.request.start
        return least_target(self.reach, self.recursion.limit, start, steps)

    def counted(self, target: float, choice: Choice) -> Choice:
        """Return the choice with its steps counted exactly where that is possible."""
        aim = self._aim(target, choice.step_size)
        steps = None
        if aim is not None:
            steps = self.recursion.steps_to(self.model.request.start, aim, choice.step_size)
        return choice if steps is None else choice._replace(steps=steps)

    def _floor(self, step_size: float | None) -> float:
        recursion = self.recursion
        return recursion.limit if step_size is None else recursion.floor(step_size)

    def _aim(self, target: float, step_size: float | None) -> float | None:
        """Return what exact numbers must reach to leave room for rounding; None if nothing does."""
        recursion, rounding = self.recursion, self.model.rounding

        def floor(delta: float) -> float:
            if step_size is not None:
                return rounding.floor(step_size)
            smallest, largest = recursion.step_for(delta), recursion.longest_step
            return float(rounding.kept(math.inf, smallest, largest))

        return rounding.room(target, floor)

    def _counted(self, target: float, step_size: float | None, time: float) -> Choice:
        """Return the choice with its steps: counted where they are few, as the bound is loose."""
        most = 1 + math.floor(time)
        if most > FOLLOWED:
            return Choice(step_size, most)
        steps = self.recursion.steps_to(self.model.request.start, target, step_size)
        return Choice(step_size, most if steps is None else steps)
