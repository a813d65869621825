"""Studies whose arms are verified on fresh rows after training."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import neurotron as nt
from neurotron.cli.app import app
from neurotron.data import Stream
from neurotron.lab.results.compact import compact_csv
from neurotron.lab.studies import building, train
from neurotron.lab.studies.writing import to_toml

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
NOISY = """
[[settings]]
name = "noisy"
like = "exact"
noise = 0.1
[[settings]]
name = "corrupted"
like = "exact"
law = "corrupted:scale=0.1"
"""
STUDY = nt.lab.studies.parse(TEXT.encode(), "s")
WITH_NOISE = nt.lab.studies.parse((TEXT + NOISY).encode(), "s")


def unverified(study):
    return study.model_copy(update={"verify": None})


def run_of(study, name, replicate=1):
    setting = study.setting(name)
    problem = building.build_problem(study, setting, replicate)
    arms = building.build_arms(study, setting, problem, replicate)
    seed = building.seed_of(study, setting)
    return nt.simulate(
        problem, arms, steps=study.steps, batch_size=setting.batch_size, seed=seed,
        replicate=replicate, record=study.record,
    )  # fmt: skip


def radii(study, setting, replicate=1):
    rows = train(study.model_dump_json(), setting, replicate)
    return {row["arm"]: row["verified_radius"] for row in rows}


@pytest.fixture(scope="module")
def exact():
    return radii(WITH_NOISE, "exact")


def test_a_radius_is_that_of_verify_on_the_next_rows_with_the_arms_own_attack(exact):
    run = run_of(WITH_NOISE, "exact")
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
    run = run_of(WITH_NOISE, "exact")
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
                failure=0.0005,  # half of it, because the share is read off the rows
            )
            assert exact[arm.name] == found.radius
            assert 0.05 < hit.mean() < 0.15


def test_exact_filters_are_verified_and_from_one_half_on_nothing_is(exact):
    run = run_of(WITH_NOISE, "exact")
    errors = dict(zip(exact, run.final_errors, strict=True))
    assert all(exact[name] >= errors[name] for name in exact)
    assert {name for name in exact if exact[name] == math.inf} >= {
        name for name in exact if "β=0.6" in name
    }
    found = [name for name in exact if errors[name] < 1e-12]
    assert len(found) >= 5
    assert max(exact[name] for name in found) < 1e-9


def test_noise_is_told_and_inputs_that_are_corrupted_are_not_verified():
    run = run_of(WITH_NOISE, "noisy")
    found = radii(WITH_NOISE, "noisy")
    name = "SGD, honest labels"
    wanted = nt.verify(run, rows=600, probability=0.0, attacker="coin", noise="independent")
    assert found[name] == wanted[name].radius
    assert 0.01 < found[name] < math.inf
    assert set(radii(WITH_NOISE, "corrupted").values()) == {None}


def test_a_study_that_does_not_ask_has_no_radius_and_the_same_runs():
    setting = STUDY.settings[0]
    short = STUDY.model_copy(update={"steps": 20, "record": 20})
    asked, not_asked = (
        train(study.model_dump_json(), setting.name, 0) for study in (short, unverified(short))
    )
    for one, other in zip(asked, not_asked, strict=True):
        assert one["verified_radius"] is not None
        assert other["verified_radius"] is None
        assert np.array_equal(one["weights"], other["weights"])


def test_a_unit_can_be_stopped_between_two_arms_that_it_verifies():
    short = STUDY.model_copy(update={"steps": 20, "record": 20})
    calls = []

    def stop(step, steps):
        calls.append((step, steps))
        if calls.count((1, 1)) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(short.model_dump_json(), "exact", 0, stop)
    assert calls[-4:] == [(20, 20), (1, 1), (1, 1), (1, 1)]


def test_a_study_that_does_not_ask_is_the_study_it_was_before_one_could():
    assert "verify" not in unverified(STUDY).identity()
    assert STUDY.identity() == unverified(STUDY).identity() | {"verify": 600}
    assert nt.lab.studies.parse(to_toml(STUDY.model_dump(mode="json")).encode(), "s") == STUDY
    again = nt.lab.studies.parse(
        to_toml({**unverified(STUDY).identity(), "replicates": 5}).encode(), "s"
    )
    assert again == unverified(STUDY)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0", r"verify.*at least 1"),
        ("1.5", r"verify.*whole number"),
        ("true", r"verify.*whole number"),
        ('"all"', r"verify.*whole number"),
        ("2_000_000", r"verify.*at most 1,000,000"),
    ],
)
def test_a_number_of_rows_is_a_whole_number_in_its_range(value, words):
    with pytest.raises(nt.InputError, match=words):
        nt.lab.studies.parse(TEXT.replace("verify = 600", f"verify = {value}").encode(), "s")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("n_inputs", 11, r"verify × n_inputs.*11,000,000"),
        (
            "sweeps",
            (nt.lab.studies.Sweep(bound=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),),
            "verify × arms.*12,",
        ),
    ],
)
def test_more_rows_than_fit_are_refused_before_anything_is_computed(key, value, words, tmp_path):
    setting = STUDY.settings[0].model_copy(update={"n_inputs": 10, key: value})
    study = STUDY.model_copy(update={"verify": 1_000_000, "settings": (setting,)})
    with pytest.raises(nt.InputError, match=words):
        nt.lab.studies.run(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the study by the command line, with fewer steps."""
    place = tmp_path_factory.mktemp("verified")
    text = TEXT.replace("steps = 3000", "steps = 400").replace("record = 3000", "record = 400")
    (place / "s.toml").write_text(text)
    done = CliRunner().invoke(
        app, ["run", str(place / "s.toml"), "--out", str(place / "out"), "--threads", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "No verified radius is smaller than the error" in " ".join(done.output.split())
    return place / "out"


def test_radii_are_a_column_of_the_runs_and_two_of_the_small_table(folder):
    results = nt.load_results(folder)
    found = results.runs["verified_radius"]
    assert found.null_count() == 0
    assert found.is_infinite().any()
    assert found.is_finite().any()
    head, *lines = compact_csv(results).splitlines()
    assert head.endswith(",radius,steps,verified,verified_radius")
    honest = next(line for line in lines if line.startswith("exact,SGD,none"))
    assert float(honest.split(",")[-2]) == 1.0
    assert float(honest.split(",")[-1]) > 0.0
    never = next(line for line in lines if ",adaptive,4,0.6," in line)
    assert never.endswith(",0,")


def test_the_claim_is_judged_and_belongs_to_any_study(folder):
    results = nt.load_results(folder)
    (judgement,) = nt.lab.claims.evaluate(results)
    assert (judgement.claim.name, judgement.verdict) == ("verification-holds", "holds")
    (finding,) = judgement.findings
    assert finding.replicates == 5
    assert finding.worst < 1.0
    assert f"0 of {finding.total} verified radii" in judgement.effect
    assert nt.lab.claims.judging.departure(results) == ""


def test_the_arms_of_the_study_verified_are_those_of_the_paper_and_the_frontier():
    verified = nt.lab.studies.read("verified")
    others = [nt.lab.studies.read(name) for name in ("paper", "frontier")]
    keys = ("trainer_text", "step_size", "attack_text", "bound", "probability")
    for setting in verified.settings:
        known, alike = set(), []
        for study in others:
            if setting.name not in {one.name for one in study.settings}:
                continue
            other = study.setting(setting.name)
            known |= {tuple(row[key] for key in keys) for row in building.arm_rows(study, other)}
            alike.append(_problem(study, other) == _problem(verified, setting))
        own = {tuple(row[key] for key in keys) for row in building.arm_rows(verified, setting)}
        assert own <= known
        assert any(alike)
        assert all(alike) or setting.name == "student-t-4"  # paired in the frontier only


def _problem(study, setting):
    """Return all that the data of a setting depend on."""
    names = ("law", "network", "n_inputs", "filter_size", "batch_size", "noise")
    values = [getattr(setting, name) for name in names]
    return [*values, study.steps, building.seed_of(study, setting)]
