"""Stages: one trainer after another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import neurotron as nt
from neurotron.attacks import Constant
from neurotron.trainers.stages import ResolvedStages, Stage

ATTACK = Constant(1.0, 0.3)


def run(problem, trainer, steps=60, **options):
    arms = [nt.Arm(trainer, ATTACK)]
    return nt.simulate(problem, arms, steps=steps, batch_size=4, **options)


def from_there(problem, trainer, earlier, steps):
    """Run a trainer from where an earlier run ended, on the batches that come next."""
    end = earlier.state.step
    second = nt.Problem.draw(
        problem.network,
        problem.law,
        true_weights=problem.true_weights,
        initial_weights=earlier.weights[0],
    )
    begin = run(second, trainer, 0)
    state = dataclasses.replace(begin.state, step=end, stages=(Stage(since=end),))
    return run(second, trainer, steps, resume=dataclasses.replace(begin, state=state))


@pytest.mark.parametrize("first", [nt.NeuroTron("fastest"), nt.SGD(0.1, averaging=True)], ids=repr)
@pytest.mark.parametrize("second", [nt.HuberSGD(1.0), nt.SGD(0.05, averaging=True)], ids=repr)
def test_the_second_stage_begins_where_the_first_ended(small_problem, first, second):
    """At the weights that count, and with a fresh state and average."""
    staged = run(small_problem, nt.Stages((first, 0.25), (second, 0.75)), 240)
    one = run(small_problem, first, 60)
    two = from_there(small_problem, second, one, 240)
    np.testing.assert_allclose(staged.weights, two.weights, rtol=1e-12)
    assert staged.errors[0, -1] == pytest.approx(two.errors[0, -1], rel=1e-12)
    assert np.abs(staged.weights - one.weights).max() > 1e-3


def test_one_stage_is_the_trainer_itself(small_problem):
    for trainer in (nt.SGD(0.1), nt.HuberSGD(), nt.NeuroTron("scheduled")):
        alone, staged = (run(small_problem, t, 150) for t in (trainer, nt.Stages((trainer, 1.0))))
        np.testing.assert_array_equal(alone.weights, staged.weights)
        np.testing.assert_array_equal(alone.errors, staged.errors)


def test_a_stage_ends_at_its_rounded_share_of_the_steps(small_problem):
    """The second of three stands still: w moves up to its begin and from its end on."""
    thirds = nt.Stages(*[(nt.SGD(step_size), 1 / 3) for step_size in (0.1, 1e-15, 0.1)])
    for steps, begin, end in [(10, 3, 7), (11, 4, 7), (1, 0, 1), (0, 0, 0)]:
        errors = run(small_problem, thirds, steps, record="all").errors[0]
        moves = np.abs(np.diff(errors)) > 1e-9
        assert moves.tolist() == [not begin <= step < end for step in range(steps)]


def test_a_stage_without_steps_is_skipped(small_problem):
    staged = nt.Stages((nt.SGD(5.0), 0.001), (nt.SGD(0.2), 0.001), (nt.SGD(0.05), 0.998))
    np.testing.assert_array_equal(
        run(small_problem, staged).weights, run(small_problem, nt.SGD(0.05)).weights
    )
    for steps in (0, 1):
        assert run(small_problem, staged, steps).status == ("finished",)


def test_a_record_between_two_stages_is_of_the_weights_both_share(small_problem):
    staged = nt.Stages((nt.SGD(0.1, averaging=True), 0.5), (nt.SGD(0.1), 0.5))
    every = run(small_problem, staged, record="all")
    half = run(small_problem, nt.SGD(0.1, averaging=True), 30, record="all")
    np.testing.assert_array_equal(every.errors[0, :31], half.errors[0])


def test_a_stage_of_ones_own_runs_on_the_numpy_engine(small_problem):
    class Own(nt.SGD):
        def influence(self, residual, state):
            return 0.5 * residual

    staged = nt.Stages((nt.SGD(0.1), 0.5), (Own(0.1), 0.5))
    halved = nt.Stages((nt.SGD(0.1), 0.5), (nt.SGD(0.05), 0.5))
    mine, other = run(small_problem, staged), run(small_problem, halved)
    assert mine.engines[0] == ("numpy", "the trainer Own is not built in")
    np.testing.assert_allclose(mine.weights, other.weights, rtol=1e-11)


class Alternating(ResolvedStages):
    """Its two trainers in turn, each for as long as the first."""

    def next_stage(self, stage, snapshot):
        part = 1 - stage.part
        after = Stage(part, stage.until, stage.until + self.ends[0])
        return after, snapshot._replace(memory=self.parts[part].initial_state)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_a_staged_trainer_of_ones_own_says_what_comes_next(small_problem, engine):
    one, other = nt.HuberSGD(0.5), nt.SGD(0.02)
    mine = run(small_problem, Alternating((one, other), ends=(20,)), engine=engine)
    listed = nt.Stages((one, 1 / 3), (other, 1 / 3), (one, 1 / 3))
    np.testing.assert_array_equal(mine.errors, run(small_problem, listed, engine=engine).errors)


class Standing(ResolvedStages):
    """Never says that its next stage lasts any longer."""

    def next_stage(self, stage, snapshot):
        return stage, snapshot


class Endless(nt.trainers.stages.StagedTrainer):
    """Resolves to stages that do not come to an end."""

    parts = (nt.SGD(0.1),)

    def resolve(self, problem, **_):
        return Standing(self.parts, (5,))


def test_stages_that_do_not_go_on_are_refused(small_problem):
    with pytest.raises(nt.InputError, match=r"next_stage of Standing.*until after step 5"):
        run(small_problem, Endless())
