"""Random recursions F with their mean paths, made of constants that a problem may have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron.theory.attack_moments import AttackMoments
from neurotron.theory.course import Bounds, Course, Schedule, at_steps
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding
from neurotron.theory.sharp import SharpConstants

EXACT = Rounding(storage=0.0, answers=0.0)
"""Exact numbers, which have no rounding errors."""


def random_recursion(draw: np.random.Generator) -> tuple[Recursion, MeanPath]:
    """Return a recursion and its mean path: with and without noise, of very different sizes.

    The inequalities between the constants are those that every problem satisfies.
    """
    gain, lambda1 = float(draw.choice([0.5, 0.75, 1.0])), 10.0 ** draw.uniform(-1.0, 0.5)
    l1 = gain * lambda1 * (1.0 + draw.exponential(1.0) * draw.integers(0, 2))
    l2, s0 = l1 * 10.0 ** draw.uniform(0.0, 1.5), 10.0 ** draw.uniform(-1.0, 1.0)
    skew = gain * lambda1 * draw.uniform(0.0, 0.9) * (draw.integers(0, 3) == 0)
    constants = SharpConstants(gain, lambda1, l1, l2, s0, s0, 1.0, skew=skew)
    theta = float(draw.choice([0.0, 1e-6, 0.1, 1.0, 1e3]))
    sizes = s0 * np.cumprod(draw.uniform(0.1, 1.0, 4))  # s2 ≥ s̃2 ≥ s1 ≥ τ
    s2, coin, s1, tau = sizes.tolist()
    moments = AttackMoments(theta, tau, s2, coin, s1, bool(draw.integers(0, 3) == 0))
    noise = float(draw.choice([0.0, 1e-3, 1.0, 100.0]))
    b = int(draw.choice([1, 2, 3, 16, 256, 10_000]))
    return constants.recursion(moments, noise, b), constants.mean_path(moments, noise, b)


def course_of(
    recursion: Recursion,
    path: MeanPath,
    root: float,
    rounding: Rounding = EXACT,
    *,
    random: bool = False,
) -> Course:
    """Return a course from a start whose error is at most `root`, surely or as a mean square."""
    sure, spread = (0.0, root) if random else (root, 0.0)
    return Course(recursion, path, rounding, Bounds(root, root, sure, spread))


def bounds_of(course: Course, step_size: float | None, steps: int) -> Bounds:
    """Return the bounds after 0, 1, … steps; with the schedule for the course if it is None."""
    schedule = Schedule(course.recursion, float(course.start.exact) ** 2)
    every = np.arange(steps + 1)
    return at_steps(course, schedule if step_size is None else step_size, every)


class Followed(NamedTuple):
    """Δ, B and V after some numbers of steps, one row for each and one column per recursion."""

    delta: np.ndarray
    path: np.ndarray
    spread: np.ndarray


def follow_all(
    pairs: list[tuple[Recursion, MeanPath]],
    deltas: np.ndarray,
    etas: np.ndarray | None,
    record: list[int],
    rounding: np.ndarray,
) -> Followed:
    """Follow Δ, B and V of many recursions from sure starts; with schedules if `etas` is None.

    `rounding` is what rounding errors add to √Δ, for each recursion.
    """
    numbers = np.array([recursion.numbers for recursion, _ in pairs]).T
    low, high, push, square, linear, constant = np.array(
        [[p.low, p.high, p.push, p.square, p.linear, p.constant] for _, p in pairs]
    ).T
    delta, path, spread = deltas, np.sqrt(deltas), np.zeros(len(pairs))
    found = []
    for step in range(record[-1] + 1):
        if step in record:
            found.append((delta, path, spread))
        eta = best_step(delta, *numbers) if etas is None else etas
        factor = np.maximum(np.abs(1.0 - eta * low), np.abs(1.0 - eta * high))
        root = np.sqrt(delta) + rounding
        path = factor * path + eta * push
        spread = factor**2 * spread + eta**2 * (square * root**2 + linear * root + constant)
        delta = bound_after(delta, eta, *numbers)
    return Followed(*np.array(found).transpose(1, 0, 2))
