r"""The course of all bounds from step to step, which certificates and plans follow.

Three bounds on d = w − w* are iterated side by side, each with the rounding errors of all steps:
√Δ on the root mean square of ‖d‖, by the recursion F; and, for a radius that holds with a stated
probability, B on the mean path of the weights and √V on the root mean square of the deviations from
it. The radius is the smaller one of √(Δ/δ), by Markov's inequality, and B + √(V/δ).

Single runs are followed in Python, several at once in NumPy, and both compiled if the compiler is
loaded anyway or if there are many steps. The bounds are the same to the last bit.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.theory import one_step
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import decrease, largest_factor
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding

MOST_FOLLOWED = 10**7
"""The paper takes 4·10⁴ steps. Beyond this many, only what holds from then on is stated."""
INTERPRETED = {1: 100_000}
"""Steps up to which the compiler is not loaded: it takes as long as so many steps of one run, …"""
FEW = 20_000
"""… and as so many steps of several runs."""
ONE_BY_ONE = 8
"""So few runs are faster one by one, because NumPy takes as long for one number as for many."""
BLOCK = 2**14
"""Numbers that are kept at a time."""
ROUNDING = 1e-15
"""A radius is rounded up by this part for every step, and at least by that of a million steps: more
than the rounding errors of the bounds themselves, which are a few units of 1.1e-16 in a step."""
AT_LEAST = 10**6


class Bounds(NamedTuple):
    """Bounds after some numbers of steps, of one run or of several, (steps, runs)."""

    exact: Any
    """On the root mean square of ‖w − w*‖, in exact numbers."""
    root: Any
    """The same for computed numbers."""
    path: Any
    """B, a sure bound on the mean path."""
    spread: Any
    """√V, on the root mean square of the deviations from the mean path."""

    def radius(self, delta: float, steps: Any = 0, *, all_times: bool = False) -> Any:
        """Return ε with P(‖w − w*‖ > ε) ≤ δ after these `steps`, rounded up.

        Without attack and noise, the radii of Markov's inequality hold for `all_times` at once.
        """
        scale = 1.0 / math.sqrt(delta)
        with np.errstate(over="ignore", invalid="ignore"):
            found = scale * self.root
            if not all_times:
                found = np.fmin(found, self.path + scale * self.spread)
            found = rounded_up(found, steps)
        return np.where(np.isnan(found), math.inf, found)


def rounded_up(radius: Any, steps: Any) -> Any:
    """Return a radius with room for the rounding errors of its own computation."""
    return radius * (1.0 + ROUNDING * np.maximum(steps, AT_LEAST))


class Schedule(NamedTuple):
    """The step sizes that are best for a recursion, from a bound Δ at its own start."""

    recursion: Recursion
    start: float


@dataclass(frozen=True)
class Course:
    """All that bounds the errors of a run: against a budget, in some coordinates, from a start."""

    recursion: Recursion
    path: MeanPath
    rounding: Rounding
    start: Bounds

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers of the recursion, of the mean path and of rounding errors."""
        return *self.recursion.numbers, *self.path.numbers, *self.rounding.numbers

    @cached_property
    def quiet(self) -> Course:
        """The course without attack and noise, whose bounds fall to what rounding errors leave."""
        path = dataclasses.replace(self.path, push=0.0, linear=0.0, constant=0.0)
        recursion = dataclasses.replace(self.recursion, push=0.0, linear=0.0, constant=0.0)
        return Course(recursion, path, self.rounding, self.start)

    def rounded(self, etas: Array, roots: Array) -> float:
        """Return the most that rounding errors add up to in these steps, as a root mean square.

        Before each step, that of the distance from w* is at most the one in `roots`.
        """
        storage, answers, farther_storage, farther_answers = self.rounding.numbers
        added = storage + etas * answers + (farther_storage + etas * farther_answers) * roots
        most = found = storage
        factors = largest_factor(etas, self.path.low, self.path.high)
        for factor, more in zip(factors.tolist(), added.tolist(), strict=True):
            found = factor * found + more
            most = max(most, found)
        return most

    def least_rounding(self, delta: float) -> float:
        """Return the smallest radius in the long run that rounding errors alone leave, or less.

        Step sizes that differ by 20 % are tried, so the best one may be better by less than 1 %.
        """
        steps = (self.recursion.fastest * np.exp(np.arange(-20.0, 0.7, 0.2))).tolist()
        return 0.99 * min(float(self.quiet.in_the_end(eta).radius(delta)) for eta in steps)

    def in_the_end(self, eta: float, since: Bounds | None = None) -> Bounds:
        """Return what the bounds tend to with a constant step size; inf if they may grow.

        With the bounds `since` a step, the result bounds them after every step from then on.
        """
        falls, linear, constant = decrease(eta, *self.recursion.numbers)
        storage, answers, farther_storage, farther_answers = self.rounding.numbers
        added, farther = storage + eta * answers, farther_storage + eta * farther_answers
        gap = self.path.gap(eta)
        # ((1 − μ)s − ϱ)² = (1 − C)s² + ms + c
        square = falls - farther * (2.0 - farther)
        if square <= 0.0 or gap <= 0.0:
            return Bounds(*(math.inf,) * 4)
        half = linear / 2.0 + added * (1.0 - farther)
        root = (half + math.sqrt(half**2 + square * (constant - added**2))) / square
        exact, end = self.recursion.floor(eta), eta * self.path.push / gap
        if since is not None:
            exact, root = max(exact, float(since.exact)), max(root, float(since.root))
            end = max(end, float(since.path))
        added += farther * root
        path = self.path
        left = gap * (2.0 - gap)
        spread = eta**2 * ((path.square * root + path.linear) * root + path.constant)
        kept = (1.0 - gap) * added
        spread = (added + math.sqrt(kept**2 + left * spread)) / left
        if since is not None:
            spread = max(spread, float(since.spread))
        return Bounds(exact, root, end, spread)


def follow(
    courses: Sequence[Course], step_sizes: Sequence[float | Schedule], steps: int
) -> Iterator[Bounds]:
    """Yield the bounds after 1, 2, … steps of several runs in blocks, each (steps, runs).

    It ends early where nothing changes any more.
    """
    runs = len(courses)
    numbers = np.array([*zip(*(course.numbers for course in courses), strict=True)])
    state = np.array([*zip(*(course.start for course in courses), strict=True)])
    schedules = [one for one in step_sizes if isinstance(one, Schedule)]
    given: tuple[Array, ...]
    if schedules:
        own = zip(*((one.start, *one.recursion.numbers) for one in schedules), strict=True)
        given = numbers, np.array([*own])
    else:
        given = (np.array(one_step.coefficients(np.array(step_sizes, dtype=float), *numbers)),)
    done, few = 0, INTERPRETED.get(runs, FEW)
    while done < steps:
        compiled = "numba" in sys.modules or done >= few
        count = min(steps if compiled else few, done + max(BLOCK // runs, 1), steps) - done
        out = np.empty((count, 4, runs))
        (_compiled if compiled else _interpreted)(*given, state, out)
        yield Bounds(*out.transpose(1, 0, 2))
        done += count
        if not schedules and count > 1 and np.array_equal(out[-1], out[-2], equal_nan=True):
            return


def _compiled(*arrays: Array) -> None:
    try:
        from neurotron.theory.iteration import fill, fill_scheduled
    except ImportError:
        raise _check.InputError(
            f"following more than {INTERPRETED[1]:,} steps needs the compiler: install numba"
        ) from None
    (fill if len(arrays) == 3 else fill_scheduled)(*arrays)


def _interpreted(*arrays: Array) -> None:
    """Do the same without the compiler: a few runs one by one, with the numbers of Python."""
    *given, state, out = arrays
    with np.errstate(all="ignore"):  # what overflows is infinite, or not a number: not known
        if out.shape[2] > ONE_BY_ONE:
            own, last = _loop(one_step, [tuple(array) for array in (*given, state)], out)
            state[:], given[-1][0] = last, given[-1][0] if own is None else own
            return
        for run in range(out.shape[2]):
            parts = [tuple(array[:, run].tolist()) for array in (*given, state)]
            own, state[:, run] = _loop(PLAIN, parts, out[:, :, run])
            given[-1][0, run] = given[-1][0, run] if own is None else own


def _loop(formulas: Any, parts: list[tuple[Any, ...]], rows: Array) -> tuple[Any, Any]:
    """Fill the rows; return Δ of the schedule, if there is one, and the last bounds."""
    after, first, bounds = formulas.after, parts[0], parts[-1]
    if len(parts) == 2:
        for row in rows:
            row[:] = bounds = after(*bounds, *first)
        return None, bounds
    delta, *own = parts[1]
    for row in rows:
        eta = formulas.best_step(delta, *own)
        delta = formulas.bound_after(delta, eta, *own)
        row[:] = bounds = after(*bounds, *formulas.coefficients(eta, *first))
    return delta, bounds


def _of_single_numbers() -> SimpleNamespace:
    """Return the formulas of a step with Python's own functions, ten times as fast for one run."""
    names: dict[str, Any] = {
        "np": SimpleNamespace(sqrt=math.sqrt, abs=abs, maximum=max, minimum=min),
        "TINY": one_step.TINY,
    }
    for name, formula in vars(one_step).items():
        if isinstance(formula, FunctionType):
            names[name] = FunctionType(formula.__code__, names, name)
    return SimpleNamespace(**names)


PLAIN = _of_single_numbers()


def sizes_of(step_size: float | Schedule, steps: int) -> Array:
    """Return the sizes of the first steps."""
    if not isinstance(step_size, Schedule):
        return np.full(steps, step_size)
    delta, own, found = step_size.start, step_size.recursion.numbers, list[float]()
    for _ in range(steps):
        found.append(PLAIN.best_step(delta, *own))
        delta = PLAIN.bound_after(delta, found[-1], *own)
    return np.array(found)


def at_steps(course: Course, step_size: float | Schedule, record: Index) -> Bounds:
    """Return the bounds of one run after the numbers of steps in `record`, which increase.

    Beyond `MOST_FOLLOWED` steps of a constant size they are bounds for every later step.
    """
    out = np.empty((4, len(record)))
    out[:, record == 0] = np.array(course.start)[:, None]
    last, done = np.array(course.start), 0
    for block in follow([course], [step_size], min(int(record[-1]), MOST_FOLLOWED)):
        found = np.array(block)[:, :, 0]
        here = (record > done) & (record <= done + found.shape[1])
        out[:, here] = found[:, record[here] - done - 1]
        last, done = found[:, -1], done + found.shape[1]
    out[:, record > done] = last[:, None]
    if record[-1] > MOST_FOLLOWED:
        if isinstance(step_size, Schedule):
            raise _check.InputError(
                "the guarantee of a schedule is computed step by step: give at most "
                f"{MOST_FOLLOWED:,} `steps`"
            )
        later = course.in_the_end(step_size, Bounds(*last))
        out[:, record > MOST_FOLLOWED] = np.array(later)[:, None]
    return Bounds(*out)
