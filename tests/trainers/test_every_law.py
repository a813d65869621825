"""`NeuroTron()` trains on every law whose moments are known, weighted where it has to be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import neurotron as nt

NETWORK = nt.networks.symmetric(6, 2, 4, seed=1)
ROWS = np.random.default_rng(0).standard_normal((40, 6))
MIX = np.eye(6) + 0.3 * np.eye(6, k=1)

LAWS = {
    nt.Normal(): None,
    nt.Laplace(scale=2.0): None,
    nt.Uniform(): None,
    nt.Rademacher(): None,
    nt.StudentT(5): None,
    nt.StudentT(4): "inverse-norm",
    nt.StudentT(2): "inverse-norm",
    nt.StudentT(1): "inverse-norm",
    nt.Correlated(nt.Laplace(), MIX): None,
    nt.Empirical(ROWS): None,
    nt.Empirical(ROWS, symmetrized=True): None,
    nt.ScipyLaw(stats.logistic()): None,
    nt.ScipyLaw(stats.t(3)): "inverse-norm",
    nt.ScipyLaw(stats.cauchy()): "inverse-norm",
}
ATTACK = nt.attacks.Adaptive(0.05, 0.1)


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_neuro_tron_without_arguments_learns_on_it(law, noise):
    problem = nt.Problem.draw(NETWORK, law, seed=1, noise=noise)
    run = nt.simulate(problem, nt.NeuroTron(), steps=1000, batch_size=16)
    assert run.final_errors[0] < (0.1 if noise else 0.02) * problem.initial_error()


def test_neuro_tron_learns_on_corrupted_inputs_as_far_as_labels_let_it():
    problem = nt.Problem.draw(NETWORK, nt.data.Corrupted(nt.Normal(), scale=0.1), seed=1)
    run = nt.simulate(problem, nt.NeuroTron(), steps=1000, batch_size=16)
    assert run.final_errors[0] < 0.1 * problem.initial_error()


def test_built_in_laws_are_all_among_them():
    assert {type(law) for law in LAWS} >= {*nt.laws.BUILT_IN}


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_certificate_is_about_the_trainer_that_is_trained(law):
    """Its step size is that of the run, so weighting and sensing matrix are."""
    problem = nt.Problem.draw(NETWORK, law, seed=1)
    trained = nt.NeuroTron().resolve(problem, batch_size=16, steps=100, attack=ATTACK)
    assert trained.weighting == LAWS[law]
    certificate = nt.certify(problem, nt.Arm(nt.NeuroTron(), ATTACK), batch_size=16, steps=100)
    assert certificate.holds == law.symmetric
    if certificate.holds:
        assert certificate.step_size == trained.step_size
        explicit = nt.Arm(nt.NeuroTron(weighting=trained.weighting), ATTACK)
        same = nt.certify(problem, explicit, batch_size=16, steps=100)
        assert certificate.radius == same.radius


def test_two_inputs_without_variance_and_noise_have_a_step_size_too():
    """The noise moment E‖x‖⁻² is infinite there, and the fastest step size does not need it."""
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.StudentT(1), seed=1, noise=0.01)
    run = nt.simulate(problem, nt.NeuroTron(), steps=500, batch_size=16)
    assert run.final_errors[0] < problem.initial_error()


def test_a_step_size_that_is_given_leaves_samples_unweighted():
    problem = nt.Problem.draw(NETWORK, nt.StudentT(4), seed=1)
    given = nt.NeuroTron(1e-3).resolve(problem, batch_size=16, steps=100, attack=None)
    assert given.weighting is None


def test_a_schedule_is_weighted_where_moments_are_infinite():
    problem = nt.Problem.draw(NETWORK, nt.StudentT(3), seed=1)
    scheduled = nt.NeuroTron("scheduled")
    resolved = scheduled.resolve(problem, batch_size=16, steps=100, attack=ATTACK)
    assert resolved.weighting == "inverse-norm"


@pytest.mark.parametrize("text", ["neuro-tron", "sgd", "first-sample-sgd"])
def test_trainers_compared_at_one_step_size_take_it_unless_they_say_theirs(text):
    assert nt.trainers.build(text, step_size=0.5).step_size == 0.5
    assert nt.trainers.build(f"{text}:step_size=0.1", step_size=0.5).step_size == 0.1
    assert nt.trainers.build("clipped-tron", step_size=0.5).step_size == "fastest"
