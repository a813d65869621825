"""Attacks that hide in the noise: what is found, and what is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from neurotron.residuals import hidden, honest_noise, normality, two_laws
from neurotron.residuals.hidden import hidden_attack
from neurotron.residuals.honest_noise import Regression

WEIGHTS = np.array([1.0, -0.5, 0.3, 0.8])
"""Of the last column, which is constant."""


def inputs(draw, rows):
    return np.column_stack([draw.standard_normal((rows, 3)), np.ones(rows)])


def found_in(X, y, counts=None):
    """Look for an attack, given least squares and its noise as the robust solution."""
    weights = np.linalg.lstsq(X, y, rcond=None)[0]
    return hidden_attack(X, y, counts, weights, float(np.std(y - X @ weights)))


def error(found):
    return np.linalg.norm(found.weights - WEIGHTS)


def attacked(seed, rows, attack, share=0.3):
    """Return inputs, labels with unit noise, and which labels the attack changed."""
    draw = np.random.default_rng(seed)
    X = inputs(draw, rows)
    y = X @ WEIGHTS + draw.standard_normal(rows)
    bad = np.arange(rows) < share * rows
    y[bad] = attack(draw, X[bad], y[bad])
    return X, y, bad


# ---- attacks that are found ----------------------------------------------------------------------


@pytest.mark.parametrize("shift", [3.0, 4.0, -5.0])
def test_labels_shifted_to_one_side_are_found(shift):
    X, y, bad = attacked(1, 600, lambda draw, X, y: y + shift)
    found = found_in(X, y)
    assert found.kind == "one side"
    assert found.shift == pytest.approx(abs(shift), abs=0.3)
    assert found.noise == pytest.approx(1.0, abs=0.1)
    assert found.share == pytest.approx(0.3, abs=0.05)
    assert error(found) < 0.25
    assert error(found) < 0.4 * np.linalg.norm(np.linalg.lstsq(X, y)[0] - WEIGHTS)
    assert found.tampered[bad].mean() > found.tampered[~bad].mean() + 0.5


@pytest.mark.parametrize("shift", [4.5, 8.0, 100.0])
@pytest.mark.parametrize("share", [0.4, 0.45])
def test_shifts_of_nearly_half_of_the_labels_are_found(shift, share):
    X, y, bad = attacked(6, 400, lambda draw, X, y: y + shift, share)
    found = found_in(X, y)
    assert found.kind == "one side"
    assert found.share == pytest.approx(share, abs=0.01)
    assert error(found) < 0.3
    assert ((found.tampered > 0.5) == bad).mean() > 0.97


def test_the_attack_is_also_looked_for_around_least_squares():
    """A wrong solution with little noise sees only some of the rows."""
    X, y, _ = attacked(7, 600, lambda draw, X, y: y + 30.0, 0.45)
    wrong = WEIGHTS + np.array([0.0, 0.0, 0.0, 30.0])  # the solution of the attacked rows
    assert error(hidden_attack(X, y, None, wrong, 0.5)) < 0.3


def test_a_group_of_its_own_model_that_is_large_is_left_alone():
    """Both groups are as honest, if there is nothing but their sizes to tell them apart."""
    small, large = (
        attacked(4, 600, lambda draw, X, y: -2.0 * (X @ WEIGHTS), share)[:2]
        for share in (0.3, 0.42)
    )
    assert found_in(*small).kind == "another model"
    assert found_in(*large) is None


def test_a_shift_of_two_deviations_is_found_in_many_rows():
    X, y, _ = attacked(2, 6_000, lambda draw, X, y: y + 2.0)
    found = found_in(X, y)
    assert found.kind == "one side"
    assert error(found) < 0.2


def test_labels_shifted_to_both_sides_are_found():
    X, y, _ = attacked(3, 600, lambda draw, X, y: y + 4.5 * draw.choice([-1.0, 1.0], len(y)))
    found = found_in(X, y)
    assert found.kind == "both sides"
    assert found.shift == pytest.approx(4.5, abs=0.3)
    assert error(found) < 0.2


def test_labels_of_another_model_are_found():
    X, y, _ = attacked(4, 400, lambda draw, X, y: -2.0 * (X @ WEIGHTS))
    found = found_in(X, y)
    assert found.kind == "another model"
    assert found.shift == 0.0
    assert error(found) < 0.25


def test_labels_beyond_ten_deviations_are_tampered_with_and_do_not_count():
    X, y, _ = attacked(5, 600, lambda draw, X, y: y + 4.0)
    found = hidden_attack(X, y, None, WEIGHTS, 1.0)
    y[-1] = 1e6
    far = hidden_attack(X, y, None, WEIGHTS, 1.0)
    assert far.tampered[-1] == 1.0
    np.testing.assert_allclose(far.weights, found.weights, atol=0.02)


def test_units_and_repeated_columns_play_no_part():
    X, y, _ = attacked(8, 600, lambda draw, X, y: y + 4.0)
    plain = found_in(X, y)
    scaled = found_in(np.column_stack([X, X[:, 0]]) * 1e5, y * 1e-3)
    change = np.array([1.0, 1.0, 1.0, 1.0]) * 1e8
    found = scaled.weights[:4] + np.r_[scaled.weights[4], 0.0, 0.0, 0.0]
    np.testing.assert_allclose(found * change, plain.weights, atol=1e-4)
    assert scaled.noise == pytest.approx(1e-3 * plain.noise, rel=1e-4)


def test_it_says_what_it_assumed():
    X, y, _ = attacked(1, 600, lambda draw, X, y: y + 4.0)
    text = found_in(X, y).assumed()
    assert "one side by about 4" in text
    assert "About 30 %" in text
    assert "honest group" in text


# ---- honest noise that is left alone -------------------------------------------------------------

HONEST = {
    "normal": lambda draw, X: draw.standard_normal(len(X)),
    "Student": lambda draw, X: draw.standard_t(3, len(X)),
    "Laplace": lambda draw, X: draw.laplace(size=len(X)),
    "uniform": lambda draw, X: draw.uniform(-1.0, 1.0, len(X)),
    "lognormal": lambda draw, X: np.exp(draw.standard_normal(len(X))),
    "exponential": lambda draw, X: draw.exponential(size=len(X)),
    "gamma": lambda draw, X: draw.gamma(4.0, size=len(X)),
    "two halves": lambda draw, X: draw.choice([-1.5, 1.5], len(X)) + draw.standard_normal(len(X)),
    "growing": lambda draw, X: draw.standard_normal(len(X)) * (0.3 + np.abs(X[:, 0])),
    "exponential growth": lambda draw, X: draw.standard_normal(len(X)) * np.exp(0.7 * X[:, 0]),
    "bent": lambda draw, X: np.abs(X[:, 0]) + 0.3 * draw.standard_normal(len(X)),
    "product": lambda draw, X: X[:, 0] * X[:, 1] + 0.5 * draw.standard_normal(len(X)),
    "step": lambda draw, X: 2.0 * (X[:, 0] > 0.7) + 0.5 * draw.standard_normal(len(X)),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_noise_is_left_alone(name):
    """At most 1 of 100 tables with noise of these kinds is mistaken for an attack (docs/tables)."""
    for seed in range(4):
        draw = np.random.default_rng([seed, 300])
        X = inputs(draw, 300)
        assert found_in(X, X @ WEIGHTS + HONEST[name](draw, X)) is None


@pytest.mark.parametrize("seed", [24, 44])
def test_skewed_noise_of_few_rows_needs_clearer_evidence_than_that_of_many(seed, monkeypatch):
    draw = np.random.default_rng([seed, 150])
    X = inputs(draw, 150)
    skewed = np.abs(draw.standard_normal(150)) + 0.3 * draw.standard_normal(150)
    y = X @ WEIGHTS + skewed
    assert found_in(X, y) is None
    monkeypatch.setattr(hidden, "MANY_ROWS", 150)
    monkeypatch.setattr(hidden, "MARGIN_OF_ONE_SIDE", 2.0)
    assert 2.0 < found_in(X, y).margin < 3.0  # one of 40 such tables is mistaken then


def test_labels_of_which_many_are_zero_are_left_alone():
    draw = np.random.default_rng(1)
    X = inputs(draw, 400)
    y = np.maximum(X @ WEIGHTS + draw.standard_normal(400), 0.0)
    assert (y == 0.0).mean() > normality.TIES
    assert found_in(X, y) is None
    X, y, bad = attacked(1, 600, lambda draw, X, y: y + 4.0)
    y[~bad] = np.where(y[~bad] < -1.0, -1.0, y[~bad])
    assert (y == -1.0).mean() > normality.TIES
    assert found_in(X, y) is None


def test_labels_on_a_grid_are_continuous_enough():
    X, y, _ = attacked(1, 600, lambda draw, X, y: y + 4.0)
    y = np.round(2.0 * y) / 2.0
    assert np.unique(y, return_counts=True)[1].max() > normality.TIES * len(y)
    assert found_in(X, y).kind == "one side"


def test_few_rows_and_exact_labels_are_left_alone():
    X, y, _ = attacked(1, 600, lambda draw, X, y: y + 5.0)
    least = hidden.LEAST_ROWS
    index = np.random.default_rng(0).permutation(600)
    assert found_in(X[index[: least + 50]], y[index[: least + 50]]) is not None
    assert found_in(X[index[: least - 1]], y[index[: least - 1]]) is None
    assert hidden_attack(X, X @ WEIGHTS, None, WEIGHTS, 0.0) is None


def test_rows_that_the_inputs_tell_apart_are_left_alone():
    """Such labels may be honest: those of a law that is not linear."""
    X, y, _ = attacked(1, 600, lambda draw, X, y: y, share=0.0)
    shifted = y + 4.0 * (X[:, 0] > 0.6)
    assert found_in(X, shifted) is None


# ---- the parts -----------------------------------------------------------------------------------


def regression(seed=1, rows=300):
    X, y, _ = attacked(seed, rows, lambda draw, X, y: y + 3.0)
    counts = np.random.default_rng(seed).uniform(0.5, 1.5, rows)
    return Regression.of(X, y, counts)


@pytest.mark.parametrize(
    "start",
    [
        two_laws.Shifted(np.zeros(4), 2.0, 0.4, 1.0, (1.0,)),
        two_laws.Shifted(np.zeros(4), 2.0, 0.4, 1.0, (1.0, -1.0)),
        two_laws.TwoModels(np.zeros(4), 2.0, 0.4, np.ones(4), 1.0),
        two_laws.TwoModels(np.zeros(4), 5.0, 0.4, WEIGHTS, 0.1),  # at the least spread
    ],
)
def test_no_round_of_em_lowers_the_likelihood(start):
    data, likelihoods = regression(), []
    fit = two_laws.seen(data, start)
    for _ in range(60):
        fit = two_laws.seen(data, fit.mixture.step(data, fit.beliefs))
        likelihoods.append(fit.likelihood)
    assert np.diff(likelihoods).min() > -1e-9 * abs(likelihoods[0])
    assert likelihoods[-1] > likelihoods[0] + 0.5


def test_a_round_of_em_is_the_best_for_its_beliefs():
    """No small change of any number raises what a round maximises."""
    data = regression()
    start = two_laws.Shifted(WEIGHTS, 1.0, 0.3, 3.0, (1.0,))
    beliefs = two_laws.seen(data, start).beliefs
    best = start.step(data, beliefs)

    def expected(mixture):
        return float(data.counts @ (beliefs * mixture.logs(data)).sum(axis=0))

    for name in ("noise", "share", "shift"):
        for factor in (0.99, 1.01):
            other = two_laws.replace(best, **{name: getattr(best, name) * factor})
            assert expected(other) < expected(best)
    for column in range(4):
        for step in (-0.01, 0.01):
            moved = best.weights + step * np.eye(4)[column]
            assert expected(two_laws.replace(best, weights=moved)) < expected(best)


@pytest.mark.parametrize(
    ("shape", "noise"),
    [
        (honest_noise.STUDENT, lambda draw, rows: draw.standard_t(3, rows)),
        (honest_noise.POWER, lambda draw, rows: draw.laplace(size=rows)),
        (honest_noise.POWER, lambda draw, rows: draw.uniform(-1.0, 1.0, rows)),
        (honest_noise.STUDENT, lambda draw, rows: draw.exponential(size=rows)),
    ],
)
def test_noise_of_another_shape_is_more_likely_under_its_own_law(shape, noise):
    draw = np.random.default_rng(1)
    X = inputs(draw, 400)
    data = Regression.of(X, X @ WEIGHTS + noise(draw, 400), None)
    likelihood = honest_noise.shaped_noise(data, [data.fitted(data.labels)], shape)
    assert likelihood > honest_noise.normal_noise(data) + 10.0


def test_normal_noise_is_as_likely_under_every_law_that_contains_it():
    draw = np.random.default_rng(2)
    X = inputs(draw, 400)
    data = Regression.of(X, X @ WEIGHTS + draw.standard_normal(400), None)
    starts = [data.fitted(data.labels)]
    normal = honest_noise.normal_noise(data)
    for likelihood, numbers in (
        (honest_noise.shaped_noise(data, starts, honest_noise.STUDENT), 2),
        (honest_noise.shaped_noise(data, starts, honest_noise.POWER), 1),
        (honest_noise.two_halves(data, starts), 1),
        (honest_noise.growing_noise(data, starts[0], np.full(4, 0.1)), 5),
    ):
        assert -1.0 < likelihood - normal < 2.0 * numbers
