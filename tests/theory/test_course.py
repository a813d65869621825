"""All bounds followed step by step: against an independent loop, by every road, and in the end."""

from __future__ import annotations

import functools
import math
import sys

import numpy as np
import pytest
from tests.oracles.recursions import EXACT, bounds_of, course_of, follow_all, random_recursion

from neurotron._check import InputError
from neurotron.theory import course as module
from neurotron.theory.course import Bounds, Course, Schedule, at_steps, follow
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding

STEPS = 2000
ROUNDING = Rounding(1e-16, 1e-13, 1e-17, 1e-14)
RECURSION = Recursion(1.0, 0.15, 14.0, 0.85, 0.017, 0.4, 0.6)
PATH = MeanPath(0.45, 0.65, 0.075, 14.0, 0.85, 0.017)


class Random:
    """Random recursions, some of them extreme, with a start and a step size for each."""

    def __init__(self, seed: int, count: int, rounding: Rounding = EXACT) -> None:
        draw = np.random.default_rng(seed)
        self.pairs = [random_recursion(draw) for _ in range(count)]
        sizes = 10.0 ** draw.uniform(-0.3, 2.0, count)
        self.roots = sizes * [max(recursion.limit, 1e-3) for recursion, _ in self.pairs]
        fastest = [recursion.fastest for recursion, _ in self.pairs]
        self.etas = np.array(fastest) * 10.0 ** draw.uniform(-3.0, 0.2, count)
        self.courses = [
            course_of(*pair, root, rounding)
            for pair, root in zip(self.pairs, self.roots.tolist(), strict=True)
        ]

    def steps(self, scheduled: bool) -> list[float | Schedule]:
        if not scheduled:
            return self.etas.tolist()
        return [Schedule(one.recursion, one.start.exact**2) for one in self.courses]


MANY = Random(41, 110)


@functools.cache
def together(scheduled: bool) -> np.ndarray:
    """Return all bounds of the random courses, followed at once, (4, steps, courses)."""
    blocks = follow(MANY.courses, MANY.steps(scheduled), STEPS)
    return np.concatenate([np.array(block) for block in blocks], axis=1)


# ---- from step to step ---------------------------------------------------------------------------


@pytest.mark.parametrize("scheduled", [False, True])
def test_bounds_are_those_of_a_loop_that_was_written_independently(scheduled):
    record = [1, 30, 300, STEPS]
    etas, nothing = None if scheduled else MANY.etas, np.zeros(110)
    exact = follow_all(MANY.pairs, MANY.roots**2, etas, record, nothing)
    found = together(scheduled)[:, np.array(record) - 1]
    known = np.isfinite(exact.spread)
    assert known.mean() > 0.9
    np.testing.assert_allclose(found[0][known] ** 2, exact.delta[known], rtol=1e-9, atol=1e-250)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[2][known], exact.path[known], rtol=1e-9, atol=1e-250)
    np.testing.assert_allclose(found[3][known] ** 2, exact.spread[known], rtol=1e-9, atol=1e-250)


@pytest.mark.parametrize("scheduled", [False, True])
def test_one_run_several_runs_and_compiled_runs_are_the_same_to_the_last_bit(
    scheduled, monkeypatch
):
    some = Random(42, 7, ROUNDING)
    steps = some.steps(scheduled)

    def followed(courses, sizes):
        return np.concatenate([np.array(one) for one in follow(courses, sizes, 300)], axis=1)

    compiled = followed(some.courses, steps)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "numba", raising=False)
        np.testing.assert_array_equal(followed(some.courses, steps), compiled)
        for i in range(7):
            alone = followed([some.courses[i]], [steps[i]])
            np.testing.assert_array_equal(alone[:, :, 0], compiled[:, : alone.shape[1], i])


@pytest.mark.parametrize("step_size", [0.01, None])
def test_every_step_adds_its_rounding_error(step_size):
    """By hand: two roots of mean squares, each with ϱ(η) = 1e-3 + 1e-2 η for weights at w*."""
    course = course_of(RECURSION, PATH, 6.0, Rounding(1e-3, 1e-2, 1e-4, 1e-5))
    found = bounds_of(course, step_size, 1)
    eta = float(best_step(36.0, *RECURSION.numbers)) if step_size is None else step_size
    added = 1e-3 + 1e-2 * eta + 6.0 * (1e-4 + 1e-5 * eta)
    assert found.root[1] == pytest.approx(found.exact[1] + added, rel=1e-12)
    spread = eta * math.sqrt(14.0 * 36.0 + 0.85 * 6.0 + 0.017)
    assert found.spread[1] == pytest.approx(spread + added, rel=1e-12)
    assert found.path[1] == pytest.approx((1.0 - 0.45 * eta) * 6.0 + 0.075 * eta, rel=1e-12)


def test_the_radius_is_the_smaller_one_of_two_and_is_rounded_up():
    for bounds, exact in (
        (Bounds(0.0, 1.0, 1.0, 2.0), 2.0), (Bounds(0.0, 9.0, 1.0, 2.0), 5.0),
        (Bounds(0.0, math.nan, math.nan, 1.0), math.inf), (Bounds(0.0, 1.0, math.nan, 1.0), 2.0),
    ):  # fmt: skip
        assert exact <= bounds.radius(0.25) <= exact * (1.0 + 2e-9)
    assert Bounds(0.0, 9.0, 1.0, 2.0).radius(0.25, all_times=True) >= 18.0
    assert Bounds(0.0, 1.0, 1.0, 2.0).radius(0.25, 10**7) > 2.0 * (1.0 + 5e-9)


def test_a_schedule_beats_every_constant_step_at_every_horizon():
    course = course_of(RECURSION, PATH, 6.0)
    scheduled = bounds_of(course, None, 5000).exact
    for eta in np.geomspace(1e-5, 0.07, 30):
        assert (scheduled <= bounds_of(course, float(eta), 5000).exact * (1.0 + 1e-12)).all()


def test_clean_learning_goes_to_zero_without_a_warning():
    clean = course_of(
        Recursion(1.0, 0.0, 4.0, 0.0, 0.0), MeanPath(0.5, 0.5, 0.0, 4.0, 0.0, 0.0), 1.0
    )
    for eta in (0.125, None):
        assert bounds_of(clean, eta, 20_000).exact[-1] < 1e-150


# ---- in the end ----------------------------------------------------------------------------------


def test_in_the_end_nothing_changes_any_more():
    many, lasting = Random(43, 110, ROUNDING), 0
    for course, eta in zip(many.courses, many.etas.tolist(), strict=True):
        end = course.in_the_end(eta)
        if math.isfinite(end.root):
            lasting += 1
            there = Course(course.recursion, course.path, course.rounding, end)
            once_more = [part[1] for part in bounds_of(there, eta, 1)]
            np.testing.assert_allclose(once_more, list(end), rtol=1e-7)
    assert lasting > 90


def test_very_many_steps_lead_there_and_stop_when_they_have():
    course = course_of(RECURSION, PATH, 6.0, ROUNDING)
    blocks = list(follow([course], [0.01], 10**7))
    assert sum(len(block.root) for block in blocks) < 20_000
    last = [part[-1, 0] for part in blocks[-1]]
    np.testing.assert_allclose(last, course.in_the_end(0.01), rtol=1e-9)


def test_nothing_is_known_where_a_step_is_too_large_or_the_pull_may_vanish():
    weak = MeanPath(-0.1, 1.1, 0.05, 4.0, 0.1, 0.1)
    for path, eta in ((PATH, 0.08), (weak, 0.01)):
        course = course_of(RECURSION, path, 6.0)
        assert course.in_the_end(eta).radius(0.05) == math.inf
        record = np.array([100, 2 * module.MOST_FOLLOWED])
        found = at_steps(course, 0.08, record).radius(0.05)
        assert found[0] < math.inf == found[1]


def test_what_is_known_after_most_steps_bounds_all_later_ones(monkeypatch):
    """Whether the bounds rise or fall, from a start above or below."""
    monkeypatch.setattr(module, "MOST_FOLLOWED", 300)
    many = Random(44, 60, ROUNDING)
    for course, eta in zip(many.courses, many.etas.tolist(), strict=True):
        later = at_steps(course, eta, np.array([300, 301]))
        every = bounds_of(course, eta, 300)
        np.testing.assert_array_equal(later.root[0], every.root[-1])
        monkeypatch.setattr(module, "MOST_FOLLOWED", 3000)
        exact = bounds_of(course, eta, 3000)
        monkeypatch.setattr(module, "MOST_FOLLOWED", 300)
        for bound, part in zip(later, exact, strict=True):
            assert (part[301:] <= bound[1] * (1.0 + 1e-9)).all()


def test_a_schedule_is_followed_for_ten_million_steps_at_most():
    course = course_of(RECURSION, PATH, 6.0)
    with pytest.raises(InputError, match="at most 10,000,000 `steps`"):
        at_steps(course, Schedule(RECURSION, 36.0), np.array([10**7 + 1]))


def test_without_the_compiler_a_hundred_thousand_steps_are_followed(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setitem(sys.modules, "neurotron.theory.iteration", None)
    course = course_of(RECURSION, PATH, 6.0)
    assert sum(len(one.root) for one in follow([course], [1e-6], 100_000)) == 100_000
    with pytest.raises(InputError, match="more than 100,000 steps needs the compiler"):
        list(follow([course], [1e-6], 100_001))
