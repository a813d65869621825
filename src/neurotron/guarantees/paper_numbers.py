"""The paper's own numbers about a certificate by Theorem 1, in words (its sections 3.1 to 3.4)."""

from __future__ import annotations

import math

import numpy as np

from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.laws import Normal
from neurotron.problem import Problem
from neurotron.theory.corollaries import gaussian_risk_probability, gaussian_scale

__all__ = ["is_lemma_1", "paper_numbers"]


def paper_numbers(problem: Problem, certificate: TrainingCertificate) -> list[str]:
    """Return what the paper says with the constants of a certificate, one sentence each.

    There are none if the certificate is not by Theorem 1, or if its constants do not exist.
    """
    constants = certificate.constants
    if certificate.method != "theorem1" or "c_trade" not in constants:
        return []
    attacked = constants["beta1"] > 0.0
    found = [*_trade_off(problem, certificate)] if attacked else []
    if "gamma" in constants:
        found += _rate(certificate)
    if attacked:
        found += _risk(problem, certificate)
    return found


def _trade_off(problem: Problem, certificate: TrainingCertificate) -> list[str]:
    trade_off, beta = certificate.constants["c_trade"], certificate.budget.probability
    found = [f"c_trade = {trade_off:.4g} (Theorem 1, case 2; it must be positive)."]
    if not is_lemma_1(problem, certificate) or not beta:
        return found
    n, law = problem.network.n_inputs, problem.law
    assert isinstance(law, Normal)
    found[0] = f"c_trade = {trade_off:.4g} by Lemma 1, for one ReLU gate and N(0, σ²) inputs."
    if trade_off > 0.0:
        scale = gaussian_scale(2 * n, trade_off, beta)
        found.append(
            f"σ² must grow with the number of inputs to keep it: with {2 * n} inputs instead of "
            f"{n}, σ = {scale:.4g} instead of {law.scale:g} (section 3.3)."
        )
    else:
        found.append(
            f"It is positive for σ above {gaussian_scale(n, 0.0, beta):.4g} (section 3.3)."
        )
    return found


def _rate(certificate: TrainingCertificate) -> list[str]:
    """Return γ, C and c_rate, and the steps by them beside the exact ones."""
    constants = certificate.constants
    found = [
        f"γ = {constants['gamma']:.4g}; it must exceed 1, and need not exceed C = "
        f"{constants['C']:.2g}, as the paper asks."
    ]
    exact, formula = constants.get("steps_exact"), constants.get("steps_by_c_rate")
    if not constants["theta_star"] or exact is None or formula is None:
        return found
    found.append(
        f"c_rate = {constants['c_rate']:.4g}, for this batch size and β. With it, the paper's "
        f"formula T = O(log(‖w₁ − w*‖²/(ε²δ − θ²/c_rate))) needs {formula:,.0f} steps for this "
        f"accuracy, where the recursion itself needs {exact:,.0f}; the smaller number is used."
    )
    return found


def _risk(problem: Problem, certificate: TrainingCertificate) -> list[str]:
    """Return the condition of section 3.4, what it says, and the β that it allows."""
    constants, delta = certificate.constants, certificate.failure
    ratio, bound = constants["risk_ratio"], constants.get("theta_star", 0.0)
    words = "at least 1" if ratio >= 1.0 else "below 1"
    text = f"(1+α)²λ₃m₂/(δ c_trade) = {ratio:.4g} is {words} (section 3.4)"
    if not math.isfinite(ratio):
        text = "The condition of section 3.4 needs c_trade > 0"
    if ratio < 1.0 and bound:
        text += (
            f", so with the same probability the risk E(f_w(x) − f_w*(x))² is at most θ*² = "
            f"{bound**2:.4g}"
        )
    elif ratio >= 1.0:
        text += ", so the paper does not bound the risk by θ*²"
    found = [f"{text}."]
    if is_lemma_1(problem, certificate):
        assert isinstance(problem.law, Normal)
        most = gaussian_risk_probability(problem.network.n_inputs, problem.law.scale, delta)
        found.append(f"For this gate and these inputs, that condition is β < {most:.4g}.")
    return found


def is_lemma_1(problem: Problem, certificate: TrainingCertificate) -> bool:
    """Tell whether it is the case of Lemma 1: one ReLU gate, N(0, σ²I) inputs, M a multiple of I.

    That M is a multiple of I can be seen from λ1 = σ² λ2.
    """
    network, law, constants = problem.network, problem.law, certificate.constants
    return (
        type(law) is Normal
        and network.width == 1
        and network.leak == 0.0
        and network.activation is None
        and network.filter_size == network.n_inputs
        and np.array_equal(network.mean_gate, np.eye(network.n_inputs))
        and math.isclose(constants["lambda1"], law.scale**2 * constants["lambda2"], rel_tol=1e-9)
    )
