"""The charts that claims say they are shown by, in the studies of the catalog."""

from __future__ import annotations

import pytest
from tests.support.fits import made_fits, rows_study
from tests.support.results import ending_at, made

import neurotron as nt

WITH_FIGURES = ("paper", "mirror", "frontier", "activations", "batch-size", "smoke")
"""Studies that have every chart their claims name; others that name these claims have fewer."""
ENOUGH = {"frontier": ("normal-1", "not-additive")}
"""Settings that have all attacks of their study, if it has many."""
WEIGHTS = tuple(float(i) for i in range(1, 26))


def certified_and_exact(setting, replicate, arm):
    """Runs of which every kind of chart has something to draw."""
    vector = {"attack_vector": WEIGHTS[::-1]} if arm["attack"] == "impersonation" else {}
    exact = arm["algorithm"] == "refined-tron"
    ends = {"weights": WEIGHTS, "true_weights": WEIGHTS, "errors": ending_at(1e-15 if exact else 1)}
    bounds = {"radius": 9.0, "root_mean_square": 3.0} if arm["algorithm"] == "neuro-tron" else {}
    return ends | vector | bounds


def test_every_claim_with_charts_is_named_by_a_study_that_has_them():
    studies = (*WITH_FIGURES, "rows")
    named = {claim for name in studies for claim in nt.studies.read(name).claims}
    assert {claim.name for claim in nt.claims.CLAIMS.values() if claim.figures} <= named


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_every_chart_that_a_claim_names_is_among_those_of_its_study(name, tmp_path):
    study = nt.studies.read(name)
    enough = [one for one in study.settings if one.name in ENOUGH.get(name, (one.name,))]
    shorter = study.model_copy(update={"settings": tuple(enough)})
    results = made(tmp_path / "r", shorter, certified_and_exact, 1)
    charts = {chart.name for chart in nt.figures.charts(results)}
    wanted = {figure for claim in study.claims for figure in nt.claims.CLAIMS[claim].figures}
    assert wanted - charts == set()


def test_a_study_of_rows_has_the_charts_that_its_claims_name(tmp_path):
    study = rows_study(*nt.studies.read("rows").claims)
    results = made_fits(tmp_path / "r", study, lambda setting, replicate, row: {"error": 0.1})
    charts = {chart.name for chart in nt.figures.charts(results)}
    wanted = {figure for claim in study.claims for figure in nt.claims.CLAIMS[claim].figures}
    assert wanted
    assert wanted - charts == set()
