"""Every study of research can be read, computed in small, judged and shown."""

from __future__ import annotations

import dataclasses
import sys

import pytest
from research import evidence
from research.pages import ROOT
from tests.support.cli import invoke

import neurotron as nt
from neurotron._references import code_allowed

OURS = [name for name in evidence.STUDIES if name not in evidence.IN_THE_WHEEL]
NEEDS_MORE = {"tables": "diabetes", "rows": "gate"}
"""Settings of studies whose others need packages or many rows."""
FEW_ROWS = {"rows_per_weight": [4, 8], "solvers": ["solve"], "sweeps": [{"attack": "none"}]}
SMALL = {
    "rows": FEW_ROWS,
    "tables": {"sweeps": [{"attack": "none"}], "methods": {"Huber": "huber"}},
}


def in_small(name: str) -> nt.Study:
    """Return a study with one setting, one replicate and few steps."""
    study = evidence.study_of(name)
    chosen = dict(study.setting(NEEDS_MORE.get(name, study.settings[0]["name"])))
    changes = SMALL.get(name, {"steps": 20, "record": 20, "verify": min(chosen.get("verify", 0), 50)})
    setting = chosen | changes | {"paired_with": None}
    return dataclasses.replace(study, settings=[setting], replicates=1, costs={})


@pytest.mark.parametrize("name", OURS)
def test_a_study_of_research_is_computed_judged_and_drawn_in_small(name, tmp_path):
    study = in_small(name)
    report = nt.lab.run(study, tmp_path / "out", workers=1)
    assert (report.computed, report.failures) == (1, [])
    results = nt.lab.load(tmp_path / "out")
    with code_allowed(study.code):
        judged = nt.lab.evaluate(results)
        assert [*nt.lab.charts(results)] is not None
    assert len(judged) == len(study.claims) > 0
    assert all(one.claim.statement.endswith(".") for one in judged)


@pytest.mark.parametrize("name", evidence.MEASUREMENTS)
def test_a_measurement_is_a_study_whose_summary_has_the_columns_that_are_stored(name):
    script = evidence.measurement(name)
    assert script.STUDY.name == name
    assert script.STUDY.unit.__module__ == script.__name__
    assert evidence.table(name).height > 0


def test_the_commands_list_the_studies_of_the_wheel_alone():
    listed = {line.split()[0] for line in invoke("list", "studies").output.splitlines() if line}
    assert {"paper", "batch-size", "smoke"} <= listed
    assert not listed & set(OURS)
