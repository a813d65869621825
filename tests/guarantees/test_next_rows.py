"""The rows that come next in the stream of a run: fresh, and tampered with by each arm's attack."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.support.attacks import STREAMED, example

import neurotron as nt
from neurotron.attacks import Adaptive, Constant, HalfSpace, LargeNorm
from neurotron.data import Stream
from neurotron.guarantees.verify import fresh_rows
from neurotron.guarantees.verify import next_rows as module
from neurotron.guarantees.verify.next_rows import next_rows, verify_run

SIZE, BATCH, STEPS = 4, 8, 30
NETWORK = nt.networks.symmetric(n_inputs=10, filter_size=SIZE, width=2, seed=3)
PROBLEM = nt.Problem.draw(NETWORK, nt.Normal(), seed=3)
STILL = 1e-300
"""A step size with which weights do not move."""


def run_of(*arms, problem=PROBLEM, steps=STEPS, **options):
    return nt.simulate(problem, list(arms), steps=steps, batch_size=BATCH, seed=5, **options)


def drawn(problem, steps, replicate=0):
    """Return the batches of the stream after the one on which the last loss was measured."""
    stream = Stream.of(5, replicate)
    batches = [problem.data.batch(problem.network, stream, step, BATCH) for step in steps]
    inputs, labels, _ = zip(*batches, strict=True)
    return np.concatenate(inputs), np.concatenate(labels)


class Watcher(nt.Attack):
    """Attack that remembers what it was shown, and changes every label by 1."""

    query_fields = ("output", "push", "step")

    def distort(self, bound, query):
        self.seen.append(query)
        return np.ones_like(query.output)

    @staticmethod
    def watching():
        attack = Watcher(bound=1.0)
        object.__setattr__(attack, "seen", [])
        return attack


@pytest.mark.parametrize("replicate", [0, 3])
def test_all_arms_get_the_next_inputs_and_an_honest_one_their_honest_labels(replicate):
    run = run_of(
        nt.SGD(0.01), nt.Arm(nt.SGD(0.01), Constant(2.0, 1.0), name="c"), replicate=replicate
    )
    X, y = drawn(PROBLEM, range(STEPS + 1, STEPS + 4), replicate)
    honest, attacked = next_rows(run, 20)
    assert (honest.arm, attacked.arm) == ("SGD", "c")
    for one in (honest, attacked):
        assert np.array_equal(one.X, X[:20])
    assert np.array_equal(honest.y, y[:20])
    assert np.array_equal(attacked.y, y[:20] + 2.0)


def test_a_whole_number_of_batches_and_a_single_row_can_be_asked_for():
    run = run_of(nt.SGD(0.01))
    X, _ = drawn(PROBLEM, range(STEPS + 1, STEPS + 3))
    assert np.array_equal(next_rows(run, 2 * BATCH)[0].X, X)
    assert np.array_equal(next_rows(run, 1)[0].X, X[:1])


@pytest.mark.parametrize("kind", STREAMED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("trainer", [nt.SGD(STILL), nt.NeuroTron(STILL)], ids=["SGD", "Tron"])
def test_labels_are_those_on_which_an_arm_that_stands_still_would_go_on(kind, trainer):
    arm = nt.Arm(trainer, example(kind, SIZE, bound=0.7, probability=0.6))
    short = run_of(arm, engine="numpy", record="all")
    longer = run_of(arm, engine="numpy", record="all", steps=STEPS + 40, resume=short)
    (one,) = next_rows(short, 40 * BATCH)
    squares = (one.y - NETWORK(one.weights, one.X)) ** 2
    losses = squares.reshape(40, BATCH).mean(axis=1)
    np.testing.assert_allclose(losses, longer.losses[0, STEPS + 1 :], rtol=1e-12, atol=1e-30)
    _, y = drawn(PROBLEM, range(STEPS + 1, STEPS + 41))
    assert not np.array_equal(one.y, y)


@pytest.mark.parametrize("kind", STREAMED, ids=lambda kind: kind.__name__)
def test_labels_do_not_depend_on_how_many_batches_an_attack_is_shown_at_a_time(kind, monkeypatch):
    attack = example(kind, SIZE, bound=0.7, probability=0.6)
    trainers = [nt.SGD(0.01), nt.FirstSampleSGD(0.01), nt.NeuroTron(0.01)]
    run = nt.simulate(PROBLEM, trainers, attack=attack, steps=STEPS, batch_size=3, seed=5)
    together = next_rows(run, 40)
    monkeypatch.setattr(module, "WATCHED", 3)
    for one, alone in zip(together, next_rows(run, 40), strict=True):
        assert np.array_equal(one.X, alone.X)
        np.testing.assert_allclose(one.y, alone.y, rtol=1e-13)


def test_an_attack_sees_the_present_weights_of_its_arm_and_reported_ones_are_verified():
    attack = Watcher.watching()
    run = run_of(nt.Arm(nt.SGD(0.02, averaging=True), attack))
    attack.seen.clear()
    (one,) = next_rows(run, 2 * BATCH)
    present = run.state.weights[:, 0]
    assert not np.allclose(present, run.weights[0])
    assert np.array_equal(one.weights, run.weights[0])
    output = np.concatenate([query.output[:, 0] for query in attack.seen])
    np.testing.assert_allclose(output, NETWORK(present, one.X), rtol=1e-12)
    assert [query.step.item() for query in attack.seen] == [STEPS + 1, STEPS + 2]


@pytest.mark.parametrize("last", [nt.SGD(0.01), nt.NeuroTron(0.01, sensing="mean")])
def test_an_arm_with_stages_is_in_its_last_one(last):
    attack = Watcher.watching()
    first = nt.NeuroTron(0.01) if isinstance(last, nt.SGD) else nt.SGD(0.01)
    run = run_of(nt.Arm(nt.Stages((first, 0.5), (last, 0.5)), attack))
    attack.seen.clear()
    (one,) = next_rows(run, BATCH)
    away = one.weights - PROBLEM.true_weights
    direction = (
        NETWORK.gradient(one.weights, one.X)
        if isinstance(last, nt.SGD)
        else one.X @ NETWORK.mean_gate.T
    )
    np.testing.assert_allclose(attack.seen[0].push[:, 0], direction @ away, rtol=1e-10)


def test_arms_on_the_compiled_engine_and_trainers_of_every_kind_are_watched():
    trainers = [
        nt.RefinedTron(), nt.NeuroTron(), nt.NeuroTron("scheduled"), nt.ClippedTron(),
        nt.HuberSGD(), nt.TrimmedSGD(),
    ]  # fmt: skip
    run = run_of(*trainers, attack=Adaptive(0.5, 0.3), steps=400)
    found = next_rows(run, 50)
    assert [one.arm for one in found] == [arm.name for arm in run.arms]
    _, y = drawn(PROBLEM, range(401, 408))
    changes = np.array([one.y - y[:50] for one in found])
    hit = changes != 0.0
    assert (hit == hit[0]).all()  # they share their coins
    assert 5 < hit[0].sum() < 25
    np.testing.assert_allclose(np.abs(changes[hit]), 0.5)
    assert len({tuple(change) for change in np.sign(changes)}) > 1  # and are pushed apart


def test_a_run_is_not_changed_and_goes_on_as_if_nobody_had_looked():
    arms = [nt.Arm(nt.SGD(0.01), Adaptive(0.5, 0.3))]
    short = run_of(*arms)
    before = short.state.weights.copy()
    next_rows(short, 100)
    assert np.array_equal(short.state.weights, before)
    resumed = run_of(*arms, steps=2 * STEPS, resume=short)
    assert np.array_equal(resumed.weights, run_of(*arms, steps=2 * STEPS).weights)


def test_what_an_attacker_may_do_is_told_with_the_rows():
    direction = np.ones(SIZE)
    run = run_of(
        nt.Arm(nt.SGD(0.01), name="honest"),
        nt.Arm(nt.SGD(0.01), Adaptive(0.5, 0.3), name="coin"),
        nt.Arm(nt.SGD(0.01), Constant(0.0, 0.3), name="changes nothing"),
        nt.Arm(nt.SGD(0.01), HalfSpace(0.5, 0.8, direction=direction), name="one side"),
        nt.Arm(nt.SGD(0.01), LargeNorm(0.5, 1.0, cutoff=3.5), name="large"),
    )
    found = {one.arm: one for one in next_rows(run, 4000)}
    told = {name: (one.probability, one.attacker) for name, one in found.items()}
    assert told["honest"] == (0.0, "coin")
    assert told["coin"] == told["changes nothing"] == (0.3, "coin")
    probability, attacker = told["one side"]
    assert (probability, attacker) == (pytest.approx(0.4, abs=0.05), "any")
    share = (np.linalg.norm(found["large"].X, axis=1) >= 3.5).mean()
    assert told["large"] == (share, "any")


def test_a_burst_may_change_all_of_the_next_rows():
    burst = nt.attacks.Burst(0.5, 1.0, share=0.1)
    at_rest, in_burst = (
        next_rows(run_of(nt.Arm(nt.SGD(STILL), burst), steps=steps), 100)[0] for steps in (500, 0)
    )
    assert (at_rest.probability, at_rest.attacker) == (0.0, "any")
    assert (in_burst.probability, in_burst.attacker) == (1.0, "any")


def test_an_interrupted_run_has_next_rows_too():
    run = nt.simulation.iterate(
        PROBLEM, nt.SGD(0.01), steps=10**9, batch_size=BATCH, seed=5, record=100
    )
    next(iter(run))
    run = run.trajectories()
    assert run.status == ("interrupted",)
    X, y = drawn(PROBLEM, [run.state.step + 1])
    (one,) = next_rows(run, BATCH)
    assert np.array_equal(one.X, X)
    assert np.array_equal(one.y, y)
    assert np.array_equal(one.weights, run.weights[0])


def test_an_arm_that_diverged_has_its_last_finite_weights():
    run = run_of(nt.SGD(1e5), nt.SGD(0.01), attack=Adaptive(0.5, 0.3), steps=100)
    assert run.status == ("diverged", "finished")
    lost, _ = next_rows(run, 50)
    assert np.array_equal(lost.weights, run.weights[0])
    assert np.isfinite(lost.weights).all()
    assert np.isfinite(lost.y).all()


def table(**options):
    draw = np.random.default_rng(1)
    X = draw.standard_normal((50, 10))
    y = NETWORK(np.ones(SIZE), X)
    return nt.Problem.from_rows(NETWORK, X, y, **options)


def test_rows_of_a_table_are_drawn_with_replacement():
    problem = table(replacement=True)
    run = run_of(nt.SGD(0.01), problem=problem)
    (one,) = next_rows(run, 200)
    X, y = drawn(problem, range(STEPS + 1, STEPS + 26))
    assert np.array_equal(one.X, X)
    assert np.array_equal(one.y, y)
    assert len(np.unique(one.X, axis=0)) > 40


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (table(), r"not fresh.*same table.*replacement=True"),
        (table(replacement=True, sample_weight=np.arange(1.0, 51.0)), r"sample_weight.*your own"),
        (
            nt.Problem.draw(NETWORK, nt.data.Corrupted(nt.Normal(), scale=0.1), seed=3),
            r"corrupts.*itself",
        ),
    ],
    ids=["epochs", "weights", "corrupted"],
)
def test_rows_that_are_not_fresh_draws_of_the_law_are_refused(problem, words):
    run = run_of(nt.SGD(1e-3), problem=problem)
    with pytest.raises(nt.InputError, match=words):
        next_rows(run, 10)


@pytest.mark.parametrize("rows", [0, -1, 2.5, "many", None])
def test_a_number_of_rows_is_a_whole_number_above_zero(rows):
    with pytest.raises(nt.InputError, match="rows"):
        next_rows(run_of(nt.SGD(0.01), steps=0), rows)


def test_more_rows_than_memory_has_and_other_things_than_runs_are_refused():
    run = run_of(nt.SGD(0.01), steps=0)
    with pytest.raises(nt.InputError, match=r"next rows must have at most 100,000,000 entries"):
        next_rows(run, 10**8)
    with pytest.raises(nt.InputError, match=r"`run` must be a Trajectories"):
        next_rows(PROBLEM, 10)


def test_every_arm_is_verified_against_its_own_attack_or_against_the_one_given():
    attacks = {"coin": Adaptive(0.5, 0.3), "any": HalfSpace(0.5, 0.5, direction=np.ones(SIZE))}
    run = run_of(*(nt.Arm(nt.SGD(0.01), attack, name=name) for name, attack in attacks.items()))
    rows = {one.arm: one for one in next_rows(run, 400)}
    own = verify_run(run, 400, confidence=0.99, noise=0.0)
    assert [*own] == ["coin", "any"]
    for i, (name, one) in enumerate(own.items()):
        told = {"probability": rows[name].probability, "attacker": name}
        confidence = (
            0.995 if name == "any" else 0.99
        )  # a share that is read off the rows costs half
        same = nt.verify(
            PROBLEM,
            run.weights[i],
            rows[name].X,
            rows[name].y,
            confidence=confidence,
            noise=0.0,
            **told,
        )
        assert (one.radius, one.at_least) == (same.radius, same.at_least)
        assert one.confidence == 0.99
    assert (own["coin"].probability, own["coin"].rows) == (0.3, 400)
    assert 0.1 < own["any"].probability < 0.4
    for given, attacker in ((None, "any"), ("coin", "coin")):
        told = {} if given is None else {"attacker": given}
        found = verify_run(run, 400, probability=0.2, bound=0.5, **told)
        assert {(one.probability, one.attacker) for one in found.values()} == {(0.2, attacker)}
        same = nt.verify(run, rows=400, probability=0.2, bound=0.5, **told)
        assert {name: one.to_dict() for name, one in found.items()} == {
            name: one.to_dict() for name, one in same.items()
        }


def test_many_rows_are_verified_arm_by_arm_with_the_same_radii(monkeypatch):
    run = run_of(nt.SGD(0.01), nt.NeuroTron(0.01), nt.NeuroTron(0.02))
    together = verify_run(run, 200, noise=0.0)
    monkeypatch.setattr(fresh_rows, "BLOCK", 200)
    alone = verify_run(run, 200, noise=0.0)
    assert {arm: one.to_dict() for arm, one in together.items()} == {
        arm: one.to_dict() for arm, one in alone.items()
    }


def test_a_wrong_formula_is_named_with_its_step():
    @dataclasses.dataclass(frozen=True, eq=False)
    class Late(nt.Attack):
        query_fields = ("step",)

        def distort(self, bound, query):
            return np.where(query.step > STEPS, 2.0 * bound, bound)

    run = run_of(nt.Arm(nt.SGD(0.01), Late(0.5, 1.0)))
    with pytest.raises(nt.InputError, match=f"within its bound.*step {STEPS + 1}"):
        next_rows(run, 10)
