"""Residuals that the model does not describe give a reason, and honest noise does not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.estimators.tables import table
from tests.support.messages import says

import neurotron as nt
from neurotron.estimators import judgement
from neurotron.residuals.patterns import Pattern, curve_in, groups_in, growth_in, rare_in
from neurotron.residuals.suspects import HonestNoise, Residuals

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((600, 3))
NOISE = DRAW.standard_normal(600)
LINE = X @ [1.0, 2.0, 3.0]


def fitted(labels):
    return nt.NeuroTronRegressor().fit(X, labels)


def reasons(model) -> str:
    return " ".join(model.diagnose().reasons)


def test_noise_that_grows_with_an_input_is_a_reason_and_no_attack():
    model = fitted(LINE + X[:, 0] * NOISE)
    assert not model.suspects_.any()
    assert model.attacked_fraction_ == model.attacked_fraction_interval_[0] == 0.0
    assert says(reasons(model), "noise is larger", "column 0")


def test_an_attack_whose_size_depends_on_an_input_is_not_taken_for_noise_that_grows():
    attacked = np.arange(600) < 180
    model = fitted(LINE + NOISE + 20.0 * X[:, 0] * attacked)
    assert model.suspects_[attacked].mean() > 0.7
    assert model.attacked_fraction_ == pytest.approx(0.3, abs=0.05)


def test_a_share_that_no_suspect_shows_is_possible_but_not_reported(monkeypatch):
    solution = fitted(LINE + NOISE).solution_
    claimed = Residuals(HonestNoise(10.0, 200.0), 0.3, 600.0, 0.0)
    monkeypatch.setattr(judgement, "explain", lambda *_: claimed)
    found = judgement.judge(solution, X, NOISE, np.zeros(600), None, 0.05)
    assert found.share == found.interval[0] == 0.0
    assert found.interval[1] > 0.3


@pytest.mark.parametrize(
    ("curve", "column"),
    [
        (np.sin(3.0 * X[:, 0]), "column 0"),
        (np.abs(X[:, 1]), "column 1"),
        (1.0 * (X[:, 2] > 0.0), "column 2"),
        (X[:, 0] + 2.0 * X[:, 0] * X[:, 1], "columns 0 and 1"),
    ],
    ids=["sine", "absolute value", "step", "product"],
)
def test_a_curve_is_a_reason_that_names_its_columns(curve, column):
    model = fitted(curve + 0.1 * NOISE)
    assert model.attacked_fraction_ == 0.0
    assert says(reasons(model), "follow a curve", column)


@pytest.mark.parametrize("shift", [4.5, 6.0, 100.0])
def test_a_shift_of_nearly_half_of_the_labels_is_found(shift):
    attacked = np.arange(600) < 270
    model = fitted(LINE + NOISE + shift * attacked)
    assert np.allclose(model.coef_, fitted(LINE + NOISE).coef_, atol=0.2)
    assert model.attacked_fraction_ == pytest.approx(0.45, abs=0.02)
    assert model.suspects_[attacked].mean() > 0.9
    assert says(reasons(model), "near one half")


def test_two_halves_are_a_reason_and_the_interval_allows_for_them():
    model = fitted(LINE + NOISE + 6.0 * (np.arange(600) < 300))
    assert says(reasons(model), "two groups", "attacked")
    assert model.attacked_fraction_interval_[1] == 0.5


HONEST = {
    "normal": lambda draw: draw.standard_normal(400),
    "uniform": lambda draw: draw.uniform(size=400),
    "exponential": lambda draw: draw.exponential(size=400),
    "Student 3": lambda draw: draw.standard_t(3, 400),
    "Laplace": lambda draw: draw.laplace(size=400),
}


@pytest.mark.parametrize("law", HONEST)
def test_honest_noise_has_no_pattern(law):
    draw = np.random.default_rng(1)
    for _ in range(20):
        rows, residuals = draw.standard_normal((400, 4)), HONEST[law](draw)
        predicted = rows.sum(axis=1)
        assert groups_in(residuals) is None
        assert curve_in(rows, predicted, residuals) is None
        assert growth_in(rows, predicted, residuals) is None


def test_a_rare_column_whose_rows_are_suspects_is_a_reason():
    rows = np.column_stack([X, np.arange(600) < 5])
    suspects = np.arange(600) < 5
    assert rare_in(rows, suspects) == (1.0, (3,))
    assert rare_in(rows, np.arange(600) % 2 == 0) is None
    found = dataclasses.replace(
        fitted(LINE + NOISE).diagnose(), rare=Pattern(0.8, (1,)), column_names=("a", "b", "c")
    )
    assert says(" ".join(found.reasons), "80 %", "column 'b'", "by hand")


def test_suspects_in_a_rare_category_that_are_as_many_as_elsewhere_are_no_reason():
    draw = np.random.default_rng(3)
    for _ in range(20):
        rows = np.eye(20)[draw.integers(0, 20, 300)]
        assert rare_in(rows, draw.uniform(size=300) < 0.2) is None


def test_the_weights_of_rows_count_for_the_share_of_attacked_labels():
    """The attacked labels have more than half of the weight, so the others are suspects."""
    rows, labels, mask = table(rows=500, attacked=0.2, shift=3.0)
    model = nt.NeuroTronRegressor().fit(rows, labels, sample_weight=np.where(mask, 5.0, 1.0))
    assert model.suspects_[~mask].mean() > 0.95
    assert model.attacked_fraction_ == pytest.approx(400 / 900, abs=0.03)
    low, high = model.attacked_fraction_interval_
    assert low < 400 / 900 < high
    assert says(reasons(model), "of the labels", "far")


def test_one_number_says_how_large_the_noise_is():
    rows, labels, _ = table(draw_noise=lambda draw, count: draw.standard_t(3, count))
    model = nt.NeuroTronRegressor().fit(rows, labels)
    assert f"standard deviation of {model.scale_:.4g}" in " ".join(str(model.diagnose()).split())


def test_the_number_of_weights_says_that_it_includes_the_intercept():
    rows, labels, _ = table()
    for intercept, said in ((True, "4 of 4 weights, the intercept included"), (False, "3 of 3 w")):
        model = nt.NeuroTronRegressor(fit_intercept=intercept).fit(rows, labels)
        text = " ".join(str(model.diagnose()).split())
        assert said in text
        assert ("intercept" in text) == intercept
