"""Trainers that carry a state from step to step, on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.comparison import assert_equal_runs
from tests.support.cover import spread
from tests.support.networks import networks

import neurotron as nt
from neurotron.attacks import Adaptive, AlternatingSign, UniformNoise
from neurotron.engine.compiled import formulas
from neurotron.engine.compiled.rules import rule_of
from neurotron.engine.numpy_cohort import NumpyCohort
from neurotron.networks.sensing import optimal
from neurotron.theory.recursion import Recursion
from neurotron.trainers.neuro_tron import ScheduledTron

ENGINES = ("compiled", "numpy")
ATTACKS = [None, AlternatingSign(0.5, 0.4), UniformNoise(0.5, 1.0), Adaptive(0.5, 0.4)]
LAWS = {
    "normal": (nt.Normal(), 1.0),
    "laplace": (nt.Laplace(), 0.5),
    "t2.5": (nt.StudentT(2.5), 0.1),
    "correlated": (nt.Correlated(nt.Normal(), np.diag([1.0, 2.0, 0.5, 1.0, 1.0, 1.0])), 0.3),
}


def matrix_for(network):
    return optimal(network, np.eye(network.n_inputs))


def scheduled(network, scale=1.0, push=0.1, weighting=None, square=30.0):
    """A schedule that starts at a step size of about scale/(2 · square) and gets shorter."""
    recursion = Recursion(scale, push * scale, square, linear=1e-2, constant=1e-2)
    return ScheduledTron(
        1.0, matrix_for(network), weighting=weighting, start=50.0, recursion=recursion
    )


def mixed_arms(network, scale=1.0):
    """Scheduled arms of different numbers, with and without weighting, between ordinary ones."""
    trainers = [
        nt.SGD(0.02 * scale),
        scheduled(network, scale),
        nt.NeuroTron(0.02 * scale, sensing=matrix_for(network)),
        scheduled(network, scale, push=0.0),
        scheduled(network, 2.0, weighting="inverse-norm"),
    ]
    arms = [(trainer, attack) for attack in ATTACKS for trainer in trainers]
    return [nt.Arm(*arm, name=f"arm {i}") for i, arm in enumerate(arms)]


def on_both_engines(problem, arms, **options):
    runs = [nt.simulate(problem, arms, engine=engine, **options) for engine in ENGINES]
    assert_equal_runs(*runs)
    return runs[0]


def assert_same_bits(one, other, places=slice(None)):
    for name in ("weights", "errors", "losses"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[places])
    assert one.state.memory == tuple(
        other.state.memory[place] for place in np.arange(len(other.arms))[places]
    )


@pytest.mark.parametrize(
    ("law", "name"),
    spread(["normal", "laplace", "t2.5"], [*networks()], each_row=3, each_column=1),
)
def test_both_engines_agree_on_schedules_beside_ordinary_arms(law, name):
    network, (law, scale) = networks()[name], LAWS[law]
    problem = nt.Problem.draw(network, law, seed=2, noise=0.02)
    arms = mixed_arms(network, scale)
    run = on_both_engines(problem, arms, steps=300, batch_size=5, record=30)
    assert set(run.status) == {"finished"}


def test_both_engines_agree_on_schedules_under_a_correlated_law():
    network = nt.networks.relu_gate(6)
    law, scale = LAWS["correlated"]
    problem = nt.Problem.draw(network, law, seed=2)
    on_both_engines(problem, mixed_arms(network, scale), steps=300, batch_size=5)


@pytest.mark.parametrize(
    ("name", "counted"), spread([*networks()], [False, True], each_row=1, each_column=3)
)
def test_both_engines_agree_on_schedules_for_rows_of_data(name, counted):
    network, draw = networks()[name], np.random.default_rng(1)
    X = draw.standard_normal((23, network.n_inputs))
    truth = draw.standard_normal(network.filter_size)
    weight = draw.random(23) if counted else None
    problem = nt.Problem.from_rows(
        network, X, network(truth, X), sample_weight=weight, true_weights=truth
    )
    on_both_engines(problem, mixed_arms(network), steps=300, batch_size=4)


def test_a_schedule_asked_for_by_name_runs_compiled(small_problem):
    arms = [
        nt.Arm(nt.NeuroTron("scheduled")),
        nt.Arm(nt.NeuroTron("scheduled"), AlternatingSign(0.1, 0.5)),
    ]
    run = on_both_engines(small_problem, arms, steps=200, batch_size=6)
    assert {engine.name for engine in run.engines} == {"compiled"}
    assert [len(numbers) for numbers in run.state.memory] == [8, 8]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_state_of_a_schedule_is_the_certified_bound(small_problem, engine):
    trainer = scheduled(small_problem.network)
    run = nt.simulate(small_problem, [nt.Arm(trainer)], steps=400, batch_size=6, engine=engine)
    assert run.status == ("finished",)
    bound, *numbers = run.state.memory[0]
    assert bound == pytest.approx(trainer.recursion.iterate(50.0, 400, None)[-1], rel=1e-12)
    assert tuple(numbers) == trainer.recursion.numbers


def test_the_first_step_of_a_schedule_is_an_ordinary_step_of_the_best_size(small_problem):
    trainer = scheduled(small_problem.network)
    best = nt.NeuroTron(trainer.recursion.step_for(50.0), sensing=trainer.sensing)
    arms = [nt.Arm(trainer), nt.Arm(best)]
    run = nt.simulate(small_problem, arms, steps=1, batch_size=6)
    np.testing.assert_allclose(run.weights[0], run.weights[1], rtol=1e-14)


def test_bits_of_adapting_arms_do_not_depend_on_other_arms_or_their_order(small_problem):
    arms = mixed_arms(small_problem.network)
    together = nt.simulate(small_problem, arms, steps=120, batch_size=7, record=10)
    shuffled = [arms[i] for i in np.random.default_rng(0).permutation(len(arms))]
    for some in (shuffled, arms[::3], arms[1:2], arms[4:5]):
        apart = nt.simulate(small_problem, some, steps=120, batch_size=7, record=10)
        assert_same_bits(apart, together, [arms.index(arm) for arm in some])


@pytest.mark.parametrize("engine", ENGINES)
def test_states_survive_slices_and_resuming(small_problem, engine):
    arms = mixed_arms(small_problem.network)
    every = nt.simulate(small_problem, arms, steps=90, batch_size=6, record="all", engine=engine)
    part = None
    for stop in (1, 2, 37, 90):
        part = nt.simulate(
            small_problem, arms, steps=stop, batch_size=6, record="all", resume=part, engine=engine
        )
    assert_same_bits(part, every)


def test_the_state_of_an_arm_stays_as_it_is_once_it_diverged(small_problem):
    """It still moves in the very step of divergence; its neighbours are left alone."""
    wild = scheduled(small_problem.network, scale=0.02, push=0.0, square=1e-4)
    tame = scheduled(small_problem.network)
    arms = [nt.Arm(wild, name="wild"), nt.Arm(tame, name="tame")]
    run = on_both_engines(small_problem, arms, steps=100, batch_size=6)
    assert run.status == ("diverged", "finished")
    for engine in ENGINES:
        until = nt.simulate(
            small_problem, arms, steps=run.stopped_at[0], batch_size=6, engine=engine
        )
        np.testing.assert_allclose(until.state.memory[0], run.state.memory[0], rtol=1e-12)
        bound = wild.recursion.iterate(50.0, run.stopped_at[0], None)[-1]
        assert until.state.memory[0][0] == pytest.approx(bound, rel=1e-9)
    alone = nt.simulate(small_problem, arms[1:], steps=100, batch_size=6)
    np.testing.assert_array_equal(alone.weights[0], run.weights[1])
    assert alone.state.memory[0] == run.state.memory[1]


def test_lengths_are_not_measured_for_a_trainer_that_does_not_observe(small_problem, monkeypatch):
    monkeypatch.delattr(NumpyCohort, "_squared_length")
    arms = [nt.Arm(scheduled(small_problem.network))]
    nt.simulate(small_problem, arms, steps=2, batch_size=6, engine="numpy")
    assert not rule_of(ScheduledTron).observes


def test_the_list_of_trainers_says_how_many_numbers_their_states_have(small_problem):
    trainers = [nt.NeuroTron(1.0), nt.SGD(1.0), nt.FirstSampleSGD(1.0)]
    trainers.append(scheduled(small_problem.network))
    trainers += [nt.ClippedTron(), nt.ClippedSGD(), nt.HuberSGD(), nt.TrimmedSGD()]
    assert {type(t) for t in trainers} == {*formulas.TRAINERS}
    assert all(len(t.initial_state) == len(t.state_fields) for t in trainers)


LISTED = Path(__file__).parent / "listed_trainers.py"


@pytest.mark.long
def test_a_trainer_that_is_listed_runs_compiled_whatever_it_observes():
    """The program lists trainers before the loop is compiled, as an author would in the source."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.listed_trainers"],
        cwd=LISTED.parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["compiled"] * 3 + ["finished", "diverged"]
