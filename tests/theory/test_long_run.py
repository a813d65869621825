"""Bounds after very many steps, against following Δ, B and V step by step."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from tests.oracles.recursions import Followed, follow_all, random_recursion

from neurotron.theory.long_run import (
    NOTHING_KNOWN,
    after_constant_steps,
    after_scheduled_steps,
    deviations,
    in_the_long_run,
)
from neurotron.theory.mean_path import Deviation, MeanPath
from neurotron.theory.recursion import EXACT_STEPS, Recursion

RECORD = [0, 30, 300, 301, 500, 2000, 8000, EXACT_STEPS, EXACT_STEPS + 2000]


def after_constant(recursion, path, start, delta, eta, steps, rounding=0.0) -> Deviation:
    """Return B and V after steps of one size."""
    one = (np.array([float(number)]) for number in (eta, steps, rounding))
    found = after_constant_steps(recursion, path, start, delta, *one)
    return Deviation(*(float(part[0]) for part in found))


class Random:
    """Random recursions, some of them extreme, with a start and a step size for each."""

    def __init__(self, seed: int, count: int) -> None:
        draw = np.random.default_rng(seed)
        self.pairs = [random_recursion(draw) for _ in range(count)]
        sizes = 10.0 ** draw.uniform(-0.3, 2.0, count)
        roots = sizes * [max(recursion.limit, 1e-3) for recursion, _ in self.pairs]
        self.deltas: np.ndarray = np.square(roots)
        fastest = [recursion.fastest for recursion, _ in self.pairs]
        self.etas: np.ndarray = np.array(fastest) * 10.0 ** draw.uniform(-3.0, 0.2, count)
        self.rounding: np.ndarray = 1e-3 * roots * draw.integers(0, 2, count)

    @functools.cache  # noqa: B019
    def followed(self, scheduled: bool) -> Followed:
        etas = None if scheduled else self.etas
        start = Deviation(np.sqrt(self.deltas), np.zeros(len(self.pairs)))
        return follow_all(self.pairs, start, self.deltas, etas, RECORD, self.rounding)


MANY = Random(41, 110)


def noisy(recursion: Recursion) -> bool:
    """Return whether labels are disturbed, so that deviations do not vanish."""
    return recursion.constant > 0.0


def compared(found, exact):
    """Return found/exact, and 1 where both vanish."""
    return (found + 1e-250) / (exact + 1e-250)


def ratios(scheduled: bool, since: int, until: int) -> np.ndarray:
    """Return B, V and the 95 % radius, divided by those of following every step, (R, 3).

    Recursions for which nothing is known are left out.
    """
    exact = MANY.followed(scheduled)
    first, last = RECORD.index(since), RECORD.index(until)
    found = []
    for i, (recursion, path) in enumerate(MANY.pairs):
        here = Deviation(exact.path[first, i], exact.spread[first, i])
        there = Deviation(exact.path[last, i], exact.spread[last, i])
        before, after = (
            (recursion, path, here, exact.delta[first, i]),
            (until - since, MANY.rounding[i]),
        )
        if scheduled:
            later = after_scheduled_steps(*before, *after)
        else:
            later = after_constant(*before, MANY.etas[i], *after)
        if math.isfinite(later.spread) and noisy(recursion):
            pairs = (*zip(later, there, strict=True), (later.radius(0.05), there.radius(0.05)))
            found.append([compared(*pair) for pair in pairs])
    return np.array(found)


# ---- B and V -------------------------------------------------------------------------------------

SPANS = [(0, 300), (30, 2000), (500, 8000), (2000, EXACT_STEPS + 2000)]
SEAM = (EXACT_STEPS, EXACT_STEPS + 2000)


@pytest.mark.parametrize("scheduled", [False, True])
def test_bounds_on_path_and_spread_are_never_below_those_of_single_steps(scheduled):
    for since, until in (*SPANS, SEAM):
        found = ratios(scheduled, since, until)
        assert len(found) > 90
        assert found.min() >= 1.0 - 1e-11


def test_for_a_constant_step_they_are_close():
    """B is exact. V is at most 2.5 times as large after 300 steps, and 1.3 times after 2000."""
    for span in (*SPANS, SEAM):
        path, spread, radius = ratios(False, *span).T
        assert path.max() <= 1.0 + 1e-9
        assert spread.max() <= (2.5 if span[1] < 2000 else 1.3)
        assert np.median(spread) <= 1.02
        assert radius.max() <= (1.5 if span[1] < 2000 else 1.1)


def test_for_a_schedule_they_are_close_once_many_steps_were_followed():
    """After 20 000 steps, all are at most 1.2 times as large in the next 2000."""
    assert ratios(True, *SEAM).max() <= 1.2
    _, spread, radius = ratios(True, 2000, EXACT_STEPS + 2000).T
    assert np.median(spread) <= 1.3
    assert np.median(radius) <= 1.1


def test_where_no_step_helps_a_schedule_stays_where_it_is():
    """Δ is below the limit, so the best step is 0, after any number of steps."""
    recursion, path = Recursion(1.0, 1.0, 4.0, 0.1, 0.1), MeanPath(0.5, 0.5, 0.5, 4.0, 0.1, 0.1)
    start = Deviation(0.9, 0.2)
    assert after_scheduled_steps(recursion, path, start, 0.81, 10**9) == start
    bounds = recursion.continued(np.full(6, 0.81), np.array([5, 6, 10**9]), None)
    np.testing.assert_array_equal(bounds, 0.81)


def test_nothing_is_known_where_a_step_is_too_large_or_the_pull_may_vanish():
    recursion, path = Recursion(1.0, 0.1, 4.0, 0.1, 0.1), MeanPath(0.5, 0.5, 0.05, 4.0, 0.1, 0.1)
    start = Deviation(2.0, 0.0)
    assert in_the_long_run(recursion, path, 0.26) == NOTHING_KNOWN
    assert after_constant(recursion, path, start, 4.0, 0.26, 100) == NOTHING_KNOWN
    weak = MeanPath(-0.1, 1.1, 0.05, 4.0, 0.1, 0.1)
    assert in_the_long_run(recursion, weak, 0.01) == NOTHING_KNOWN
    assert after_constant(recursion, weak, start, 4.0, 0.01, 100) == NOTHING_KNOWN
    assert after_scheduled_steps(recursion, weak, start, 4.0, 100) == NOTHING_KNOWN


def test_in_the_long_run_path_and_spread_no_longer_change():
    for (recursion, path), eta, rounding in zip(MANY.pairs, MANY.etas, MANY.rounding, strict=True):
        end = in_the_long_run(recursion, path, eta, rounding)
        floor = np.full(2, (recursion.floor(eta) + rounding) ** 2)
        once_more = path.follow(end, floor, np.array([eta]))
        assert once_more.path[1] == pytest.approx(end.path, rel=1e-9)
        assert once_more.spread[1] == pytest.approx(end.spread, rel=1e-9)


def test_very_many_steps_lead_to_the_long_run():
    for i, (recursion, path) in enumerate(MANY.pairs):
        start, eta = Deviation(np.sqrt(MANY.deltas[i]), 0.0), MANY.etas[i]
        late = after_constant(recursion, path, start, MANY.deltas[i], eta, 1e12)
        end = in_the_long_run(recursion, path, eta)
        if noisy(recursion):
            assert late.path == pytest.approx(end.path, rel=1e-9)
            assert late.spread == pytest.approx(end.spread, rel=1e-4)


# ---- both sides of the last step that is followed ------------------------------------------------

EXACT = 300


@functools.cache
def iterated(i: int, scheduled: bool) -> np.ndarray:
    """Return the bounds Δ of a recursion after 0, 1, … `EXACT` steps."""
    deltas = np.full(EXACT + 1, MANY.deltas[i])
    MANY.pairs[i][0].fill_in_python(deltas, None if scheduled else MANY.etas[i])
    return deltas


@pytest.mark.parametrize("scheduled", [False, True])
def test_certified_deviations_are_safe_on_both_sides_of_the_last_step_followed(
    scheduled, monkeypatch
):
    monkeypatch.setattr("neurotron.theory.long_run.FOLLOWED", 30)
    exact, steps = MANY.followed(scheduled), np.array([0, 30, EXACT, EXACT + 1, 500, 2000])
    columns = [RECORD.index(step) for step in steps]
    for i in range(60):
        recursion, path = MANY.pairs[i]
        start, eta = Deviation(np.sqrt(MANY.deltas[i]), 0.0), None if scheduled else MANY.etas[i]
        found = deviations(
            recursion, path, start, iterated(i, scheduled), eta, steps, MANY.rounding[i]
        )
        for part, every in zip(found, (exact.path, exact.spread), strict=True):
            ratio = compared(part, every[columns, i])
            assert ratio.min() >= 1.0 - 1e-11
            np.testing.assert_allclose(ratio[:3], 1.0, rtol=1e-11)
        if math.isfinite(found.path[3]) and noisy(recursion):
            after = Deviation(exact.path[columns[3], i], exact.spread[columns[3], i])
            assert found.radius(0.05)[3] <= 1.1 * after.radius(0.05)


@pytest.mark.parametrize("scheduled", [False, True])
def test_mean_squares_are_safe_and_close_on_both_sides_of_the_last_step_followed(scheduled):
    exact, steps = MANY.followed(scheduled), np.array([30, EXACT, EXACT + 1, 2000])
    columns = [RECORD.index(step) for step in steps]
    found = []
    for i in range(40):
        eta = None if scheduled else MANY.etas[i]
        bounds = MANY.pairs[i][0].continued(iterated(i, scheduled), steps, eta)
        found.append(compared(bounds, exact.delta[columns, i]))
    assert np.min(found) >= 1.0 - 1e-11
    np.testing.assert_allclose(np.array(found)[:, :2], 1.0, rtol=1e-11)
    assert np.quantile(found, 0.9) <= 1.1
