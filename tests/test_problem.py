from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron._streams import Purpose, Stream

SYMMETRIC_LAWS = [
    nt.Normal(scale=2.0),
    nt.Laplace(),
    nt.StudentT(5),
    nt.Uniform(),
    nt.Rademacher(),
    nt.ScipyLaw(stats.logistic()),
    nt.Correlated(nt.Laplace(), np.random.default_rng(0).standard_normal((6, 4))),
    nt.Empirical(np.random.default_rng(1).exponential(size=(50, 6)), symmetrized=True),
]


@pytest.mark.parametrize("leak", [0.0, 0.4])
@pytest.mark.parametrize("law", SYMMETRIC_LAWS, ids=lambda law: type(law).__name__)
def test_parity_lemma(law, leak):
    """E[σ(aᵀx) cᵀx] = (1+α)/2 · aᵀΣc, an equality: paired with −x it holds sample by sample."""
    draw = np.random.default_rng(2)
    a, c = draw.standard_normal((2, 6))
    u, v = Stream.of(0, 0).pairs(Purpose.INPUTS, 0, law.pairs(50_000, 6))
    x = law.inputs(u, v, 50_000, 6)
    gate = nt.networks.relu_gate(6, leak=leak)
    values = gate(a, x) * (x @ c)
    paired = (values + gate(a, -x) * (-x @ c)) / 2
    np.testing.assert_allclose(paired, (1 + leak) / 2 * (x @ a) * (x @ c), rtol=1e-9, atol=1e-9)
    expected = (1 + leak) / 2 * a @ law.covariance(6) @ c
    # within five standard errors (t(5) has a finite variance of this product: fourth moments)
    assert abs(values.mean() - expected) <= 5 * values.std() / np.sqrt(len(values))


def test_the_odd_part_of_the_network_is_linear(network):
    draw = np.random.default_rng(3)
    w, x = draw.standard_normal(network.filter_size), draw.standard_normal((5, network.n_inputs))
    odd = (network(w, x) - network(w, -x)) / 2
    expected = (1 + network.leak) / 2 * x @ network.mean_gate.T @ w
    np.testing.assert_allclose(odd, expected, rtol=1e-10, atol=1e-12)


def test_true_weights_follow_their_own_seed():
    network = nt.networks.relu_gate(4)
    one, two = (nt.Problem.draw(network, law, seed=5) for law in (nt.Normal(), nt.Laplace()))
    np.testing.assert_array_equal(one.true_weights, two.true_weights)
    assert not np.array_equal(
        one.true_weights, nt.Problem.draw(network, nt.Normal(), seed=6).true_weights
    )


def test_training_starts_at_ones_unless_told():
    network = nt.networks.relu_gate(3)
    np.testing.assert_array_equal(nt.Problem.draw(network, nt.Normal()).initial_weights, np.ones(3))
    start = [1.0, 2.0, 3.0]
    problem = nt.Problem.draw(network, nt.Normal(), initial_weights=start)
    np.testing.assert_array_equal(problem.initial_weights, start)


# ---- data ----------------------------------------------------------------------------------------


def test_a_problem_is_what_its_data_say():
    data = nt.data.Simulated(nt.Laplace(), [1.0, 2.0], 0.3)
    problem = nt.Problem(nt.networks.relu_gate(2), data)
    assert problem.law is data.law
    np.testing.assert_array_equal(problem.true_weights, data.true_weights)
    assert problem.noise == 0.3


def test_given_true_weights_are_not_drawn():
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Normal(), true_weights=[1, 2], seed=5)
    np.testing.assert_array_equal(problem.true_weights, [1.0, 2.0])


def test_rows_bring_their_law_and_maybe_their_true_weights():
    X, y = np.eye(3), np.ones(3)
    problem = nt.Problem.from_rows(nt.networks.relu_gate(3), X, y, initial_weights=[0, 0, 1])
    assert problem.true_weights is None
    assert problem.noise == 0.0
    np.testing.assert_allclose(problem.covariance, np.eye(3) / 3.0)
    np.testing.assert_array_equal(problem.initial_weights, [0.0, 0.0, 1.0])


@pytest.mark.parametrize("trainer", [nt.NeuroTron("fastest"), nt.SGD(0.1), nt.RefinedTron()])
def test_an_intercept_is_learned_from_rows_that_are_not_centred(trainer):
    draw = np.random.default_rng(4)
    X = draw.normal([0.0, 1.0, -1.0], size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + 4.0
    problem = nt.Problem.from_rows(nt.networks.linear(3), X, y, intercept=True)
    assert problem.network.n_inputs == problem.network.filter_size == 4
    run = nt.simulate(problem, [nt.Arm(trainer)], steps=6000, batch_size=20)
    np.testing.assert_allclose(run.weights[0], [1.0, -2.0, 0.5, 4.0], atol=1e-8)
    predicted = problem.network(run.weights[0], problem.data.X)
    np.testing.assert_allclose(predicted, y, atol=1e-7)
