"""Each command once as it is installed; more questions to it in this process."""

from __future__ import annotations

import json

import pytest
from tests.support.cli import in_this_process, installed

SMALL = ["--n-inputs", "12", "--filter-size", "4", "--steps", "200", "--step-size", "0.01"]


def test_version():
    from importlib.metadata import version

    assert in_this_process("--version").stdout == f"neurotron {version('neurotron')}\n"


def test_help_teaches():
    text = in_this_process("simulate", "--help").stdout
    assert "student-t:dof=4" in text
    assert "--probability" in text
    assert {"certify", "list", "plan", "simulate"} <= set(in_this_process("--help").stdout.split())


def test_list_names_everything():
    output = installed("list").stdout
    for name in ("symmetric", "student-t", "alternating-sign", "adaptive", "first-sample-sgd"):
        assert name in output
    assert "knows nothing" in output
    assert "guarantees: none" in output
    assert "adaptive" not in in_this_process("list", "laws").stdout


def test_simulate_prints_the_error_of_each_trainer_and_saves_a_picture(tmp_path):
    result = installed("simulate", *SMALL, "--plot", "picture.png", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for name in ("NeuroTron", "FirstSampleSGD", "SGD"):
        assert name in result.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "options",
    [
        ["--attack", "none"],
        ["--attack", "odd-direction", "--trainer", "neuro-tron"],
        ["--attack", "impersonation:bound=9", "--network", "convolution:stride=4"],
        ["--law", "student-t:dof=1.5", "--trainer", "neuro-tron:sensing=mean"],
        ["--network", "relu-gate", "--noise", "0.1", "--attack", "adaptive"],
    ],
    ids=" ".join,
)
def test_json_is_valid_and_whole(options):
    result = in_this_process("simulate", *SMALL, *options, "--json")
    assert result.returncode == 0, result.stderr
    content = json.loads(result.stdout)
    for arm in content["arms"]:
        assert arm["status"] in ("finished", "diverged")
        assert len(arm["errors"]) == len(content["steps"])
    assert content["environment"]["neurotron"]


def test_bad_input_is_exit_code_2_of_the_installed_command():
    result = installed("simulate", "--probability", "1.5")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: `probability` must be in [0, 1], got 1.5\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "--law", "norml"], "unknown law 'norml': did you mean 'normal'?"),
        (["simulate", "--probability", "1.5"], "`probability` must be in [0, 1], got 1.5"),
        (["simulate", "--steps", "-3"], "`steps` must be a whole number from 0 to 1e+15, got -3"),
        (["simulate", "--network", "symmetric:width=3"], "`width` must be even, got 3"),
        (["simulate", "--plot", "a.gif"], "`--plot` must end in .png, .pdf or .svg, got 'a.gif'"),
        (["simulate", "--plot", "no/a.png"], "`--plot`: there is no folder 'no'"),
        (["simulate", "--law", "normal:scale=1e200"], "`scale` must be in [1e-70, 1e70]"),
        (["simulate", "--n-inputs", "10000000", "--filter-size", "1000000"], "error: "),
        (["simulate", "--trainer", "sgd", "--trainer", "sgd"], "the same trainer is given twice"),
        (["simulate", "--trainer", "sgd:step_size=1,step_size=2"], "step_size is given twice"),
        (["list", "attack"], "unknown kind 'attack': did you mean 'attacks'?"),
        (["simulate", "--stepz", "3"], "No such option"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = in_this_process(*arguments)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


TINY = ["--n-inputs", "12", "--filter-size", "4", "--batch-size", "8"]


def test_plan_answers_with_a_table_and_the_picture_of_a_run(tmp_path):
    result = installed(
        "plan", *TINY, "--bound", "0.5", "--probability", "0.3", "--accuracy", "2", "--simulate",
        "--plot", "plan.png", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for part in ("Plan: steps T =", "Theorem (the sharp certificate)", "✓", "λ1 > 0", "measured"):
        assert part in result.stdout
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("left_out", ["bound", "probability", "accuracy", "steps"])
def test_plan_finds_what_is_left_out(left_out):
    given = {"bound": "0.5", "probability": "0.3", "accuracy": "2", "steps": "900"}
    options = [part for name in given if name != left_out for part in (f"--{name}", given[name])]
    content = json.loads(in_this_process("plan", *TINY, *options, "--json").stdout)
    assert content["asked"] == left_out
    assert content["answer"] > 0.0
    assert content["certificate"]["holds"]


def test_certify_promises_no_less_than_rounding():
    """It printed 4.474e-100."""
    found = in_this_process("certify", "--attack", "none", "--steps", "40000", "--json")
    content = json.loads(found.stdout)
    assert 1e-12 < content["radius"] < 1e-7
    assert "not resolved by floating point" in content["statement"]


def test_certify_says_what_holds_and_what_does_not(tmp_path):
    holds = installed("certify", *TINY, "--steps", "500", "--plot", "c.svg", cwd=tmp_path)
    assert holds.returncode == 0, holds.stderr
    assert "it holds with probability at least 0.95" in holds.stdout.replace("\n", " ")
    assert (tmp_path / "c.svg").exists()
    heavy = in_this_process(
        "certify", *TINY, "--law", "student-t:dof=4", "--trainer", "neuro-tron:step_size=0.001",
        "--json",
    )  # fmt: skip
    assert json.loads(heavy.stdout)["holds"] is False
    weighted = in_this_process(
        "certify", *TINY, "--law", "student-t:dof=1", "--trainer",
        "neuro-tron:weighting=inverse-norm", "--json",
    )  # fmt: skip
    assert json.loads(weighted.stdout)["kind"] == "theorem"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "--bound", "1"], "leave out exactly one of bound, probability, accuracy"),
        (["plan", "--bound", "1", "--probability", "0.5", "--accuracy", "0.01"], "not achievable"),
        (["plan", "--bound", "-1", "--accuracy", "1", "--steps", "9"], "`bound` must be in"),
        (
            ["plan", "--scope", "all", "--bound", "1", "--probability", "1", "--steps", "9"],
            "`scope`",
        ),
        (["certify", "--method", "guess"], "`method` must be one of"),
        (["certify", "--trainer", "sgd:step_size=0.1"], "no theorem covers SGD"),
        (["certify", "--failure", "0"], "`failure` must be in [1e-15, 1)"),
        (["certify", "--simulate"], "`--simulate` needs --steps"),
        (["certify", "--plot", "no/such/folder.png"], "there is no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_questions_get_one_sentence_and_exit_code_2(arguments, sentence):
    result = in_this_process(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_attack_outside_the_theorem_has_no_bound_unless_one_is_given():
    for options, shown in (((), "SignFlip(probability=0.5)"), (("--bound", "1"), "bound=1,")):
        done = in_this_process("simulate", "--attack", "sign-flip", "--steps", "10", *options)
        assert shown in done.stdout
