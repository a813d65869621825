"""What the planner asks of a guarantee: how far it reaches with many step sizes at once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.data import Rows
from neurotron.guarantees.request import Request
from neurotron.guarantees.theorems import InCoordinates, by_fourth_moment
from neurotron.theory.attack_moments import AttackMoments
from neurotron.theory.coordinates import Coordinates
from neurotron.theory.course import MOST_FOLLOWED, Course, Schedule, follow
from neurotron.theory.fourth_moment import MOST_STEPS
from neurotron.theory.one_step import coefficients
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

EASY, FORGOTTEN = 1e6, 30.0
"""A number of steps that does not take long, and the logarithm by which the start then counts."""
EQUAL = 1e-9
"""A schedule for other coordinates must be better than the plain one by more than this part."""


class First(NamedTuple):
    """When the first of many step sizes reaches a radius."""

    steps: int
    scores: Array
    """How well each step size does, (views, sizes): the smallest number is the best."""


class SharpModel:
    """The sharp certificate as a function of the budget, the step size and the steps.

    It has one or two views: in the coordinates of the weights, and in those of predictions. Step
    sizes are given for each view, (views, sizes). Radii are those that are asked for.
    """

    most = MOST_FOLLOWED
    """The largest number of steps for which it is known."""
    long = 50_000
    """Beyond so many steps, or if they are not known yet, fewer step sizes are tried at once."""
    most_wanted = math.inf
    """The smallest radius that is too large to be guaranteed."""
    schedules: Array | None = None
    """In place of step sizes: the views whose schedules there are, (views, views)."""

    def __init__(
        self, request: Request, trainer: NeuroTron, coordinates: Sequence[Coordinates], *,
        scheduled: bool, predictions: bool,
    ) -> None:  # fmt: skip
        seen = [InCoordinates(dataclasses.replace(request, coordinates=one)) for one in coordinates]
        self.asked, self.delta = trainer, request.delta
        self.obstacles = [assumption.explanation for assumption in seen[0].obstacles]
        self.seen = [view for view in seen if not view.obstacles]
        self.views = len(self.seen)
        self.tie = 0.0
        if scheduled:
            self.schedules = np.tile(np.arange(self.views), (self.views, 1))
            self.tie = EQUAL
        self.predictions, self.attack = predictions, request.attack
        self.start = min(self._unit(view) * view.request.initial_error for view in seen)
        self.of_rows = isinstance(request.problem.data, Rows)

    def course(self, view: InCoordinates, budget: Budget) -> Course:
        """Return all bounds against a budget."""
        return self._against(view, budget)[1]

    def _moments(self, view: InCoordinates, budget: Budget) -> AttackMoments:
        return self._against(view, budget)[0]

    def _against(self, view: InCoordinates, budget: Budget) -> tuple[AttackMoments, Course]:
        """Return what is known against a budget; the probability β(x) of a given attack is used."""
        given = isinstance(self.attack, Attack) and budget != NO_ATTACK
        return view.against(self.attack if given else budget)

    def _unit(self, view: InCoordinates) -> float:
        """Return the radius that is asked for when the one in the view's coordinates is 1."""
        return (
            math.sqrt(view.constants.risk) if self.predictions else view.request.coordinates.shrinks
        )

    def _shift(self, view: InCoordinates, budget: Budget) -> float:
        """Return how far the fit of a table is known, in the coordinates of the view."""
        fit = view.request.fit
        return 0.0 if fit is None else fit.off + fit.moved(budget.bound or 0.0, budget.rows or 0)

    def _limit(self, view: InCoordinates, budget: Budget) -> float:
        """Return the radius that no step size can improve: 2θτ/((1+α)λ1)."""
        course = self.course(view, budget)
        by_markov = course.recursion.limit / math.sqrt(self.delta)
        return self._unit(view) * (min(course.path.limit, by_markov) + self._shift(view, budget))

    def largest(self, budget: Budget) -> Array:
        """Return the fastest step sizes."""
        return np.array([self.course(view, budget).recursion.fastest for view in self.seen])

    def shift(self, budget: Budget) -> float:
        """Return how far the fit of a table is known."""
        return min(self._unit(view) * self._shift(view, budget) for view in self.seen)

    def limit(self, budget: Budget) -> float:
        """Return the smallest limit of all coordinates."""
        return min(self._limit(view, budget) for view in self.seen)

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with the best step size."""
        return min(
            self._limit(view, budget)
            + self._unit(view) * self.course(view, NO_ATTACK).least_rounding(self.delta)
            for view in self.seen
        )

    def easy(self, budget: Budget) -> float:
        """Return what the step size tends to that has nearly forgotten the start after EASY."""
        found = []
        for view in self.seen:
            course = self.course(view, budget)
            step = 2.0 * FORGOTTEN / (course.recursion.pull * EASY)
            end = course.in_the_end(min(step, course.recursion.fastest))
            found.append(
                self._unit(view) * (float(end.radius(self.delta)) + self._shift(view, budget))
            )
        return max(min(found), self.resolution(budget))

    def radii(self, budget: Budget, sizes: Array, steps: int) -> Array:
        """Follow all step sizes at once; where nothing changes any more, it ends early."""
        found = None
        for block in follow(*self._runs(budget, sizes.ravel()), steps):
            found = block
        if found is None:  # no step at all
            return np.full(sizes.shape, self.start)
        last = found.radius(self.delta, steps)[-1]
        return self._in_units(budget, last.reshape(sizes.shape))

    def first(self, budget: Budget, sizes: Array, radius: float, most: int) -> First | None:
        """Follow the step sizes that can reach the radius until the first one does.

        At a start that is good enough, the largest step size that keeps it so is the best.
        """
        every = sizes.ravel()
        able = np.flatnonzero(self._able(budget, every, radius, most)).tolist()
        if not able:
            return None
        courses, steps = self._runs(budget, every)
        done, wanted = 0, self._wanted(budget, radius, len(every))[able]
        if (np.array([courses[i].start.exact for i in able]) <= wanted).any():
            found = np.full(len(every), math.inf)
            found[able] = -every[able]
            return First(0, found.reshape(sizes.shape))
        for block in follow([courses[i] for i in able], [steps[i] for i in able], most):
            radii = block.radius(self.delta, most)
            reached = (radii <= wanted).any(axis=1)
            if reached.any():
                row = int(reached.argmax())
                found = np.full(len(every), math.inf)
                found[able] = radii[row]
                found = self._in_units(budget, found.reshape(sizes.shape))
                return First(done + row + 1, found)
            done += len(radii)
        return None

    def sooner(self, budget: Budget, step_size: float, radius: float, steps: int) -> int:
        """Return the first step at which fourth moments reach the radius, if that is sooner."""
        if steps > MOST_STEPS:
            return steps
        size: float | Schedule = step_size
        if self.schedules is not None:
            own = self.course(self.seen[int(step_size)], budget)
            size = Schedule(own.recursion, own.start.exact**2)
        record = np.arange(steps + 1)
        for view in self.seen:
            course = self.course(view, budget)
            fourth = view.fourth(self._moments(view, budget), course, budget.probability or 0.0)
            if fourth is not None:
                radii = by_fourth_moment(fourth, course, size, record, self.delta)
                reached = self._unit(view) * (radii + self._shift(view, budget)) <= radius
                steps = min(steps, int(reached.argmax())) if reached.any() else steps
        return steps

    def _able(self, budget: Budget, sizes: Array, radius: float, most: int) -> Array:
        """Return which step sizes may reach a radius: some tend to more, some take too long."""
        wanted = self._wanted(budget, radius, len(sizes))
        if self.schedules is not None:
            return np.ones(len(sizes), dtype=bool)
        courses = self._runs(budget, sizes)[0]
        pairs = list(zip(courses, sizes.tolist(), strict=True))
        ends = [course.in_the_end(eta).radius(self.delta) for course, eta in pairs]
        numbers = np.array([course.numbers for course in courses]).T
        left, _, _, factor, *_ = coefficients(sizes, *numbers)
        starts = np.array([course.start.exact for course in courses])
        with np.errstate(all="ignore"):
            kept = np.maximum(np.sqrt(left), factor) ** most * starts
        return np.asarray((np.array(ends) < wanted) & (kept <= wanted))

    def _runs(
        self, budget: Budget, sizes: Array
    ) -> tuple[list[Course], Sequence[float | Schedule]]:
        each = len(sizes) // self.views
        courses = [self.course(view, budget) for view in self.seen for _ in range(each)]
        if self.schedules is None:
            return courses, sizes.tolist()
        own = [self.course(view, budget) for view in self.seen]
        all_of = [Schedule(one.recursion, one.start.exact**2) for one in own]
        return courses, all_of * self.views

    def _wanted(self, budget: Budget, radius: float, count: int) -> Array:
        """Return the radius in the coordinates of each run."""
        wanted = radius * (1.0 - self.tie)
        each = [wanted / self._unit(view) - self._shift(view, budget) for view in self.seen]
        return np.repeat(each, count // len(each))

    def _in_units(self, budget: Budget, radii: Array) -> Array:
        units = np.array([[self._unit(view)] for view in self.seen])
        found = units * (radii + np.array([[self._shift(view, budget)] for view in self.seen]))
        found[:, 1:] *= 1.0 + self.tie
        return found

    def trainer(self, budget: Budget, step_size: float) -> NeuroTron:
        """Return Neuro-Tron, with its schedule spelled out if it has one."""
        if self.schedules is None:
            return dataclasses.replace(self.asked, step_size=step_size)
        chosen = self.seen[int(step_size)]
        purpose = chosen.request.coordinates.name
        return ScheduledTron.of(
            chosen.trainer, self.course(chosen, budget).recursion, chosen.request.start,
            purpose if purpose != "weights" else "",
        )  # fmt: skip
