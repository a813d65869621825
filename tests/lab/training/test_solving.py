"""Arms of a study that are solved on rows of the stream, beside those that are trained."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from tests.support.cli import in_this_process
from tests.support.training import changed, rows_of, settings_of

import neurotron as nt
from neurotron._check import InputError
from neurotron.data import Stream
from neurotron.lab.pages.training_tables import verification
from neurotron.lab.training import building
from neurotron.lab.training.summary import steps_to

TEXT = """
name = "s"
steps = 400
record = "all"
replicates = 5
verify = 300
claims = ["verification-holds"]
[trainers]
SGD = "sgd:step_size=0.01"
"solver, 96 rows" = "solve:rows=96"
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
attack = "adaptive"
bound = 0.5
probability = 0.2
[[settings.sweeps]]
attack = "none"
"""
(A,) = settings_of(TEXT)
SGD = 'SGD = "sgd:step_size=0.01"\n'
SOLVERS = '"solver, 96 rows" = "solve:rows=96"\n"solver, 200 rows" = "solve:rows=200"\n'


def setting(old: str, new: str, **changes: object):
    (found,) = settings_of(changed(TEXT, old, new))
    return found.model_copy(update=changes)


@pytest.fixture(scope="module")
def rows():
    return {row["arm"]: row for row in rows_of(A)}


def rows_of_the_stream(attack, count, first=1, replicate=1):
    """Draw batches of the stream, and tamper as a coin says: an independent derivation."""
    problem = building.build_problem(A, replicate)
    stream = Stream.of(A.stream_seed(), replicate)
    steps = range(first, first + -(-count // 16))
    batches = [problem.data.batch(problem.network, stream, step, 16) for step in steps]
    coins = np.concatenate([stream.pairs(1, step, 16)[0] for step in steps])[:count]
    X = np.concatenate([batch.inputs for batch in batches])[:count]
    y = np.concatenate([batch.labels for batch in batches])[:count]
    return problem, X, y + (0.0 if attack is None else attack.bound * (coins < attack.probability))


@pytest.mark.parametrize("count", [96, 200])
@pytest.mark.parametrize("level", ["constant θ=4 β=0.1", "constant θ=4 β=0.3", "honest labels"])
def test_the_filter_is_that_of_solve_on_rows_of_the_stream(rows, count, level):
    arm = next(
        arm for arm in building.build_arms(A, building.build_problem(A, 1), 1)
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


@pytest.mark.parametrize(("count", "batches"), [(96, 6), (200, 13)])
def test_it_waits_at_the_initial_weights_until_it_has_its_rows(rows, count, batches):
    row = rows[f"solver, {count} rows, constant θ=4 β=0.1"]
    problem, X, y = rows_of_the_stream(nt.attacks.Constant(4.0, 0.1), count)
    start = np.ones(4)
    assert (row["steps"] == np.arange(401)).all()
    waits = row["steps"] < batches
    assert np.allclose(
        row["errors"][waits], np.linalg.norm(start - row["true_weights"]), rtol=1e-15
    )
    assert (row["errors"][~waits] == row["errors"][-1]).all()
    loss = ((problem.network(start, X) - y) ** 2).mean()
    assert np.allclose(row["losses"][waits], loss, rtol=1e-12)
    assert (row["losses"][~waits] == row["losses"][-1]).all()
    assert row["losses"][-1] < 0.5 * loss


def radius_of(row, attack):
    """Return the radius by `verify` on the 300 rows that come after all steps."""
    problem, X, y = rows_of_the_stream(attack, 300, first=A.steps + 1)
    found = nt.verify(
        problem, row["weights"], X, y, probability=attack.probability, attacker="coin", noise=0.0
    )  # fmt: skip
    return found.radius


@pytest.mark.parametrize("count", [96, 200])
def test_it_is_verified_on_the_rows_after_the_last_step(rows, count):
    for beta in (0.1, 0.3):
        row = rows[f"solver, {count} rows, constant θ=4 β={beta}"]
        wanted = radius_of(row, nt.attacks.Constant(4.0, beta))
        assert row["verified_radius"] == pytest.approx(wanted, rel=1e-9, abs=0.0)
        assert row["errors"][-1] <= row["verified_radius"] < 1e-6


def test_while_it_is_verified_an_attack_sees_the_filter_that_it_found(rows, monkeypatch):
    from neurotron.guarantees.verify import next_rows as module

    seen = []
    original = module.next_rows

    def noted(run, count, also=()):
        seen.extend((one.state.step, one.state.weights, one.state.average) for one in (run, *also))
        return original(run, count, also)

    monkeypatch.setattr(module, "next_rows", noted)
    computed = {row["arm"]: row for row in rows_of(A)}
    (_, start, _), _, (last, weights, average) = seen[-3:]
    assert last == A.steps
    assert (start == 1.0).all()
    found = [row["weights"] for name, row in computed.items() if name.startswith("solver")]
    np.testing.assert_array_equal(weights.T, found)
    np.testing.assert_array_equal(average.T, found)


def test_verified_radii_do_not_depend_on_the_other_arms(rows):
    for row in rows_of(setting('"solver, 200 rows" = "solve:rows=200"\n', "")):
        assert row["verified_radius"] == rows[row["arm"]]["verified_radius"]


@pytest.mark.parametrize("change", ['law = "student-t:dof=0.01"', "noise = 1e70"])
def test_rows_in_which_nothing_can_be_found_are_a_run_that_diverged(change):
    for row in rows_of(setting("batch_size = 16", f"batch_size = 16\n{change}", verify=0), 0):
        if row["arm"].startswith("solver"):
            assert (row["status"], row["stopped_at"]) == (
                "diverged",
                6 if "96" in row["arm"] else 13,
            )
            assert np.isinf(row["errors"][-1])
            assert np.isinf(row["losses"][-1])


def test_progress_is_told_after_each_arm():
    told = []
    rows_of(setting(SGD, "", verify=0), 0, lambda *at: told.append(at))
    assert told == [(1, 1)] * 8


def test_trained_arms_are_what_they_are_without_solved_ones(rows):
    for row in rows_of(setting(SOLVERS, "")):
        for name, value in row.items():
            np.testing.assert_array_equal(value, rows[row["arm"]][name])


def test_a_study_may_have_solved_arms_only():
    assert {row["status"] for row in rows_of(setting(SGD, ""), 0)} == {"finished"}


def test_nothing_is_guaranteed_about_them_and_their_predictions_are_measured(rows):
    row = rows["solver, 96 rows, honest labels"]
    assert row["radius"] is row["theorem1_radius"] is row["certified_prediction_error"] is None
    assert row["prediction_error"] < 1e-12


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rows=96", "rows=4", "more rows than the filter has weights, 4"),
        ("rows=96", "rows=6401", "400 steps with batches of 16 have, 6,400"),
        ("rows=96", "rows=1000000", "rows × n_inputs must be at most"),
        ("solve:rows=96", "slove:rows=96", "did you mean 'solve'"),
        ("solve:rows=96", "solve", "solver 'solve' needs rows: write solve:rows=…"),
        ("rows=96", "row=96", "did you mean 'rows'"),
        ("rows=96", "rows=many", "`rows` must be a whole number"),
        ("rows=96", "rows=96,step_size=0.1", "unknown parameter of solve 'step_size'"),
        ("rows=96", "rows=96,averaging=true", "unknown parameter of solve 'averaging'"),
        ("batch_size = 16", 'batch_size = 16\nlaw = "corrupted:scale=0.1"', "corrupts inputs"),
    ],
)
def test_wrong_ones_are_refused_before_anything_is_computed(old, new, said):
    with pytest.raises(InputError, match=said):
        building.check([setting(old, new)])


def test_as_many_rows_as_the_other_arms_are_trained_on_are_allowed():
    building.check([setting("rows=96", "rows=6400")])


def test_through_the_command_they_stand_beside_trainers_in_tables_and_page(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    said = in_this_process("run", file, "--out", tmp_path / "out")
    assert said.returncode == 0, said.stderr
    results = nt.load_results(tmp_path / "out")
    ours = results.runs.filter(algorithm="solve")
    assert len(ours) == 2 * 4 * 5
    assert (ours["outcome"] == "recovered").all()
    assert (ours["error"] < 1e-12).all()
    assert (ours["verified_radius"] < 1e-6).all()
    reached = steps_to(results, 1e-9).filter(pl.col("arm").str.starts_with("solver, 96"))
    assert set(reached["steps"]) == {6}  # batches
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What is verified" in page
    assert "solver, 96 rows" in page


def test_the_page_counts_what_the_claim_counts(tmp_path):
    levels = "bound = [0, 4]\nprobability = [0.1, 0.6]"  # two are the same run, one is not verified
    text = changed(TEXT, "bound = 4\nprobability = [0.1, 0.3]", levels)
    nt.lab.run(nt.lab.parse(text.encode(), "s"), tmp_path / "out")
    results = nt.load_results(tmp_path / "out")
    told = verification(results)
    heading, *rows = told.rows
    assert heading == ("a",)
    by_trainer = results.runs.group_by("trainer", maintain_order=True)
    for ((trainer,), runs), row in zip(by_trainer, rows, strict=True):
        found = runs.filter(pl.col("verified_radius").is_finite())
        assert 0 < len(found) < len(runs)
        assert (*row[:3], row[-1]) == (trainer, len(runs), len(found), 0)
    assert "the next 300 rows" in told.note
    assert "confidence 99.9 %" in told.note
    (judged,) = nt.lab.evaluate(results)
    assert sum(one.total for one in judged.findings) == sum(row[2] for row in rows)

    def otherwise(radius):
        return dataclasses.replace(
            results, table=results.table.with_columns(verified_radius=radius)
        )

    smaller = verification(otherwise(pl.col("errors").list.last() / 2.0))
    assert {row[-1] for row in smaller.rows[1:]} == {30}
    assert verification(otherwise(pl.lit(None, pl.Float64))) is None
