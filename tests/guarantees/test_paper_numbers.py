"""The paper's own numbers in a certificate by Theorem 1: sections 3.1, 3.3 and 3.4."""

from __future__ import annotations

import math

import pytest

import neurotron as nt
from neurotron.guarantees.paper import paper_numbers
from neurotron.theory import gaussian_risk_probability, gaussian_trade_off


def certified(scale=0.1, probability=0.02, bound=0.25, network=None, method="theorem1", **arm):
    network = nt.networks.relu_gate(5) if network is None else network
    problem = nt.Problem.draw(network, nt.Normal(scale=scale), seed=0)
    attack = nt.attacks.Adaptive(bound, probability) if bound else None
    trainer = nt.NeuroTron(arm.get("step_size", 0.38), "mean")
    return nt.certify(problem, nt.Arm(trainer, attack), batch_size=16, steps=40_000, method=method)


def test_the_risk_is_bounded_by_theta_star_exactly_where_the_ratio_is_below_one():
    limit = gaussian_risk_probability(5, 0.1, 0.95)
    for factor in (0.99, 1.01):
        certificate = certified(probability=factor * limit, bound=0.1)
        assert certificate.holds
        ratio = certificate.constants["risk_ratio"]
        assert f"(δ c_trade) = {ratio:.4g}. Below 1, the risk" in " ".join(
            paper_numbers(certificate)
        )
        # the certificate's own bound on predictions, as a part of θ*, is the root of the ratio
        part = certificate.prediction_error / certificate.constants["theta_star"]
        assert part**2 == pytest.approx(certificate.constants["risk_ratio"], rel=1e-6)
        assert (part < 1.0) is (factor < 1.0)


def test_the_exact_number_of_steps_stands_beside_that_by_c_rate():
    certificate = certified()
    constants = certificate.constants
    assert constants["steps_by_c_rate"] >= constants["steps_exact"] > 0
    said = " ".join(paper_numbers(certificate))
    assert f"needs {constants['steps_by_c_rate']:,.0f} steps" in said
    assert f"itself needs {constants['steps_exact']:,.0f}" in said
    assert f"c_rate = {constants['c_rate']:.4g}" in said
    assert certificate.to_dict()["constants"]["C"] == constants["C"] < 1.0


def test_a_negative_c_trade_is_named_and_nothing_follows_from_it():
    certificate = certified(probability=0.5)
    assert not certificate.holds
    (said,) = paper_numbers(certificate)
    assert f"c_trade = {gaussian_trade_off(5, 0.1, 0.5):.4g}; case 2" in said  # by Lemma 1


def test_without_an_attack_there_are_gamma_and_c_alone():
    certificate = certified(bound=0.0)
    (said,) = paper_numbers(certificate)
    assert said.startswith("γ = ")
    assert "C = " in said
    assert math.isinf(certificate.constants["c_rate"])


def test_other_certificates_have_no_such_numbers():
    certificate = certified(method="sharp")
    assert paper_numbers(certificate) == []
