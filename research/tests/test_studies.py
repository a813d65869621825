"""Every study of research can be read, computed in small, judged and shown."""

from __future__ import annotations

import dataclasses

import pytest
from research import evidence, pages, suspects, verdicts
from research.evidence_page import IN_TABLES
from research.tests.packages import needed
from tests.support.cli import in_this_process

import neurotron as nt
from neurotron._references import code_allowed

OURS = [name for name in evidence.STUDIES if name not in evidence.IN_THE_WHEEL]
CHOSEN = {"tables": "diabetes", "rows": "gate"} | dict.fromkeys(IN_TABLES, "wage1")
"""Settings of studies whose others need packages or many rows; elsewhere it is the first."""
SHIFTED = [{"attack": "none"}, {"attack": "shift", "size": 8, "probability": [0.3, 0.45]}]
FEWER = {
    "rows": {"rows_per_weight": [4, 8], "solvers": ["solve"], "sweeps": [{"attack": "none"}]},
    "tables": {"sweeps": [{"attack": "none"}], "methods": {"Huber": "huber"}},
    **{name: {"sweeps": SHIFTED} for name in IN_TABLES},
}


def in_small(name: str) -> nt.Study:
    """Return a study with one setting, one replicate, and few steps, levels or rows."""
    study = evidence.study_of(name)
    whole = dict(study.setting(CHOSEN.get(name, study.settings[0]["name"])))
    fewer = FEWER.get(name) or {
        "steps": 20, "record": 20, "verify": min(whole["verify"], 50),
        "sweeps": [one | {key: one[key][:1] for key in ("bound", "probability")}
                   for one in whole["sweeps"]],
    }  # fmt: skip
    setting = whole | fewer | {"paired_with": None}
    return dataclasses.replace(study, settings=[setting], replicates=1, costs={})


@pytest.mark.parametrize("name", OURS)
def test_a_study_of_research_is_computed_judged_and_drawn_in_small(name, tmp_path):
    if name in IN_TABLES:
        needed()
    study = in_small(name)
    report = nt.lab.run(study, tmp_path / "out", workers=1)
    assert (report.computed, report.failures) == (1, [])
    results = nt.lab.load(tmp_path / "out")
    with code_allowed(study.code):
        judged = nt.lab.evaluate(results)
        charts = [*nt.lab.charts(results)]
    assert len(judged) == len(study.claims) > 0
    assert len({chart.name for chart in charts}) == len(charts)
    assert all(one.claim.statement.endswith(".") for one in judged)


@pytest.mark.parametrize("name", evidence.MEASUREMENTS)
def test_a_measurement_is_a_study_that_says_what_its_unit_returns(name):
    script = evidence.measurement(name)
    assert script.STUDY.name == name
    stored = set(pages.table(name).columns)
    about = {"setting"} | {key for one in script.STUDY.settings for key in one}
    assert len(stored & (set(script.STUDY.columns) | about)) >= 4
    assert callable(script.summary)


def test_a_measurement_is_computed_summarised_and_stored_with_its_origin(tmp_path, monkeypatch):
    small = dataclasses.replace(suspects.STUDY, settings=suspects.STUDY.settings[:2], replicates=1)
    monkeypatch.setattr(suspects, "STUDY", small)
    monkeypatch.setattr(suspects, "AT_ONCE", 2)
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(verdicts, "STORE", tmp_path)
    evidence.collect("suspects")
    origin, head, *rows = (tmp_path / "suspects.csv").read_text().splitlines()
    assert origin.startswith("# code ")
    assert head.split(",") == pages.table("suspects").columns
    assert [row.split(",")[4] for row in rows] == ["2", "2"]
    evidence.collect("suspects")  # finds everything computed
    assert len([*(tmp_path / "out" / "evidence").iterdir()]) == 1


def test_the_command_lists_the_studies_of_the_wheel_alone():
    said = in_this_process("list", "studies").stdout.splitlines()
    first = {line.split()[0] for line in said if line and not line.startswith(" ")}
    assert first == {"name", "paper", "batch-size", "smoke"}
