"""Honest noise: what a certificate states about it, and how far its radius is from the error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neurotron as nt

NETWORK = nt.networks.symmetric(40, 10, 6, seed=1)
LIGHT = [nt.Normal(), nt.Uniform(), nt.Rademacher(), nt.Correlated(nt.Normal(), 2.0 * np.eye(40))]
SMALL_STEP = 2e-3


def certify(law: nt.Law, budget: nt.Budget | None = None, noise: float = 1.0, **options):
    problem = nt.Problem.draw(NETWORK, law, noise=noise, seed=1)
    weighting = options.pop("weighting", None)
    trainer = nt.NeuroTron(options.pop("step_size", SMALL_STEP), weighting=weighting)
    return nt.certify(problem, trainer, budget=budget, **({"steps": 15_000} | options))


def radius_over_error(certificate) -> float:
    return certificate.radius / certificate.root_mean_square


def about_noise(certificate) -> str:
    (found,) = (a for a in certificate.assumptions if a.name == "noise")
    assert found.mark == "•"
    return found.statement


@pytest.mark.parametrize("law", LIGHT, ids=repr)
def test_the_radius_of_noise_is_at_most_2_4_errors_for_light_tails(law):
    """By Markov's inequality it is 4.47."""
    certificate = certify(law)
    assert radius_over_error(certificate) <= 2.4
    assert about_noise(certificate).endswith("Its fourth moment is at most 3 times that squared.")


@pytest.mark.parametrize(
    ("law", "options"),
    [
        (nt.Laplace(), {}),
        (nt.StudentT(9.0), {}),
        (nt.Normal(), {"weighting": "inverse-norm", "step_size": 0.1}),
        (nt.Normal(), {"budget": nt.Budget(0.01, 0.01, "batch")}),
        (nt.Normal(), {"random_start": True, "initial_error": 10.0}),
    ],
    ids=["Laplace", "t(9)", "weights", "batch", "random start"],
)
def test_otherwise_the_radius_uses_variances_and_says_so(law, options):
    certificate = certify(law, **options)
    assert radius_over_error(certificate) > 4.0
    assert "The radius uses no fourth moment" in about_noise(certificate)


def test_noise_of_an_unknown_kind_has_no_guarantee():
    class Other(nt.data.Simulated):
        pass

    problem = nt.Problem(NETWORK, Other(nt.Normal(), np.ones(10), 1.0))
    assert problem.noise_kurtosis == math.inf
    assert not nt.certify(problem, nt.NeuroTron(SMALL_STEP), steps=1000).holds


def test_without_noise_nothing_is_stated_about_it():
    for budget in (None, nt.Budget(1.0, 0.5)):
        certificate = certify(nt.Normal(), budget, noise=0.0)
        assert "noise" not in [a.name for a in certificate.assumptions]


def test_under_attack_the_radius_is_nearer_to_the_error_than_by_variances():
    light, other = (certify(law, nt.Budget(1.0, 0.5), noise=0.0) for law in LIGHT[::3])
    assert radius_over_error(light) < 1.3
    heavy = certify(nt.Laplace(), nt.Budget(1.0, 0.5), noise=0.0)
    assert radius_over_error(heavy) > 1.35
    assert radius_over_error(other) == pytest.approx(radius_over_error(light), rel=0.2)


def test_more_confidence_costs_little():
    radii = [certify(nt.Normal(), confidence=c).radius for c in (0.95, 0.99, 0.9999)]
    assert radii == sorted(radii)
    assert radii[1] < 1.55 * radii[0]  # 2.24 by Markov's inequality
    assert radii[2] < 5.0 * radii[0]  # 22.4


def test_radii_along_the_way_and_of_other_schedules_use_fourth_moments():
    problem = nt.Problem.draw(NETWORK, nt.Normal(), noise=1.0, seed=1)
    other = nt.Problem.draw(NETWORK, nt.Normal(), noise=1.5, seed=1)
    arm = nt.plan(other, None, radius=0.2, step_size="scheduled").arm
    certificate = nt.certify(problem, arm, steps=15_000)
    assert radius_over_error(certificate) < 3.5
    constant = certify(nt.Normal(), steps=30_000)  # beyond 20,000 steps variances only
    errors = np.sqrt(constant.mean_square_bounds)
    assert ((constant.radii / errors)[constant.at_steps <= 20_000] < 2.4).any()
    assert radius_over_error(constant) > 4.4
