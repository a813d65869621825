from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.networks import output_and_gradient

import neurotron as nt


def test_output_is_definition_2_gate_by_gate(network):
    draw = np.random.default_rng(1)
    w, x = draw.standard_normal(network.filter_size), draw.standard_normal((7, network.n_inputs))
    expected = [output_and_gradient(network, w, row)[0] for row in x]
    np.testing.assert_allclose(network(w, x), expected, rtol=1e-12)


def test_gradient_agrees_with_finite_differences(network):
    draw = np.random.default_rng(2)
    w, x = draw.standard_normal(network.filter_size), draw.standard_normal((7, network.n_inputs))
    h = 1e-6
    shifts = h * np.eye(network.filter_size)
    numeric = (network(w + shifts, x) - network(w - shifts, x)) / (2 * h)
    # away from a kink the network is linear, so central differences are exact up to rounding
    nearest = np.abs(np.einsum("r,krn,bn->bk", w, network.gates, x)).min()
    assert nearest > 10 * h * np.abs(network.project(x)).max()
    np.testing.assert_allclose(network.gradient(w, x), numeric, atol=1e-8)


def test_many_filters_at_once_are_each_filter_alone(network):
    draw = np.random.default_rng(3)
    w, x = (
        draw.standard_normal((5, network.filter_size)),
        draw.standard_normal((3, network.n_inputs)),
    )
    assert network(w, x).shape == (3, 5)
    assert network.gradient(w, x).shape == (3, 5, network.filter_size)
    for arm in range(5):
        np.testing.assert_allclose(network(w, x)[:, arm], network(w[arm], x), rtol=1e-12)
        np.testing.assert_allclose(
            network.gradient(w, x)[:, arm], network.gradient(w[arm], x), rtol=1e-12, atol=1e-14
        )
    assert network(w[0], x[0]).shape == ()


@given(scale=st.floats(1e-3, 1e3))
def test_output_is_positively_homogeneous_in_the_weights(scale):
    network = nt.networks.symmetric(6, 3, 4, seed=5, leak=0.2)
    draw = np.random.default_rng(4)
    w, x = draw.standard_normal(3), draw.standard_normal((4, 6))
    np.testing.assert_allclose(network(scale * w, x), scale * network(w, x), rtol=1e-10)


def test_leak_one_is_the_linear_network(network):
    import dataclasses

    linear = dataclasses.replace(network, leak=1.0, activation=None)
    draw = np.random.default_rng(5)
    w, x = draw.standard_normal(network.filter_size), draw.standard_normal((4, network.n_inputs))
    np.testing.assert_allclose(linear(w, x), x @ linear.mean_gate.T @ w, rtol=1e-11, atol=1e-13)


def test_the_derivative_at_zero_is_the_leak():
    network = nt.networks.relu_gate(2, leak=0.25)
    np.testing.assert_array_equal(network.gradient(np.zeros(2), np.array([1.0, 2.0])), [0.25, 0.5])


def test_mean_gate_is_the_weighted_mean_of_the_gates(network):
    expected = np.einsum("k,krn->rn", network.outer_weights, network.gates) / network.width
    np.testing.assert_allclose(network.mean_gate, expected, atol=1e-13)


def test_arrays_are_copies_and_read_only():
    gates = np.ones((1, 1, 2))
    network = nt.networks.from_gates(gates)
    gates[:] = 7.0
    assert network.gates.max() == 1.0
    symmetric = nt.networks.symmetric(5, 2, 4)
    problem = nt.Problem.draw(symmetric, nt.Normal())
    run = nt.simulate(problem, [nt.Arm(nt.SGD(0.1))], steps=2, batch_size=2)
    frozen = [network.basis.values, symmetric.gates, symmetric.share, symmetric.basis_share]
    frozen += [symmetric.mean_gate, symmetric.mix, symmetric.outer_weights, problem.covariance]
    frozen += [problem.true_weights, problem.initial_weights, run.errors, run.losses, run.weights]
    for array in frozen:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3.0
