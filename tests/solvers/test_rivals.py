"""The rivals of the solver: closed forms, objectives that never rise, and easy cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import neurotron as nt
from neurotron.solvers import rivals
from neurotron.solvers.rivals import Fitted, huber, least_squares, trim

NETWORKS = {
    "linear": nt.networks.linear(5),
    "paper": nt.networks.symmetric(20, 5, 4, seed=1),
    "gate": nt.networks.relu_gate(5),
    "leaky gate": nt.networks.relu_gate(5, leak=0.2),
    "convolution": nt.networks.convolution(15, 5, 5),
}


def data(network, share=0.2, change=3.0, noise=0.0, rows=200, seed=0):
    """Return inputs, labels of which a share is raised, the true weights, and which were raised."""
    draw = np.random.default_rng(seed)
    true = draw.standard_normal(network.filter_size)
    X = draw.standard_normal((rows, network.n_inputs))
    y = network(true, X) + noise * draw.standard_normal(rows)
    bad = np.arange(rows) < share * rows
    return X, np.where(bad, y + change, y), true, bad


@pytest.mark.parametrize("intercept", [False, True])
def test_least_squares_of_a_linear_network_is_that_of_numpy(intercept):
    X, y, _, _ = data(NETWORKS["linear"], noise=1.0)
    found = least_squares(NETWORKS["linear"], X, y, intercept=intercept)
    columns = np.column_stack([X, np.ones(len(X))]) if intercept else X
    wanted = np.linalg.lstsq(columns, y, rcond=None)[0]
    assert np.allclose(found.weights, wanted[:5], atol=1e-12)
    assert found.intercept == pytest.approx(wanted[5] if intercept else 0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["linear", "leaky gate"])
def test_huber_minimises_its_loss(name):
    network = NETWORKS[name]
    X, y, true, _ = data(network, noise=0.5)

    def loss(weights):
        size = np.abs(y - network(weights, X))
        return np.where(size <= 0.7, 0.5 * size**2, 0.7 * (size - 0.35)).sum()

    found = huber(network, X, y, limit=0.7).weights
    best = minimize(loss, true, method="BFGS", options={"gtol": 1e-9})
    assert loss(found) <= best.fun * (1.0 + 1e-6)  # BFGS stops early at kinks
    assert np.allclose(found, best.x, atol=1e-3)


def test_huber_takes_its_limit_from_the_noise():
    network = NETWORKS["linear"]
    X, y, true, _ = data(network, noise=0.1, change=50.0, rows=2000)
    honest, _, _, _ = data(network, share=0.0, noise=0.1, rows=2000)
    assert np.array_equal(X, honest)
    off = np.linalg.norm(huber(network, X, y).weights - true)
    assert off < 0.03
    assert off < 0.1 * np.linalg.norm(least_squares(network, X, y).weights - true)
    by_hand = huber(network, X, y, limit=0.1345).weights
    assert np.allclose(huber(network, X, y).weights, by_hand, atol=0.01)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("told", [True, False])
def test_trim_recovers_the_filter_in_easy_cases(name, told):
    network = NETWORKS[name]
    X, y, true, bad = data(network, share=0.15)
    given = {"tampered": bad.mean()} if told else {}
    assert np.allclose(trim(network, X, y, **given).weights, true, atol=1e-12)
    shifted = trim(network, X, y + 7.0, intercept=True, **given)
    assert np.allclose(shifted.weights, true, atol=1e-11)
    assert shifted.intercept == pytest.approx(7.0)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rival", [least_squares, huber, trim], ids=lambda rival: rival.__name__)
def test_no_step_raises_the_objective(name, rival, monkeypatch):
    network = NETWORKS[name]
    X, y, true, _ = data(network, share=0.4, noise=0.3)
    seen, descent = [], rivals._descent

    def watched(rows, start, objective, weights):
        values = []

        def told(rho):
            values.append(objective(rho))
            return values[-1]

        found = descent(rows, start, told, weights)
        end = objective(rows.residuals(rivals._point(rows, found)))
        seen.append((values[0], min(values), end))
        return found

    monkeypatch.setattr(rivals, "_descent", watched)
    rival(network, X, y, start=Fitted(-true))
    for first, least, end in seen:
        assert end <= first
        assert end <= least * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", NETWORKS)
def test_a_start_is_kept_if_it_is_the_answer(name):
    network = NETWORKS[name]
    X, y, true, _ = data(network, share=0.0)
    found = least_squares(network, X, y + 2.0, intercept=True, start=Fitted(true, 2.0))
    assert np.allclose(found.weights, true, atol=1e-13)
    assert found.intercept == pytest.approx(2.0)


def test_trim_keeps_enough_rows_to_determine_the_weights():
    X, y, true, _ = data(NETWORKS["linear"], share=0.0, rows=30)
    assert np.allclose(trim(NETWORKS["linear"], X, y, tampered=0.99).weights, true)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: least_squares(None, X, y), "network"),
        (lambda X, y: least_squares(NETWORKS["linear"], X[:, :2], y), "`X`"),
        (lambda X, y: huber(NETWORKS["linear"], X, y[:3]), "`y`"),
        (lambda X, y: huber(NETWORKS["linear"], X, y, limit=0.0), "`limit`"),
        (lambda X, y: trim(NETWORKS["linear"], X, y, tampered=1.0), "`tampered`"),
        (lambda X, y: trim(NETWORKS["linear"], X, y, intercept=1), "`intercept`"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    X, y, _, _ = data(NETWORKS["linear"])
    with pytest.raises(nt.InputError, match=words):
        call(X, y)
