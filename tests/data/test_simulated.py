from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron._streams import Stream


def test_losses_are_the_mean_squared_residual_on_the_batch_faced_next(small_problem):
    network = small_problem.network
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=4, batch_size=6, record="all")
    for step in (0, 4):
        part = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=step, batch_size=6)
        x, y, _ = small_problem.data.batch(network, Stream.of(0, 0), step, 6)
        expected = ((y - network(part.weights[0], x)) ** 2).mean()
        assert run.losses[0, step] == pytest.approx(expected)


def test_honest_noise_has_the_stated_deviation():
    network = nt.networks.relu_gate(2)
    data = nt.data.Simulated(nt.Normal(), [1.0, 1.0], 0.3)
    x, y, _ = data.batch(network, Stream.of(0, 0), 0, 50_000)
    residual = y - network([1.0, 1.0], x)
    assert residual.std() == pytest.approx(0.3, rel=0.02)
    assert abs(residual.mean()) < 5 * 0.3 / np.sqrt(50_000)


@given(st.integers(0, 10**9), st.integers(1, 30), st.integers(0, 10**6))
def test_a_batch_is_the_same_whenever_it_is_asked_for(step, batch_size, seed):
    network = nt.networks.relu_gate(2)
    data, stream = nt.data.Simulated(nt.Laplace(), [1.0, 1.0], 0.3), Stream.of(seed, 0)
    one = data.batch(network, stream, step, batch_size)
    data.batch(network, stream, step + 1, batch_size)
    again = data.batch(network, Stream.of(seed, 0), step, batch_size)
    np.testing.assert_array_equal(one.inputs, again.inputs)
    np.testing.assert_array_equal(one.labels, again.labels)


def test_a_law_without_true_weights_is_certified_and_planned_but_not_trained_on(small_problem):
    unknown = nt.Problem(small_problem.network, nt.data.Simulated(nt.Normal()))
    arm = nt.Arm(nt.NeuroTron("fastest"))
    assert nt.certify(unknown, arm, batch_size=8, steps=500, initial_error=5.0).holds
    assert nt.plan(unknown, None, radius=1.0, batch_size=8, initial_error=5.0).steps > 0
    with pytest.raises(nt.InputError, match=r"no labels to train on.*from_rows"):
        nt.simulate(unknown, [arm], steps=1, batch_size=1)


def test_inputs_are_not_drawn_from_rows_with_weights():
    law = nt.Empirical(np.eye(2), sample_weight=[1.0, 2.0])
    with pytest.raises(nt.InputError, match="`sample_weight` belong to rows with labels"):
        nt.data.Simulated(law, [1.0, 1.0])
