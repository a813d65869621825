"""The compiled engine: the same results as the NumPy engine; bits that depend on nothing else."""

from __future__ import annotations

import copy
import os
import pickle
import queue
import re
import shutil
import subprocess
import sys
import threading
import unittest.mock
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numba.core.event
import numpy as np
import pytest
import scipy.stats
from tests.support.attacks import STREAMED, example
from tests.support.comparison import assert_equal_runs
from tests.support.cover import pairwise, spread
from tests.support.networks import networks

import neurotron as nt
from neurotron._jit import Compiled
from neurotron.attacks import AlternatingSign
from neurotron.engine.compiled import program
from neurotron.engine.compiled.cohort import obstacle

STEPS = 300


EVERY = slice(None)
LEVELS = ((0.5, 0.4), (2.0, 1.0))


def all_arms(r: int, scale: float = 1.0, chosen: slice = EVERY) -> list[nt.Arm]:
    """Every built-in attack on every built-in trainer, and two sensing matrices.

    Any two of attack, trainer and level meet; all three need not.
    """
    trainers = [
        nt.NeuroTron(0.02 * scale),
        nt.NeuroTron(0.01 * scale, sensing="mean"),
        nt.SGD(0.02 * scale),
        nt.FirstSampleSGD(0.01 * scale),
    ]
    pairs = [
        (trainer, example(kind, r, bound=bound, probability=probability))
        for kind, trainer, (bound, probability) in pairwise(STREAMED[chosen], trainers, LEVELS)
    ]
    arms = [*((trainer, None) for trainer in trainers), *pairs]
    return [nt.Arm(*arm, name=f"arm {i}") for i, arm in enumerate(arms)]


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


CASES = spread([*laws(3)], [*networks()], each_row=2, each_column=3)


@pytest.mark.parametrize(("law", "network"), CASES)
def test_both_engines_agree_for_every_law_network_attack_and_trainer(law, network):
    """Each law on two networks, each network under three laws, with every other attack each."""
    half = slice(CASES.index((law, network)) // len(networks()) % 2, None, 2)
    network = networks()[network]
    law, scale = laws(network.n_inputs)[law]
    problem = nt.Problem.draw(network, law, seed=2, noise=0.02)
    arms = all_arms(network.filter_size, scale, half)
    runs = [
        nt.simulate(problem, arms, steps=STEPS, batch_size=5, seed=3, engine=engine, record=30)
        for engine in ("compiled", "numpy")
    ]
    assert {engine.name for engine in runs[0].engines} == {"compiled"}
    assert runs[0].status.count("finished") >= len(arms) - 4
    assert_equal_runs(*runs)


@pytest.mark.parametrize(
    ("name", "weighted", "known"), pairwise([*networks()], [False, True], [False, True])
)
def test_both_engines_agree_on_rows_of_data(name, weighted, known):
    network, draw = networks()[name], np.random.default_rng(1)
    X = draw.standard_normal((23, network.n_inputs))
    weights = draw.random(23) if weighted else None
    y = network(draw.standard_normal(network.filter_size), X)
    truth = draw.standard_normal(network.filter_size) if known else None
    problem = nt.Problem.from_rows(network, X, y, sample_weight=weights, true_weights=truth)
    arms = [
        arm for arm in all_arms(network.filter_size, chosen=slice(int(weighted), None, 2))
        if known or arm.attack is None or "push" not in arm.attack.query_fields
    ]  # fmt: skip
    runs = [
        nt.simulate(problem, arms, steps=STEPS, batch_size=4, engine=engine)
        for engine in ("compiled", "numpy")
    ]
    assert runs[0].has_errors == known
    assert_equal_runs(*runs)


def test_bits_do_not_depend_on_other_arms_or_their_order(network):
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    arms = all_arms(network.filter_size)
    together = nt.simulate(problem, arms, steps=120, batch_size=7, record=10)
    shuffled = [arms[i] for i in np.random.default_rng(0).permutation(len(arms))]
    for some in (shuffled, arms[::7], arms[33:34], arms[-1:]):
        apart = nt.simulate(problem, some, steps=120, batch_size=7, record=10)
        places = [arms.index(arm) for arm in some]
        for name in ("weights", "errors", "losses"):
            np.testing.assert_array_equal(getattr(apart, name), getattr(together, name)[places])


def test_bits_do_not_depend_on_the_records_or_on_slices(small_problem):
    arms = all_arms(4)
    every = nt.simulate(small_problem, arms, steps=200, batch_size=6, record="all")
    some = nt.simulate(small_problem, arms, steps=200, batch_size=6, record=37)
    np.testing.assert_array_equal(some.weights, every.weights)
    np.testing.assert_array_equal(some.losses, every.losses[:, some.steps])
    part = None
    for stop in (1, 2, 77, 200):
        part = nt.simulate(small_problem, arms, steps=stop, batch_size=6, resume=part)
    np.testing.assert_array_equal(part.weights, every.weights)


def test_bits_do_not_depend_on_the_number_of_threads(small_problem):
    def run(replicate):
        arms = all_arms(4)
        return nt.simulate(small_problem, arms, steps=2000, batch_size=6, replicate=replicate)

    alone = [run(replicate) for replicate in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone, pool.map(run, range(4)), strict=True):
            np.testing.assert_array_equal(one.errors, other.errors)
            np.testing.assert_array_equal(one.weights, other.weights)


def test_a_diverging_arm_leaves_its_neighbours_alone(small_problem):
    attack = AlternatingSign(1.0, 0.5)
    arms = [nt.Arm(nt.SGD(step), attack, name=str(step)) for step in (0.01, 20.0, 0.02, 30.0)]
    together = nt.simulate(small_problem, arms, steps=300, batch_size=6)
    assert together.status == ("finished", "diverged", "finished", "diverged")
    for i, arm in enumerate(arms):
        alone = nt.simulate(small_problem, [arm], steps=300, batch_size=6)
        np.testing.assert_array_equal(alone.errors[0], together.errors[i])
        np.testing.assert_array_equal(alone.weights[0], together.weights[i])
        assert alone.stopped_at[0] == together.stopped_at[i]


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


def both_engines(problem, **changes):
    arms = [nt.Arm(nt.NeuroTron(0.02, sensing="mean")), nt.Arm(nt.SGD(0.02))]
    return [
        nt.simulate(problem, arms, steps=100, batch_size=6, engine=engine, **changes)
        for engine in ("auto", "numpy")
    ]


@pytest.mark.parametrize("law", [Odd(), Shifted(nt.Normal(), np.eye(12))], ids=["law", "mixture"])
def test_a_law_of_ones_own_is_fed_to_the_compiled_loop(law):
    """Also one that only changes a built-in law: its formula must not be taken for the old one."""
    problem = nt.Problem.draw(nt.networks.symmetric(12, 4, 6, seed=1), law, seed=1)
    runs = both_engines(problem)
    assert {engine.name for engine in runs[0].engines} == {"compiled"}
    assert_equal_runs(*runs)


def test_corrupted_inputs_are_fed_to_the_compiled_loop_with_labels_of_the_clean_ones():
    law = nt.data.Corrupted(nt.Normal(), scale=0.3, probability=0.5)
    network = nt.networks.symmetric(12, 4, 6, seed=1)
    problem = nt.Problem.draw(network, law, seed=1, noise=0.1)
    arms = all_arms(4, chosen=slice(0, None, 3))
    runs = [
        nt.simulate(problem, arms, steps=100, batch_size=6, engine=engine)
        for engine in ("compiled", "numpy")
    ]
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
    runs = both_engines(problem)
    assert runs[0].engines[0] == ("numpy", "the network Doubled is not built in")
    assert_equal_runs(*runs, relative=0.0)


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


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
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
    arms = all_arms(4)
    whole = nt.simulate(problem, arms, steps=100, batch_size=6, record=7)
    monkeypatch.setattr("neurotron.engine.compiled.layout.EXTERNAL_NUMBERS", at_once)
    parts = nt.simulate(problem, arms, steps=100, batch_size=6, record=7)
    assert_equal_runs(parts, whole, relative=0.0)


def test_one_loop_serves_every_layout_of_arrays(small_problem):
    """Arrays in another order would be compiled for anew, in silence, for many seconds."""
    arms = all_arms(4)
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
print(run.engines[0].name, repr(float(run.errors[0, -1])))
"""


@pytest.fixture
def own_copy(tmp_path):
    """Run a simulation with a copy of the package; return its output and what was compiled."""
    source = shutil.ignore_patterns("*.nbi", "*.nbc")
    package = Path(shutil.copytree(Path(nt.__file__).parent, tmp_path / "neurotron", ignore=source))
    before = {}

    def run(attack):
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        environment.pop("NUMBA_CACHE_DIR", None)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, attack],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        kept = {path.name: path.stat().st_mtime_ns for path in package.rglob("*.nbc")}
        new = [name for name in kept if before.get(name) != kept[name]]
        before.update(kept)
        return done.stdout, new

    run.package = package
    return run


@pytest.mark.slow("four new processes compile from nothing")
def test_only_what_is_used_and_new_is_compiled(own_copy):
    first, compiled = own_copy("Constant")
    assert first.startswith("compiled ")
    assert sum("attack" in name for name in compiled) == 1
    assert not any("draw" in name for name in compiled if "normal" not in name)
    again, compiled = own_copy("Constant")
    assert (again, compiled) == (first, [])
    _, compiled = own_copy("SignFlip")
    assert len(compiled) == 1
    assert "SignFlip" in compiled[0]
    formula = own_copy.package / "attacks" / "constant.py"
    formula.write_text(formula.read_text().replace("return bound", "return 0.5 * bound"))
    edited, compiled = own_copy("Constant")
    assert edited != first
    assert sum("attack" in name for name in compiled) == 1


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


def test_a_message_says_what_is_compiled_and_fits_80_columns(small_problem, monkeypatch):
    told = []
    monkeypatch.setattr("neurotron._jit.announced", lambda text: told.append(text) or nullcontext())
    monkeypatch.setattr(Compiled, "load", lambda function: False)
    nt.simulate(small_problem, nt.SGD(0.01), attack=AlternatingSign(1.0, 0.5), steps=1)
    first = " ".join(told[0].split())
    assert re.match(r"neurotron: compiling \d+ functions .*\(normal, alternating-sign\)", first)
    assert "once" in first
    assert max(map(len, told[0].splitlines())) < 80
