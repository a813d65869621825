"""What the planner asks of a guarantee: how far it reaches with many step sizes at once."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.attacks.budget import NO_ATTACK, Budget
from neurotron.data import Rows
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import course_of, hypotheses
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.coordinates import Coordinates
from neurotron.theory.course import MOST_FOLLOWED, Course, Schedule, follow
from neurotron.theory.one_step import coefficients
from neurotron.theory.sharp import sharp_constants
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


class Model(ABC):
    """A guarantee as a function of the attacker's budget, the step size and the steps.

    Step sizes are given for one or more views of the problem, (views, sizes). Radii are those that
    are asked for, of weights or of predictions.
    """

    most: int
    """The largest number of steps for which it is known."""
    long = math.inf
    """Beyond so many steps, or if they are not known yet, fewer step sizes are tried at once."""
    schedules: Array | None = None
    """In place of step sizes: the views whose schedules there are, (views, views)."""
    views = 1
    start: float
    """The radius before training, as if it were certain."""
    most_wanted = math.inf
    """The smallest radius that is too large to be guaranteed."""
    of_rows = False
    """Whether the inputs are rows of data."""
    obstacles: list[str]
    """Assumptions that do not hold for any budget, each with what to change."""

    @abstractmethod
    def largest(self, budget: Budget) -> Array:
        """Return the largest step size worth trying in each view, (views,)."""

    @abstractmethod
    def shift(self, budget: Budget) -> float:
        """Return the part of the radius that no training can reduce: how far a fit is known."""

    @abstractmethod
    def limit(self, budget: Budget) -> float:
        """Return the best possible radius, in exact numbers; inf if nothing is guaranteed."""

    @abstractmethod
    def resolution(self, budget: Budget) -> float:
        """Return the same radius for computed numbers, with what rounding errors add."""

    @abstractmethod
    def easy(self, budget: Budget) -> float:
        """Return a radius hardly above the best one that does not take too many steps."""

    @abstractmethod
    def radii(self, budget: Budget, sizes: Array, steps: int) -> Array:
        """Return the radii after some steps, (views, sizes)."""

    @abstractmethod
    def first(self, budget: Budget, sizes: Array, radius: float, most: int) -> First | None:
        """Return when the first step size reaches the radius; None if none does in time."""

    @abstractmethod
    def trainer(self, budget: Budget, step_size: float) -> NeuroTron:
        """Return the trainer with the chosen step size."""


class View:
    """The sharp certificate in some coordinates."""

    def __init__(self, request: Request, coordinates: Coordinates, *, predictions: bool) -> None:
        self.request = dataclasses.replace(request, coordinates=coordinates)
        self.trainer = self.request.trainer()
        self.sensing = np.asarray(self.trainer.sensing)
        self.constants = sharp_constants(
            request.problem, self.sensing, self.trainer.weighting, coordinates
        )
        self.unit = math.sqrt(self.constants.risk) if predictions else coordinates.shrinks
        found = hypotheses(self.request, self.trainer, self.constants)
        self.obstacles = [a.explanation for a in found if a.blocking and not a.holds]
        self._courses: dict[Budget, Course] = {}

    def course(self, budget: Budget) -> Course:
        """Return all bounds against a budget; the probability β(x) of a given attack is used."""
        if budget not in self._courses:
            self._courses[budget] = course_of(self.request, self.constants, self._moments(budget))
        return self._courses[budget]

    def _moments(self, budget: Budget) -> AttackMoments:
        attack = self.request.attack
        given = isinstance(attack, Attack) and budget != NO_ATTACK
        return attack_moments(
            self.constants, self.request.problem, self.sensing, self.trainer.weighting,
            attack if given else budget, self.request.coordinates,
        )  # fmt: skip

    def limit(self, budget: Budget) -> float:
        """Return the radius that no step size can improve: 2θτ/((1+α)λ1)."""
        course = self.course(budget)
        by_markov = course.recursion.limit / math.sqrt(self.request.delta)
        return self.unit * (min(course.path.limit, by_markov) + self.shift(budget))

    def shift(self, budget: Budget) -> float:
        """Return how far the fit of a table is known, in the coordinates of the view."""
        fit = self.request.fit
        return 0.0 if fit is None else fit.off + fit.moved(budget.bound or 0.0, budget.rows or 0)


class SharpModel(Model):
    """The sharp certificate, in the coordinates of the weights and in those of predictions."""

    most, long = MOST_FOLLOWED, 50_000

    def __init__(
        self, request: Request, trainer: NeuroTron, coordinates: Sequence[Coordinates], *,
        scheduled: bool, predictions: bool,
    ) -> None:  # fmt: skip
        seen = [View(request, one, predictions=predictions) for one in coordinates]
        self.asked, self.delta = trainer, request.delta
        self.obstacles = seen[0].obstacles
        self.seen = [view for view in seen if not view.obstacles]
        self.views = len(self.seen)
        self.tie = 0.0
        if scheduled:
            self.schedules = np.tile(np.arange(self.views), (self.views, 1))
            self.tie = EQUAL
        self.start = min(view.unit * view.request.initial_error for view in seen)
        self.of_rows = isinstance(request.problem.data, Rows)

    def largest(self, budget: Budget) -> Array:
        """Return the fastest step sizes."""
        return np.array([view.course(budget).recursion.fastest for view in self.seen])

    def shift(self, budget: Budget) -> float:
        """Return how far the fit of a table is known."""
        return min(view.unit * view.shift(budget) for view in self.seen)

    def limit(self, budget: Budget) -> float:
        """Return the smallest limit of all coordinates."""
        return min(view.limit(budget) for view in self.seen)

    def resolution(self, budget: Budget) -> float:
        """Return the limit, and what rounding errors add with the best step size."""
        return min(
            view.limit(budget) + view.unit * view.course(NO_ATTACK).least_rounding(self.delta)
            for view in self.seen
        )

    def easy(self, budget: Budget) -> float:
        """Return what the step size tends to that has nearly forgotten the start after EASY."""
        found = []
        for view in self.seen:
            course = view.course(budget)
            step = 2.0 * FORGOTTEN / (course.recursion.pull * EASY)
            end = course.in_the_end(min(step, course.recursion.fastest))
            found.append(view.unit * (float(end.radius(self.delta)) + view.shift(budget)))
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
        courses = [view.course(budget) for view in self.seen for _ in range(each)]
        if self.schedules is None:
            return courses, sizes.tolist()
        own = [view.course(budget) for view in self.seen]
        all_of = [Schedule(one.recursion, one.start.exact**2) for one in own]
        return courses, all_of * self.views

    def _wanted(self, budget: Budget, radius: float, count: int) -> Array:
        """Return the radius in the coordinates of each run."""
        wanted = radius * (1.0 - self.tie)
        each = [wanted / view.unit - view.shift(budget) for view in self.seen]
        return np.repeat(each, count // len(each))

    def _in_units(self, budget: Budget, radii: Array) -> Array:
        units = np.array([[view.unit] for view in self.seen])
        found = units * (radii + np.array([[view.shift(budget)] for view in self.seen]))
        found[:, 1:] *= 1.0 + self.tie
        return found

    def trainer(self, budget: Budget, step_size: float) -> NeuroTron:
        """Return Neuro-Tron, with its schedule spelled out if it has one."""
        if self.schedules is None:
            return dataclasses.replace(self.asked, step_size=step_size)
        chosen = self.seen[int(step_size)]
        purpose = chosen.request.coordinates.name
        return ScheduledTron.of(
            chosen.trainer, chosen.course(budget).recursion, chosen.request.start,
            purpose if purpose != "weights" else "",
        )  # fmt: skip
