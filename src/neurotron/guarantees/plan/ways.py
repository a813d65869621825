"""The two ways in which the sharp certificate leads to a radius, each as a search for step sizes.

By Markov's inequality the radius is √(Δ/δ). From the mean path it is B + √(V/δ), which is much less
under attack, and a little more if there is only noise. The planner takes the better one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neurotron._types import Array
from neurotron.simulation import MOST_STEPS
from neurotron.theory.long_run import (
    FOLLOWED,
    after_constant_steps,
    after_scheduled_steps,
    deviations,
    in_the_long_run,
)
from neurotron.theory.mean_path import Deviation, MeanPath
from neurotron.theory.recursion import EXACT_STEPS, Recursion
from neurotron.theory.search import halve, least, least_of_many

if TYPE_CHECKING:
    from neurotron.guarantees.plan.models import SharpModel

__all__ = ["ByMarkov", "ByMeanPath", "Choice", "least_target"]

FEW_STEPS = 300
"""Fewer steps are counted one by one, also while step sizes are compared."""
SMALLEST = -14.0
"""The logarithm of the smallest step size that is tried, in fastest steps."""
LITTLE, FINE = 3.0, 40
CLOSE = 1e-3
"""Relative precision of numbers of steps while step sizes are compared."""


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
        legible = _legible(step_size)
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


@dataclass(frozen=True)
class ByMeanPath:
    """Step sizes for a radius B + √(V/δ)."""

    model: SharpModel
    recursion: Recursion
    path: MeanPath

    def reach(self, accuracy: float, steps: int | None) -> Choice | None:
        """Return a step size whose radius is at most `accuracy`; None if none is."""
        if self.path.limit >= accuracy or self.recursion.push == 0.0:
            return None
        if steps is None:
            return (
                self._fewest_scheduled(accuracy) if self.model.scheduled else self._fewest(accuracy)
            )
        found = self.best(steps)
        return None if found is None or found[1] > accuracy else found[0]

    def best(self, steps: int) -> tuple[Choice, float] | None:
        """Return the step size with the smallest radius after `steps` steps, and that radius."""
        if self.model.scheduled:
            radius = self._scheduled_radius(steps)
            return None if radius == math.inf else (Choice(None, steps), radius)

        def radii(logarithms: list[float]) -> list[float]:
            sizes = [self.recursion.fastest * math.exp(logarithm) for logarithm in logarithms]
            return self._radii(sizes, steps)

        # smaller steps keep a part of the start, where the radius may have a second minimum
        moving = LITTLE / max(self.path.low * steps * self.recursion.fastest, 1e-300)
        where, radius = least_of_many(radii, min(max(math.log(moving), SMALLEST), -2.0), 0.0)
        if radius == math.inf:
            return None
        step_size = self.recursion.fastest * math.exp(where)
        legible = _legible(step_size)
        again = self._radii([legible], steps)[0]
        if again <= radius * (1.0 + 1e-6):
            step_size, radius = legible, again
        return Choice(step_size, steps), radius

    def counted(self, accuracy: float, choice: Choice) -> Choice:
        """Return the choice with its steps counted one by one where they are not too many."""
        if choice.steps > EXACT_STEPS or self.recursion.push == 0.0:
            return choice
        reached = self._followed(choice.steps, choice.step_size) <= accuracy
        return choice._replace(steps=int(reached.argmax())) if reached.any() else choice

    def _radii(self, step_sizes: list[float], steps: float) -> list[float]:
        """Return bounds on the radii after steps of a constant size, for each of the sizes."""
        if steps <= FEW_STEPS:
            return [float(self._followed(int(steps), size)[-1]) for size in step_sizes]
        self.model.evaluations += len(step_sizes)
        request = self.model.request
        rounded = np.array([self.model.rounding.floor(size) for size in step_sizes])
        deviation = after_constant_steps(
            self.recursion, self.path, request.first_deviation, request.start,
            np.array(step_sizes), steps, rounded,
        )  # fmt: skip
        radii: list[float] = deviation.radius(request.failure, rounded).tolist()
        return radii

    def _fewest(self, accuracy: float) -> Choice | None:
        """Return the constant step size that needs the fewest steps."""
        largest = self._largest(accuracy)

        def needed(logarithm: float) -> float:
            return self._needed(largest * math.exp(logarithm), accuracy)

        where, steps = least(needed, SMALLEST, 0.0)
        if steps == math.inf:
            return None
        step_size = largest * math.exp(where)
        legible = _legible(step_size)
        again = self._needed(legible, accuracy)
        if again <= steps * (1.0 + CLOSE):
            step_size, steps = legible, again
        return Choice(step_size, math.ceil(steps))

    def _largest(self, accuracy: float) -> float:
        """Return about the largest step size whose radius tends to less than the accuracy."""

        def fine(logarithm: float) -> bool:
            step_size = self.recursion.fastest * math.exp(logarithm)
            end = in_the_long_run(self.recursion, self.path, step_size)
            return bool(end.radius(self.model.request.failure) < accuracy)

        best = 0.0 if fine(0.0) else halve(fine, -200.0, 0.0, FINE)
        return self.recursion.fastest * math.exp(best)

    def _needed(self, step_size: float, accuracy: float) -> float:
        """Return about how many steps of a size are needed, and never too few; inf if none do."""
        failure, rounded = self.model.request.failure, self.model.rounding.floor(step_size)
        end = in_the_long_run(self.recursion, self.path, step_size, rounded)
        if not end.radius(failure, rounded) < accuracy:
            return math.inf
        start, gap = self.model.request.initial_error, self.path.gap(step_size)
        if self._may_be_few(step_size, accuracy):
            radii = self._followed(FEW_STEPS, step_size)
            if (radii <= accuracy).any():
                return _crossing(radii, accuracy)
        fall = (start - end.path) / (accuracy - end.path)
        low = max(math.log(max(fall, 1.0)) / -math.log1p(-gap), FEW_STEPS + 1.0)
        high = low
        while self._radii([step_size], math.ceil(high))[0] > accuracy:
            low, high = high, 1.5 * high
            if high > MOST_STEPS:
                return math.inf
        while high - low > CLOSE * high + 1.0:
            middle = math.sqrt(low * high)
            inside = self._radii([step_size], math.ceil(middle))[0] <= accuracy
            low, high = (low, middle) if inside else (middle, high)
        return float(math.ceil(high))

    def _may_be_few(self, step_size: float, accuracy: float) -> bool:
        """Return whether a few steps might suffice, as if there were only the start to forget."""
        left = (1.0 - self.model.rounding.decrease(step_size)) ** (FEW_STEPS / 2.0)
        markov = self.model.radius(self.model.request.initial_error * left)
        gone = self.model.request.first_deviation.path * self.path.factor(step_size) ** FEW_STEPS
        return bool(min(markov, gone) <= accuracy * (1.0 + CLOSE))

    def _fewest_scheduled(self, accuracy: float) -> Choice | None:
        """Return the number of steps that a schedule needs."""
        reached = self._followed(EXACT_STEPS, None) <= accuracy
        if reached.any():
            return Choice(None, int(reached.argmax()))
        steps = 2 * EXACT_STEPS
        while self._scheduled_radius(steps) > accuracy:  # it grows again in the end, by rounding
            steps *= 2
            if steps > MOST_STEPS:
                return None
        fine = halve(
            lambda at: self._scheduled_radius(math.floor(at)) <= accuracy, steps, steps / 2,
        )  # fmt: skip
        return Choice(None, math.floor(fine))

    def _scheduled_radius(self, steps: int) -> float:
        """Return the radius of a schedule after a number of steps."""
        if steps <= FOLLOWED:
            return float(self._followed(steps, None)[-1])
        self.model.evaluations += 1
        near, delta = self._near
        rounded = self._rounded(delta, steps)
        later = after_scheduled_steps(
            self.recursion, self.path, near, delta, float(steps - FOLLOWED), rounded
        )
        return float(later.radius(self.model.request.failure, rounded))

    @cached_property
    def _near(self) -> tuple[Deviation, float]:
        """The mean path and Δ where a schedule is no longer followed step by step."""
        deltas = self.recursion.iterate(self.model.request.start, FOLLOWED, None)
        near = deviations(
            self.recursion, self.path, self.model.request.first_deviation, deltas, None,
            np.array([FOLLOWED]), self._rounded(float(deltas[-1]), FOLLOWED),
        )  # fmt: skip
        return Deviation(float(near.path[0]), float(near.spread[0])), float(deltas[-1])

    def _followed(self, steps: int, step_size: float | None) -> Array:
        """Return the better radius of both ways after 0, 1, … steps, followed one by one."""
        self.model.evaluations += 1
        request = self.model.request
        deltas = self.recursion.iterate(request.start, steps, step_size)
        if step_size is None:
            rounded = self._rounded(float(deltas[-1]), steps)
        else:
            rounded = self.model.rounding.floor(step_size)
        found = deviations(
            self.recursion, self.path, request.first_deviation, deltas, step_size,
            np.arange(steps + 1), rounded,
        )  # fmt: skip
        with np.errstate(over="ignore"):
            markov = self.model.radius(np.sqrt(deltas) + rounded)
        return np.fmin(found.radius(request.failure, rounded), markov)

    def _rounded(self, delta: float, steps: int) -> float:
        """Return what rounding errors add within some steps of a schedule."""
        smallest = self.recursion.step_for(delta) if steps <= FOLLOWED else 0.0
        return float(self.model.rounding.kept(steps, smallest, self.recursion.longest_step))


def _crossing(radii: Array, accuracy: float) -> float:
    """Return where the radii fall below the accuracy, between two steps."""
    step = int((radii <= accuracy).argmax())
    if step == 0 or not math.isfinite(radii[step - 1]):
        return float(step)
    before, after = radii[step - 1], radii[step]
    return step - float((accuracy - after) / (before - after))


def _legible(step_size: float) -> float:
    """Return the step size as it is printed."""
    return float(f"{step_size:.6g}")
