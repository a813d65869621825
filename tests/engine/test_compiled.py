"""The compiled engine: the same results as the NumPy engine; bits that depend on nothing else."""

from __future__ import annotations

import copy
import os
import pickle
import queue
import subprocess
import sys
import threading
import unittest.mock
from concurrent.futures import ThreadPoolExecutor

import numba.core.event
import numpy as np
import pytest
import scipy.stats
from tests.support.attacks import STREAMED, example
from tests.support.comparison import assert_equal_runs
from tests.support.networks import networks

import neurotron as nt
from neurotron._jit import Compiled
from neurotron.attacks import AlternatingSign
from neurotron.engine.compiled import program
from neurotron.engine.compiled.cohort import obstacle
from neurotron.networks.sensing import optimal
from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import Recursion
from neurotron.trainers.neuro_tron import ScheduledTron

STEPS = 200
EVERY = slice(None)
LEVELS = ((0.5, 0.4), (2.0, 1.0))
ENGINES = ("compiled", "numpy")


def scheduled(
    network: nt.FilterNetwork, scale: float, push: float = 0.1, square: float = 30.0
) -> ScheduledTron:
    """A schedule that starts at a step size of about scale/(2 · square) and gets shorter."""
    recursion = Recursion(scale, push * scale, square, linear=1e-2, constant=1e-2)
    matrix = optimal(network, np.eye(network.n_inputs))
    return ScheduledTron(1.0, matrix, start=50.0, recursion=recursion)


def all_arms(network: nt.FilterNetwork, scale: float = 1.0, chosen: slice = EVERY) -> list[nt.Arm]:
    """Every built-in attack on every built-in trainer, and trainers with and without weighting.

    Attacks and trainers alternate between two levels; trainers with and without a state are mixed.
    """
    trainers = [
        nt.NeuroTron(0.02 * scale),
        nt.NeuroTron(0.1, sensing="mean", weighting="inverse-norm"),
        nt.SGD(0.02 * scale),
        scheduled(network, scale),
        nt.FirstSampleSGD(0.01 * scale),
    ]
    arms: list[tuple[nt.Trainer, nt.Attack | None]] = [(trainer, None) for trainer in trainers]
    for i, kind in enumerate(STREAMED[chosen]):
        for j, trainer in enumerate(trainers):
            bound, probability = LEVELS[(i + j) % 2]
            attack = example(kind, network.filter_size, bound=bound, probability=probability)
            arms.append((trainer, attack))
    return [nt.Arm(*arm, name=f"arm {i}") for i, arm in enumerate(arms)]


def assert_same_bits(one, other, places=EVERY) -> None:
    """Compare the arms of a run with those at some places of another run."""
    for name in ("weights", "errors", "losses"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[places])
    assert one.state.memory == tuple(
        other.state.memory[place] for place in np.arange(len(other.arms))[places]
    )


def laws(n: int) -> dict[str, tuple[nt.Law, float]]:
    """Every built-in law, with a step size that suits its scale."""
    draw = np.random.default_rng(6)
    root = np.eye(n, n + 2) + 0.3 * draw.standard_normal((n, n + 2))
    return {
        "normal": (nt.Normal(), 1.0),
        "laplace": (nt.Laplace(scale=2.0), 0.1),
        "t4": (nt.StudentT(4), 0.3),
        "t2.5": (nt.StudentT(2.5), 0.1),
        "uniform": (nt.Uniform(), 3.0),
        "rademacher": (nt.Rademacher(), 1.0),
        "correlated": (nt.Correlated(nt.Normal(), root), 0.5),
        "correlated laplace": (nt.Correlated(nt.Laplace(), root), 0.2),
        "correlated scipy": (nt.Correlated(nt.ScipyLaw(scipy.stats.logistic()), root), 0.1),
        "scipy": (nt.ScipyLaw(scipy.stats.logistic()), 0.3),
        "empirical": (nt.Empirical(draw.standard_normal((50, n)), symmetrized=True), 1.0),
    }


def both_engines(problem, arms=None, **changes):
    """Return a run on each engine, by default of two trainers without an attack."""
    arms = arms or [nt.Arm(nt.NeuroTron(0.02, sensing="mean")), nt.Arm(nt.SGD(0.02))]
    options = {"steps": 100, "batch_size": 6} | changes
    return [nt.simulate(problem, arms, engine=engine, **options) for engine in ENGINES]


CASES = [
    (law, [*networks()][(i + shift) % len(networks())])
    for shift in range(3)
    for i, law in enumerate(laws(3))
]


@pytest.mark.parametrize(("law", "network"), CASES)
def test_both_engines_agree_for_every_law_network_attack_and_trainer(law, network):
    """Each law on three networks, with every other attack each."""
    half = slice(CASES.index((law, network)) // len(laws(3)) % 2, None, 2)
    network = networks()[network]
    law, scale = laws(network.n_inputs)[law]
    problem = nt.Problem.draw(network, law, seed=2, noise=0.02)
    arms = all_arms(network, scale, half)
    runs = both_engines(problem, arms, steps=STEPS, batch_size=5, seed=3, record=20)
    assert {engine.name for engine in runs[0].engines} == {"compiled"}
    assert runs[0].status.count("finished") >= len(arms) - 4
    assert_equal_runs(*runs)


@pytest.mark.parametrize(
    ("name", "weighted", "known"),
    [(name, bool(w), bool((i + w) % 2)) for i, name in enumerate(networks()) for w in (0, 1)],
)
def test_both_engines_agree_on_rows_of_data(name, weighted, known):
    network, draw = networks()[name], np.random.default_rng(1)
    X = draw.standard_normal((23, network.n_inputs))
    weights = draw.random(23) if weighted else None
    y = network(draw.standard_normal(network.filter_size), X)
    truth = draw.standard_normal(network.filter_size) if known else None
    problem = nt.Problem.from_rows(network, X, y, sample_weight=weights, true_weights=truth)
    arms = [
        arm for arm in all_arms(network, chosen=slice(int(weighted), None, 2))
        if known or arm.attack is None or "push" not in arm.attack.query_fields
    ]  # fmt: skip
    runs = both_engines(problem, arms, steps=STEPS, batch_size=4)
    assert runs[0].has_errors == known
    assert_equal_runs(*runs)


def test_bits_do_not_depend_on_other_arms_or_their_order(network):
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    arms = all_arms(network)
    together = nt.simulate(problem, arms, steps=60, batch_size=7, record=10)
    shuffled = [arms[i] for i in np.random.default_rng(0).permutation(len(arms))]
    for some in (shuffled, arms[::7], arms[33:34], arms[-1:]):
        apart = nt.simulate(problem, some, steps=60, batch_size=7, record=10)
        assert_same_bits(apart, together, [arms.index(arm) for arm in some])


def test_bits_do_not_depend_on_the_records_or_on_slices(small_problem):
    arms = all_arms(small_problem.network)
    every = nt.simulate(small_problem, arms, steps=90, batch_size=6, record="all")
    some = nt.simulate(small_problem, arms, steps=90, batch_size=6, record=37)
    np.testing.assert_array_equal(some.weights, every.weights)
    np.testing.assert_array_equal(some.losses, every.losses[:, some.steps])
    for engine in ENGINES:
        whole, part = nt.simulate(small_problem, arms, steps=90, batch_size=6, engine=engine), None
        for stop in (1, 2, 37, 90):
            part = nt.simulate(
                small_problem, arms, steps=stop, batch_size=6, resume=part, engine=engine
            )
        assert_same_bits(part, whole)


def test_bits_do_not_depend_on_the_number_of_threads(small_problem):
    def run(replicate):
        arms = all_arms(small_problem.network)[::3]
        return nt.simulate(small_problem, arms, steps=2000, batch_size=6, replicate=replicate)

    alone = [run(replicate) for replicate in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone, pool.map(run, range(4)), strict=True):
            np.testing.assert_array_equal(one.errors, other.errors)
            np.testing.assert_array_equal(one.weights, other.weights)


def test_a_diverging_arm_leaves_its_neighbours_alone(small_problem):
    """The state of a schedule moves in the very step of divergence, and then stays as it is."""
    attack, network = AlternatingSign(1.0, 0.5), small_problem.network
    wild = scheduled(network, scale=0.02, push=0.0, square=1e-4)
    trainers = [nt.SGD(0.01), nt.SGD(20.0), scheduled(network, 1.0), nt.SGD(0.02), wild]
    arms = [nt.Arm(trainer, attack, name=f"arm {i}") for i, trainer in enumerate(trainers)]
    runs = both_engines(small_problem, arms, steps=300)
    assert_equal_runs(*runs)
    together = runs[0]
    assert together.status == ("finished", "diverged", "finished", "finished", "diverged")
    for i, arm in enumerate(arms):
        alone = nt.simulate(small_problem, [arm], steps=300, batch_size=6)
        assert_same_bits(alone, together, [i])
        assert alone.stopped_at[0] == together.stopped_at[i]
    bound = 50.0
    for _ in range(together.stopped_at[4]):
        numbers = wild.recursion.numbers
        bound = bound_after(bound, best_step(bound, *numbers), *numbers)
    assert together.state.memory[4][0] == pytest.approx(bound, rel=1e-9)


class TowardsZero(nt.Attack):
    query_fields = ("label",)

    def distort(self, bound, query):
        return -np.clip(query.label, -bound, bound)


class HalfTron(nt.NeuroTron):
    @staticmethod
    def influence(residual, state):
        return 0.5 * residual


class Odd(nt.Normal):
    def coordinates(self, u, v):
        return (v - u,)


class Shifted(nt.Correlated):
    def inputs(self, u, v, batch_size, n_inputs):
        return super().inputs(u, v, batch_size, n_inputs) + 0.1


class Doubled(nt.FilterNetwork):
    def respond(self, responses):
        output, coefficients = super().respond(responses)
        return 2.0 * output, 2.0 * coefficients


class Reversed(nt.data.Simulated):
    def batch(self, network, stream, step, batch_size):
        batch = super().batch(network, stream, step, batch_size)
        return batch._replace(labels=-batch.labels)


def test_own_parts_run_on_the_numpy_engine_beside_the_others(small_problem):
    attack = AlternatingSign(0.5, 0.5)
    arms = [
        nt.Arm(nt.NeuroTron(0.02), attack, name="a"),
        nt.Arm(nt.NeuroTron(0.02), TowardsZero(0.5, 0.5), name="b"),
        nt.Arm(HalfTron(0.04), attack, name="c"),
        nt.Arm(nt.SGD(0.02), attack, name="d"),
    ]
    run = nt.simulate(small_problem, arms, steps=100, batch_size=6, record=10)
    assert run.engines == (
        ("compiled", "all its parts are built in"),
        ("numpy", "the attack TowardsZero is not built in"),
        ("numpy", "the trainer HalfTron is not built in"),
        ("compiled", "all its parts are built in"),
    )
    for i, arm in enumerate(arms):
        alone = nt.simulate(small_problem, [arm], steps=100, batch_size=6, record=10)
        np.testing.assert_allclose(run.errors[i], alone.errors[0], rtol=1e-12)
    np.testing.assert_allclose(run.weights[0], run.weights[2], rtol=1e-11)
    more = nt.simulate(small_problem, arms, steps=150, batch_size=6, record=10, resume=run)
    whole = nt.simulate(small_problem, arms, steps=150, batch_size=6, record=10)
    np.testing.assert_array_equal(more.errors, whole.errors)


@pytest.mark.parametrize("law", [Odd(), Shifted(nt.Normal(), np.eye(12))], ids=["law", "mixture"])
def test_a_law_of_ones_own_is_fed_to_the_compiled_loop(law):
    """Also one that only changes a built-in law: its formula must not be taken for the old one."""
    problem = nt.Problem.draw(nt.networks.symmetric(12, 4, 6, seed=1), law, seed=1)
    runs = both_engines(problem)
    assert_equal_runs(*runs)


def test_corrupted_inputs_are_fed_to_the_compiled_loop_with_labels_of_the_clean_ones():
    law = nt.data.Corrupted(nt.Normal(), scale=0.3, probability=0.5)
    network = nt.networks.symmetric(12, 4, 6, seed=1)
    problem = nt.Problem.draw(network, law, seed=1, noise=0.1)
    arms = all_arms(network, chosen=slice(0, None, 3))
    runs = both_engines(problem, arms)
    assert_equal_runs(*runs)
    clean = nt.simulate(nt.Problem.draw(network, nt.Normal(), seed=1, noise=0.1), arms, steps=100,
                        batch_size=6)  # fmt: skip
    assert (np.abs(runs[0].weights - clean.weights).max(axis=1) > 1e-3).all()


def test_data_of_ones_own_are_fed_to_the_compiled_loop(small_problem):
    data = Reversed(small_problem.law, small_problem.true_weights)
    runs = both_engines(nt.Problem(small_problem.network, data))
    assert_equal_runs(*runs)
    assert not np.array_equal(runs[0].weights, both_engines(small_problem)[0].weights)


def test_a_network_of_ones_own_runs_on_the_numpy_engine(small_problem):
    network = small_problem.network
    problem = nt.Problem.draw(Doubled(network.basis, network.mix), nt.Normal(), seed=1)
    run = nt.simulate(problem, nt.SGD(0.02), steps=10, batch_size=6)
    assert run.engines[0] == ("numpy", "the network Doubled is not built in")


class Transposed(nt.Normal):
    def inputs(self, u, v, batch_size, n_inputs):
        return super().inputs(u, v, batch_size, n_inputs).T


class One(nt.data.Simulated):
    part = ""

    def batch(self, *asked):
        return super().batch(*asked)._replace(**{self.part: np.ones(1)})


class OneLabel(One):
    part = "labels"


class OneCount(One):
    part = "counts"


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_labels_and_counts_of_a_wrong_shape_are_refused(small_problem, engine):
    wrong = nt.Problem.draw(small_problem.network, Transposed(), seed=1)
    arms = [nt.Arm(nt.SGD(0.1))]
    with pytest.raises(nt.InputError, match=r"must have shape \(5, 12\), got \(12, 5\)"):
        nt.simulate(wrong, arms, steps=5, batch_size=5, engine=engine)
    for kind in (OneLabel, OneCount):
        data = kind(nt.Normal(), small_problem.true_weights)
        wrong = nt.Problem(small_problem.network, data)
        expected = rf"the {kind.part} of {kind.__name__} must have shape \(5,\), got \(1,\)"
        with pytest.raises(nt.InputError, match=expected):
            nt.simulate(wrong, arms, steps=5, batch_size=5, engine=engine)


@pytest.mark.parametrize("at_once", [1, 100, 1000])
def test_how_much_is_fed_at_once_does_not_matter(small_problem, monkeypatch, at_once):
    law = nt.ScipyLaw(scipy.stats.logistic())
    problem = nt.Problem.draw(small_problem.network, law, seed=1, noise=0.1)
    arms = all_arms(small_problem.network)
    whole = nt.simulate(problem, arms, steps=100, batch_size=6, record=7)
    monkeypatch.setattr("neurotron.engine.compiled.layout.EXTERNAL_NUMBERS", at_once)
    parts = nt.simulate(problem, arms, steps=100, batch_size=6, record=7)
    assert_equal_runs(parts, whole, relative=0.0)


def test_one_loop_serves_every_layout_of_arrays(small_problem):
    """Arrays in another order would be compiled for anew, in silence, for many seconds."""
    arms = all_arms(small_problem.network)
    nt.simulate(small_problem, arms, steps=3, batch_size=5)
    basis, mix = small_problem.network.basis, small_problem.network.mix
    network = nt.FilterNetwork(basis, np.asfortranarray(mix))
    problem = nt.Problem.draw(network, nt.Correlated(nt.Normal(), np.eye(12, order="F")))
    with numba.core.event.install_recorder("numba:compile") as compiled:
        nt.simulate(problem, arms, steps=3, batch_size=5)
    assert compiled.buffer == []


def test_losses_are_never_nan_even_if_inputs_overflow(small_problem):
    problem = nt.Problem.draw(small_problem.network, nt.StudentT(0.004), seed=1)
    runs = both_engines(problem, record="all")
    assert np.isinf(runs[0].losses).any()
    assert not np.isnan(runs[0].losses).any()
    assert_equal_runs(*runs)


def test_a_run_whose_arms_have_all_diverged_ends_at_once(small_problem):
    arms = [nt.Arm(nt.SGD(50.0)), nt.Arm(nt.SGD(60.0), TowardsZero(1.0))]
    calls = []
    run = nt.simulate(
        small_problem, arms, steps=10**12, batch_size=6, progress=lambda *c: calls.append(c)
    )
    assert run.status == ("diverged", "diverged")
    assert run.steps[-1] == 10**12
    assert calls[-1] == (10**12, 10**12)
    assert np.isinf(run.errors[:, -1]).all()
    assert not np.isnan(run.errors).any()


def test_every_built_in_thing_is_compiled(small_problem):
    for kind in STREAMED:
        assert obstacle(small_problem, nt.Arm(nt.SGD(0.1), example(kind, bound=1.0))) == ""
    for name in nt.trainers.BY_NAME:
        for step_size in (0.1, "fastest", "scheduled") if name == "neuro-tron" else (0.1,):
            trainer = nt.trainers.build(name, step_size=step_size)
            made = trainer.resolve(small_problem, batch_size=4, steps=10, attack=None)
            assert obstacle(small_problem, nt.Arm(made)) == ""


def test_the_loop_lets_other_threads_run(small_problem, monkeypatch):
    """Threads change places of their own accord only, so this one answers within the loop."""
    answers, asked, heard = [], queue.SimpleQueue(), []

    def asking(*arguments):
        before = len(answers)
        asked.put(True)
        advance(*arguments)
        heard.append(len(answers) > before)

    def work():
        for _ in range(1000):
            nt.simulate(small_problem, arms, steps=2000, batch_size=6, engine="compiled")
            if any(heard):
                break
        asked.put(False)

    arms = [nt.Arm(nt.SGD(0.01))]
    nt.simulate(small_problem, arms, steps=1, batch_size=6, engine="compiled")
    advance = program._run
    monkeypatch.setattr(program, "_run", asking)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while asked.get():
            answers.append("here")
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert any(heard)


SCRIPT = """
import sys
import neurotron as nt
problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
attack = getattr(nt.attacks, sys.argv[1])(bound=1.0)
run = nt.simulate(problem, nt.NeuroTron(0.1), attack=attack, steps=20, batch_size=4)
print(run.engines[0].name)
"""


@pytest.mark.slow("a new process compiles from nothing")
def test_only_what_is_used_and_new_is_compiled(tmp_path):
    def compiled_for(attack):
        before = {*tmp_path.rglob("*.nbc")}
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, attack]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == "compiled\n"
        return [path.name for path in tmp_path.rglob("*.nbc") if path not in before]

    first = compiled_for("Constant")
    assert sum("attack" in name for name in first) == 1
    assert not any("draw" in name for name in first if "normal" not in name)
    assert compiled_for("Constant") == []
    (new,) = compiled_for("SignFlip")
    assert "SignFlip" in new


def test_later_stages_are_compiled_before_the_run_begins(small_problem):
    """Compiling would hold up Ctrl-C during the training."""
    arm = nt.Stages((nt.NeuroTron(0.01), 0.5), (nt.TrimmedSGD(0.01, averaging=True), 0.5))
    run = nt.simulation.iterate(small_problem, arm, steps=20, batch_size=5)
    with (
        numba.core.event.install_recorder("numba:compile") as compiled,
        unittest.mock.patch.object(Compiled, "__init__", side_effect=AssertionError),
    ):
        assert [records.steps[-1] for records in run][-1] == 20
    assert compiled.buffer == []


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))])
def test_a_copy_of_a_run_trains_on_its_own(small_problem, copied):
    """Its loops must not write to the arrays of the other."""
    runs = [
        nt.simulation.iterate(small_problem, nt.SGD(0.01), steps=50, batch_size=5, record="all")
        for _ in range(2)
    ]
    whole = list(runs[0])[-1]
    next(iter(runs[1]))
    other = copied(runs[1])
    for run in (other, runs[1]):
        ends = list(run)[-1]
        np.testing.assert_array_equal(ends.errors[-1], whole.errors[-1])


def test_a_program_cannot_be_copied():
    program_of_nothing = program.Program([], [], np.zeros(1, dtype=int), np.empty((0, 16)))
    with pytest.raises(TypeError, match="addresses"):
        copy.copy(program_of_nothing)
