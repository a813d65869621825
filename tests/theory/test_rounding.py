"""Rounding errors: no guarantee is below what floating point resolves, and none is broken by it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import neurotron as nt
from neurotron.theory.rounding import LEAST, UNIT


def nearly_cancelling(epsilon: float) -> nt.FilterNetwork:
    """Gates ±B + εC, whose outputs are differences of numbers 1/ε times as large."""
    first, second = np.random.default_rng(0).standard_normal((2, 4, 8))
    return nt.networks.from_gates([first + epsilon * second, epsilon * second - first], leak=1.0)


NETWORKS = {
    "cancels to 1e-3": nearly_cancelling(1e-3),
    "cancels to 1e-6": nearly_cancelling(1e-6),
    "symmetric": nt.networks.symmetric(12, 4, 6, seed=1),
    "leaky": nt.networks.symmetric(12, 4, 6, seed=1, leak=0.3),
    "convolution": nt.networks.convolution(12, 4, 4),
    "one gate": nt.networks.relu_gate(3),
}


def certify(problem, step_size="fastest", attack=None, **options):
    arm = nt.Arm(nt.NeuroTron(step_size), attack)
    return nt.certify(problem, arm, **({"batch_size": 16} | options))


def measured(problem, steps=2000, step_size="fastest"):
    """Return the root mean squared error of the second half of a clean run."""
    arm = nt.Arm(nt.NeuroTron(step_size))
    run = nt.simulate(problem, [arm], steps=steps, batch_size=16, record=steps // 40)
    return math.sqrt((run.errors[0, 20:] ** 2).mean())


@pytest.mark.parametrize("name", NETWORKS)
def test_clean_runs_end_below_the_rounding_floor(name):
    problem = nt.Problem.draw(NETWORKS[name], nt.Normal(), seed=1)
    certificate = certify(problem)
    assert measured(problem) < certificate.floor == certificate.rounding < 1e-6
    smaller = 0.1 * certificate.step_size
    assert measured(problem, 6000, smaller) < certify(problem, smaller).floor


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6])
def test_a_floor_of_storing_weights_alone_would_be_broken(epsilon):
    """Where gates nearly cancel, the rounding of outputs counts for most of the floor."""
    problem = nt.Problem.draw(nearly_cancelling(epsilon), nt.Normal(), seed=1)
    certificate = certify(problem)
    kappa = 1.0 - certificate.step_size * certificate.constants["lambda1"]
    length = float(np.linalg.norm(problem.true_weights))
    stored = UNIT * length / (1.0 - math.sqrt(kappa))
    assert measured(problem) > 10.0 * stored
    if epsilon == 1e-6:  # the numbers of docs/theory.md
        found = [measured(problem), stored, certificate.floor]
        np.testing.assert_allclose(found, [4e-11, 6e-16, 2.6e-7], rtol=0.15)


def test_no_radius_is_below_the_floor_however_many_steps(small_problem):
    for steps in (2000, 40_000, 10**9, None):
        certificate = certify(small_problem, steps=steps)
        radius = certificate.rounding / math.sqrt(0.05)
        assert 1e-16 < certificate.rounding < 1e-9
        assert radius <= certificate.radius <= 1.01 * radius
        assert (np.sqrt(certificate.mean_square_bounds[1:]) >= 1e-15).all()
        assert 0.0 < certificate.limit <= certificate.floor
        assert certificate.to_dict()["rounding"] == certificate.rounding
        text = " ".join(str(certificate).split())
        assert "not resolved by floating point" in text
        assert "‖ ≤ 0" not in text
    assert "floating point" not in str(certify(small_problem, steps=20))


def test_a_bound_that_underflows_is_not_zero():
    problem = nt.Problem.draw(nt.networks.relu_gate(1), nt.Normal(), true_weights=[-2.0])
    for steps in (1000, 10**6, None):
        assert 1e-17 < certify(problem, steps=steps).radius < 1e-12
    nothing = nt.Problem.draw(nt.networks.relu_gate(1), nt.Normal(), true_weights=[0.0])
    assert certify(nothing, steps=10**6).radius >= LEAST
    assert (
        certify(
            nt.Problem.draw(nt.networks.relu_gate(1), nt.Normal(), true_weights=[1.0]), steps=0
        ).radius
        > 0.0
    )


def test_the_floor_of_theorem_1_is_that_of_its_own_slow_rate():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(), seed=1)
    certificate = certify(problem, 0.01, method="theorem1", steps=10**7)
    sharp = certify(problem, 0.01, steps=10**7)
    assert certificate.holds
    assert 1e-15 < sharp.radius < certificate.radius < 1e-9
    assert "not resolved by floating point" in " ".join(str(certificate).split())


def test_under_attack_rounding_is_hardly_seen(small_problem):
    attack = nt.attacks.Adaptive(0.5, 0.3)
    for step_size in ("fastest", "scheduled", 1e-3):
        certificate = certify(small_problem, step_size, attack, steps=5000)
        assert 0.0 < certificate.rounding < 1e-9 * certificate.floor
        assert "floating point" not in str(certificate)


def test_steps_too_small_to_undo_rounding_have_a_large_floor(small_problem):
    """A step of 1e-16 is lost when it is stored; a few of them do little harm."""
    long, short = (certify(small_problem, 1e-16, steps=steps) for steps in (None, 1000))
    assert long.radius > 1.0
    assert short.rounding < 1e-12


def test_weights_are_stored_as_exactly_as_they_are_large_and_not_as_the_true_ones_are():
    """With w* = 0 and steps of 1e-17 nothing moves from the start: no radius is below it."""
    problem = nt.Problem.draw(
        nt.networks.relu_gate(2), nt.Normal(), true_weights=np.zeros(2), initial_weights=[10.0, 5.0]
    )
    certificate = certify(problem, 1e-17, steps=None)
    run = nt.simulate(problem, [certificate.arm], steps=1000, batch_size=certificate.batch_size)
    assert certificate.radius > run.errors[0, -1] > 11.0


def test_large_true_weights_are_reached_and_not_taken_for_divergence():
    problem = nt.Problem.draw(
        nt.networks.relu_gate(4), nt.Normal(), true_weights=[3e6, -3e6, 3e6, 3e6]
    )
    certificate = certify(problem, "fastest", steps=1000)
    run = nt.simulate(problem, [certificate.arm], steps=1000, batch_size=certificate.batch_size)
    assert run.status == ("finished",)
    assert run.errors[0, -1] <= certificate.radius < 1e-3


def test_before_the_first_step_the_start_is_what_it_is(small_problem):
    at_the_truth = nt.Problem.draw(small_problem.network, nt.Normal(), true_weights=np.ones(4))
    assert certify(at_the_truth, 5.0, steps=0).radius < 1e-12


def test_a_step_too_large_amplifies_rounding_with_the_error(small_problem):
    certificate = certify(small_problem, 5.0, steps=30)
    assert certificate.holds
    assert certificate.rounding < 1e-9 * certificate.radius
    at_the_truth = nt.Problem.draw(small_problem.network, nt.Normal(), true_weights=np.ones(4))
    grown = certify(at_the_truth, 5.0, steps=30)
    assert grown.radius > 1e6
    assert grown.is_rounding


def test_who_does_not_know_the_true_weights_gets_a_floor_for_all_that_are_near(small_problem):
    unknown = nt.Problem(small_problem.network, nt.data.Simulated(small_problem.law))
    error = small_problem.initial_error()
    near, far = (certify(unknown, initial_error=times * error) for times in (1.0, 10.0))
    assert certify(small_problem).rounding < near.rounding < far.rounding


def test_what_cancels_between_basis_matrices_counts(network):
    """Outputs are computed from the basis: |A_i| alone would be too small."""
    share = network.steepest * np.abs(network.share)
    entrywise = np.einsum("k,krn->rn", share, np.abs(network.gates))
    assert (network.magnitude >= entrywise * (1.0 - 1e-12)).all()
    if network.mix is None:
        np.testing.assert_allclose(network.magnitude, entrywise)


@pytest.mark.parametrize("method", ["sharp", "theorem1"])
def test_no_plan_promises_what_rounding_may_spoil(method):
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(), seed=1)
    options = {"batch_size": 8, "method": method}
    with pytest.raises(nt.NotAchievable, match="floating point is not certain") as refused:
        nt.plan(problem, None, radius=1e-30, **options)
    nearest = float(str(refused.value).rpartition("above ")[2].partition(",")[0])
    assert 1e-16 < nearest < 1e-8
    found = nt.plan(problem, None, radius=1.05 * nearest, **options)
    assert found.certificate.radius <= 1.05 * nearest
    best = nt.plan(problem, None, steps=10**6, **options).certificate
    assert nearest <= 1.001 * best.radius
    assert best.radius <= 2.0 * nearest
    with pytest.raises(nt.NotAchievable, match="floating point is not certain"):
        nt.plan(problem, nt.Budget(None, 0.1), radius=1e-30, steps=10**6, **options)


def test_a_schedule_comes_nearest_to_its_limit_if_it_stops_in_time(small_problem):
    attack = nt.attacks.Adaptive(0.5, 0.3)
    long = certify(small_problem, "scheduled", attack)
    assert long.limit < long.floor < long.limit * (1.0 + 1e-6)
    assert long.rounding > 10.0 * certify(small_problem, "scheduled", attack, steps=10**4).rounding


def test_a_schedule_made_for_another_attack_has_its_rounding_followed(small_problem):
    """Step by step it is no more than the formula for the schedule's own attack."""
    budget = nt.Budget(0.5, 0.3)
    plan = nt.plan(small_problem, budget, steps=300, batch_size=8, step_size="scheduled")
    other = nt.certify(
        small_problem, plan.arm, batch_size=8, steps=300, budget=nt.Budget(0.5001, 0.3)
    )
    assert 0.0 < other.rounding <= plan.certificate.rounding * (1.0 + 1e-3)


def test_a_measured_error_is_never_zero():
    """A run that finds the true weights to the last digit has not measured an error of 0."""
    problem = nt.Problem.draw(nt.networks.relu_gate(1), nt.Normal(), true_weights=[1.0])
    certificate = certify(problem, method="measured", steps=3, confidence=0.7)
    assert 4.0 * UNIT <= certificate.radius < 1e-14
    assert "≤ 0 " not in str(certificate)
