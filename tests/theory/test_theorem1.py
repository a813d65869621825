"""Theorem 1 of the paper: closed forms, limit cases, and its own recursion by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.workloads import FOUR_LAWS
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gamma as gamma_function

import neurotron as nt
from neurotron.networks import sensing
from neurotron.theory import (
    Theorem1,
    gaussian_risk_probability,
    gaussian_trade_off,
    lambda1,
    lambda2,
    lambda3,
    outer_weight_accuracy,
)


@st.composite
def theorems(draw, attacked=True):
    n, b = draw(st.integers(1, 8)), draw(st.integers(1, 32))
    leak, scale = draw(st.sampled_from([0.0, 0.2, 1.0])), draw(st.floats(0.5, 20.0))
    problem = nt.Problem.draw(nt.networks.relu_gate(n, leak=leak), nt.Normal(scale=scale))
    largest = Theorem1.of(problem, np.eye(n), None, b).largest_probability
    beta = draw(st.floats(0.05, 0.95)) * min(largest, 1.0)
    budget = nt.Budget(draw(st.floats(0.01, 1.0)), beta) if attacked else None
    return Theorem1.of(problem, np.eye(n), budget, b)


@pytest.mark.parametrize("n", [1, 2, 10, 100, 1000])
def test_lemma_1_is_the_trade_off_of_a_single_gate(n):
    problem = nt.Problem.draw(nt.networks.relu_gate(n), nt.Normal(scale=30.0))
    theorem = Theorem1.of(problem, np.eye(n), nt.Budget(1.0, 0.3), 4)
    assert theorem.trade_off == pytest.approx(gaussian_trade_off(n, 30.0, 0.3), rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_the_gaussian_beta_bound_is_where_the_risk_ratio_is_one(n):
    bound = gaussian_risk_probability(n, 2.0, 0.05)
    printed = gamma_function(n / 2) / gamma_function((n + 1) / 2) / math.sqrt(2.0)
    assert gaussian_risk_probability(n, 1.0, 0.05) == pytest.approx(printed / (1 + n / 0.05))
    problem = nt.Problem.draw(nt.networks.relu_gate(n), nt.Normal(scale=2.0))
    for factor, holds in ((0.999, True), (1.001, False)):
        theorem = Theorem1.of(problem, np.eye(n), nt.Budget(1.0, factor * bound), 4)
        assert (theorem.risk_ratio(0.05) < 1.0) is holds


@given(theorems())
def test_the_trade_off_is_positive_exactly_below_the_largest_probability(theorem):
    assert theorem.trade_off > 0.0
    assert theorem.attacked[0] == pytest.approx(
        theorem.largest_probability * theorem.norms[0] / (1.0 + theorem.trade_off), rel=1e-9
    )
    assert theorem.scale_needed < 1.0


@given(theorems(), st.floats(1.01, 50.0), st.integers(0, 200))
def test_its_bound_is_its_recursion_iterated(theorem, gamma, updates):
    """Δ ← Δ − (b*²/c1)(1/γ − 1/γ²)Δ + (b*/(γc1))²c2 + (b*/(γc1))c3, as the paper has it."""
    b_star, c1, c2, c3 = theorem.margin, theorem.c1, theorem.c2, theorem.c3
    delta = 3.0
    for _ in range(updates):
        factor = b_star / (gamma * c1)
        delta = delta * (1 - b_star**2 / c1 * (1 / gamma - 1 / gamma**2))
        delta += factor**2 * c2 + factor * c3
    assert theorem.after(3.0, updates, gamma) == pytest.approx(delta, rel=1e-9)


@given(theorems(), st.floats(1.2, 30.0))
def test_T_is_the_smallest_and_no_gamma_needs_fewer(theorem, above):
    target = above * theorem.c3 / theorem.margin
    start = 50.0 * target
    gamma = theorem.best_gamma(start, target)
    assert gamma > theorem.least_gamma(target)
    updates = theorem.updates_to(start, target, gamma)
    assert theorem.after(start, updates, gamma) <= target
    assert theorem.after(start, updates - 1, gamma) > target
    for other in np.geomspace(1.001, 100.0, 40):
        rival = theorem.updates_to(start, target, theorem.least_gamma(target) * float(other))
        assert rival is None or rival >= updates * (1.0 - 1e-6) - 1


@given(theorems(attacked=False))
def test_without_an_attack_gamma_2_is_best_and_the_constants_are_those_of_case_1(theorem):
    b, (_, m2, _, m4) = theorem.batch_size, theorem.norms
    spread = m4 / b + m2**2 * (1 - 1 / b)
    eta = theorem.lambda1 / (2.0 * theorem.pull * theorem.lambda2**2 * theorem.lambda3 * spread)
    assert theorem.step_size(2.0) == pytest.approx(eta, rel=1e-12)
    rate = 0.25 * theorem.lambda1**2 / (theorem.lambda2**2 * theorem.lambda3 * spread)
    assert theorem.rate(2.0) == pytest.approx(rate, rel=1e-12)
    assert theorem.best_gamma(1.0, 1e-6) == 2.0
    assert theorem.rate(2.0) >= max(theorem.rate(1.9), theorem.rate(2.1))
    assert theorem.floor(2.0) == 0.0


def test_theta_star_is_where_the_least_gamma_goes_to_infinity():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(scale=5.0))
    base = Theorem1.of(problem, np.eye(4), nt.Budget(1.0, 0.2), 4)
    limit = base.largest_bound(0.1)
    below, above = (
        Theorem1.of(problem, np.eye(4), nt.Budget(limit * factor, 0.2), 4)
        for factor in (0.99, 1.01)
    )
    assert math.isfinite(below.least_gamma(0.1))
    assert above.least_gamma(0.1) == math.inf


@pytest.mark.parametrize(("setting", "expected"), [(FOUR_LAWS[0], -0.61), (FOUR_LAWS[2], -0.61)])
def test_the_papers_own_settings_are_outside_theorem_1(setting, expected):
    """c_trade of the Gaussian M at β = 0.5, mean of 8 nets.

    docs/errata.md#e5 has the mean over many nets.
    """
    values = []
    for seed in range(8):
        problem = setting.problem(seed=seed)
        budget = nt.Budget(0.25, 0.5)
        theorem = Theorem1.of(problem, problem.network.mean_gate, budget, 16)
        values.append(theorem.trade_off)
    assert max(values) < 0.0
    assert np.mean(values) == pytest.approx(expected, abs=0.08)


def test_certified_rates_are_those_of_docs_theory_section_f():
    """Theorem 1: 3.5e-8 with M = Ā, 2.7e-7 with polar; sharp with optimal: 1.8e-2."""
    network = nt.networks.symmetric(100, 25, 10, seed=0)
    problem = nt.Problem.draw(network, nt.Normal(), seed=0)
    polar = sensing.polar(network, problem.covariance)
    rates = [Theorem1.of(problem, m, None, 16).rate(2.0) for m in (network.mean_gate, polar)]
    assert rates[0] == pytest.approx(3.5e-8, rel=0.3)
    assert rates[1] == pytest.approx(2.7e-7, rel=0.3)
    certificate = nt.certify(problem, nt.Arm(nt.NeuroTron("fastest")), batch_size=16, steps=1)
    assert 1.0 - certificate.mean_square_bounds[-1] / certificate.mean_square_bounds[
        0
    ] == pytest.approx(1.8e-2, rel=0.1)


def test_heavier_outer_weights_allow_a_better_accuracy():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(scale=5.0))
    theorem = Theorem1.of(problem, np.eye(4), nt.Budget(0.5, 0.2), 4)
    plain = outer_weight_accuracy(theorem, 1.0, 0.05)
    assert plain == pytest.approx(0.5 / math.sqrt(0.05 * theorem.trade_off))
    assert outer_weight_accuracy(theorem, 2.0, 0.05) < plain
    heavier = nt.networks.relu_gate(4, outer_weights=4.0)
    scaled = nt.Problem.draw(heavier, nt.Normal(scale=5.0))
    other = Theorem1.of(scaled, np.eye(4), nt.Budget(0.5, 0.2), 4)
    assert outer_weight_accuracy(theorem, 2.0, 0.05) == pytest.approx(
        outer_weight_accuracy(other, 1.0, 0.05)
    )


def test_its_constants_are_the_public_ones():
    network = nt.networks.symmetric(9, 4, 6, seed=3, leak=0.3)
    problem = nt.Problem.draw(network, nt.Laplace(), seed=3)
    m = network.mean_gate
    theorem = Theorem1.of(problem, m, nt.Budget(1.0, 0.25), 16)
    assert theorem.lambda1 == lambda1(problem, m)
    assert theorem.lambda2 == lambda2(m)
    assert theorem.lambda3 == lambda3(network)
    assert theorem.attacked == tuple(0.25 * problem.norm_moment(i) for i in (1, 2, 3))


def test_one_step_of_the_worst_attacker_stays_below_the_recursion():
    """The paper's bound on one step, against 4000 batches of the adaptive attack."""
    network = nt.networks.relu_gate(3)
    problem = nt.Problem.draw(network, nt.Normal(scale=4.0), true_weights=[1.0, -1.0, 0.5])
    attack = nt.attacks.Adaptive(0.5, 0.3)
    theorem = Theorem1.of(problem, np.eye(3), attack, 4)
    gamma = 3.0
    arm = nt.Arm(nt.NeuroTron(theorem.step_size(gamma), np.eye(3)), attack)
    errors = [
        nt.simulate(problem, [arm], steps=1, batch_size=4, replicate=i).errors[0, -1]
        for i in range(400)
    ]
    assert np.mean(np.square(errors)) <= theorem.after(problem.initial_error() ** 2, 1, gamma)


def test_an_impersonator_leads_the_mean_where_theory_says():
    """E[w_t] exactly, within five standard errors of 400 runs."""
    network = nt.networks.symmetric(6, 2, 4, seed=1, leak=0.2)
    problem = nt.Problem.draw(network, nt.Uniform(), seed=1)
    liar = nt.attacks.Impersonation(weights=[2.0, -1.0], bound=100.0, probability=0.4)
    arm = nt.Arm(nt.NeuroTron(0.05, "mean"), liar)
    mean = nt.guarantees.impersonated_mean(problem, arm, steps=[60])[0]
    runs = np.array(
        [
            nt.simulate(problem, [arm], steps=60, batch_size=4, replicate=i).weights[0]
            for i in range(400)
        ]
    )
    error = 5.0 * runs.std(axis=0) / math.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - mean) <= error).all()


def test_at_probability_one_an_impersonator_wins():
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Rademacher(), true_weights=[1.0, 2.0])
    liar = nt.attacks.Impersonation(weights=[3.0, 2.0], bound=10.0)
    arm = nt.Arm(nt.NeuroTron(0.3), liar)
    run = nt.simulate(problem, [arm], steps=400, batch_size=4)
    np.testing.assert_allclose(run.weights[0], [3.0, 2.0], atol=1e-6)
    mean = nt.guarantees.impersonated_mean(problem, arm, steps=10**6)
    np.testing.assert_allclose(mean, [[3.0, 2.0]], atol=1e-9)


@given(theorems(), st.floats(0.01, 100.0))
def test_c1_and_c2_bound_the_second_moment_of_a_step(theorem, part):
    """c1 d² + c2 ≥ (c²m4d² + 2cθβ3d + θ²β2)/b + (1 − 1/b)(θβ1 + cm2d)², c = (1+α)√λ3.

    The right side is the proof's, before 2cθd ≤ c²d² + θ²; with cd = θ both sides are equal.
    """
    c, theta = theorem.pull * math.sqrt(theorem.lambda3), theorem.bound
    b = theorem.batch_size
    (beta1, beta2, beta3), (_, m2, _, m4) = theorem.attacked, theorem.norms

    def right(d: float) -> float:
        alone = c**2 * m4 * d**2 + 2.0 * c * theta * beta3 * d + theta**2 * beta2
        return alone / b + (1.0 - 1.0 / b) * (theta * beta1 + c * m2 * d) ** 2

    def left(d: float) -> float:
        return theorem.c1 * d**2 + theorem.c2

    assert left(theta / c) == pytest.approx(right(theta / c), rel=1e-9)
    assert left(part * theta / c) >= right(part * theta / c) * (1.0 - 1e-12)
