"""The inequality that says which filter a normalised, subadditive loss prefers under attack."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import neurotron as nt

LOSSES = {
    "absolute": lambda t: t,
    "root": np.sqrt,
    "capped": lambda t: np.minimum(t, 0.7),
    "count": lambda t: (t > 0.0).astype(float),
}
SUPPORT = np.array([[1.0, 0.5], [-2.0, 1.0], [0.3, -3.0]])
MASS = np.array([0.5, 0.3, 0.2])
TRUE = np.array([1.0, -0.5])
FILTERS = [np.array(pair) for pair in product([-1.0, -0.5, 0.0, 1.0, 2.0], repeat=2)]
NETWORKS = [
    nt.networks.linear(2),
    nt.networks.relu_gate(2),
    nt.networks.symmetric(2, 2, 2, seed=1, leak=0.3),
]


def gap(rho, network, w, beta, change, scale) -> float:
    """The mean loss of w minus that of the true filter, exactly, on the three inputs."""
    error = network(w, SUPPORT) - network(TRUE, SUPPORT)
    honest = rho(np.abs(error) / scale)
    attacked = rho(np.abs(change - error) / scale) - rho(np.abs(change) / scale)
    return float(MASS @ ((1.0 - beta) * honest + beta * attacked))


def bound(rho, network, w, beta, scale, cost=2.0) -> float:
    error = network(w, SUPPORT) - network(TRUE, SUPPORT)
    return float(MASS @ ((1.0 - cost * beta) * rho(np.abs(error) / scale)))


def excesses(rho, cost=2.0):
    """Loss minus bound for every attack on the support, for several filters and probabilities."""
    scale = np.linalg.norm(SUPPORT, axis=1)
    for network, w in product(NETWORKS, FILTERS):
        error = network(w, SUPPORT) - network(TRUE, SUPPORT)
        for beta in product([0.0, 0.4, 1.0], repeat=3):
            for factors in product([-0.5, 0.0, 0.5, 1.0, 3.0], repeat=3):
                change = np.array(factors) * error
                chances = np.array(beta)
                yield gap(rho, network, w, chances, change, scale) - bound(
                    rho, network, w, chances, scale, cost
                )


def sampled(values, step=7):
    """Every seventh of the many combinations: it meets all values of each of them."""
    return np.fromiter((v for i, v in enumerate(values) if i % step == 0), float)


@pytest.mark.parametrize("name", LOSSES)
def test_no_attack_makes_the_true_filter_worse_than_the_inequality_says(name):
    values = sampled(excesses(LOSSES[name]), 31)
    assert values.min() >= -1e-12
    assert np.abs(values).min() == 0.0  # it is attained


def test_the_inequality_fails_with_a_smaller_cost_of_an_attack():
    assert sampled(excesses(np.sqrt, cost=1.0), 31).min() < -0.1


def test_the_inequality_fails_for_squares_which_are_not_subadditive():
    assert sampled(excesses(np.square), 31).min() < -0.1


@pytest.fixture(scope="module")
def inputs():
    draw = np.random.default_rng(1)
    return draw.standard_normal((20_000, 10)) * np.sqrt(3.0 / draw.chisquare(3.0, (20_000, 1)))


def test_an_attack_that_picks_large_inputs_gains_nothing_if_residuals_are_normalised(inputs):
    """The inputs are t(3): the largest 45 % have most of the length."""
    network = nt.networks.symmetric(10, 4, 6, seed=2)
    draw = np.random.default_rng(2)
    w, true = draw.standard_normal((2, 4))
    length = np.linalg.norm(inputs, axis=1)
    error = np.abs(network(w, inputs) - network(true, inputs))
    beta = (length > np.quantile(length, 0.55)).astype(float)
    for rho in (np.sqrt, np.abs):
        sizes = rho(error / length)
        values = (1.0 - 2.0 * beta) * sizes
        expected = (1.0 - 2.0 * beta.mean()) * sizes.mean()
        spread = 5.0 * sizes.std() / np.sqrt(len(inputs))
        assert abs(values.mean() - expected) <= spread < expected
        assert ((1.0 - 2.0 * beta) * rho(error)).mean() < 0.0


def test_changes_far_beyond_the_error_lose_their_effect_on_a_root_but_not_on_an_absolute_value():
    error, change = 1.0, np.array([1.0, 10.0, 100.0, 1e4])
    root = np.sqrt(change) - np.sqrt(np.abs(change - error))
    assert (root <= error / np.sqrt(change)).all()
    assert np.array_equal(np.abs(change) - np.abs(change - error), np.full(4, error))


def test_noise_costs_at_most_twice_its_mean_loss():
    draw = np.random.default_rng(3)
    error, noise = draw.standard_normal((2, 1000))
    for name in ("absolute", "root", "capped"):
        rho = LOSSES[name]
        honest = rho(np.abs(error - noise)) - rho(np.abs(noise))
        assert (honest >= rho(np.abs(error)) - 2.0 * rho(np.abs(noise)) - 1e-12).all()
