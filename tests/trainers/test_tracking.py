"""The tracked threshold: which quantile it finds, from where, and which samples it hears."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from neurotron.trainers import tracking
from neurotron.trainers.tracking import LISTENING, Tracked

SIZES = st.floats(1e-3, 1e3)


def follow(state, residuals, lengths=None):
    """Track a sequence of batches, (steps, b), with many trackers at once."""
    for i, batch in enumerate(residuals):
        length = np.ones_like(batch) if lengths is None else lengths[i]
        seen = tracking.observe(batch[:, None], length[:, None], state)
        mean = (np.mean(np.broadcast_to(v, (len(batch), len(state[1]))), 0) for v in seen)
        state = tracking.adapt(state, tuple(mean), i)
    return Tracked(*state)


def trackers(starts, quantiles, age=1.0, speed=0.01):
    """One tracker for each start and quantile, as arrays."""
    grid = [(start, p) for start in starts for p in quantiles]
    one = np.ones(len(grid))
    start, quantile = np.array(grid).T
    return Tracked(age * one, start, one, one, quantile, speed * one, one, one, one)


def test_the_threshold_finds_its_quantile_from_far_above_and_far_below():
    quantiles = (0.1, 0.2, 0.5, 0.8)
    draw = np.random.default_rng(0)
    residuals = 3.0 * draw.standard_normal((4000, 32))
    found = follow(trackers((0.01, 1e4), quantiles, speed=0.02), residuals).threshold
    expected = 3.0 * stats.halfnorm.ppf(np.tile(quantiles, 2))
    np.testing.assert_allclose(found, expected, rtol=0.1)


def test_listening_is_long_enough_to_find_the_quantile_from_a_start_ten_times_off():
    """τ is within a factor of two of the quantile when the trainer begins to move."""
    residuals = np.random.default_rng(1).standard_normal((LISTENING, 16))
    found = follow(trackers((0.1, 10.0), (0.2, 0.5), speed=0.05), residuals).threshold
    expected = stats.halfnorm.ppf([0.2, 0.5, 0.2, 0.5])
    assert (np.abs(np.log(found / expected)) < math.log(2.0)).all()


@pytest.mark.parametrize("off", [0.0, 100.0])
def test_samples_without_a_gradient_do_not_count_whatever_their_residual(off):
    draw = np.random.default_rng(2)
    residuals, lengths = draw.standard_normal((3000, 16)), (draw.random((3000, 16)) < 0.5) * 4.0
    found = follow(trackers((1.0,), (0.3,)), np.where(lengths > 0, residuals, off), lengths)
    np.testing.assert_allclose(found.threshold, stats.halfnorm.ppf(0.3), rtol=0.1)
    np.testing.assert_allclose(found.absolute, math.sqrt(2 / math.pi), rtol=0.05)
    np.testing.assert_allclose(found.length, 2.0, rtol=0.1)


def test_a_batch_in_which_nothing_counts_changes_neither_threshold_nor_mean_residual():
    before = Tracked(7.0, 0.3, 2.0, 0.5, 0.2, 0.05, 1.0)
    after = Tracked(*tracking.adapt(before, (0.0, 0.0, 0.0, 0.0), 0))
    assert after._replace(age=7.0, length=2.0) == before
    assert after.age == 8.0
    assert after.length == 2.0 * (1 - 1 / 8)


def test_the_first_batch_that_counts_sets_the_threshold():
    """Not the first batch: one in which every gate is off says nothing."""
    state = Tracked(quantile=0.2, speed=0.05)
    for _ in range(3):
        state = Tracked(*tracking.adapt(state, (0.0, 0.0, 0.0, 0.0), 0))
        assert state.threshold == 0.0
    state = Tracked(*tracking.adapt(state, (0.25, 0.0, 1.0, 0.5), 0))
    assert state.threshold == 2.0


def test_running_means_are_plain_means_until_they_forget():
    draw = np.random.default_rng(3)
    residuals, lengths = draw.standard_normal((40, 8)), draw.random((40, 8)) + 0.1
    state = follow(trackers((0.0,), (0.5,), age=0.0), residuals, lengths)
    assert state.length[0] == pytest.approx(lengths.mean(), rel=1e-12)
    assert state.absolute[0] == pytest.approx(np.abs(residuals).mean(), rel=1e-12)
    assert state.age[0] == 40.0


@given(age=st.integers(1, 10**6), within=st.floats(0, 1), p=st.floats(0.01, 0.99), tau=SIZES,
       speed=st.floats(0.001, 1.0))  # fmt: skip
def test_the_threshold_moves_by_the_rule_it_states_faster_while_young(age, within, p, tau, speed):
    state = Tracked(float(age), tau, 1.0, 1.0, p, speed, 1.0)
    moved = Tracked(*tracking.adapt(state, (0.5, 0.5 * within, 1.0, 1.0), 0)).threshold
    gain = max(speed, 5 / (5 + age))
    assert math.log(moved / tau) == pytest.approx(gain * (p - within), abs=1e-12)


def test_a_sample_exactly_at_the_threshold_is_within():
    state = Tracked(threshold=2.0)
    assert tracking.observe(-2.0, 1.0, state)[1] == 1.0
    assert tracking.observe(np.nextafter(2.0, 3.0), 1.0, state)[1] == 0.0


def test_it_listens_for_exactly_a_hundred_steps():
    heard = Tracked(threshold=9.0)
    assert tracking.influence(5.0, heard._replace(age=LISTENING - 1.0)) == 0.0
    assert tracking.influence(5.0, heard._replace(age=float(LISTENING))) == 5.0
    assert LISTENING == 100


def test_a_threshold_does_not_fall_to_where_numbers_lose_their_digits():
    state = Tracked(1.0, 1e-200, 1.0, 1.0, 0.5, 1.0, 1.0)
    assert Tracked(*tracking.adapt(state, (1.0, 1.0, 1.0, 0.0), 0)).threshold == 1e-200
