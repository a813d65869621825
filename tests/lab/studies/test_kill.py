"""A study that is killed −9 again and again ends as if it had not been."""

from __future__ import annotations

import pytest
from tests.support.commands import hashes, kill_and_resume, leftovers, write_study

import neurotron as nt


@pytest.mark.slow("the command is killed and runs again, and once more without being killed")
@pytest.mark.parametrize(
    ("kills", "replicates"), [(1, 2), pytest.param(4, 8, marks=pytest.mark.long)]
)
def test_a_killed_study_resumes_to_the_same_content(tmp_path, kills, replicates):
    file = write_study(tmp_path, steps=40_000, replicates=replicates)
    nt.lab.studies.run(nt.lab.studies.read(file), tmp_path / "undisturbed")
    assert kill_and_resume(file, tmp_path / "killed", kills=kills, seed=1) == kills
    assert len(hashes(tmp_path / "killed")) == 2 * replicates
    assert hashes(tmp_path / "killed") == hashes(tmp_path / "undisturbed")
    assert leftovers(tmp_path / "killed") == []
    events = nt.load_results(tmp_path / "killed").folder.events()
    assert events[-1]["event"] == "end"
    assert sum(event["event"] == "start" for event in events) > kills // 2
