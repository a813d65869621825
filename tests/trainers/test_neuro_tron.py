"""What Neuro-Tron's words become: step sizes, schedules, weights."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.messages import says

import neurotron as nt
from neurotron.theory.one_step import best_step, bound_after
from neurotron.trainers.neuro_tron import ScheduledTron

ATTACK = nt.attacks.Adaptive(bound=0.5, probability=0.3)


def resolve(trainer, problem, attack=ATTACK):
    return trainer.resolve(problem, batch_size=8, steps=100, attack=attack)


def test_fastest_does_not_depend_on_the_attack(small_problem):
    with_attack = resolve(nt.NeuroTron("fastest"), small_problem)
    without = resolve(nt.NeuroTron("fastest"), small_problem, None)
    assert with_attack.step_size == without.step_size > 0.0


def test_a_schedule_takes_the_certificates_best_step_at_every_step(small_problem):
    """The first steps made by hand, each with the η that makes F smallest at its Δ."""
    scheduled = resolve(nt.NeuroTron("scheduled"), small_problem)
    assert isinstance(scheduled, ScheduledTron)
    assert scheduled.start == pytest.approx(small_problem.initial_error() ** 2)
    delta, steps = scheduled.start, []
    for _ in range(50):
        eta = float(best_step(delta, *scheduled.recursion.numbers))
        steps.append(eta)
        delta = float(bound_after(delta, eta, *scheduled.recursion.numbers))
    arms = [nt.Arm(nt.NeuroTron("scheduled"), ATTACK)]
    run = nt.simulate(small_problem, arms, steps=50, batch_size=8, record="all")
    weights = small_problem.initial_weights
    for t, eta in enumerate(steps[:5]):
        problem = nt.Problem.draw(
            small_problem.network, small_problem.law, true_weights=small_problem.true_weights,
            initial_weights=weights,
        )  # fmt: skip
        assert run.errors[0, t] == pytest.approx(problem.initial_error(), rel=1e-9)
        weights = _one_step(problem, eta, t)
    assert (np.diff(steps) <= 0.0).all()


def _one_step(problem: nt.Problem, eta: float, step: int) -> np.ndarray:
    """Return the weights after update number `step`, made by hand from the stream."""
    from neurotron._streams import Purpose, Stream

    stream = Stream.of(0, 0)
    batch = problem.data.batch(problem.network, stream, step, 8)
    coin, _ = stream.pairs(Purpose.ATTACK, step, 8)
    m = np.asarray(resolve(nt.NeuroTron(1.0), problem).sensing)
    sensed = batch.inputs @ m.T
    push = sensed @ (problem.initial_weights - problem.true_weights)
    labels = batch.labels + np.where(coin <= 0.3, np.copysign(0.5, push), 0.0)
    residual = labels - problem.network(problem.initial_weights, batch.inputs)
    return problem.initial_weights + eta * (residual @ sensed) / 8


def test_optimal_sensing_goes_by_the_weighted_covariance():
    network = nt.networks.symmetric(8, 3, 4, seed=1)
    problem = nt.Problem.draw(network, nt.StudentT(1.0), seed=1)
    trainer = resolve(nt.NeuroTron(1.0, weighting="inverse-norm"), problem, None)
    np.testing.assert_allclose(network.mean_gate @ trainer.sensing.T / 8, np.eye(3), atol=1e-12)


class Clipped(nt.NeuroTron):
    """A user's own Neuro-Tron."""

    def influence(self, residual, state):
        return np.clip(residual, -1.0, 1.0)


def test_a_schedule_is_not_lent_to_other_trainers(small_problem):
    with pytest.raises(nt.InputError, match="not for Clipped"):
        resolve(Clipped("scheduled"), small_problem)
    with pytest.raises(nt.InputError, match="no theorem covers Clipped"):
        nt.certify(small_problem, nt.Arm(Clipped(0.1)), batch_size=8)


def test_words_are_shown_as_given():
    assert repr(nt.NeuroTron("fastest")) == "NeuroTron(step_size='fastest', sensing='optimal')"
    assert "weighting='inverse-norm'" in repr(nt.NeuroTron(0.1, weighting="inverse-norm"))


def test_a_planned_schedule_reads_as_one_and_is_what_it_says():
    problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(), seed=1)
    plan = nt.plan(problem, ATTACK, steps=200, batch_size=8, step_size="scheduled")
    assert repr(plan.arm.trainer) == "NeuroTron(step_size='scheduled', sensing=array)"
    word = nt.Arm(nt.NeuroTron("scheduled"), ATTACK)
    runs = [nt.simulate(problem, [arm], steps=200, batch_size=8) for arm in (plan.arm, word)]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)


def test_a_schedule_that_was_made_for_predictions_says_so(small_problem):
    options = {"steps": 200, "batch_size": 8, "radius_of": "predictions"}
    plan = nt.plan(small_problem, ATTACK, step_size="scheduled", **options)
    says(repr(plan.arm.trainer), "step_size='scheduled for predictions'")
    assert plan.certificate.coordinates == "predictions"


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_the_size_of_weighted_inputs_does_not_matter(small_problem, engine):
    """With ω = ‖x‖⁻², scaling a row and its label changes nothing; a row of zeros is nothing."""
    network, draw = small_problem.network, np.random.default_rng(4)
    X = draw.standard_normal((20, 12))
    X[7] = 0.0
    sizes = 2.0 ** draw.integers(-230, 229, 20)  # from about 10⁻⁶⁹ to 10⁶⁹
    trainer = nt.NeuroTron(0.5, "mean", weighting="inverse-norm")
    one, other = (
        nt.simulate(
            nt.Problem.from_rows(network, rows, network(small_problem.true_weights, rows)),
            trainer, steps=400, batch_size=3, engine=engine,
        ).weights[0]
        for rows in (X, X * sizes[:, None])
    )  # fmt: skip
    np.testing.assert_allclose(one, other, rtol=1e-12)
    assert np.abs(one - small_problem.initial_weights).max() > 0.1
