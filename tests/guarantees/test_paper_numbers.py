"""The paper's own numbers in a certificate by Theorem 1: sections 3.1, 3.3 and 3.4."""

from __future__ import annotations

import math

import pytest

import neurotron as nt
from neurotron.guarantees.paper import is_lemma_1, paper_numbers
from neurotron.theory import gaussian_risk_probability, gaussian_scale, gaussian_trade_off


def certified(scale=0.1, probability=0.02, bound=0.25, network=None, method="theorem1", **arm):
    network = nt.networks.relu_gate(5) if network is None else network
    problem = nt.Problem.draw(network, nt.Normal(scale=scale), seed=0)
    attack = nt.attacks.Adaptive(bound, probability) if bound else None
    trainer = nt.NeuroTron(arm.get("step_size", 0.38), "mean")
    certificate = nt.certify(
        problem, nt.Arm(trainer, attack), batch_size=16, steps=40_000, method=method
    )
    return problem, certificate


def test_the_case_of_lemma_1_has_its_trade_off_its_inverse_and_the_bound_on_beta():
    problem, certificate = certified()
    assert certificate.holds
    said = " ".join(paper_numbers(problem, certificate))
    assert f"c_trade = {gaussian_trade_off(5, 0.1, 0.02):.4g} by Lemma 1" in said
    wider = gaussian_scale(10, gaussian_trade_off(5, 0.1, 0.02), 0.02)
    assert f"with 10 inputs instead of 5, σ = {wider:.4g} instead of 0.1" in said
    assert f"β < {gaussian_risk_probability(5, 0.1, 0.05):.4g}" in said


def test_the_risk_is_bounded_by_theta_star_exactly_where_the_ratio_is_below_one():
    limit = gaussian_risk_probability(5, 0.1, 0.05)
    for factor, words in ((0.99, "the risk E(f_w(x) − f_w*(x))² is at most θ*²"),
                          (1.01, "does not bound the risk")):  # fmt: skip
        problem, certificate = certified(probability=factor * limit, bound=0.1)
        assert certificate.holds
        assert any(words in one for one in paper_numbers(problem, certificate))
        # the certificate's own bound on predictions, as a part of θ*, is the root of the ratio
        part = certificate.prediction_error / certificate.constants["theta_star"]
        assert part**2 == pytest.approx(certificate.constants["risk_ratio"], rel=1e-6)
        assert (part < 1.0) is (factor < 1.0)


def test_the_exact_number_of_steps_stands_beside_that_by_c_rate():
    problem, certificate = certified()
    constants = certificate.constants
    assert constants["steps_by_c_rate"] >= constants["steps_exact"] > 0
    said = " ".join(paper_numbers(problem, certificate))
    assert f"needs {constants['steps_by_c_rate']:,.0f} steps" in said
    assert f"itself needs {constants['steps_exact']:,.0f}" in said
    assert f"c_rate = {constants['c_rate']:.4g}" in said
    assert certificate.to_dict()["constants"]["C"] == constants["C"] < 1.0


def test_where_c_trade_is_negative_the_scale_that_makes_it_positive_is_named():
    problem, certificate = certified(probability=0.5)
    assert not certificate.holds
    said = " ".join(paper_numbers(problem, certificate))
    assert f"It is positive for σ above {gaussian_scale(5, 0.0, 0.5):.4g}" in said
    assert "needs c_trade > 0" in said


def test_another_network_is_not_the_case_of_lemma_1():
    network = nt.networks.symmetric(8, 2, 4, seed=1)
    problem, certificate = certified(scale=1.0, probability=1e-4, network=network, step_size=1e-5)
    assert not is_lemma_1(problem, certificate)
    said = " ".join(paper_numbers(problem, certificate))
    assert "c_trade =" in said
    assert "Lemma 1" not in said


def test_without_an_attack_there_are_gamma_and_c_alone():
    problem, certificate = certified(bound=0.0)
    (said,) = paper_numbers(problem, certificate)
    assert said.startswith("γ = ")
    assert "C = " in said
    assert math.isinf(certificate.constants["c_rate"])


def test_other_certificates_have_no_such_numbers():
    problem, certificate = certified(method="sharp")
    assert paper_numbers(problem, certificate) == []
