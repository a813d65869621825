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


BETAS = np.array(list(product([0.0, 0.4, 1.0], repeat=3)))[:, None, :]
FACTORS = np.array(list(product([-0.5, 0.0, 0.5, 1.0, 3.0], repeat=3)))[None, :, :]


def excesses(rho, cost=2.0):
    """Loss minus bound, exactly, for all attacks on the support; the changes are parts of e."""
    scale = np.linalg.norm(SUPPORT, axis=1)
    values = []
    for network, w in product(NETWORKS, FILTERS):
        error = (network(w, SUPPORT) - network(TRUE, SUPPORT)) / scale
        honest = rho(np.abs(error))
        attacked = rho(np.abs((FACTORS - 1.0) * error)) - rho(np.abs(FACTORS * error))
        gap = ((1.0 - BETAS) * honest + BETAS * attacked) @ MASS
        values.append(gap - ((1.0 - cost * BETAS) * honest) @ MASS)
    return np.array(values)


@pytest.mark.parametrize("name", LOSSES)
def test_no_attack_makes_the_true_filter_worse_than_the_inequality_says(name):
    values = excesses(LOSSES[name])
    assert values.min() >= -1e-12
    attained = np.all(FACTORS[0] == 1.0, axis=1)
    assert np.abs(values[:, :, attained]).max() <= 1e-12


def test_the_inequality_fails_with_a_smaller_cost_of_an_attack():
    assert excesses(np.sqrt, cost=1.0).min() < -0.1


def test_the_inequality_fails_for_squares_which_are_not_subadditive():
    assert excesses(np.square).min() < -0.1


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
