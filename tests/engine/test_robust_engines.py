"""Robust, averaging and staged trainers: the two engines agree, and bits depend on nothing else."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pytest
from tests.support.comparison import assert_equal_runs

import neurotron as nt
from neurotron.attacks import Adaptive, OddDirection
from neurotron.trainers import refined_tron

ENGINES = ("compiled", "numpy")
NOISE = 0.02
"""Of honest labels: at exact recovery nothing is left to compare."""


def trainers(network):
    """Every robust trainer, plain, weighted and averaging, and stages of them."""
    kinds = [nt.ClippedSGD, nt.HuberSGD, nt.TrimmedSGD]
    options = [{}, {"weighting": "inverse-norm"}, {"averaging": True}]
    tron = nt.ClippedTron(0.05, sensing="optimal")
    return [
        *(kind(0.5, **option) for kind in kinds for option in options),
        *(nt.ClippedTron(0.05, sensing="optimal", **option) for option in options),
        nt.NeuroTron(0.05, sensing="optimal", averaging=True),
        nt.SGD(0.02, averaging=True),
        nt.FirstSampleSGD(0.02, averaging=True),
        nt.Stages((nt.SGD(0.02), 0.1), (nt.HuberSGD(0.5), 0.5), (tron, 0.4)),
        nt.Stages((nt.SGD(0.02, averaging=True), 0.3), (nt.SGD(0.01, averaging=True), 0.7)),
    ]


def arms_of(network):
    attacks = [
        None,
        Adaptive(0.5, 0.3),
        OddDirection(0.5, 0.3, direction=np.ones(network.filter_size)),
    ]
    pairs = [(trainer, attack) for trainer in trainers(network) for attack in attacks]
    return [nt.Arm(*pair, name=f"arm {i}") for i, pair in enumerate(pairs)]


def on_both_engines(problem, arms, **options):
    runs = [nt.simulate(problem, arms, engine=engine, **options) for engine in ENGINES]
    assert_equal_runs(*runs)
    assert stages_of(runs[0]) == stages_of(runs[1])
    np.testing.assert_allclose(runs[0].state.weights, runs[1].state.weights, rtol=1e-9, atol=1e-12)
    return runs[0]


def stages_of(run):
    """Which part of its trainer each arm is in, since when and until when."""
    return [(stage.part, stage.since, stage.until) for stage in run.state.stages]


@pytest.mark.parametrize("name", ["relu_gate", "symmetric", "convolution"])
def test_both_engines_agree_on_robust_averaging_and_staged_trainers(name):
    build = nt.networks
    network = {
        "relu_gate": lambda: build.relu_gate(6),
        "symmetric": lambda: build.symmetric(9, 4, 6, seed=3),
        "convolution": lambda: build.convolution(9, 4, 2, leak=0.1),
    }[name]()
    problem = nt.Problem.draw(network, nt.Laplace(), seed=2, noise=NOISE)
    run = on_both_engines(problem, arms_of(network), steps=160, batch_size=5, record=40)
    assert set(run.status) == {"finished"}
    assert {engine.name for engine in run.engines} == {"compiled"}
    moved = np.abs(run.weights - problem.initial_weights).max(axis=1)
    assert (moved > 1e-6).all()


@pytest.mark.parametrize("counted", [False, True])
def test_both_engines_agree_on_robust_trainers_for_rows_of_data(counted):
    network, draw = nt.networks.convolution(9, 4, 2, leak=0.1), np.random.default_rng(1)
    X, truth = draw.standard_normal((23, 9)), draw.standard_normal(4)
    y = network(truth, X) + NOISE * draw.standard_normal(23)
    weight = draw.random(23) * (draw.random(23) < 0.8) if counted else None
    problem = nt.Problem.from_rows(network, X, y, sample_weight=weight, true_weights=truth)
    on_both_engines(problem, arms_of(network), steps=150, batch_size=4)


def test_both_engines_agree_on_the_defence_through_restarts(monkeypatch):
    """With samples weighted in both stages."""
    short_trials(monkeypatch)
    problem = nt.Problem.draw(
        nt.networks.symmetric(9, 4, 6, seed=3), nt.StudentT(2.0), seed=2, noise=0.2
    )
    defences = [nt.RefinedTron(30), nt.RefinedTron(30, averaging=True)]
    arms = [nt.Arm(d, attack) for d in defences for attack in (None, Adaptive(1.0, 0.4))]
    run = on_both_engines(problem, arms, steps=1000, batch_size=5)
    assert [stage.since for stage in run.state.stages] == [470] * 4


def short_trials(monkeypatch):
    """Let the defence try again whatever its threshold does, after trials of 2 · 110 steps."""
    monkeypatch.setattr(refined_tron, "SHORTEST_TRIAL", 110)
    monkeypatch.setattr(refined_tron, "FALLEN", 0.0)


def assert_same_bits(one, other, places=slice(None)):
    for name in ("weights", "errors", "losses"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[places])


def staged(monkeypatch):
    """A problem, arms of several stages (one diverges in its first), and options of their run."""
    short_trials(monkeypatch)
    problem = nt.Problem.draw(nt.networks.symmetric(9, 4, 6, seed=3), nt.Normal(), seed=2)
    attack = Adaptive(1.0, 0.45)
    trainers = [
        nt.RefinedTron(30),
        nt.RefinedTron(40, averaging=True),
        nt.Stages((nt.SGD(0.02, averaging=True), 0.25), (nt.HuberSGD(), 0.75)),
        nt.Stages((nt.SGD(60.0, averaging=True), 0.5), (nt.SGD(0.02), 0.5)),
        nt.NeuroTron(0.05, averaging=True),
        nt.SGD(60.0, averaging=True),
        nt.SGD(0.02, averaging=True),
    ]
    arms = [nt.Arm(trainer, attack) for trainer in trainers]
    return problem, arms, {"steps": 1000, "batch_size": 5}


def test_bits_of_staged_arms_do_not_depend_on_other_arms(monkeypatch):
    problem, arms, options = staged(monkeypatch)
    together = nt.simulate(problem, arms, **options)
    assert [status == "diverged" for status in together.status] == [False] * 3 + [
        True, False, True, False,
    ]  # fmt: skip
    for some in ([0], [1], [2], [3], [5], [6, 2, 0], [4, 1], [5, 3]):
        apart = nt.simulate(problem, [arms[i] for i in some], **options)
        assert_same_bits(apart, together, some)


def test_bits_of_staged_arms_do_not_depend_on_records_or_slices(monkeypatch):
    problem, arms, options = staged(monkeypatch)
    plain = nt.simulate(problem, arms, **options)
    other = nt.simulate(problem, arms, record="all", **options)
    np.testing.assert_array_equal(plain.weights, other.weights)
    np.testing.assert_array_equal(plain.errors, other.errors[:, plain.steps])
    monkeypatch.setattr("neurotron.simulation.SLICE_SECONDS", 1e-9)  # slices of one step
    assert_same_bits(nt.simulate(problem, arms, **options), plain)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stage_that_diverges_stops_the_arm_and_the_next_never_begins(engine, monkeypatch):
    """Not even when another arm's next stage begins later."""
    problem, arms, _ = staged(monkeypatch)
    late = nt.Stages((nt.SGD(0.02), 0.75), (nt.SGD(0.01), 0.25))
    arms, options = [nt.Arm(late), arms[3]], {"steps": 100, "batch_size": 5, "engine": engine}
    run = nt.simulate(problem, arms, **options)
    assert run.status == ("finished", "diverged")
    assert run.stopped_at[1] < 50
    assert [stage.part for stage in run.state.stages] == [1, 0]
    assert np.isinf(run.errors[1, -1])
    alone = nt.simulate(problem, arms[1:], **options)
    np.testing.assert_allclose(run.weights[1], alone.weights[0], rtol=1e-12)
    np.testing.assert_allclose(run.state.weights[:, 1], alone.state.weights[:, 0], rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_average_of_a_diverged_arm_stays_as_it_is(engine):
    """Whether its neighbours run on or not."""
    problem = nt.Problem.draw(nt.networks.symmetric(9, 4, 6, seed=3), nt.Normal(), seed=2)
    arms = [nt.Arm(nt.SGD(eta, averaging=True)) for eta in (60.0, 0.02)]
    alone = nt.simulate(problem, arms[:1], steps=100, batch_size=5, engine=engine)
    beside = nt.simulate(problem, arms, steps=100, batch_size=5, engine=engine)
    stopped = alone.stopped_at[0]
    before = nt.simulate(problem, arms[:1], steps=stopped - 1, batch_size=5, engine=engine)
    np.testing.assert_allclose(beside.weights[0], alone.weights[0], rtol=1e-12)
    np.testing.assert_allclose(alone.weights[0], before.weights[0], rtol=1e-12)


# ---- interrupted and resumed ---------------------------------------------------------------------


def interrupted_at(place, monkeypatch, problem, arms, **options):
    """Run in slices of one step, and press Ctrl-C at step `place`."""

    def press(step, _):
        if step == place:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr("neurotron.simulation.SLICE_SECONDS", 1e-9)
        return nt.simulate(problem, arms, progress=press, **options)


@pytest.mark.parametrize("place", [1, 30, 140, 249, 250, 251, 470, 700])
def test_interrupted_and_resumed_is_the_same_as_run_through(place, monkeypatch):
    """At boundaries (30, 250: stages and tries; 140, 360, 470: trials), beside and between."""
    problem, arms, options = staged(monkeypatch)
    arms = arms[:5]
    whole = nt.simulate(problem, arms, record=125, **options)
    part = interrupted_at(place, monkeypatch, problem, arms, record=125, **options)
    assert part.state.step == place
    assert part.steps[-1] == place
    assert part.status[:3] == ("interrupted",) * 3
    resumed = nt.simulate(problem, arms, record=125, resume=part, **options)
    assert_same_bits(resumed, whole)
    assert resumed.status == whole.status
    assert stages_of(resumed) == stages_of(whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_where_a_new_try_begins_its_weights_are_the_ones_that_count(engine, monkeypatch):
    problem, _, options = staged(monkeypatch)
    arms = [nt.Arm(nt.RefinedTron(30, averaging=True), Adaptive(1.0, 0.45))]
    tried, mirror = (
        interrupted_at(place, monkeypatch, problem, arms, engine=engine, **options)
        for place in (249, 250)
    )
    assert stages_of(mirror) == [(1, 250, 360)]
    np.testing.assert_array_equal(mirror.weights[0], mirror.state.weights[:, 0])
    for run in (mirror, pickle.loads(pickle.dumps(mirror))):
        best = run.state.stages[0].notes.best.weights
        np.testing.assert_array_equal(mirror.weights[0], -best)
        assert not best.flags.writeable
    np.testing.assert_allclose(mirror.weights, -tried.weights, rtol=0.5)
    error = np.linalg.norm(mirror.weights[0] - problem.true_weights)
    assert mirror.errors[0, -1] == pytest.approx(error, rel=1e-13)


def test_a_run_with_stages_goes_on_with_the_same_steps_only(monkeypatch):
    problem, arms, options = staged(monkeypatch)
    part = interrupted_at(100, monkeypatch, problem, arms[:1], **options)
    with pytest.raises(nt.InputError) as caught:
        nt.simulate(problem, arms[:1], resume=part, **options | {"steps": 2000})
    assert str(caught.value) == "`resume` was run with steps=1000, not 2000"
    plain = interrupted_at(100, monkeypatch, problem, arms[4:5], **options)
    more = nt.simulate(problem, arms[4:5], resume=plain, **options | {"steps": 2000})
    assert more.status == ("finished",)
