"""Each command once as it is installed; more questions to it in this process."""

from __future__ import annotations

import json
import re
from typing import get_type_hints

import pytest
import typer
from tests.support.cli import in_this_process, installed
from tests.support.messages import says

import neurotron as nt
from neurotron.cli.app import COMMANDS
from neurotron.cli.options import NAMED, grouped, registry, sections

SMALL = ["--n-inputs", "12", "--filter-size", "4", "--steps", "200"]


def test_version():
    from importlib.metadata import version

    assert in_this_process("--version").stdout == f"neurotron {version('neurotron')}\n"


def test_help_teaches():
    text = in_this_process("simulate", "--help").stdout
    assert "  neurotron simulate --law student-t:dof=4 --attack adaptive --bound 1 " in text
    assert "--probability" in text
    for panel in ("Problem", "Attack", "Trainer", "Run", "Output"):
        assert f"─ {panel} ─" in text
    assert {"certify", "list", "plan", "simulate"} <= set(in_this_process("--help").stdout.split())


@pytest.mark.parametrize("command", [[], ["simulate"], ["plan"], ["run"], ["report"]])
def test_flags_are_shown_as_flags(command):
    text = in_this_process(*command, "--help").stdout
    assert "--help" in text
    assert "<bool>" not in text


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_help_can_be_copied(name):
    lines = [line.strip() for line in in_this_process(name, "--help").stdout.splitlines()]
    for line in sections(COMMANDS[name])[""].splitlines():
        if line.startswith("    "):
            assert line.strip() in lines


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    hints = get_type_hints(grouped(COMMANDS[name]), include_extras=True)
    assert all(hint.__metadata__[0].help for hint in hints.values() if hint is not typer.Context)


def test_the_shell_completes_names(monkeypatch):
    monkeypatch.setenv("_NEUROTRON_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "neurotron simulate --law stu")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert in_this_process().stdout.split() == ["student-t"]


def test_list_names_everything_on_one_page():
    output = installed("list").stdout
    for kind in NAMED:
        assert kind in output
        assert set(registry(kind)) <= set(output.replace(",", " ").split())
    assert len(output.splitlines()) <= 42
    assert max(map(len, output.splitlines())) <= 80


def test_list_attacks_is_a_table_in_which_optional_parameters_look_optional():
    words = in_this_process("list", "attacks").stdout.split()
    assert words[:3] == ["name", "parameters", "what"]
    assert words.count("knows") == len(nt.attacks.BUILT_IN)
    place = words.index("large-norm")
    assert "(optional)" in words[place : place + 20]
    assert "adaptive" not in in_this_process("list", "laws").stdout
    assert "dof (required)" in in_this_process("list", "laws").stdout
    networks = " ".join(in_this_process("list", "networks").stdout.split())
    assert "An activation is softplus, silu or gelu" in networks


def test_simulate_prints_the_error_of_each_trainer_and_saves_a_picture(tmp_path):
    result = installed("simulate", *SMALL, "--plot", "picture.png", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for name in ("Neuro-Tron", "first-sample SGD", "SGD", "0.0001"):
        assert name in result.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "options",
    [
        ["--attack", "none"],
        ["--attack", "odd-direction", "--trainer", "neuro-tron"],
        ["--attack", "impersonation:bound=9", "--network", "convolution:stride=4"],
        ["--law", "student-t:dof=1.5", "--trainer", "neuro-tron:sensing=mean"],
        ["--noise", "0.1", "--attack", "adaptive"],
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


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", *SMALL],
        ["simulate", *SMALL, "--trainer", "sgd:step_size=1e9"],
        ["certify", *SMALL[:4], "--steps", "9"],
        ["certify", *SMALL[:4], "--law", "student-t:dof=4", "--trainer", "neuro-tron:step_size=1"],
        ["plan", *SMALL[:4], "--bound", "1", "--probability", "0.1", "--steps", "9999"],
    ],
    ids=["simulate", "diverged", "certify", "no certificate", "plan"],
)
def test_json_has_its_format_the_software_and_the_exit_code_and_no_endless_numbers(arguments):
    result = in_this_process(*arguments, "--json")
    assert "NaN" not in result.stdout
    assert "Infinity" not in result.stdout
    content = json.loads(result.stdout)
    assert content["format"] == 1
    assert content["software"] == {"name": "neurotron", "version": nt.__version__}
    assert content["exit_code"] == result.returncode


def test_bad_input_is_exit_code_2_of_the_installed_command():
    result = installed("simulate", "--probability", "1.5")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: `--probability` must be in [0, 1], got 1.5\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "--law", "norml"], "unknown law 'norml': did you mean 'normal'?"),
        (["simulate", "--probability", "1.5"], "`--probability` must be in [0, 1], got 1.5"),
        (["simulate", "--steps", "-3"], "`--steps` must be a whole number from 0 to 1e+15, got -3"),
        (["simulate", "--network", "symmetric:width=3"], "`width` must be even, got 3"),
        (["simulate", "--plot", "a.gif"], "`--plot` must end in .png, .pdf or .svg, got 'a.gif'"),
        (["simulate", "--plot", "no/a.png"], "`--plot`: there is no folder 'no'"),
        (["simulate", "--law", "normal:scale=1e200"], "`scale` must be in [1e-70, 1e70]"),
        (["simulate", "--n-inputs", "10000000", "--filter-size", "1000000"], "error: "),
        (["simulate", "--trainer", "sgd", "--trainer", "sgd"], "the same trainer is given twice"),
        (["simulate", "--trainer", "sgd"], "'sgd' needs step_size: write sgd:step_size=…"),
        (["simulate", "--trainer", "sgd:step_size=1,step_size=2"], "step_size is given twice"),
        (["list", "attack"], "unknown kind 'attack': did you mean 'attacks'?"),
        (["plan", "--bound", "1"], "missing are probability, radius, steps"),
        (["plan", "--bound", "1", "--probability", "0.5", "--radius", "0.01"], "not achievable"),
        (["plan", "--bound", "-1", "--radius", "1", "--steps", "9"], "`--bound` must be in"),
        (
            ["plan", "--scope", "all", "--bound", "1", "--probability", "1", "--steps", "9"],
            "`--scope`",
        ),
        (["certify", "--method", "guess"], "`--method` must be one of"),
        (["certify", "--trainer", "sgd:step_size=0.1"], "no theorem covers SGD"),
        (["certify", "--confidence", "0"], "`--confidence` must be in (0, 1)"),
        (["certify", "--trainer", "sgd"], "'sgd' needs step_size"),
        (["simulate", "--network", "linear", "--filter-size", "10"], "leave out --filter-size"),
        (["certify", "--plot", "no/such/folder.png"], "there is no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = in_this_process(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_does_not_exist_is_told():
    assert says(in_this_process("simulate", "--stepz", "3").stderr, "No such option", "--steps")


def test_messages_have_the_names_of_options_and_of_keys_in_files(tmp_path):
    study, table = tmp_path / "mine.toml", tmp_path / "few.csv"
    assert in_this_process("init", study).returncode == 0
    said = in_this_process("run", study, "--replicates", "0").stderr
    assert said.startswith("error: `--replicates` must be")
    study.write_text(re.sub("(?m)^replicates = .*", "replicates = -1", study.read_text()))
    assert "mine.toml: `replicates` must be" in in_this_process("run", study).stderr
    table.write_text("a,b,y\n1,2,3\n2,1,2\n")
    assert "the table has 2 rows" in in_this_process("clean", table, "--label", "y").stderr


TINY = ["--n-inputs", "12", "--filter-size", "4", "--batch-size", "8"]


def test_plan_answers_with_a_table_and_a_picture(tmp_path):
    result = installed(
        "plan", *TINY, "--bound", "0.5", "--probability", "0.3", "--radius", "2",
        "--plot", "plan.png", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for part in ("Plan: train NeuroTron(", "Guaranteed (sharp certificate,", "✓"):
        assert part in result.stdout
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("left_out", ["bound", "probability", "radius", "steps"])
def test_plan_finds_what_is_left_out(left_out):
    given = {"bound": "0.5", "probability": "0.3", "radius": "2", "steps": "900"}
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
    assert "with probability at least 0.95" in holds.stdout.replace("\n", " ")
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


def test_an_attack_outside_the_theorem_has_no_bound_unless_one_is_given():
    for options, shown in (((), "SignFlip(probability=0.5)"), (("--bound", "1"), "bound=1,")):
        done = in_this_process("simulate", "--attack", "sign-flip", "--steps", "10", *options)
        assert shown in done.stdout


GATE = ["--network", "relu-gate", "--n-inputs", "8", "--bound", "1", "--probability", "0.05"]


def test_a_trainer_that_no_theorem_covers_is_measured():
    small = ["--network", "relu-gate", "--n-inputs", "4", "--trainer", "sgd:step_size=0.01"]
    done = in_this_process("certify", *small, "--method", "measured", "--steps", "50")
    assert done.returncode == 0
    assert says(done.stdout, "Measured, not proved", "SGD")


def test_certify_fails_if_nothing_is_better_than_the_start():
    done = in_this_process("certify", *GATE, "--bound", "1e6", "--steps", "100")
    assert done.returncode == 1
    assert says(done.stdout, "useless")
    done = in_this_process("certify", *GATE, "--bound", "1e6", "--steps", "100", "--json")
    assert json.loads(done.stdout)["exit_code"] == done.returncode == 1


@pytest.mark.parametrize("steps", [None, 10_000])
def test_commands_have_the_defaults_of_python(steps):
    """The command chose a step size of its own, and steps."""
    problem = nt.Problem.draw(nt.networks.relu_gate(8), nt.Normal(), seed=0)
    attack = nt.attacks.build("adaptive", problem, bound=1.0, probability=0.05, seed=0)
    expected = nt.certify(problem, nt.Arm(nt.NeuroTron(), attack), steps=steps)
    given = [] if steps is None else ["--steps", steps]
    found = json.loads(in_this_process("certify", *GATE, *given, "--json").stdout)
    assert (found["radius"], found["steps"]) == (expected.radius, steps)
    said = in_this_process("simulate", *GATE, "--steps", 9, "--trainer", "neuro-tron", "--json")
    (arm,) = json.loads(said.stdout)["arms"]
    assert arm["trainer"] == repr(nt.NeuroTron())


def test_the_step_sizes_in_use_are_printed():
    trainers = ["neuro-tron", "sgd:step_size=0.02", "refined-tron"]
    given = [part for each in trainers for part in ("--trainer", each)]
    printed = in_this_process("simulate", *GATE, "--steps", "20", *given).stdout
    assert says(printed, "(fastest)", "0.02", "its own")


def test_a_gate_has_as_many_weights_as_inputs():
    for more in ((), ("--filter-size", "8")):
        done = in_this_process("simulate", *GATE[:4], "--steps", "10", *more)
        assert "1 gate, 8 weights" in done.stdout
    assert "3 weights" in in_this_process("simulate", "--n-inputs", "12", "--steps", "9").stdout
