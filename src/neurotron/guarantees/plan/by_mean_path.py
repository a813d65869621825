"""Step sizes for a radius B + √(V/δ), from the mean path and the deviations from it.

Under attack it is much less than what Markov's inequality gives, and a little more if there is only
noise. The planner takes the better one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from neurotron._types import Array, Index, Mask
from neurotron.guarantees.plan.by_markov import Choice, legible_step
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
from neurotron.theory.search import halve, least_of_many

if TYPE_CHECKING:
    from neurotron.guarantees.plan.models import SharpModel

FEW_STEPS = 300
"""Fewer steps are counted one by one, also while step sizes are compared."""
SMALLEST = -14.0
"""The logarithm of the smallest step size that is tried, in fastest steps."""
LITTLE, FINE = 3.0, 40
CLOSE = 1e-3
"""Relative precision of numbers of steps while step sizes are compared."""


@dataclass(frozen=True)
class ByMeanPath:
    """Step sizes for a radius B + √(V/δ)."""

    model: SharpModel
    recursion: Recursion
    path: MeanPath

    def reach(self, radius: float, steps: int | None) -> Choice | None:
        """Return a step size whose radius is at most `radius`; None if none is."""
        if self.path.limit >= radius:
            return None
        if steps is None:
            return self._fewest_scheduled(radius) if self.model.scheduled else self._fewest(radius)
        found = self.best(steps)
        return None if found is None or found[1] > radius else found[0]

    def best(self, steps: int) -> tuple[Choice, float] | None:
        """Return the step size with the smallest radius after `steps` steps, and that radius."""
        if self.model.scheduled:
            radius = self._scheduled_radius(steps)
            return None if radius == math.inf else (Choice(None, steps), radius)

        def radii_after(sizes: list[float]) -> list[float]:
            if steps <= FEW_STEPS:
                return [float(self._followed(steps, size)[-1]) for size in sizes]
            found: list[float] = self._radii(np.array(sizes), np.array([float(steps)])).tolist()
            return found

        def radii(logarithms: list[float]) -> list[float]:
            sizes = [self.recursion.fastest * math.exp(logarithm) for logarithm in logarithms]
            return radii_after(sizes)

        # smaller steps keep a part of the start, where the radius may have a second minimum
        moving = LITTLE / max(self.path.low * steps * self.recursion.fastest, 1e-300)
        slow = min(max(math.log(moving), SMALLEST), -2.0)
        where, radius = least_of_many(radii, slow, 0.0)
        if radius >= self.model.request.initial_error:
            where, radius = min((where, radius), least_of_many(radii, SMALLEST, slow), key=last)
        if radius == math.inf:
            return None
        step_size = self.recursion.fastest * math.exp(where)
        legible = legible_step(step_size)
        again = radii_after([legible])[0]
        if again <= radius * (1.0 + 1e-6):
            step_size, radius = legible, again
        return Choice(step_size, steps), radius

    def counted(self, radius: float, choice: Choice) -> Choice:
        """Return the choice with its steps counted one by one where they are not too many."""
        if choice.steps > EXACT_STEPS:
            return choice
        reached = self._followed(choice.steps, choice.step_size) <= radius
        return choice._replace(steps=int(reached.argmax())) if reached.any() else choice

    def _radii(self, step_sizes: Array, steps: Array) -> Array:
        """Return bounds on the radii after many steps of each size: one number, or one for each."""
        self.model.evaluations += len(step_sizes)
        request = self.model.request
        rounded = np.array([self.model.rounding.floor(size) for size in step_sizes.tolist()])
        deviation = after_constant_steps(
            self.recursion, self.path, request.first_deviation, request.start, step_sizes, steps,
            rounded,
        )  # fmt: skip
        return np.asarray(deviation.radius(request.delta, rounded))

    def _fewest(self, radius: float) -> Choice | None:
        """Return the constant step size that needs the fewest steps."""
        largest = self._largest(radius)

        def needed(logarithms: list[float]) -> list[float]:
            return self._needed([largest * math.exp(at) for at in logarithms], radius)

        where, steps = least_of_many(needed, SMALLEST, 0.0)
        if steps == math.inf:
            return None
        step_size = largest * math.exp(where)
        legible = legible_step(step_size)
        again = self._needed([legible], radius)[0]
        if again <= steps * (1.0 + CLOSE):
            step_size, steps = legible, again
        return Choice(step_size, math.ceil(steps))

    def _largest(self, radius: float) -> float:
        """Return about the largest step size whose bound tends to less than the radius."""

        def fine(logarithm: float) -> bool:
            step_size = self.recursion.fastest * math.exp(logarithm)
            end = in_the_long_run(self.recursion, self.path, step_size)
            return bool(end.radius(self.model.request.delta) < radius)

        best = 0.0 if fine(0.0) else halve(fine, -200.0, 0.0, FINE)
        return self.recursion.fastest * math.exp(best)

    def _needed(self, step_sizes: list[float], radius: float) -> list[float]:
        """Return about how many steps of each size are needed, and never too few; inf if none do.

        All step sizes are tried together, because that is faster.
        """
        found = [self._needed_few(size, radius) for size in step_sizes]
        many = [size for size, steps in zip(step_sizes, found, strict=True) if steps is None]
        counts = iter(self._needed_many(np.array(many), radius).tolist() if many else [])
        return [next(counts) if steps is None else steps for steps in found]

    def _needed_few(self, step_size: float, radius: float) -> float | None:
        """Return the same if a few steps suffice, or none do; None if there are more."""
        delta, rounded = self.model.request.delta, self.model.rounding.floor(step_size)
        end = in_the_long_run(self.recursion, self.path, step_size, rounded)
        if not end.radius(delta, rounded) < radius:
            return math.inf
        if self._may_be_few(step_size, radius):
            radii = self._followed(FEW_STEPS, step_size)
            if (radii <= radius).any():
                return _crossing(radii, radius)
        return None

    def _needed_many(self, step_sizes: Array, radius: float) -> Array:
        """Return the same for more than a few steps, by halving their logarithms."""

        def outside(some: Index, steps: Array) -> Mask:
            return self._radii(step_sizes[some], np.ceil(steps[some])) > radius

        gaps = np.array([self.path.gap(size) for size in step_sizes.tolist()])
        ends = step_sizes * self.path.push / gaps
        fall = np.maximum((self.model.request.initial_error - ends) / (radius - ends), 1.0)
        low = np.maximum(np.log(fall) / -np.log1p(-gaps), FEW_STEPS + 1.0)
        high, some = low.copy(), np.arange(len(low))
        while some.size:
            some = some[outside(some, high)]
            low[some], high[some] = high[some], 1.5 * high[some]
            some = some[high[some] <= MOST_STEPS]
        high[high > MOST_STEPS] = math.inf
        some = np.flatnonzero(high < math.inf)
        while (some := some[high[some] - low[some] > CLOSE * high[some] + 1.0]).size:
            middle = np.sqrt(low * high)
            above = outside(some, middle)
            low[some[above]], high[some[~above]] = middle[some[above]], middle[some[~above]]
        return np.ceil(high)

    def _may_be_few(self, step_size: float, radius: float) -> bool:
        """Return whether a few steps might suffice, as if there were only the start to forget."""
        left = (1.0 - self.model.rounding.decrease(step_size)) ** (FEW_STEPS / 2.0)
        markov = self.model.radius(self.model.request.initial_error * left)
        gone = self.model.request.first_deviation.path * self.path.factor(step_size) ** FEW_STEPS
        return bool(min(markov, gone) <= radius * (1.0 + CLOSE))

    def _fewest_scheduled(self, radius: float) -> Choice | None:
        """Return the number of steps that a schedule needs."""
        reached = self._followed(EXACT_STEPS, None) <= radius
        if reached.any():
            return Choice(None, int(reached.argmax()))
        steps = 2 * EXACT_STEPS
        while self._scheduled_radius(steps) > radius:  # it grows again in the end, by rounding
            steps *= 2
            if steps > MOST_STEPS:
                return None
        fine = halve(
            lambda at: self._scheduled_radius(math.floor(at)) <= radius, steps, steps / 2,
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
        return float(later.radius(self.model.request.delta, rounded))

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
        return np.fmin(found.radius(request.delta, rounded), markov)

    def _rounded(self, delta: float, steps: int) -> float:
        """Return what rounding errors add within some steps of a schedule."""
        smallest = self.recursion.step_for(delta) if steps <= FOLLOWED else 0.0
        return float(self.model.rounding.kept(steps, smallest, self.recursion.longest_step))


def last(pair: tuple[float, float]) -> float:
    """Return the second number of two."""
    return pair[1]


def _crossing(radii: Array, radius: float) -> float:
    """Return where the radii fall below the radius, between two steps."""
    step = int((radii <= radius).argmax())
    if step == 0 or not math.isfinite(radii[step - 1]):
        return float(step)
    before, after = radii[step - 1], radii[step]
    return step - float((radius - after) / (before - after))
