from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron._streams import Stream
from neurotron.engine.sources import Rows, Simulated

X = np.arange(21.0).reshape(7, 3)
Y = np.arange(7.0)


@pytest.mark.parametrize("batch_size", [1, 3, 7, 20])
def test_every_epoch_visits_every_row_once(batch_size):
    rows, stream = Rows(X, Y), Stream.of(0, 0)
    seen = np.concatenate([rows.batch(stream, t, batch_size).labels for t in range(70)])
    for epoch in range(len(seen) // 7):
        assert sorted(seen[7 * epoch : 7 * epoch + 7]) == list(range(7))


def test_epochs_have_orders_of_their_own():
    rows, stream = Rows(X, Y), Stream.of(0, 0)
    orders = {tuple(rows.batch(stream, t, 7).labels) for t in range(10)}
    assert len(orders) > 5


def test_inputs_and_labels_stay_together():
    batch = Rows(X, Y).batch(Stream.of(3, 0), 5, 4)
    np.testing.assert_array_equal(batch.inputs, X[batch.labels.astype(int)])


def test_only_the_ratios_of_sample_weights_matter():
    arm = [nt.Arm(nt.SGD(1e-3))]
    problem = nt.Problem(nt.networks.relu_gate(3), nt.Empirical(X))
    runs = [
        nt.simulate(problem, arm, steps=50, batch_size=4, source=Rows(X, Y, weight)).weights
        for weight in (None, np.ones(7), np.full(7, 8.0))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_allclose(runs[0], runs[2], rtol=1e-12)


def test_a_row_of_weight_two_counts_like_two_rows():
    """With whole-data batches the updates agree exactly."""
    problem = nt.Problem(nt.networks.relu_gate(3), nt.Empirical(X))
    weight = np.array([2.0, 1, 1, 1, 1, 1, 1])
    twice = Rows(np.vstack([X[:1], X]), np.append(Y[0], Y))
    arm = [nt.Arm(nt.SGD(1e-3))]
    one = nt.simulate(problem, arm, steps=20, batch_size=7, source=Rows(X, Y, weight))
    problem = nt.Problem(nt.networks.relu_gate(3), nt.Empirical(twice.X))
    two = nt.simulate(problem, arm, steps=20, batch_size=8, source=twice)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-10)


def test_a_row_of_weight_zero_does_not_count():
    network = nt.networks.relu_gate(2)
    inputs = np.random.default_rng(0).standard_normal((40, 2))
    labels = network([1.0, -2.0], inputs)
    labels[:5] += 100.0
    weight = np.ones(40)
    weight[:5] = 0.0
    problem = nt.Problem(network, nt.Empirical(inputs))
    run = nt.simulate(
        problem, [nt.Arm(nt.SGD(0.1))], steps=3000, batch_size=8,
        source=Rows(inputs, labels, weight),
    )  # fmt: skip
    np.testing.assert_allclose(run.weights[0], [1.0, -2.0], atol=1e-6)


def test_without_true_weights_there_are_losses_but_no_errors():
    problem = nt.Problem(nt.networks.relu_gate(3), nt.Empirical(X))
    run = nt.simulate(problem, [nt.Arm(nt.SGD(1e-3))], steps=30, batch_size=4, source=Rows(X, Y))
    assert run.errors is None
    assert np.isfinite(run.losses).all()
    assert "loss" in repr(run)


def test_losses_are_the_mean_squared_residual_on_the_batch_faced_next(small_problem):
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=4, batch_size=6, record="all")
    for step in (0, 4):
        part = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=step, batch_size=6)
        x, y, _ = Simulated(small_problem).batch(Stream.of(0, 0), step, 6)
        expected = ((y - small_problem.network(part.weights[0], x)) ** 2).mean()
        assert run.losses[0, step] == pytest.approx(expected)


def test_honest_noise_has_the_stated_deviation():
    network = nt.networks.relu_gate(2)
    problem = nt.Problem(network, nt.Normal(), [1.0, 1.0], noise=0.3)
    x, y, _ = Simulated(problem).batch(Stream.of(0, 0), 0, 50_000)
    residual = y - network([1.0, 1.0], x)
    assert residual.std() == pytest.approx(0.3, rel=0.02)
    assert abs(residual.mean()) < 5 * 0.3 / np.sqrt(50_000)
