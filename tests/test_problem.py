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
