"""Ctrl-C ends the command at once, kill −9 at any moment, and nothing that is finished is lost."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.support.commands import (
    finish,
    hashes,
    kill_and_resume,
    leftovers,
    shards,
    start,
    write_study,
)

import neurotron as nt
from neurotron.lab.store.folder import Folder


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def interrupt(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    return finish(process)


def wait_for(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    while process.poll() is None and shards(folder) < count:
        time.sleep(0.01)


@pytest.mark.slow("the command runs twice, and its units must be long enough to be interrupted")
def test_ctrl_c_keeps_what_is_done_and_the_same_command_finishes(tmp_path, out):
    file = write_study(tmp_path, steps=60_000, replicates=3)
    command = ("run", file, "--out", out)
    process = start(*command)
    wait_for(process, out, 2)
    code, output, errors = interrupt(process)
    assert code == 130
    assert "Traceback" not in errors
    done = shards(out)
    assert f"interrupted with {done} of 6 units" in output
    assert "Run the same command again to go on" in output
    assert 2 <= done < 6
    assert Folder.read(out).events()[-1]["event"] == "interrupted"
    code, output, errors = finish(start(*command))
    assert code == 0, errors
    assert f"finished with 6 of 6 units ({done} of them from before)" in output


def test_ctrl_c_does_not_wait_for_a_long_unit(tmp_path, out):
    """Of one that takes hours nothing is waited for: the command ends at all."""
    file = write_study(tmp_path, steps=10**10, replicates=1)
    process = start("run", file, "--out", out)
    while process.poll() is None and not (out / "runs.jsonl").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    code, output, errors = interrupt(process)
    assert code == 130
    assert "Traceback" not in errors
    assert "interrupted with 0 of 2 units" in output


@pytest.mark.slow("the command is killed and runs again, and once more without being killed")
@pytest.mark.parametrize(
    ("kills", "replicates"), [(1, 2), pytest.param(20, 20, marks=pytest.mark.long)]
)
def test_a_killed_study_resumes_to_the_same_content(tmp_path, kills, replicates):
    file = write_study(tmp_path, steps=40_000, replicates=replicates)
    nt.lab.run(nt.lab.read(file), tmp_path / "undisturbed")
    assert kill_and_resume(file, tmp_path / "killed", kills=kills, seed=1) == kills
    assert len(hashes(tmp_path / "killed")) == 2 * replicates
    assert hashes(tmp_path / "killed") == hashes(tmp_path / "undisturbed")
    assert leftovers(tmp_path / "killed") == []
    events = Folder.read(tmp_path / "killed").events()
    assert events[-1]["event"] == "end"
    assert sum(event["event"] == "start" for event in events) > kills // 2
