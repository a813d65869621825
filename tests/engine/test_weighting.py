"""Samples that count ω(x) = ‖x‖⁻² times, on both engines."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.comparison import assert_equal_runs
from tests.support.cover import spread
from tests.support.networks import networks

import neurotron as nt
from neurotron._streams import Stream
from neurotron.attacks import Adaptive, AlternatingSign
from neurotron.networks.sensing import optimal

ENGINES = ("compiled", "numpy")
LAWS = {"normal": nt.Normal(), "t2.5": nt.StudentT(2.5), "cauchy": nt.StudentT(1)}


def weighted_arms() -> list[nt.Arm]:
    """Trainers with weighting, and one without among them that can do no harm."""
    trainers = [
        nt.NeuroTron(0.1, weighting="inverse-norm"),
        nt.NeuroTron(0.1, sensing="mean", weighting="inverse-norm"),
        nt.NeuroTron(1e-9, sensing="mean"),
    ]
    attacks = [None, AlternatingSign(0.5, 0.4), Adaptive(0.5, 0.4)]
    return [nt.Arm(trainer, attack) for attack in attacks for trainer in trainers]


def on_both_engines(problem, arms, **options):
    runs = [nt.simulate(problem, arms, engine=engine, **options) for engine in ENGINES]
    assert_equal_runs(*runs)
    return runs[0]


@pytest.mark.parametrize(("law", "name"), spread([*LAWS], [*networks()], each_row=3, each_column=1))
def test_both_engines_agree_on_weighted_samples(law, name):
    problem = nt.Problem.draw(networks()[name], LAWS[law], seed=2, noise=0.02)
    run = on_both_engines(problem, weighted_arms(), steps=300, batch_size=5, record=30)
    assert set(run.status) == {"finished"}


@pytest.mark.parametrize(
    ("name", "counted"), spread([*networks()], [False, True], each_row=1, each_column=3)
)
def test_both_engines_agree_on_weighted_rows_of_data(name, counted):
    network, draw = networks()[name], np.random.default_rng(1)
    X = draw.standard_normal((23, network.n_inputs))
    truth = draw.standard_normal(network.filter_size)
    weight = draw.random(23) if counted else None
    problem = nt.Problem.from_rows(
        network, X, network(truth, X), sample_weight=weight, true_weights=truth
    )
    on_both_engines(problem, weighted_arms(), steps=300, batch_size=4)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_weighted_step_is_the_one_written_out(small_problem, engine):
    network, w = small_problem.network, small_problem.initial_weights
    matrix = optimal(network, np.eye(12))
    trainer = nt.NeuroTron(0.7, sensing=matrix, weighting="inverse-norm")
    plain = nt.Arm(nt.NeuroTron(0.7, sensing=matrix))
    arms = [nt.Arm(trainer), plain]
    run = nt.simulate(small_problem, arms, steps=1, batch_size=6, engine=engine)
    inputs, labels, _ = small_problem.data.batch(network, Stream.of(0, 0), 0, 6)
    expected = w.copy()
    for x, y in zip(inputs, labels, strict=True):
        expected += 0.7 / 6 * (y - network(w, x[None])[0]) / (x @ x) * (matrix @ x)
    np.testing.assert_allclose(run.weights[0], expected, rtol=1e-13)
    assert run.losses[0, 0] == run.losses[1, 0]  # losses are not weighted


@pytest.mark.parametrize("engine", ENGINES)
def test_the_size_of_weighted_inputs_does_not_matter(small_problem, engine):
    """A network without biases is homogeneous: scaling a row changes nothing, zero is nothing."""
    network, draw = small_problem.network, np.random.default_rng(4)
    X = draw.standard_normal((20, 12))
    X[7] = 0.0
    sizes = 2.0 ** draw.integers(-230, 228, 20)
    sizes[:2] = 2.0**-230, 2.0**228  # about 10⁻⁶⁹ and 10⁶⁹
    matrix = optimal(network, np.eye(12))
    trainer = nt.NeuroTron(0.5, sensing=matrix, weighting="inverse-norm")
    runs = []
    for rows in (X, X * sizes[:, None]):
        problem = nt.Problem.from_rows(network, rows, network(small_problem.true_weights, rows))
        run = nt.simulate(problem, [nt.Arm(trainer)], steps=400, batch_size=3, engine=engine)
        assert run.status == ("finished",)
        runs.append(run.weights)
    np.testing.assert_allclose(*runs, rtol=1e-12)
    assert np.abs(runs[0][0] - small_problem.initial_weights).max() > 0.1


def test_weighted_arms_have_the_same_bits_alone_and_beside_others(small_problem):
    arms = weighted_arms()
    together = nt.simulate(small_problem, arms, steps=120, batch_size=7, record=10)
    for some in (arms[::-1], arms[:1], arms[2:3], arms[4:6]):
        apart = nt.simulate(small_problem, some, steps=120, batch_size=7, record=10)
        places = [arms.index(arm) for arm in some]
        for name in ("weights", "errors", "losses"):
            np.testing.assert_array_equal(getattr(apart, name), getattr(together, name)[places])
