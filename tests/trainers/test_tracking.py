"""The tracked threshold: which quantile it finds, from where, and which samples it hears."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from neurotron.trainers import tracking
from neurotron.trainers.tracking import LISTENING, Tracked


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


def test_the_first_batch_that_counts_sets_the_threshold():
    """Not the first batch: one in which every gate is off says nothing."""
    state = Tracked(quantile=0.2, speed=0.05)
    for _ in range(3):
        state = Tracked(*tracking.adapt(state, (0.0, 0.0, 0.0, 0.0), 0))
        assert state.threshold == 0.0
    state = Tracked(*tracking.adapt(state, (0.25, 0.0, 1.0, 0.5), 0))
    assert state.threshold == 2.0


def test_a_sample_exactly_at_the_threshold_is_within():
    state = Tracked(threshold=2.0)
    assert tracking.observe(-2.0, 1.0, state)[1] == 1.0
    assert tracking.observe(np.nextafter(2.0, 3.0), 1.0, state)[1] == 0.0


def test_a_threshold_does_not_fall_to_where_numbers_lose_their_digits():
    state = Tracked(1.0, 1e-200, 1.0, 1.0, 0.5, 1.0, 1.0)
    assert Tracked(*tracking.adapt(state, (1.0, 1.0, 1.0, 0.0), 0)).threshold == 1e-200
