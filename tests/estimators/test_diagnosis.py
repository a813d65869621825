"""A diagnosis says what the rows say about a fit, and when not to trust it."""

from __future__ import annotations

import dataclasses
import json
import pickle

import numpy as np
import pytest
from tests.estimators.tables import table

import neurotron as nt
from neurotron.estimators.geometry import geometry_of
from neurotron.lab.figures.one_result import diagnosis_chart

X, Y, MASK = table(rows=400, attacked=0.2)
FIT = nt.NeuroTronRegressor().fit(X, Y)


def reasons(model) -> str:
    return " ".join(model.diagnose().reasons)


def test_a_good_fit_has_nothing_against_it():
    diagnosis = FIT.diagnose()
    assert diagnosis.reasons == ()
    text = " ".join(str(diagnosis).split())
    assert "of 400 labels" in text
    assert "About 20 % of the labels seem to be attacked" in text
    assert "Do not trust" not in text
    assert max(map(len, str(diagnosis).splitlines())) <= 80


DRAW = np.random.default_rng(5)
SQUARE = np.random.default_rng(6).standard_normal((400, 3))


@pytest.mark.parametrize(
    ("rows", "labels", "part"),
    [
        (X[:25], Y[:25] * 0.0 + X[:25, 0] + 0.1 * DRAW.standard_normal(25), "rows are few"),
        (X, DRAW.standard_normal(400), "the inputs explain only"),
        (SQUARE, np.exp(0.8 * SQUARE[:, 0]), "follow a curve"),
        (X, X[:, 0] + 3.0 * (X[:, 0] > 1.0) + 0.05 * DRAW.standard_normal(400), "an honest group"),
        (
            np.where(np.arange(400)[:, None] == 7, 1e4, X),
            X[:, 0] + 0.1 * DRAW.standard_normal(400),
            "row 7",
        ),
        (
            np.column_stack([X, X[:, 0] + 1e-6 * SQUARE[:, 0]]),
            X[:, 0] + 0.1 * DRAW.standard_normal(400),
            "nearly dependent",
        ),
    ],
    ids=["few rows", "no signal", "curve", "group", "influence", "dependent"],
)
def test_it_says_why_not_to_trust_a_fit(rows, labels, part):
    model = nt.NeuroTronRegressor().fit(rows, labels)
    assert part in reasons(model)
    assert "Do not trust this fit, because" in " ".join(str(model.diagnose()).split())


@pytest.mark.filterwarnings("ignore:the rows determine only")
def test_columns_that_repeat_others_are_named():
    model = nt.NeuroTronRegressor().fit(np.column_stack([X, X[:, 0]]), Y)
    assert "only 4 of 5 weights" in reasons(model)


def test_nearly_half_suspects_are_a_reason():
    rows, labels, _ = table(rows=400, attacked=0.45)
    assert "far from the model" in reasons(nt.NeuroTronRegressor().fit(rows, labels))


def test_many_rows_that_the_solver_does_not_use_are_a_reason_although_none_is_a_suspect():
    diagnosis = dataclasses.replace(FIT.diagnose(), suspects=0, far=0.57)
    assert "57 % of the labels are far" in " ".join(diagnosis.reasons)


def test_gates_that_are_off_are_a_reason():
    network, rows = nt.networks.relu_gate(3), X - [1.5, 0.0, 0.0]
    honest = np.zeros(400, np.bool_)
    geometry = geometry_of(network, rows, np.array([1.0, 0.0, 0.0]), honest, intercept=False)
    assert geometry.active == np.mean(rows[:, 0] > 0.0) < 0.2
    assert geometry.asymmetry == pytest.approx(0.7, abs=0.05)
    diagnosis = dataclasses.replace(FIT.diagnose(), geometry=geometry)
    assert "gates are off" in " ".join(diagnosis.reasons)
    assert "symmetric" in str(diagnosis)


@pytest.mark.parametrize("attacked", [0.0, 0.2])
def test_it_says_how_far_off_one_more_label_must_be_to_be_noticed(attacked):
    rows, labels, _ = table(attacked=attacked)
    model = nt.NeuroTronRegressor().fit(rows, labels)
    predicted, size = model.predict(rows[-1:])[0], model.diagnose().noticeable
    for factor, noticed in ((0.8, False), (1.05, True)):
        changed = np.append(labels[:-1], predicted + factor * size)
        assert model.label_report(rows, changed)["is_label_issue"][-1] == noticed


def test_an_attack_that_hides_in_the_noise_is_named():
    rows, labels, _ = table(rows=2000, noise=1.0, attacked=0.3, shift=3.5)
    diagnosis = nt.NeuroTronRegressor().fit(rows, labels).diagnose()
    assert diagnosis.hidden
    assert "hide in the noise" in " ".join(str(diagnosis).split())


def test_a_few_suspects_with_unusual_inputs_are_no_group():
    rows, labels, _ = table()
    labels[rows[:, 0].argmax()] += 9.0
    assert nt.NeuroTronRegressor().fit(rows, labels).diagnose().geometry.related == 0.0


def test_influences_are_those_of_the_rows_that_are_no_suspects():
    geometry = FIT.diagnose().geometry
    kept = np.column_stack([X, np.ones(400)])[~FIT.suspects_]
    expected = np.einsum("ij,ij->i", kept @ np.linalg.inv(kept.T @ kept), kept)
    assert geometry.influence >= expected.max() - 1e-12
    assert geometry.wanted == geometry.determined == 4


def test_the_chart_has_the_labels_and_the_noise():
    chart = diagnosis_chart(FIT.diagnose())
    labels, noise, share = chart.lines
    assert labels.y.max() <= 1.0
    assert noise.x.max() < 1.0 < labels.x.max()
    assert share.y == pytest.approx(0.2, abs=0.01)
    assert labels.x.min() == pytest.approx(np.quantile(np.abs(Y - FIT.predict(X)), 0.05), rel=0.2)
    assert labels.x.min() == noise.x.min()


def test_it_draws_a_picture(tmp_path):
    FIT.diagnose().plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 1000


def test_exact_labels_have_a_diagnosis_and_a_chart():
    diagnosis = nt.NeuroTronRegressor().fit(*table(noise=0.0, attacked=0.1)[:2]).diagnose()
    assert "exact" in str(diagnosis)
    chart = diagnosis_chart(diagnosis)
    assert "270 of 300 labels are exact" in chart.title
    assert len(chart.lines) == 2
    assert chart.lines[0].x.min() == pytest.approx(5.0)


def test_a_chart_of_exact_labels_only_can_be_drawn(tmp_path):
    diagnosis = nt.NeuroTronRegressor().fit(*table(noise=0.0)[:2]).diagnose()
    assert diagnosis_chart(diagnosis).lines == ()
    diagnosis.plot(tmp_path / "exact.png")


def test_it_is_plain_values_for_json_and_can_be_pickled():
    diagnosis = FIT.diagnose()
    values = json.loads(json.dumps(diagnosis.to_dict()))
    assert values["suspects"] == int(FIT.suspects_.sum())
    assert str(pickle.loads(pickle.dumps(diagnosis))) == str(diagnosis)
    assert "<table>" in diagnosis._repr_html_()
    assert len(repr(diagnosis)) < 100


def test_a_model_without_the_rows_of_a_fit_says_so():
    model = pickle.loads(pickle.dumps(FIT))
    del model._diagnosis
    with pytest.raises(nt.InputError, match=r"fit\(X, y\)"):
        model.diagnose()
