"""Arms of a study that are solved on rows of the stream, beside those that are trained."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import neurotron as nt
from neurotron._check import InputError
from neurotron.cli.app import app
from neurotron.data import Stream
from neurotron.studies import building, train

TEXT = """
name = "s"
steps = 400
record = 10
replicates = 5
verify = 300
claims = ["verification-holds"]
[trainers]
SGD = "sgd:step_size=0.01"
"solver, 90 rows" = "solve:rows=90"
"solver, 200 rows" = "solve:rows=200"
[[settings]]
name = "a"
network = "symmetric:width=4"
n_inputs = 12
filter_size = 4
batch_size = 16
[[settings.sweeps]]
attack = "constant"
bound = 4
probability = [0.1, 0.3]
[[settings.sweeps]]
attack = "none"
"""
STUDY = nt.studies.parse(TEXT.encode(), "s")
A = STUDY.settings[0]


def changed(old: str, new: str):
    assert old in TEXT
    return nt.studies.parse(TEXT.replace(old, new).encode(), "s")


@pytest.fixture(scope="module")
def rows():
    return {row["arm"]: row for row in train(STUDY.model_dump_json(), "a", 1)}


def rows_of_the_stream(attack, count, first=1, replicate=1):
    """Draw batches of the stream, and tamper as a coin says: an independent derivation."""
    problem = building.build_problem(STUDY, A, replicate)
    stream = Stream.of(building.seed_of(STUDY, A), replicate)
    steps = range(first, first + -(-count // 16))
    batches = [problem.data.batch(problem.network, stream, step, 16) for step in steps]
    coins = np.concatenate([stream.pairs(1, step, 16)[0] for step in steps])[:count]
    X = np.concatenate([batch.inputs for batch in batches])[:count]
    y = np.concatenate([batch.labels for batch in batches])[:count]
    return problem, X, y + (0.0 if attack is None else attack.bound * (coins < attack.probability))


@pytest.mark.parametrize("count", [90, 200])
@pytest.mark.parametrize("level", ["constant θ=4 β=0.1", "constant θ=4 β=0.3", "honest labels"])
def test_the_filter_is_that_of_solve_on_rows_of_the_stream(rows, count, level):
    arm = next(
        arm for arm in building.build_arms(STUDY, A, building.build_problem(STUDY, A, 1), 1)
        if arm.name == f"solver, {count} rows, {level}"
    )  # fmt: skip
    problem, X, y = rows_of_the_stream(arm.attack, count)
    wanted = nt.solve(problem.network, X, y).weights
    row = rows[arm.name]
    np.testing.assert_allclose(row["weights"], wanted, rtol=1e-12)
    assert row["errors"][-1] == np.linalg.norm(row["weights"] - problem.true_weights)
    assert row["errors"][-1] < 1e-12
    np.testing.assert_allclose(
        row["losses"][-1], ((problem.network(wanted, X) - y) ** 2).mean(), rtol=1e-12
    )


@pytest.mark.parametrize("count", [90, 200])
def test_it_waits_at_the_initial_weights_until_it_has_its_rows(rows, count):
    row = rows[f"solver, {count} rows, constant θ=4 β=0.1"]
    start = np.linalg.norm(1.0 - row["true_weights"])
    waits = 16 * row["steps"] < count
    assert waits.any()
    assert np.allclose(row["errors"][waits], start, rtol=1e-15)
    assert (row["errors"][~waits] == row["errors"][-1]).all()
    assert len(set(row["losses"])) == 2


def test_it_is_verified_on_rows_that_it_has_not_seen(rows):
    problem = building.build_problem(STUDY, A, 1)
    attack = nt.attacks.Constant(bound=4.0, probability=0.3)
    _, X, y = rows_of_the_stream(attack, 300, first=-(-200 // 16) + 1)
    row = rows["solver, 200 rows, constant θ=4 β=0.3"]
    found = nt.verify(problem, row["weights"], X, y, probability=0.3, attacker="coin", noise=0.0)
    assert row["verified_radius"] == pytest.approx(found.radius, rel=1e-9)
    assert row["errors"][-1] <= row["verified_radius"] < 1e-6


def test_trained_arms_are_what_they_are_without_solved_ones(rows):
    alone = changed(
        '"solver, 90 rows" = "solve:rows=90"\n"solver, 200 rows" = "solve:rows=200"', ""
    )
    for row in train(alone.model_dump_json(), "a", 1):
        for name, value in row.items():
            np.testing.assert_array_equal(value, rows[row["arm"]][name])


def test_a_study_may_have_solved_arms_only():
    only = changed('SGD = "sgd:step_size=0.01"', "")
    assert {row["status"] for row in train(only.model_dump_json(), "a", 0)} == {"finished"}


def test_nothing_is_guaranteed_about_them_and_their_predictions_are_measured(rows):
    row = rows["solver, 90 rows, honest labels"]
    assert row["radius"] is row["theorem1_radius"] is row["certified_prediction_error"] is None
    assert row["prediction_error"] < 1e-12


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rows=90", "rows=4", "more rows than the filter has weights, 4"),
        ("rows=90", "rows=6401", "400 steps with batches of 16 have, 6,400"),
        ("solve:rows=90", "solve", "solver 'solve' needs rows: write solve:rows=…"),
        ("rows=90", "row=90", "did you mean 'rows'"),
        ("rows=90", "rows=many", "`rows` must be a whole number"),
        ("rows=90", "rows=90,step_size=0.1", "unknown parameter of solve 'step_size'"),
        ("rows=90", "rows=90,averaging=true", "unknown parameter of solve 'averaging'"),
        ("batch_size = 16", 'batch_size = 16\nlaw = "corrupted:scale=0.1"', "corrupts them"),
    ],
)
def test_wrong_ones_are_refused_before_anything_is_computed(old, new, said):
    with pytest.raises(InputError, match=said):
        building.check(changed(old, new))


def test_through_the_command_they_stand_beside_trainers_in_tables_and_page(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    said = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out")])
    assert said.exit_code == 0, said.output
    results = nt.load_results(tmp_path / "out")
    ours = results.runs.filter(algorithm="solve")
    assert len(ours) == 2 * 3 * 5
    assert (ours["outcome"] == "recovered").all()
    assert (ours["error"] < 1e-12).all()
    assert (ours["verified_radius"] < 1e-6).all()
    reached = results.steps_to(1e-9).filter(pl.col("arm").str.starts_with("solver, 90"))
    assert set(reached["steps"]) == {10}  # the first record after 6 batches
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What is verified" in page
    assert "solver, 90 rows" in page
