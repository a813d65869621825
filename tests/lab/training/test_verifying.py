"""Studies whose arms are verified on fresh rows after training."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.cli import in_this_process
from tests.support.training import changed, rows_of, settings_of

import neurotron as nt
from neurotron.data import Stream
from neurotron.lab.training import building

TEXT = """
name = "s"
steps = 3000
record = 3000
replicates = 5
verify = 600
claims = ["verification-holds"]
[trainers]
RefinedTron = "refined-tron"
SGD = "sgd:step_size=0.01"
[[settings]]
name = "exact"
network = "symmetric:width=4"
n_inputs = 12
filter_size = 4
batch_size = 16
[[settings.sweeps]]
attack = "adaptive"
bound = 4
probability = [0.1, 0.4, 0.6]
[[settings.sweeps]]
attack = "half-space"
bound = 4
probability = 0.1
[[settings.sweeps]]
attack = "none"
"""
MORE = """
[[settings]]
name = "noisy"
like = "exact"
noise = 0.1
[[settings]]
name = "corrupted"
like = "exact"
law = "corrupted:scale=0.1"
"""
EXACT, NOISY, CORRUPTED = settings_of(TEXT + MORE)
SHORT = EXACT.model_copy(update={"steps": 20, "record": 20})


def run_of(setting, replicate=1):
    problem = building.build_problem(setting, replicate)
    arms = building.build_arms(setting, problem, replicate)
    return nt.simulate(
        problem, arms, steps=setting.steps, batch_size=setting.batch_size,
        seed=setting.stream_seed(), replicate=replicate, record=setting.record,
    )  # fmt: skip


def radii(setting):
    return {row["arm"]: row["verified_radius"] for row in rows_of(setting)}


@pytest.fixture(scope="module")
def exact():
    return radii(EXACT)


def test_a_radius_is_that_of_verify_on_the_next_rows_with_the_arms_own_attack(exact):
    run = run_of(EXACT)
    for arm in run:
        attack = arm.arm.attack
        if attack is None:
            told = {"probability": 0.0, "attacker": "coin"}
        elif isinstance(attack, nt.attacks.HalfSpace):
            continue  # it is told the share that was changed
        else:
            told = {"probability": attack.probability, "attacker": "coin"}
        found = nt.verify(run, rows=600, noise=0.0, **told)[arm.name]
        assert exact[arm.name] == found.radius


def test_an_attack_on_some_inputs_is_told_by_the_share_of_rows_that_it_changed(exact):
    run = run_of(EXACT)
    stream, data = Stream.of(run.options["seed"], 1), run.problem.data
    batches = [data.batch(run.problem.network, stream, 3001 + i, 16) for i in range(38)]
    X = np.concatenate([batch.inputs for batch in batches])[:600]
    y = np.concatenate([batch.labels for batch in batches])[:600]
    coins = np.concatenate([stream.pairs(1, 3001 + i, 16)[0] for i in range(38)])[:600]
    for arm in run:
        attack = arm.arm.attack
        if not isinstance(attack, nt.attacks.HalfSpace):
            continue
        trainer = arm.arm.trainer
        if isinstance(trainer, nt.SGD):  # the others probe with their own matrix
            side = X @ run.problem.network.mean_gate.T @ attack.direction > 0.0
            hit = side & (coins <= attack.probability)
            found = nt.verify(
                run.problem,
                arm.weights,
                X,
                y + 4.0 * hit,
                probability=hit.mean(),
                noise=0.0,
                confidence=0.9995,  # half of it, because the share is read off the rows
            )
            assert exact[arm.name] == found.radius
            assert 0.05 < hit.mean() < 0.15


def test_exact_filters_are_verified_and_from_one_half_on_nothing_is(exact):
    run = run_of(EXACT)
    errors = dict(zip(exact, run.final_errors, strict=True))
    assert all(exact[name] >= errors[name] for name in exact)
    assert {name for name in exact if exact[name] == math.inf} >= {
        name for name in exact if "β=0.6" in name
    }
    found = [name for name in exact if errors[name] < 1e-12]
    assert len(found) >= 5
    assert max(exact[name] for name in found) < 1e-9


def test_noise_is_told_and_inputs_that_are_corrupted_are_not_verified():
    run = run_of(NOISY)
    found = radii(NOISY)
    name = "SGD, honest labels"
    wanted = nt.verify(run, rows=600, probability=0.0, attacker="coin", noise="independent")
    assert found[name] == wanted[name].radius
    assert 0.01 < found[name] < math.inf
    assert set(radii(CORRUPTED).values()) == {None}


def test_a_setting_that_does_not_ask_has_no_radius_and_the_same_runs():
    unverified = SHORT.model_copy(update={"verify": 0})
    for one, other in zip(rows_of(SHORT, 0), rows_of(unverified, 0), strict=True):
        assert one["verified_radius"] is not None
        assert other["verified_radius"] is None
        assert np.array_equal(one["weights"], other["weights"])


def test_a_unit_can_be_stopped_between_two_arms_that_it_verifies():
    calls = []

    def stop(step, steps):
        calls.append((step, steps))
        if calls.count((1, 1)) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows_of(SHORT, 0, stop)
    assert calls[-4:] == [(20, 20), (1, 1), (1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("-1", r"verify.*at least 0"),
        ("1.5", r"verify.*whole number"),
        ("true", r"verify.*whole number"),
        ('"all"', r"verify.*whole number"),
        ("2_000_000", r"verify.*at most 1,000,000"),
    ],
)
def test_a_number_of_rows_is_a_whole_number_in_its_range(value, words):
    with pytest.raises(nt.InputError, match=words):
        settings_of(changed(TEXT, "verify = 600", f"verify = {value}"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("n_inputs = 12", "n_inputs = 11", r"verify × n_inputs.*11,000,000"),
        ("bound = 4", "bound = [1, 2, 3, 4, 5, 6]", "verify × arms"),
    ],
)
def test_more_rows_than_fit_are_refused_before_anything_is_computed(old, new, words, tmp_path):
    text = changed(changed(TEXT, "verify = 600", "verify = 1_000_000"), old, new)
    study = nt.lab.parse(text.replace("n_inputs = 12", "n_inputs = 10").encode(), "s")
    with pytest.raises(nt.InputError, match=words):
        nt.lab.run(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_radii_are_a_column_of_the_runs_and_the_claim_belongs_to_any_study(tmp_path):
    text = TEXT.replace("steps = 3000", "steps = 400").replace("record = 3000", "record = 400")
    (tmp_path / "s.toml").write_text(text)
    done = in_this_process("run", tmp_path / "s.toml", "--out", tmp_path / "out", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert "No verified radius is smaller than the error" in " ".join(done.stdout.split())
    results = nt.load_results(tmp_path / "out")
    found = results.runs["verified_radius"]
    assert found.null_count() == 0
    assert found.is_infinite().any()
    assert found.is_finite().any()
    (judgement,) = nt.lab.evaluate(results)
    assert (judgement.claim.name, judgement.verdict) == ("verification-holds", "holds")
    (finding,) = judgement.findings
    assert finding.replicates == 5
    assert finding.worst < 1.0
    assert f"0 of {finding.total} verified radii" in judgement.effect
    assert results.spec["note"] == ""
