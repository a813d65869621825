"""What each network of the regressor can represent."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((400, 16))
CASES = {
    "relu-gate": nt.networks.relu_gate(16),
    "relu-gate:leak=0.2": nt.networks.relu_gate(16, leak=0.2),
    "convolution:filter_size=5": nt.networks.convolution(16, 5),
    "convolution2d:filter_size=4": nt.networks.convolution2d((4, 4), (2, 2)),
    "convolution2d:filter_size=4,height=2,stride=2": nt.networks.convolution2d((2, 8), (2, 2), 2),
}


@pytest.mark.parametrize("name", CASES)
def test_a_named_network_is_found_although_labels_come_from_another_filter(name):
    network = CASES[name]
    weights, other = np.random.default_rng(1).standard_normal((2, network.filter_size))
    attacked = np.arange(400) < 160
    y = np.where(attacked, network(other, X), network(weights, X))
    model = nt.NeuroTronRegressor(network=name, fit_intercept=False).fit(X, y)
    assert model.weights_ == pytest.approx(weights, abs=1e-9)
    assert not model.suspects_[~attacked].any()
    assert model.predict(X[:5]) == pytest.approx(network(weights, X[:5]))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("made", [nt.networks.linear(16), nt.networks.linear])
def test_a_network_or_a_function_of_the_columns_can_be_given(made):
    y = X @ np.arange(16.0) + 2.0
    model = nt.NeuroTronRegressor(network=made).fit(X, y)
    assert model.coef_ == pytest.approx(np.arange(16.0))
    assert model.intercept_ == pytest.approx(2.0)


def test_the_coefficients_of_a_linear_network_with_gates_are_those_of_the_columns():
    network = nt.networks.symmetric(16, 3, 4, seed=1, leak=1.0)
    weights = np.array([1.0, -1.0, 2.0])
    model = nt.NeuroTronRegressor(network=network).fit(X, network(weights, X) + 1.0)
    assert X @ model.coef_ + model.intercept_ == pytest.approx(model.predict(X))
    assert model.weights_ == pytest.approx(weights)


def test_a_standardized_gate_fits_inputs_that_are_not_centred():
    few = 50.0 + 3.0 * X[:, :3]
    centre, spread = np.median(few, axis=0), few.std(axis=0)
    y = nt.networks.relu_gate(3, leak=0.1)([2.0, -1.0, 1.0], (few - centre) / spread) + 7.0
    model = nt.NeuroTronRegressor(network="relu-gate:leak=0.1", standardize=True).fit(few, y)
    assert model.score(few, y) == pytest.approx(1.0)
    plain = nt.NeuroTronRegressor(network="relu-gate:leak=0.1").fit(few, y)
    assert plain.score(few, y) < 0.99


def test_standardizing_does_not_change_a_linear_fit():
    y = X @ np.arange(16.0)
    one, other = (nt.NeuroTronRegressor(standardize=each).fit(X, y) for each in (False, True))
    assert np.array_equal(one.coef_, other.coef_)


def test_without_an_intercept_the_model_passes_through_zero():
    model = nt.NeuroTronRegressor(fit_intercept=False).fit(X, X[:, 0] + 0.1 * X[:, 1])
    assert model.intercept_ == 0.0
    assert model.predict(np.zeros((1, 16))) == 0.0
