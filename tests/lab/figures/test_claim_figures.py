"""The charts that claims say they are shown by, in the studies of the catalog."""

from __future__ import annotations

import pytest
from tests.support.damages import made_damages, tables_study
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
    studies = (*WITH_FIGURES, "rows", "tables")
    named = {claim for name in studies for claim in nt.lab.studies.read(name).claims}
    assert {claim.name for claim in nt.lab.claims.CLAIMS.values() if claim.figures} <= named


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_every_chart_that_a_claim_names_is_among_those_of_its_study(name, tmp_path):
    study = nt.lab.studies.read(name)
    enough = [one for one in study.settings if one.name in ENOUGH.get(name, (one.name,))]
    shorter = study.model_copy(update={"settings": tuple(enough)})
    results = made(tmp_path / "r", shorter, certified_and_exact, 1)
    charts = {chart.name for chart in nt.lab.figures.charts(results)}
    wanted = {figure for claim in study.claims for figure in nt.lab.claims.CLAIMS[claim].figures}
    assert wanted - charts == set()


def test_a_study_of_rows_has_the_charts_that_its_claims_name(tmp_path):
    study = rows_study(*nt.lab.studies.read("rows").claims)
    results = made_fits(tmp_path / "r", study, lambda setting, replicate, row: {"error": 0.1})
    charts = {chart.name for chart in nt.lab.figures.charts(results)}
    wanted = {figure for claim in study.claims for figure in nt.lab.claims.CLAIMS[claim].figures}
    assert wanted
    assert wanted - charts == set()


def test_a_study_of_tables_has_the_charts_that_its_claims_name(tmp_path):
    study = tables_study(*nt.lab.studies.read("tables").claims)
    results = made_damages(tmp_path / "r", study, lambda *_: {"error": 2.2}, 6)
    charts = {chart.name: chart for chart in nt.lab.figures.charts(results)}
    wanted = {figure for claim in study.claims for figure in nt.lab.claims.CLAIMS[claim].figures}
    assert wanted
    assert wanted - charts.keys() == set()
    diabetes, _, cell = charts["damage-0.3"].panels
    assert diabetes.ticks == ("none", "one side", "other model", "large leverage")
    assert [line.name for line in cell.lines] == ["ours", "Huber", "TRIM, told β", "right"]
    assert cell.lines[0].y.tolist() == pytest.approx([1.1] * 4)
    colours = {line.style.colour for line in cell.lines}
    assert len(colours) == 4


def test_methods_that_cannot_be_fitted_are_not_drawn(tmp_path):
    def outcome(setting, replicate, fit):
        return {"error": float("inf") if fit["method"] == "Huber" else 2.2}

    results = made_damages(tmp_path / "r", tables_study(), outcome, 2)
    chart = nt.lab.figures.charts(results)[0]
    assert "Huber" not in {line.name for line in chart.lines}
    assert nt.lab.figures.draw(chart) is not None
