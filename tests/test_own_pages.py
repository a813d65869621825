"""The pages about code of one's own can be followed from their first to their last line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.cli import in_this_process, installed, refused

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def followed(tmp_path, monkeypatch):
    """Return a function that writes the files of a page into a folder, and returns its commands."""

    def follow(page: str, name: str) -> list[str]:
        fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(), re.S | re.M)
        ((_, code),) = (each for each in fenced if each[0] == "python")
        ((_, study),) = (each for each in fenced if each[0] == "toml")
        Path(f"{name}.py").write_text(code)
        Path(f"{name}.toml").write_text(study)
        return [line for language, text in fenced if not language for line in text.splitlines()]

    monkeypatch.chdir(tmp_path)
    loaded = {*sys.modules}
    yield follow
    for name in {*sys.modules} - loaded:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def python(command: str) -> str:
    """Run a script with the Python of the tests; return what it prints."""
    word, script = command.split()
    assert word == "python"
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    ).stdout


def allowed(command: str) -> list[str]:
    """Return the words of a command that needs a permission, after trying it without."""
    neurotron, *words, permission = shlex.split(command)
    assert (neurotron, permission) == ("neurotron", "--allow-code")
    assert permission in refused(*words)
    return [*words, permission]


@pytest.mark.slow("a new process runs a study and draws its page")
def test_an_attack_of_ones_own_in_a_study_takes_30_lines(followed):
    check, simulate, run = followed("own-attack.md", "mine")
    code = Path("mine.py").read_text()
    assert len(code.splitlines()) <= 30
    assert python(check) == "Towards is an attack.\n"
    assert in_this_process(*allowed(simulate)).returncode == 0
    del sys.modules["mine"]  # as in a new process
    done = installed(*allowed(run))
    assert done.returncode == 0, done.stderr
    assert "mine:Towards" in Path("out/mine/report.html").read_text()
    Path("mine.py").write_text(code.replace("np.clip(", "0.5 * np.clip("))
    assert "--mixed" in refused(*shlex.split(run)[1:])


def test_an_experiment_of_ones_own_takes_60_lines(followed):
    script, run = followed("own-study.md", "robust")
    assert len(Path("robust.py").read_text().splitlines()) <= 60
    said = python(script)
    assert [line.partition(":")[0] for line in said.splitlines()] == ["holds", "holds"]
    units = sorted(Path("out/robust/shards").rglob("*.parquet"))
    assert len(units) == 60
    before = [unit.read_bytes() for unit in units]
    units[7].unlink()
    done = in_this_process(*allowed(run))
    assert done.returncode == 0, done.stderr
    assert "59 of them from before" in done.stdout
    assert [unit.read_bytes() for unit in units] == before
    page = Path("out/robust/report.html").read_text()
    assert "With wrong numbers, the median is closer to the truth than the mean." in page
    assert "Mean and median" in page
    assert "neurotron run robust.toml --allow-code" in page
