"""Every activation with a linear odd part has the same theory, with its own c and Λ."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from tests.oracles.small_laws import SmallCase, law_case, random_law_case, starts, worst_means

import neurotron as nt
from neurotron.networks.activations import BUILT_IN, Activation
from neurotron.theory.one_step import bound_after
from neurotron.theory.sharp import risk_constant
from neurotron.theory.theorem1 import Theorem1

NAMES = list(BUILT_IN)
OWN = {
    "gentle": Activation(
        "gentle", lambda z: 0.1 * np.sqrt(1.0 + z * z), lambda z: 0.1 * z / np.sqrt(1.0 + z * z),
        lipschitz=0.1, slope=0.1,
    ),
    "steep": Activation(
        "steep", lambda z: 2.0 * np.abs(z), lambda z: 2.0 * np.sign(z), lipschitz=2.0, slope=3.0
    ),
}  # fmt: skip
"""Activations whose odd part does not have the slope ½."""
ALL = {**BUILT_IN, **OWN}
CASES = 60
PARTS = np.array([0.05, 0.5, 1.0, 2.0, 10.0])
"""Step sizes as multiples of 1/L1."""


def with_lipschitz_halved(activation: Activation) -> Activation:
    return dataclasses.replace(activation, lipschitz=activation.lipschitz / 2.0)


def ratios(case: SmallCase, away: list[np.ndarray]) -> tuple[float, float]:
    """Return the largest exact/certified Δ after one step: for the right Λ, and for half of it."""
    etas = PARTS / case.constants().L1
    after = np.concatenate([worst_means(case, d, etas) for d in away])
    before = np.repeat([float(d @ d) for d in away], len(etas))
    network = case.problem.network
    halved = dataclasses.replace(network, activation=with_lipschitz_halved(network.activation))
    wrong = case._replace(problem=dataclasses.replace(case.problem, network=halved))
    found = []
    for each in (case, wrong):
        certified = bound_after(before, np.tile(etas, len(away)), *each.recursion().numbers)
        found.append(float((after / np.maximum(certified, 1e-12 * before + 1e-30)).max()))
    return found[0], found[1]


@functools.cache
def enumerated(name: str) -> list[tuple[float, float]]:
    return [
        ratios(case := random_law_case(number, ALL[name]), list(starts(case, number)))
        for number in range(CASES)
    ]


@pytest.mark.parametrize("name", ALL)
def test_no_attacker_exceeds_the_bound_of_one_step(name):
    """Exact worst cases on small symmetric laws: all batches, coins and changes ±θ."""
    assert max(right for right, _ in enumerated(name)) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", ALL)
def test_with_half_the_lipschitz_constant_it_is_exceeded(name):
    assert max(wrong for _, wrong in enumerated(name)) > 1.01


@pytest.mark.parametrize("name", NAMES)
def test_the_bound_of_one_step_is_attained(name):
    """One weight, two points: weights on both sides of the steepest place of the even part."""
    steepest = {"softplus": 30.0, "silu": 2.39936, "gelu": 2.0**0.5}[name]
    network = nt.networks.relu_gate(1, activation=name)
    case = law_case(network, [[1.0]], [steepest], nt.Budget(0.0, 0.0))
    right, wrong = ratios(case, [np.array([1e-4])])
    assert 1.0 - 1e-4 < right <= 1.0 + 1e-9
    assert wrong > 1.01


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("number", range(20))
def test_the_mean_update_is_that_of_a_linear_network_with_the_slope_c(name, number):
    """E[(f_w(x) − f_{w*}(x)) Mx] = c MΣĀᵀ(w − w*), by summing over a small law."""
    case = random_law_case(number, ALL[name])
    network, rng = case.problem.network, np.random.default_rng(number)
    rows = case.problem.law.rows
    x = np.concatenate([rows, -rows])
    away = rng.standard_normal(network.filter_size)
    error = network(case.centre + away, x) - network(case.centre, x)
    mean = (error[:, None] * (x @ case.sensing.T)).mean(axis=0)
    covariance = x.T @ x / len(x)
    expected = network.odd_slope * case.sensing @ covariance @ network.mean_gate.T @ away
    assert mean == pytest.approx(expected, rel=1e-10, abs=1e-12 * np.abs(error).max())


@pytest.mark.parametrize("name", ALL)
def test_the_same_by_quadrature_for_normal_inputs(name):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    x = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / (2.0 * np.pi)
    gates = np.random.default_rng(1).standard_normal((3, 2, 2))
    network = nt.networks.from_gates(gates, outer_weights=[1.0, -0.5, 2.0], activation=ALL[name])
    w, true = np.array([0.7, -0.2]), np.array([-0.4, 1.1])
    error = network(w, x) - network(true, x)
    expected = ALL[name].slope * network.mean_gate.T @ (w - true)
    assert (mass * error) @ x == pytest.approx(expected, abs=1e-10)
    problem = nt.Problem.draw(network, nt.Normal(), true_weights=true)
    assert mass @ error**2 <= risk_constant(problem) * float((w - true) @ (w - true))


def test_activations_whose_odd_part_is_not_linear_do_not_have_it():
    x = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    error = np.tanh(3.0 * x[:, 0]) - np.tanh(x[:, 0])
    slopes = [(error * x[:, 0]).mean() / (x[:, 0] ** 2).mean() / 2.0]
    error = np.tanh(2.0 * x[:, 0]) - np.tanh(x[:, 0])
    slopes.append((error * x[:, 0]).mean() / (x[:, 0] ** 2).mean())
    assert abs(slopes[0] - slopes[1]) > 0.01  # there is no slope c that serves all weights


@pytest.mark.parametrize("name", ALL)
def test_the_theorem_of_the_paper_has_2c_and_a_lipschitz_constant_of_the_activation(name):
    network = nt.networks.relu_gate(4, activation=ALL[name])
    problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    theorem = Theorem1.of(problem, network.mean_gate, nt.Budget(0.1, 0.1), 4)
    assert theorem.pull == 2.0 * ALL[name].slope
    assert theorem.lipschitz == ALL[name].slope + ALL[name].lipschitz
    z = np.linspace(-20.0, 20.0, 10_001)
    slopes = np.abs(np.diff(ALL[name].value(z)) / np.diff(z))
    assert slopes.max() <= theorem.lipschitz * (1.0 + 1e-9)


@pytest.mark.parametrize("name", ALL)
def test_the_mean_of_impersonation_moves_with_the_slope_c(name):
    """The mean update is linear, so two-point inputs give it exactly."""
    network = nt.networks.relu_gate(1, activation=ALL[name])
    problem = nt.Problem.draw(network, nt.Rademacher(), true_weights=[1.0], initial_weights=[3.0])
    attack = nt.attacks.Impersonation(1e6, 0.25, weights=[-1.0])
    arm = nt.Arm(nt.NeuroTron(0.1, np.eye(1)), attack)
    mean = nt.guarantees.impersonated_mean(problem, arm, steps=[1])[0]
    x = np.array([[1.0], [-1.0]])
    honest, lied, now = (network([w], x) for w in (1.0, -1.0, 3.0))
    update = ((0.75 * honest + 0.25 * lied - now) * x[:, 0]).mean()
    assert mean == pytest.approx([3.0 + 0.1 * update])


def test_the_rounding_of_softplus_near_zero_is_counted(monkeypatch):
    """Outputs near log 2 are rounded to 1e-16, which is much for inputs of size 1e-8."""

    def drawn():
        network = nt.networks.relu_gate(3, activation="softplus")
        return nt.Problem.draw(network, nt.Normal(scale=1e-8), seed=0)

    problem, trainer = drawn(), nt.NeuroTron()
    error = nt.simulate(problem, trainer, steps=2500, batch_size=8).final_errors[0]
    assert error > 1e-10
    assert error < nt.certify(problem, trainer, steps=2500, batch_size=8).radius
    monkeypatch.setattr(nt.FilterNetwork, "at_zero", 0.0)
    assert error > nt.certify(drawn(), trainer, steps=2500, batch_size=8).radius
