"""What a run offers besides its arrays: one arm, the end, a summary."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import neurotron as nt

ATTACK = nt.attacks.Constant(0.5, 0.3)


@pytest.fixture(scope="module")
def run(small_problem) -> nt.Trajectories:
    trainers = [nt.NeuroTron(0.02), nt.SGD(5.0), nt.Arm(nt.SGD(0.02), name="honest")]
    return nt.simulate(small_problem, trainers, attack=ATTACK, steps=100, batch_size=4)


@pytest.fixture(scope="module")
def on_data() -> nt.Trajectories:
    X = np.vstack([np.eye(3), -np.eye(3)])
    problem = nt.Problem.from_rows(nt.networks.relu_gate(3), X, X @ [1.0, 2.0, 3.0])
    return nt.simulate(problem, nt.SGD(0.1), steps=20, batch_size=2)


def test_final_errors_are_the_last_ones(run):
    np.testing.assert_array_equal(run.final_errors, run.errors[:, -1])
    assert run.final_errors.shape == (3,)
    assert np.isinf(run.final_errors[1])


@pytest.mark.parametrize("key", ["SGD", 1, -2])
def test_an_arm_is_found_by_name_and_by_place(run, key):
    arm = run[key]
    assert (arm.name, arm.arm, arm.status) == ("SGD", run.arms[1], "diverged")
    assert arm.stopped_at == run.stopped_at[1]
    assert arm.engine == run.engines[1]
    for name in ("errors", "losses", "weights"):
        np.testing.assert_array_equal(getattr(arm, name), getattr(run, name)[1])
    np.testing.assert_array_equal(arm.steps, run.steps)


def test_what_one_arm_recorded_cannot_be_changed(run):
    for name in ("steps", "errors", "losses", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(run["honest"], name)[0] = 0.0


def test_a_loop_goes_over_the_arms(run):
    assert len(run) == 3
    assert [arm.name for arm in run] == ["Neuro-Tron", "SGD", "honest"]
    assert "SGD" in run
    assert "Adam" not in run


def test_a_summary_has_one_row_per_arm_and_prints_as_a_table(run):
    summary = run.summary()
    assert [row["arm"] for row in summary] == ["Neuro-Tron", "SGD", "honest"]
    first = summary[0]
    assert first["final_error"] == run.errors[0, -1]
    assert first["error_ratio"] == run.errors[0, -1] / run.errors[0, 0]
    assert first["trainer"] == repr(run.arms[0].trainer)
    assert [row["attack"] for row in summary] == [repr(ATTACK), repr(ATTACK), "none"]
    assert [row["status"] for row in summary] == ["finished", "diverged", "finished"]
    head, *lines = str(summary).splitlines()
    assert len(lines) == 3
    assert re.split(r"  +", head) == [name.replace("_", " ") for name in first]
    assert {line[head.index("status") :].split()[0] for line in lines} == {"finished", "diverged"}


def test_a_summary_of_no_arms_says_so(run):
    assert repr(type(run.summary())()) == "no arms"


def test_a_summary_of_data_is_about_losses(on_data):
    (row,) = on_data.summary()
    assert row["final_loss"] == on_data.losses[0, -1]
    assert "final_error" not in row


def test_a_summary_makes_a_data_frame(run):
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(run.summary()).shape == (3, 6)


def test_a_ratio_to_an_initial_error_of_zero_is_not_a_number(small_problem):
    problem = nt.Problem.draw(
        small_problem.network, nt.Normal(), true_weights=np.ones(4), initial_weights=np.ones(4)
    )
    run = nt.simulate(problem, nt.SGD(0.1), steps=1, batch_size=2)
    assert np.isnan(run.summary()[0]["error_ratio"])


def test_whole_floats_are_numbers_of_steps(small_problem):
    run = nt.simulate(small_problem, nt.SGD(0.02), steps=1e1, batch_size=2)
    assert run.steps[-1] == 10
    certificate = nt.certify(small_problem, nt.Arm(nt.NeuroTron()), batch_size=2, steps=1e3)
    assert certificate.steps == 1000


def test_a_run_of_many_arms_prints_some_and_counts_the_rest(small_problem):
    trainers = [nt.SGD(step_size / 1000) for step_size in range(1, 41)]
    run = nt.simulate(small_problem, trainers, steps=1, batch_size=2)
    lines = repr(run).splitlines()
    assert len(lines) <= 14
    assert "28 more" in lines[-1]
    assert "28 more" in run._repr_html_()


def test_notebooks_see_every_arm_and_how_it_ended(run, on_data):
    page = run._repr_html_()
    text = html.unescape(page)
    for arm in run:
        assert arm.name in text
    assert "diverged at step" in text
    assert "loss" in on_data._repr_html_()
    assert "<table>" in run.summary()._repr_html_()


def test_names_are_escaped_in_notebooks(small_problem):
    arm = nt.Arm(nt.SGD(0.1), name="<script>alert(1)</script>")
    run = nt.simulate(small_problem, arm, steps=1, batch_size=2)
    for page in (run._repr_html_(), run.summary()._repr_html_()):
        assert "<script>" not in page
        assert "&lt;script&gt;" in page


def test_notebooks_see_what_a_problem_is_made_of(small_problem, on_data):
    page = html.unescape(small_problem._repr_html_())
    assert "12 inputs, 6 gates" in page
    assert "4 weights" in page
    assert "Normal(scale=1.0), symmetric" in page
    assert f"{small_problem.initial_error():.4g}" in page
    assert "1 gate," in on_data.problem._repr_html_()
    assert "not known" in on_data.problem._repr_html_()


def test_outcomes_say_where_every_arm_ended(small_problem):
    network, true = small_problem.network, small_problem.true_weights
    ends = {"recovered": 1.2 * true, "mirror": -0.9 * true, "other": 0.0 * true}
    for outcome, weights in ends.items():
        problem = nt.Problem.draw(network, nt.Normal(), true_weights=true, initial_weights=weights)
        run = nt.simulate(problem, nt.SGD(1e-9), steps=1)
        assert run.outcomes == (outcome,)
    assert nt.simulate(small_problem, nt.SGD(1e9), steps=50).outcomes == ("diverged",)
