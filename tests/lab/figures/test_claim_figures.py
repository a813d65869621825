"""The charts that claims say they are shown by, in the studies of the catalog."""

from __future__ import annotations

import pytest
from tests.support.results import ending_at, made

import neurotron as nt

WEIGHTS = tuple(float(i) for i in range(1, 26))
STUDIES = ("paper", "batch-size", "smoke")


def certified(setting, replicate, arm):
    """Runs of which every kind of chart has something to draw."""
    vector = {"attack_vector": WEIGHTS[::-1]} if arm["attack"] == "impersonation" else {}
    ends = {"weights": WEIGHTS, "true_weights": WEIGHTS, "errors": ending_at(1)}
    bounds = {"radius": 9.0, "root_mean_square": 3.0} if arm["algorithm"] == "neuro-tron" else {}
    return ends | vector | bounds


def test_every_claim_with_charts_is_named_by_a_study_that_has_them():
    named = {claim for name in STUDIES for claim in nt.lab.read(name).claims}
    assert {claim.name for claim in nt.lab.CLAIMS.values() if claim.figures} <= named


@pytest.mark.parametrize("name", STUDIES)
def test_every_chart_that_a_claim_names_is_among_those_of_its_study(name, tmp_path):
    study = nt.lab.read(name)
    charts = {one.name for one in nt.lab.charts(made(tmp_path / "r", study, certified, 1))}
    assert {figure for one in study.claims for figure in nt.lab.CLAIMS[one].figures} <= charts
