"""Pickling and copying: whatever was called before, the same values, still read-only."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import neurotron as nt


@pytest.fixture(scope="module")
def used():
    """Everything public that holds a problem, after all that caches something was called."""
    network = nt.networks.symmetric(6, 2, 4, seed=1)
    rows = np.random.default_rng(0).standard_normal((30, 6))
    problem = nt.Problem.draw(network, nt.Empirical(rows, symmetrized=True), seed=1)
    attack = nt.attacks.Impersonation(0.1, 0.1, weights=[1.0, 2.0])
    arm, refined = nt.Arm(nt.NeuroTron("fastest"), attack), nt.Arm(nt.RefinedTron())
    run = nt.simulate(problem, [arm, refined], steps=200, batch_size=4)
    certificate = nt.certify(problem, arm, batch_size=4)
    plan = nt.plan(problem, nt.Budget(0.01, 0.1), radius=1.0, batch_size=4)
    found = {
        "problem": problem, "run": run, "arm": arm, "plan": plan, "certificate": certificate,
        "data": problem.data, "rows": nt.data.Rows(rows, rows[:, 0], sample_weight=rows[:, 1] ** 2),
        "law": problem.law,
        "network": network, "attack": attack,
        "sensing": nt.NeuroTron(0.1, sensing=np.eye(2, 6)),
    }  # fmt: skip
    assert "_made" in vars(problem)
    return found


NAMES = [
    "problem", "run", "arm", "plan", "certificate", "data", "rows", "law", "network", "attack",
    "sensing",
]  # fmt: skip


def arrays(thing, path=""):
    """Yield every array inside, with where it is."""
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, (tuple, list)):
        for i, item in enumerate(thing):
            yield from arrays(item, f"{path}[{i}]")
    elif type(thing).__module__.startswith("neurotron"):
        for name, value in getattr(thing, "__dict__", {}).items():
            yield from arrays(value, f"{path}.{name}")


@pytest.mark.parametrize("remake", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
@pytest.mark.parametrize("name", NAMES)
def test_what_was_used_is_pickled_and_copied_with_its_read_only_arrays(used, name, remake):
    again = dict(arrays(remake(used[name])))
    for path, before in arrays(used[name]):
        if path in again:  # not what was cached
            np.testing.assert_array_equal(again[path], before)
            assert again[path].flags.writeable == before.flags.writeable, path
    assert again or name in ("arm", "plan", "certificate", "attack")


def test_a_run_goes_on_after_pickling_as_if_nothing_had_happened(used):
    run = used["run"]
    options = {"steps": 200, "batch_size": 4}
    half = nt.simulate(run.problem, run.arms[:1], steps=100, batch_size=4)
    whole = nt.simulate(run.problem, run.arms[:1], **options)
    resumed = nt.simulate(
        run.problem, run.arms[:1], resume=pickle.loads(pickle.dumps(half)), **options
    )
    np.testing.assert_array_equal(resumed.weights, whole.weights)


def test_an_array_that_may_be_written_to_stays_so():
    class Own(nt.Attack):
        def __post_init__(self):
            super().__post_init__()
            object.__setattr__(self, "buffer", np.zeros(3))

        def distort(self, bound, query):
            return bound

    assert copy.deepcopy(Own(1.0)).buffer.flags.writeable


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.steps.fill(7),
        lambda run: run.options.update(seed=1),
        lambda run: run.environment.clear(),
        lambda run: run.state.weights.fill(0.0),
        lambda run: run.state.average.fill(0.0),
        lambda run: run.state.stopped_at.fill(1),
        lambda run: run.state.memory.append(()),
        lambda run: setattr(run.state, "step", 3),
    ],
)
def test_what_resume_trusts_cannot_be_changed(used, change):
    with pytest.raises((ValueError, AttributeError)):
        change(used["run"])
