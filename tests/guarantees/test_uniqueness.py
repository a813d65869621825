"""Remark 1.2 of the paper: without an attack, the true filter is the only minimum of the risk."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.support.messages import refused

import neurotron as nt
from neurotron.guarantees import unique_minimum

SIGNS = np.array(list(itertools.product([-1.0, 1.0], repeat=4)))
"""All inputs of the law `Rademacher`, each with the same probability: means are sums."""
NETWORKS = {
    "gate": nt.networks.relu_gate(4),
    "leaky gate": nt.networks.relu_gate(4, leak=0.3, outer_weights=2.0),
    "symmetric": nt.networks.symmetric(4, 2, 4, seed=3),
    "convolution": nt.networks.convolution(4, 2, 2),
    "linear": nt.networks.linear(4),
    "softplus": nt.networks.relu_gate(4, activation="softplus"),
}


def risk(network: nt.FilterNetwork, one, other, x=SIGNS) -> float:
    return float(((network(one, x) - network(other, x)) ** 2).mean())


@pytest.mark.parametrize("name", NETWORKS)
def test_the_risk_grows_at_least_by_the_stated_constant(name):
    network = NETWORKS[name]
    found = unique_minimum(nt.Problem.draw(network, nt.Rademacher()))
    assert found.holds
    assert found.growth > 0.0
    draw = np.random.default_rng(1)
    for _ in range(200):
        one, other = draw.standard_normal((2, network.filter_size)) * 10.0 ** draw.uniform(-2, 2)
        assert risk(network, one, other) >= found.growth * ((one - other) ** 2).sum() * (1 - 1e-9)


def test_the_constant_cannot_be_larger():
    """A linear network has no even part, so the risk along an eigenvector is the bound."""
    rows = np.array([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    problem = nt.Problem.draw(nt.networks.linear(2), nt.laws.Empirical(rows))
    d = np.linalg.eigh(rows.T @ rows)[1][:, 0]
    found = unique_minimum(problem)
    assert risk(problem.network, d, np.zeros(2), rows) == pytest.approx(found.growth, rel=1e-12)


def test_moments_are_not_needed():
    found = unique_minimum(nt.Problem.draw(nt.networks.relu_gate(4), nt.StudentT(dof=1.0)))
    assert found.holds
    assert found.weighting == "inverse-norm"
    assert found.growth == pytest.approx(0.25 / 4)
    assert "weighted by" in found.statement


def test_corrupted_inputs_are_refused_because_the_true_filter_is_no_minimum():
    law = nt.data.Corrupted(nt.Normal(), scale=0.5)
    with refused("a unique minimum", "corrupts", "itself"):
        unique_minimum(nt.Problem.draw(nt.networks.relu_gate(4), law))


HALF = np.abs(np.random.default_rng(2).standard_normal((60, 3))) + 0.1
FLAT = np.vstack([SIGNS[:, :3] * [1, 1, 0], SIGNS[:, :3] * [1, 0, 0]])
TWO_MINIMA = {
    "one-sided inputs": (nt.networks.relu_gate(3), nt.laws.Empirical(HALF),
                         [-1.0, -1.0, -1.0], [-2.0, -1.0, -5.0], "parity"),
    "opposite gates": (nt.networks.from_gates([np.eye(3), -np.eye(3)]), nt.Normal(),
                       [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], "rank(ĀΣ) = r"),
    "gates that cancel up to rounding": (
        nt.networks.from_gates([np.eye(2), np.eye(2), np.eye(2)], outer_weights=[0.1, 0.2, -0.3]),
        nt.Normal(), [1.0, 2.0], [1.0, 2.0], "rank(ĀΣ) = r"),
    "an input that is always 0": (nt.networks.relu_gate(3), nt.laws.Empirical(FLAT),
                                  [1.0, 2.0, 3.0], [1.0, 2.0, -7.0], "rank(ĀΣ) = r"),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_MINIMA)
def test_where_there_are_two_minima_the_assumption_that_fails_is_named(name):
    network, law, one, other, failing = TWO_MINIMA[name]
    x = law.rows if isinstance(law, nt.laws.Empirical) else SIGNS[:, : network.n_inputs]
    assert risk(network, one, other, x) == 0.0
    found = unique_minimum(nt.Problem.draw(network, law, true_weights=one))
    assert not found.holds
    assert found.growth == 0.0
    assert [assumption.name for assumption in found.failed] == [failing]
    assert failing in found.statement
    assert "This does not hold" in str(found)


def test_two_minima_would_be_approached_by_the_same_run_which_is_a_contradiction():
    """The paper's argument: exact labels of both are the same, and so is every step of the run."""
    network, law, one, other, _ = TWO_MINIMA["one-sided inputs"]
    weights, errors = [], []
    for truth in (one, other):
        problem = nt.Problem.draw(network, law, true_weights=truth)
        run = nt.simulate(problem, nt.NeuroTron(0.01, "mean"), steps=300, batch_size=4, seed=5)
        weights.append(run.weights[0])
        errors.append(run.final_errors[0])
        certificate = nt.certify(
            problem, nt.Arm(nt.NeuroTron(0.01, "mean")), steps=300, batch_size=4, method="theorem1"
        )
        assert not certificate.holds  # else the run would come within both radii
        assert "parity" in [assumption.name for assumption in certificate.failed]
    np.testing.assert_array_equal(*weights)
    assert sum(errors) >= np.linalg.norm(np.subtract(one, other))


def test_a_filter_elsewhere_is_never_a_second_minimum_of_what_the_theorem_covers():
    """Where Theorem 1 holds, two filters with small radii would be both within them."""
    problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=4)
    certificate = nt.certify(
        problem, nt.Arm(nt.NeuroTron(0.02, "mean")), steps=20_000, batch_size=16, method="theorem1"
    )
    assert certificate.holds
    d = 2.1 * certificate.radius * np.eye(3)[0]  # the two balls of this radius have no common point
    inputs = np.random.default_rng(7).standard_normal((4000, 3))
    truth = problem.true_weights
    least = unique_minimum(problem).growth * (d @ d)
    assert risk(problem.network, truth + d, truth, inputs) > 0.9 * least > 0.0


def test_a_law_whose_second_moments_are_not_known_is_refused():
    law = nt.laws.Correlated(nt.StudentT(dof=1.5), np.eye(3))
    with pytest.raises(ValueError, match=r"second moments.*Empirical"):
        unique_minimum(nt.Problem.draw(nt.networks.relu_gate(3), law))
