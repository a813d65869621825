"""From a setting to the problem and the arms of a replicate, and to the rows of a unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.training import changed, rows_of, settings_of

import neurotron as nt
from neurotron.lab.training import building

TEXT = """
name = "s"
seed = 5
steps = 60
confidence = 0.8
replicates = 4
[trainers]
"Tron" = "neuro-tron:step_size=fastest"
"Scheduled" = "neuro-tron:step_size=scheduled"
"SGD" = "sgd:step_size=0.03"
"Slow" = "neuro-tron:step_size=1e-6"
[[settings]]
name = "a"
network = "symmetric:width=4,outer_weights=2"
n_inputs = 12
filter_size = 4
batch_size = 5
step_size = 0.01
[[settings.sweeps]]
attack = "constant"
bound = [0, 1]
probability = 0.5
trainers = ["SGD", "Tron"]
[[settings.sweeps]]
attack = "none"
[[settings.sweeps]]
attack = "impersonation"
bound = 100
probability = 1
trainers = ["Tron"]
[[settings.sweeps]]
attack = "constant"
bound = 1
probability = [0.5, 1]
trainers = ["Tron"]
[[settings]]
name = "b"
like = "a"
law = "laplace"
[[settings]]
name = "c"
like = "a"
paired_with = "a"
law = "laplace"
[[settings]]
name = "d"
like = "c"
paired_with = "a"
n_inputs = 13
[[settings]]
name = "e"
like = "c"
"""
A, B, C, D, E = settings_of(TEXT)


def problem(setting=A, replicate=0) -> nt.Problem:
    return building.build_problem(setting, replicate)


@pytest.fixture(scope="module")
def computed():
    return rows_of(A)


def test_arms_are_those_of_the_sweeps_in_order_and_once_each():
    rows = building.arm_rows(A)
    met = [(row["trainer"], row["attack"], row["bound"], row["probability"]) for row in rows]
    assert met == [
        ("SGD", "constant", 0.0, 0.5),
        ("SGD", "constant", 1.0, 0.5),
        ("Tron", "constant", 0.0, 0.5),
        ("Tron", "constant", 1.0, 0.5),
        ("Tron", "none", 0.0, 0.0),
        ("Scheduled", "none", 0.0, 0.0),
        ("SGD", "none", 0.0, 0.0),
        ("Slow", "none", 0.0, 0.0),
        ("Tron", "impersonation", 100.0, 1.0),
        ("Tron", "constant", 1.0, 1.0),
    ]


def test_rows_say_what_the_arms_are():
    rows = building.arm_rows(A)
    arms = building.build_arms(A, problem(), 0)
    assert [arm.name for arm in arms] == [row["arm"] for row in rows]
    assert len({arm.name for arm in arms}) == len(arms)
    for arm, row in zip(arms, rows, strict=True):
        kind = {"neuro-tron": nt.NeuroTron, "sgd": nt.SGD}[row["algorithm"]]
        assert type(arm.trainer) is kind
        found_by_itself = isinstance(arm.trainer.step_size, str)
        assert row["step_size"] == (None if found_by_itself else arm.trainer.step_size)
        assert (row["law"], row["outer_weights"]) == ("normal", 2.0)
        if row["attack"] == "none":
            assert arm.attack is None
        else:
            assert (arm.attack.bound, arm.attack.probability) == (row["bound"], row["probability"])


def test_rows_keep_the_attack_as_the_study_has_it_beside_its_name():
    attack = "multiplicative:factor=3"
    (setting, *_) = settings_of(changed(TEXT, '"impersonation"', f'"{attack}"'))
    row = building.arm_rows(setting)[8]
    assert (row["attack"], row["attack_text"]) == ("multiplicative", attack)


def test_a_trainer_without_a_step_size_takes_the_settings():
    (setting, *_) = settings_of(changed(TEXT, "sgd:step_size=0.03", "sgd"))
    arm = building.build_arms(setting, problem(), 0)[0]
    assert arm.trainer.step_size == building.arm_rows(setting)[0]["step_size"] == 0.01


def drawn(setting, replicate=1) -> list[bytes]:
    """What a setting draws: gates, true weights, an attack's vector, and data."""
    built = problem(setting, replicate)
    arms = building.build_arms(setting, built, replicate)
    vector, rows = arms[8].attack.probe_vector, rows_of(setting, replicate)
    draws = built.network.gates, built.true_weights, vector, rows[0]["losses"]
    return [np.asarray(array).tobytes() for array in draws]


def test_settings_that_differ_in_their_name_alone_share_no_draw():
    other = rows_of(A.model_copy(update={"name": "twin"}))[0]
    for key in ("true_weights", "losses", "errors"):
        assert not np.isin(rows_of(A)[0][key][1:], other[key]).any()
    assert not any(mine == theirs for mine, theirs in zip(drawn(A), drawn(B), strict=True))


def test_settings_that_are_paired_share_every_draw_that_their_sizes_allow():
    one, same, wider = (problem(setting, 2) for setting in (A, C, D))
    assert np.array_equal(one.network.gates, same.network.gates)
    assert np.array_equal(one.true_weights, same.true_weights)
    assert np.array_equal(one.true_weights, wider.true_weights)
    assert type(same.law) is nt.Laplace
    assert wider.network.n_inputs == 13
    assert drawn(A)[:3] == drawn(C)[:3]


def test_a_setting_like_a_paired_one_draws_its_own():
    assert (E.law, E.paired_with) == ("laplace", None)
    assert E.stream_seed() != C.stream_seed() == A.stream_seed()


@given(st.sets(st.integers(0, 10**6), min_size=2, max_size=4))
def test_replicates_differ_in_gates_true_weights_and_attack_vectors(numbers):
    problems = [problem(replicate=number) for number in numbers]
    vectors = [
        building.build_arms(A, p, number)[8].attack.probe_vector
        for p, number in zip(problems, numbers, strict=True)
    ]
    for drawn in ([p.network.gates for p in problems], [p.true_weights for p in problems], vectors):
        assert len({array.tobytes() for array in drawn}) == len(numbers)


def test_replicates_of_the_same_problem_differ_in_nothing_but_their_data():
    same = A.model_copy(update={"same_problem": True})
    one, other = (problem(same, replicate) for replicate in (0, 1))
    assert np.array_equal(one.network.gates, other.network.gates)
    assert np.array_equal(one.true_weights, other.true_weights)
    assert not np.array_equal(rows_of(same, 0)[0]["losses"], rows_of(same, 1)[0]["losses"])


def test_a_unit_depends_on_its_setting_and_its_number_alone(computed):
    again, other = rows_of(A), rows_of(A, 2)
    for one, same, different in zip(computed, again, other, strict=True):
        for name in ("errors", "losses", "weights"):
            assert np.array_equal(one[name], same[name])
            assert not np.array_equal(one[name], different[name])


def test_a_unit_is_the_simulation_one_would_call_by_hand(computed):
    built = problem(replicate=1)
    arms = building.build_arms(A, built, 1)
    run = nt.simulate(built, arms, steps=60, batch_size=5, seed=A.stream_seed(), replicate=1)
    for i, row in enumerate(computed):
        assert row["status"] == "finished"
        assert row["stopped_at"] is None
        assert np.array_equal(row["steps"], run.steps)
        assert np.array_equal(row["errors"], run.errors[i])
        assert np.array_equal(row["losses"], run.losses[i])
        assert np.array_equal(row["weights"], run.weights[i])
        assert np.array_equal(row["true_weights"], built.true_weights)
        assert row["errors"][-1] == pytest.approx(
            np.linalg.norm(row["weights"] - row["true_weights"]), rel=1e-12
        )


def test_the_smoke_study_has_the_numbers_of_earlier_versions_on_any_machine(tmp_path):
    nt.lab.run(nt.lab.read("smoke"), tmp_path / "out", replicates=1)
    errors = nt.load_results(tmp_path / "out").runs["error"].to_list()
    # machines round the norm of an error differently; the bits of training are in test_bits
    assert errors[:3] == pytest.approx([0.0, 0.0436813421120416, 0.175469054917053], rel=1e-12)


def test_radii_are_those_of_certify_and_nothing_where_no_theorem_speaks(computed):
    built = problem(replicate=1)
    told = {"radius": 0, "theorem1_radius": 0}
    for arm, row in zip(building.build_arms(A, built, 1), computed, strict=True):
        for key, method in (("radius", "sharp"), ("theorem1_radius", "theorem1")):
            scheduled = arm.trainer.step_size == "scheduled"
            if type(arm.trainer) is nt.SGD or (scheduled and method == "theorem1"):
                assert row[key] is None
                continue
            found = nt.certify(built, arm, batch_size=5, steps=60, confidence=0.8, method=method)
            assert row[key] == (found.radius if found.holds else None)
            told[key] += row[key] is not None
    assert told["radius"] > 3
    assert told["theorem1_radius"] > 0


def test_only_an_attack_with_a_vector_has_one(computed):
    vectors = [row["attack_vector"] for row in computed]
    assert [vector is None for vector in vectors].count(False) == 1
    assert vectors[8].shape == (4,)


def test_an_arm_that_diverges_is_a_row_like_the_others():
    (setting, *_) = settings_of(changed(TEXT, "sgd:step_size=0.03", "sgd:step_size=1e9"))
    rows = rows_of(setting, 0)
    assert [row["status"] for row in rows].count("diverged") == 3
    diverged = next(row for row in rows if row["status"] == "diverged")
    assert diverged["stopped_at"] >= 1
    assert np.isinf(diverged["errors"][-1])
    assert len(diverged["errors"]) == len(diverged["steps"])
