from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron._streams import Stream
from neurotron.data import Rows

X = np.arange(21.0).reshape(7, 3)
Y = np.arange(7.0)
GATE = nt.networks.relu_gate(3)


def learn(problem, steps=50, batch_size=4, trainer=None):
    return nt.simulate(
        problem, [nt.Arm(trainer or nt.SGD(1e-3))], steps=steps, batch_size=batch_size
    )


@pytest.mark.parametrize("batch_size", [1, 3, 7, 20])
def test_every_epoch_visits_every_row_once(batch_size):
    rows, stream = Rows(X, Y), Stream.of(0, 0)
    seen = np.concatenate([rows.batch(GATE, stream, t, batch_size).labels for t in range(70)])
    for epoch in range(len(seen) // 7):
        assert sorted(seen[7 * epoch : 7 * epoch + 7]) == list(range(7))


@given(st.integers(0, 10**9), st.integers(1, 30), st.integers(0, 10**6), st.booleans())
def test_a_batch_is_the_same_whenever_it_is_asked_for(step, batch_size, seed, replacement):
    """Inputs, labels and weights of a row stay together."""
    rows, again = (Rows(X, Y, sample_weight=Y, replacement=replacement) for _ in range(2))
    one = rows.batch(GATE, Stream.of(seed, 0), step, batch_size)
    rows.batch(GATE, Stream.of(seed, 0), step + 1, batch_size)
    other = again.batch(GATE, Stream.of(seed, 0), step, batch_size)
    for before, after in zip(one, other, strict=True):
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(one.inputs, X[one.labels.astype(int)])
    np.testing.assert_allclose(one.counts, one.labels / Y.mean())


def test_epochs_have_orders_of_their_own():
    rows, stream = Rows(X, Y), Stream.of(0, 0)
    orders = {tuple(rows.batch(GATE, stream, t, 7).labels) for t in range(10)}
    assert len(orders) > 5


def test_only_the_ratios_of_sample_weights_matter():
    runs = [
        learn(nt.Problem.from_rows(GATE, X, Y, sample_weight=weight)).weights
        for weight in (None, np.ones(7), np.full(7, 8.0))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_allclose(runs[0], runs[2], rtol=1e-12)


def test_a_row_of_weight_two_counts_like_two_rows():
    """With whole-data batches the updates agree exactly, and the covariances agree."""
    once = nt.Problem.from_rows(GATE, X, Y, sample_weight=[2.0, 1, 1, 1, 1, 1, 1])
    twice = nt.Problem.from_rows(GATE, np.vstack([X[:1], X]), np.append(Y[0], Y))
    one, two = learn(once, 20, 7).weights, learn(twice, 20, 8).weights
    np.testing.assert_allclose(one, two, rtol=1e-10)
    np.testing.assert_allclose(once.covariance, twice.covariance, rtol=1e-12)


def test_a_row_of_weight_zero_does_not_count():
    network = nt.networks.relu_gate(2)
    inputs = np.random.default_rng(0).standard_normal((40, 2))
    labels = network([1.0, -2.0], inputs)
    labels[:5] += 100.0
    weight = np.ones(40)
    weight[:5] = 0.0
    problem = nt.Problem.from_rows(network, inputs, labels, sample_weight=weight)
    run = learn(problem, 3000, 8, nt.SGD(0.1))
    np.testing.assert_allclose(run.weights[0], [1.0, -2.0], atol=1e-6)


def test_without_true_weights_there_are_losses_but_no_errors():
    run = learn(nt.Problem.from_rows(GATE, X, Y))
    assert not run.has_errors
    with pytest.raises(nt.InputError, match=r"w\* are unknown: look at `losses`"):
        run.errors  # noqa: B018
    assert np.isfinite(run.losses).all()
    assert "loss" in repr(run)


def test_with_true_weights_errors_are_measured_and_labels_stay_those_given():
    known, unknown = (
        learn(nt.Problem.from_rows(GATE, X, Y, true_weights=truth)) for truth in ([1, 2, 3], None)
    )
    np.testing.assert_array_equal(known.weights, unknown.weights)
    assert known.errors[0, -1] == pytest.approx(np.linalg.norm(known.weights[0] - [1, 2, 3]))


# ---- drawn with replacement ----------------------------------------------------------------------


def test_with_replacement_every_row_is_equally_likely_at_every_place():
    """Counts of 7000 batches of two: pairs of rows are also equally likely, the same row twice."""
    rows, stream = Rows(X, Y, replacement=True), Stream.of(1, 0)
    seen = np.array([rows.batch(GATE, stream, t, 2).labels for t in range(7000)], dtype=int)
    pairs = np.bincount(7 * seen[:, 0] + seen[:, 1], minlength=49)
    expected = 7000 / 49
    chi_squared = float(((pairs - expected) ** 2 / expected).sum())
    assert chi_squared < 85.4  # exceeded with probability 1e-3 at 48 degrees of freedom
    for places in seen.T:
        counts = np.bincount(places, minlength=7)
        assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize("replacement", [False, True])
def test_both_engines_draw_the_same_rows_and_resume_as_if_they_had_run_through(replacement):
    problem = nt.Problem.from_rows(GATE, X, Y, sample_weight=Y + 1.0, replacement=replacement)
    compiled, numpy = (
        nt.simulate(problem, nt.SGD(1e-3), steps=60, batch_size=4, engine=engine)
        for engine in ("compiled", "numpy")
    )
    np.testing.assert_allclose(compiled.weights, numpy.weights, rtol=1e-11)
    half = learn(problem, 20)
    resumed = nt.simulate(problem, half.arms, steps=60, batch_size=4, resume=half)
    np.testing.assert_array_equal(resumed.weights, learn(problem, 60).weights)


def test_rows_say_that_they_are_drawn_with_replacement():
    assert repr(Rows(X, Y, replacement=True)).endswith("drawn with replacement)")
    assert "replacement" not in repr(Rows(X, Y))
    with pytest.raises(nt.InputError, match="`replacement`"):
        Rows(X, Y, replacement=1)
