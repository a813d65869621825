"""A study that is killed −9 again and again ends as if it had not been."""

from __future__ import annotations

from tests.support.commands import hashes, kill_and_resume, leftovers, write_study

import neurotron as nt


def test_a_killed_study_resumes_to_the_same_content(tmp_path):
    file = write_study(tmp_path, steps=40_000, replicates=8)
    nt.studies.run(nt.studies.read(file), tmp_path / "undisturbed")
    assert kill_and_resume(file, tmp_path / "killed", kills=4, seed=1) == 4
    assert len(hashes(tmp_path / "killed")) == 16
    assert hashes(tmp_path / "killed") == hashes(tmp_path / "undisturbed")
    assert leftovers(tmp_path / "killed") == []
    events = nt.load_results(tmp_path / "killed").folder.events()
    assert events[-1]["event"] == "end"
    assert sum(event["event"] == "start" for event in events) > 2
