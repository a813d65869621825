"""How training runs end, as tables: against cases made up by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from tests.support.results import INITIAL, TRUE, ending_at, made
from tests.support.studies import flat

import neurotron as nt
from neurotron.lab.training.summary import OUTCOMES, outcomes_by_trainer, steps_to

STUDY = b"""
name = "s"
[trainers]
T = "neuro-tron"
S = "sgd"
[[settings]]
name = "a"
n_inputs = 4
filter_size = 2
"""


def test_outcomes_are_told_apart(tmp_path):
    true = np.array(TRUE)  # of length 5
    ends = [
        (true, "recovered"),
        (0.51 * true, "recovered"),
        (0.49 * true, "other"),
        (0.0 * true, "other"),  # no direction at all
        (-true, "mirror"),
        (-3.0 * true, "mirror"),
        (-0.01 * true, "mirror"),
        (np.array([-4.0, 3.0]), "other"),  # at a right angle
        (np.array([-4.0, 1.0]), "other"),  # the cosine with −w* is 0.39
        (np.array([-4.0, 0.0]), "mirror"),  # 0.6
        (2.0 * true, "other"),
    ]

    def outcome(setting, replicate, arm):
        if arm["algorithm"] == "sgd":
            return {"status": "diverged", "stopped_at": 7, "errors": ending_at(math.inf)}
        weights = ends[replicate][0]
        return {"weights": weights, "errors": ending_at(float(np.linalg.norm(weights - true)))}

    runs = made(tmp_path / "r", STUDY, outcome, len(ends)).runs
    tron = runs.filter(algorithm="neuro-tron").sort("replicate")
    assert tron["outcome"].to_list() == [name for _, name in ends]
    assert tron["cosine"][4] == pytest.approx(-1.0)
    assert set(runs.filter(algorithm="sgd")["outcome"]) == {"diverged"}
    assert set(runs["outcome"]) <= set(OUTCOMES)


def test_runs_have_the_ends_of_their_courses_and_the_words_of_their_arms(tmp_path):
    def outcome(setting, replicate, arm):
        vector = (TRUE[0], TRUE[1] + 2.0) if arm["algorithm"] == "sgd" else None
        losses = (4.0, 3.0, 2.0, 1.5)
        return {"errors": ending_at(replicate), "losses": losses, "attack_vector": vector}

    results = made(tmp_path / "r", STUDY, outcome, 3)
    run = results.runs.row(-1, named=True)
    assert (run["setting"], run["replicate"], run["trainer"], run["law"]) == ("a", 2, "S", "normal")
    assert (run["initial_error"], run["error"], run["loss"]) == (INITIAL, 2.0, 1.5)
    assert (run["distance"], run["bound"], run["probability"]) == (2.0, 0.25, 0.5)
    assert results.runs["distance"].null_count() == 3
    assert results.trajectories.filter(replicate=2, arm=run["arm"])["error"].to_list() == ending_at(
        2
    )
    assert len(results.trajectories) == 2 * 3 * 4


def hand_made(folder):
    """Neuro-Tron ends at 1 … 5, SGD recovers twice, ends at the mirror twice, diverges once."""

    def outcome(setting, replicate, arm):
        if arm["algorithm"] == "neuro-tron":
            return {"errors": ending_at(replicate + 1.0, 100)}
        if replicate == 4:
            return {"status": "diverged", "stopped_at": 5, "errors": ending_at(math.inf)}
        if replicate >= 2:
            return {"weights": (-3.0, -4.0), "errors": ending_at(10.0)}
        return {"errors": ending_at(0.5, 10)}

    return made(folder, STUDY, outcome, 5)


def test_outcomes_are_counted_with_the_medians_of_the_weakest_and_the_strongest_attack(tmp_path):
    tron, sgd = outcomes_by_trainer(hand_made(tmp_path / "r"))
    assert [tron[name] for name in (*OUTCOMES, "runs")] == [2, 0, 3, 0, 5]
    assert [sgd[name] for name in (*OUTCOMES, "runs")] == [2, 2, 0, 1, 5]
    assert (tron["trainer"], tron["least"], tron["largest"]) == ("T", 3.0, 3.0)
    assert sgd["least"] == 10.0


def test_steps_to_an_error_are_those_of_its_first_record(tmp_path):
    results = hand_made(tmp_path / "r")

    def reached(error):
        table = steps_to(results, error)
        assert table.columns == ["setting", "replicate", "arm", "steps"]
        tron = pl.col("arm").str.starts_with("T")
        return table.filter(tron)["steps"].to_list(), table.filter(~tron)["steps"].to_list()

    assert reached(2.0) == ([100, 100, None, None, None], [10, 10, None, None, None])
    assert reached("0.2×") == reached(2.0)
    assert reached(10.0) == ([0] * 5, [0] * 5)
    assert reached("0.01×") == ([None] * 5, [None] * 5)


@pytest.mark.parametrize("error", ["0.1", "a×", "×", "0.1×2", -1.0, 0.0, math.nan, "-1×", None])
def test_an_error_to_reach_is_a_positive_number(error, tmp_path):
    with pytest.raises(nt.InputError, match="`error` must be"):
        steps_to(hand_made(tmp_path / "r"), error)


def test_a_folder_without_shards_gives_empty_tables_no_verdicts_and_a_page(tmp_path):
    results = made(tmp_path / "r", STUDY, flat, 0)
    full = made(tmp_path / "full", STUDY, flat, 1)
    assert results.runs.schema == full.runs.schema
    assert results.trajectories.schema == full.trajectories.schema
    assert steps_to(results, "0.1×").schema == steps_to(full, "0.1×").schema
    for table in (results.runs, results.trajectories, steps_to(results, 1.0)):
        assert len(table) == 0
    assert repr(results) == "Runs of 's': 1 settings, 0 arms, 0 units"
    assert results.failures == []
    (judged,) = nt.lab.report(tmp_path / "r")
    assert judged.verdict == "not tested"
    assert json.loads((tmp_path / "r" / "claims.json").read_text())["units"] == 0
    assert "</html>" in (tmp_path / "r" / "report.html").read_text()


def test_errors_at_some_steps_are_columns_of_all_errors(tmp_path):
    results = made(tmp_path / "r", STUDY, lambda c, r, a: {"errors": ending_at(r + a["bound"])}, 3)
    (setting,) = results.steps
    chosen = results.steps[setting][[0, 2]].tolist()
    rows = results.trajectories.filter(results.trajectories["step"].is_in(chosen))
    errors = rows["error"].to_numpy().reshape(-1, 2)
    assert np.array_equal(errors, results.errors[setting][:, [0, 2]])
