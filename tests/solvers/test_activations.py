"""`solve` for activations other than the leaky ReLU, whose outputs are not gradients × weights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.tables import NETWORKS, Table, table
from tests.support.messages import says

import neurotron as nt
from neurotron.networks.activations import BUILT_IN, Activation
from neurotron.solvers import linearized, rivals
from neurotron.solvers.linearized import Linearized, coordinates_for

ROOT = Activation(
    "root",
    lambda z: np.sqrt(1.0 + z * z) / 2.0,
    lambda z: z / np.sqrt(1.0 + z * z) / 2.0,
    lipschitz=0.5,
)
ACTIVATIONS = {**BUILT_IN, "root": ROOT}
KINDS = ("gate", "weighted gate", "symmetric", "weighted gates", "convolution", "image")


def network_of(kind: str, activation: Activation | str) -> nt.FilterNetwork:
    return dataclasses.replace(NETWORKS[kind], activation=activation)


def other_filter(
    network: nt.FilterNetwork, rows: int, share: float, *, size: float = 1.0, seed: int = 0
) -> Table:
    """Return rows a share of which has the labels of another filter, most of which differ."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, network.n_inputs))
    weights, other = size * draw.standard_normal((2, network.filter_size))
    chosen, honest = draw.permutation(rows) < round(share * rows), network(weights, X)
    y = np.where(chosen, network(other, X), honest)
    return Table(network, X, y, weights, np.abs(y - honest) > 1e-12 * np.abs(y).max())


# ---- the regression at a point -------------------------------------------------------------------


@settings(max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    name=st.sampled_from([*ACTIVATIONS]),
    size=st.floats(-2.0, 1.5).map(lambda exponent: 10.0**exponent),
    intercept=st.booleans(),
    seed=st.integers(0, 99),
)
def test_residuals_and_gradients_are_those_of_the_network(kind, name, size, intercept, seed):
    network, draw = network_of(kind, ACTIVATIONS[name]), np.random.default_rng(seed)
    X, y = draw.standard_normal((30, network.n_inputs)), draw.standard_normal(30)
    ones = np.ones(30)
    coordinates = coordinates_for(network, X, ones, intercept=intercept)
    rows = Linearized(network, X, y, None, ones, coordinates, intercept=intercept)
    point = size * draw.standard_normal(rows.size)
    weights, constant = rows.weights(point)
    outputs = network(weights, X) + constant
    assert rows.residuals(point) == pytest.approx(y - outputs, abs=1e-12 * (1.0 + size))
    assert rows.outputs(point) == pytest.approx(outputs, abs=1e-12 * (1.0 + size))
    step = 1e-5 * np.eye(rows.size)
    slopes = [(rows.outputs(point + each) - rows.outputs(point - each)) / 2e-5 for each in step]
    assert rows.gradient(point) == pytest.approx(np.transpose(slopes), abs=1e-8 * (1.0 + size))


@given(
    name=st.sampled_from([*ACTIVATIONS]),
    unit=st.floats(-6.0, 6.0).map(lambda exponent: 10.0**exponent),
    z=st.floats(-50.0, 50.0),
)
def test_an_activation_in_other_units_is_the_same_function_from_zero_on(name, unit, z):
    given, other = ACTIVATIONS[name], ACTIVATIONS[name].in_units(unit)
    change = given.value(z) - given.value(0.0)
    assert unit * other.value(z / unit) == pytest.approx(change, abs=1e-13 * (1.0 + abs(z)))
    assert other.derivative(z / unit) == pytest.approx(given.derivative(z))
    assert other.value(0.0) == 0.0
    assert (other.slope, other.lipschitz) == (given.slope, given.lipschitz)


def test_a_row_says_something_unless_all_gates_are_flat():
    network = nt.networks.relu_gate(1, activation="softplus")
    X, ones = np.array([[-30.0], [-5.0], [1.0]]), np.ones(3)
    rows = Linearized(network, X, ones, None, ones, coordinates_for(network, X, ones))
    gradient = rows.gradient(rows.point_of(np.ones(1), 0.0))
    assert gradient.all()
    assert np.array_equal(rows.active(gradient), [False, True, True])


# ---- filters are found ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ["one side", "other filter"])
def test_the_true_filter_is_found_exactly_and_nothing_is_proved(attack, kind, name):
    network = network_of(kind, ACTIVATIONS[name])
    data = table(network, 240) if attack == "one side" else other_filter(network, 240, 0.3)
    solution = nt.solve(network, data.X, data.y)
    assert np.abs(solution.weights - data.true_weights).max() < 1e-12
    assert (solution.rejected == data.tampered).all()
    assert (solution.explained == ~data.tampered).all()
    assert solution.noise == 0.0
    assert (solution.proven_against, solution.proof.basis) == (-1, "none")
    assert says(solution.statement, "no proof on the rows", name)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_intercept_is_found_beside_the_output_of_zero_weights(name):
    data = table(network_of("convolution", ACTIVATIONS[name]), 240)
    solution = nt.solve(data.network, data.X, data.y + 7.0, intercept=True)
    assert solution.intercept == pytest.approx(7.0, abs=1e-11)
    assert np.abs(solution.weights - data.true_weights).max() < 1e-11
    assert solution.predict(data.X)[~data.tampered] == pytest.approx(data.y[~data.tampered] + 7.0)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["gate", "symmetric"])
def test_with_noise_the_error_is_near_that_of_the_honest_rows(kind, name):
    data = table(network_of(kind, ACTIVATIONS[name]), 400, 0.2, bound=8.0, noise=0.1)
    solution = nt.solve(data.network, data.X, data.y)
    honest, start = ~data.tampered, rivals.Fitted(data.true_weights)
    least = rivals.least_squares(data.network, data.X[honest], data.y[honest], start=start)
    gradient = data.network.gradient(least.weights, data.X[honest])
    residuals = data.y[honest] - data.network(least.weights, data.X[honest])
    assert np.abs(gradient.T @ residuals).max() < 1e-6  # it is least squares of the true residuals
    own, other = (np.linalg.norm(w - data.true_weights) for w in (solution.weights, least.weights))
    assert own < 1.5 * other
    assert solution.noise == pytest.approx(0.1, rel=0.15)
    assert (solution.rejected == data.tampered).mean() > 0.99
    assert solution.proof.reason == "the labels have noise"


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("size", [1e-3, 30.0, 1e5])
def test_small_and_large_arguments_of_a_gate_are_found_too(size, name):
    """Softplus has labels near log 2 for small ones, and almost all gradients are 0 for large."""
    data = other_filter(network_of("gate", name), 300, 0.3, size=size, seed=1)
    solution = nt.solve(data.network, data.X, data.y)
    assert np.abs(solution.weights - data.true_weights).max() < 1e-12 * (size + 1.0 / size)


@pytest.mark.parametrize("unit", [1e-40, 1e40])
def test_the_unit_of_the_inputs_plays_no_part(unit):
    data = other_filter(network_of("convolution", "gelu"), 200, 0.3)
    plain, scaled = (nt.solve(data.network, u * data.X, data.y) for u in (1.0, unit))
    assert unit * scaled.weights == pytest.approx(plain.weights, rel=1e-12)
    assert np.array_equal(scaled.rejected, plain.rejected)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_labels_and_activation_in_another_unit_have_the_same_filter(unit):
    data = other_filter(network_of("symmetric", "softplus"), 200, 0.3)
    network = network_of("symmetric", BUILT_IN["softplus"].in_units(unit))
    y = (data.y - data.network(np.zeros(6), data.X)) / unit
    assert unit * nt.solve(network, data.X, y).weights == pytest.approx(data.true_weights)


def test_outputs_of_zero_weights_that_cancel_still_add_rounding_errors():
    gates = np.random.default_rng(0).standard_normal((2, 4, 8))
    network = nt.networks.from_gates(gates, outer_weights=[1.0, -1.0], activation="softplus")
    data = other_filter(network, 200, 0.3, size=1e-4)
    assert np.abs(data.y).max() < 1e-3
    solution = nt.solve(network, data.X, data.y)
    assert (solution.explained == ~data.tampered).all()
    model = nt.NeuroTronRegressor(network=network, fit_intercept=False).fit(data.X, data.y)
    assert np.array_equal(model.suspects_, data.tampered)


def test_a_leaky_relu_that_is_given_as_an_activation_has_the_same_filter():
    leaky = Activation(
        "leaky", lambda z: 0.35 * np.abs(z), lambda z: 0.35 * np.sign(z), lipschitz=0.35, slope=0.65
    )
    data = table(NETWORKS["leaky gate"], 200, noise=0.1)
    own = nt.solve(nt.networks.relu_gate(6, activation=leaky), data.X, data.y)
    usual = nt.solve(data.network, data.X, data.y)
    assert own.weights == pytest.approx(usual.weights, abs=1e-7)
    assert np.array_equal(own.rejected, usual.rejected)


@pytest.mark.parametrize("numbers", [linearized.MOST_NUMBERS, 30_000])
def test_a_sample_is_searched_and_all_rows_take_part_in_the_last_step(numbers, monkeypatch):
    monkeypatch.setattr(linearized, "MOST_NUMBERS", numbers)
    data = other_filter(network_of("convolution", "silu"), 3_000, 0.3)
    solution = nt.solve(data.network, data.X, data.y, max_rows=200)
    assert np.abs(solution.weights - data.true_weights).max() < 1e-13
    assert (solution.explained == ~data.tampered).all()


def test_rows_on_which_every_gate_is_flat_get_a_warning():
    X = 50.0 + np.random.default_rng(0).random((60, 6))
    y = network_of("gate", "gelu")(np.full(6, -1.0), X)
    assert not y.any()
    with pytest.warns(UserWarning, match="all gates are flat"):
        nt.solve(network_of("gate", "gelu"), X, y, start=(np.full(6, -1.0), 0.0), max_starts=1)


@pytest.mark.parametrize("rival", [rivals.least_squares, rivals.huber, rivals.trim])
def test_rivals_find_the_filter_of_labels_that_nobody_tampered_with(rival):
    data = other_filter(network_of("convolution", "softplus"), 200, 0.0)
    assert rival(data.network, data.X, data.y).weights == pytest.approx(data.true_weights)
