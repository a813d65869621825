"""What is printed may find no reader: the work is done all the same."""

from __future__ import annotations

import os
import sys

import pytest
from tests.support.results import made
from tests.support.studies import SMALL

import neurotron as nt
from neurotron.cli import app


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def full_disk() -> int:
    return os.open("/dev/full", os.O_WRONLY)


@pytest.fixture
def command(monkeypatch, capfd):
    """Run the command with streams of its own; return its exit code and what it complained of."""
    opened = []

    def run(*words: object, **streams: int) -> tuple[object, str]:
        for name, descriptor in streams.items():
            opened.append(os.fdopen(descriptor, "w"))
            monkeypatch.setattr(sys, name, opened[-1])
        monkeypatch.setattr(sys, "argv", ["neurotron", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            app.run()
        return end.value.code, capfd.readouterr().err

    yield run
    for stream in opened:
        stream.close()  # fails if anything could not be written


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(nt.lab.claims, "evaluate", lambda _: [])  # the paper's claims take long
    (tmp_path / "small.toml").write_bytes(SMALL)
    return tmp_path / "small.toml"


def run(command, study, **streams: int) -> tuple[object, str]:
    out = study.parent / "out"
    ended = command("run", study, "--out", out, "--replicates", 1, **streams)
    assert (out / "claims.json").exists()
    assert (out / "report.html").read_text().rstrip().endswith("</html>")
    assert nt.load_results(out).replicates == {"a": 1}
    return ended


@pytest.mark.parametrize("streams", [["stdout"], ["stdout", "stderr"]])
def test_a_run_whose_reader_is_gone_writes_its_page(command, study, streams):
    code, errors = run(command, study, **{name: closed_pipe() for name in streams})
    assert not code
    assert "error" not in errors


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["init", "--schema"], ["list", "laws"]]
)
def test_a_reader_that_has_seen_enough_is_no_error(command, words):
    assert command(*words, stdout=closed_pipe()) == (0, "")


def test_verdicts_as_json_whose_reader_is_gone_are_no_error(command, study):
    made(study.parent / "out", nt.lab.read(study), lambda *_: {}, 1)
    assert command("report", study.parent / "out", "--json", stdout=closed_pipe()) == (0, "")


def test_a_run_that_cannot_print_writes_its_page_and_says_so(command, study):
    code, errors = run(command, study, stdout=full_disk())
    assert code == 2
    assert "cannot be printed: No space left on device" in errors
    assert "Traceback" not in errors


def test_the_next_command_prints_again(command):
    assert command("list", "laws", stdout=full_disk())[0] == 2
    assert command("list", "laws", stdout=os.open(os.devnull, os.O_WRONLY))[0] == 0


@pytest.mark.parametrize("place", ["/proc/x.toml", "/dev/null/x.toml"])
def test_a_study_that_cannot_be_written_is_one_sentence(command, place):
    code, errors = command("init", place)
    assert code == 2
    assert "cannot be written" in errors
    assert "choose another place" in errors
    assert "Errno" not in errors
