"""The page about an attack of one's own can be followed from its first to its last line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.cli import in_this_process, installed, refused

PAGE = (Path(__file__).parent.parent / "docs" / "own-attack.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the blocks of the page that are written in a language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.S | re.M)
    return [text for named, text in fenced if named == language]


@pytest.mark.slow("a new process runs a study and draws its page")
def test_the_page_leads_from_a_class_to_a_study_with_a_page(tmp_path, monkeypatch):
    (code,), (study,) = blocks("python"), blocks("toml")
    assert len(code.splitlines()) <= 30
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "mine.toml").write_text(study)
    check, simulate, run = (line for block in blocks("") for line in block.splitlines())
    assert check == "python mine.py"
    said = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "Towards is an attack.\n"), said.stderr
    monkeypatch.chdir(tmp_path)
    for command, how in ((simulate, in_this_process), (run, installed)):
        *words, allowed = shlex.split(command)[1:]
        assert allowed == "--allow-code"
        assert allowed in refused(*words)
        done = how(*words, allowed)
        assert done.returncode == 0, done.stderr
        sys.modules.pop("mine", None)
    assert "mine:Towards" in (tmp_path / "out" / "mine" / "report.html").read_text()
    (tmp_path / "mine.py").write_text(code.replace("np.clip(", "0.5 * np.clip("))
    assert "--mixed" in refused(*words, allowed)
    sys.modules.pop("mine")
