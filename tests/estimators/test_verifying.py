"""`NeuroTronRegressor.verify`: what fresh rows prove about a fitted model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.estimators.tables import COEFFICIENTS, INTERCEPT, table
from tests.support.messages import refused, says

import neurotron as nt

TRAINING = table(400, noise=0.05, attacked=0.1)[:2]
MODEL = nt.NeuroTronRegressor().fit(*TRAINING)
EXACT = nt.NeuroTronRegressor().fit(*table(400, noise=0.0, attacked=0.1)[:2])
NORMAL = nt.Normal()


def fresh(rows=4000, noise=0.05, attacked=0.1, seed=1, **changes):
    """Return rows that no model here was fitted to, of which a tenth is attacked."""
    return table(rows, noise=noise, attacked=attacked, seed=seed, **changes)[:2]


def off(model: nt.NeuroTronRegressor) -> np.ndarray:
    """Return how far the coefficients are from the true ones, and last the intercept."""
    return np.append(model.coef_ - COEFFICIENTS, model.intercept_ - INTERCEPT)


@pytest.mark.parametrize("attacker", ["any", "coin"])
@pytest.mark.parametrize("law", [NORMAL, None], ids=["normal", "rows"])
def test_the_radius_is_about_the_coefficients_if_labels_are_noisy(attacker, law):
    found = MODEL.verify(*fresh(attacked=0.02), probability=0.02, attacker=attacker, law=law)
    assert found.kind == ("plug-in" if law is None else "theorem")
    assert np.linalg.norm(off(MODEL)[:3]) < found.radius < 1.0
    assert (np.abs(off(MODEL)[:3]) < found.coefficient_radii).all()
    assert found.rows == 4000
    assert found.confidence == 0.999
    assert "intercept" in str(found)
    assert found.prediction_error == math.inf


def test_rows_that_stand_for_their_law_allow_as_many_attacks_as_the_page_says():
    found = MODEL.verify(*fresh(20_000, attacked=0.0), probability=0.05)
    assert found.rows_needed == pytest.approx(800, rel=0.05)
    page = (Path(__file__).parents[2] / "docs" / "poisoned-labels.md").read_text()
    assert says(page, "5 % from about 800 rows on")


def test_normal_noise_may_be_off_by_the_error_of_the_constant():
    wrong = fresh(attacked=0.0)[1] + 0.5
    for noise in (0.05, 0.01):
        found = MODEL.verify(
            fresh(attacked=0.0)[0], wrong, probability=0.01, noise=noise, law=NORMAL
        )
        assert np.linalg.norm(off(MODEL)[:3]) < found.radius < 2.0
        assert "intercept" in str(found)


def test_a_linear_model_is_verified_like_a_problem_without_a_constant():
    X, y = fresh()
    problem = nt.Problem(nt.networks.linear(3), nt.data.Simulated(NORMAL))
    stated = {"probability": 0.1, "attacker": "coin"}
    direct = nt.verify(problem, MODEL.coef_, X, y - MODEL.intercept_, **stated)
    found = MODEL.verify(X, y, law=NORMAL, **stated)
    assert found.radius == pytest.approx(direct.radius, rel=1e-9)
    assert found.level == pytest.approx(direct.level, rel=1e-9)


def test_the_law_of_the_inputs_of_a_linear_model_may_be_shifted():
    shift = np.array([100.0, -30.0, 7.0])
    X, y = TRAINING
    shifted = nt.NeuroTronRegressor().fit(X + shift, y)
    X, y = fresh()
    for law in (NORMAL, None):
        one, other = (
            model.verify(rows, y, probability=0.02, law=law)
            for model, rows in ((MODEL, X), (shifted, X + shift))
        )
        assert other.radius == pytest.approx(one.radius, rel=1e-6)


def test_exact_labels_verify_the_constant_as_well():
    found = EXACT.verify(*fresh(noise=0.0), probability=0.1, noise=0.0)
    assert found.kind == "plug-in"
    assert np.linalg.norm(off(EXACT)) < found.radius < 1e-9
    assert found.coefficient_radii.shape == (4,)
    assert (np.abs(off(EXACT)) < found.coefficient_radii).all()
    assert found.at_least == 0.0
    assert "intercept" not in str(found)
    assert found.prediction_error < 1e-9


def test_a_wrong_constant_is_noticed_only_by_exact_labels():
    X, y = fresh(noise=0.0)
    exact = EXACT.verify(X, y + 3.0, probability=0.1, noise=0.0)
    assert exact.at_least > 0.0
    assert exact.radius > 3.0
    free = EXACT.verify(X, y + 3.0, probability=0.1, law=NORMAL)
    assert free.radius > np.linalg.norm(off(EXACT)[:3])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("law", "share"), [(NORMAL, 0.1), (None, 0.03)], ids=["normal", "rows"])
def test_labels_that_praise_a_wrong_model_do_not_verify_it(law, share, seed):
    """The attacker writes what the model predicts where it is furthest off."""
    X, y = fresh(1200, noise=0.0, attacked=0.0, seed=seed)
    wrong = nt.NeuroTronRegressor().fit(X[:200], y[:200] + 0.3 * X[:200, 0])
    X, y, predicted = X[200:], y[200:], wrong.predict(X[200:])
    worst = np.argsort(-np.abs(y - predicted))[: round(1000 * share)]
    y[worst] = predicted[worst]
    radius = wrong.verify(X, y, probability=share, confidence=0.99, law=law).radius
    error = np.linalg.norm(off(wrong)[:3])
    assert error <= radius < (1.3 if law else 20.0) * error


def relu_table(rows, seed, constant=0.0, noise=0.0):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, 3))
    y = np.maximum(X @ COEFFICIENTS, 0.0) + constant + noise * draw.standard_normal(rows)
    return X, y + 5.0 * (draw.random(rows) < 0.05)


def test_a_gate_without_a_constant_is_verified():
    model = nt.NeuroTronRegressor(network="relu-gate", fit_intercept=False).fit(*relu_table(300, 0))
    for noise in ("independent", 0.0):
        found = model.verify(
            *relu_table(2000, 1), probability=0.05, attacker="coin", noise=noise, law=NORMAL
        )
        assert np.linalg.norm(model.weights_ - COEFFICIENTS) <= found.radius < 1e-9


def test_the_constant_of_a_gate_counts_as_noise():
    rows = relu_table(1000, 0, constant=2.0, noise=0.01)
    model = nt.NeuroTronRegressor(network="relu-gate").fit(*rows)
    given = relu_table(2000, 1, constant=2.0, noise=0.01)
    found = model.verify(*given, probability=0.05, attacker="coin", law=NORMAL)
    assert np.linalg.norm(model.weights_ - COEFFICIENTS) < found.radius < 0.2
    assert "intercept" in str(found)
    with refused("noise=0.0", "noise 'independent'", "fit_intercept=False"):
        model.verify(*given, probability=0.05, noise=0.0, law=NORMAL)


def test_a_known_law_and_exact_labels_leave_the_constant_unknown():
    with refused("noise=0.0", "`law`", "noise 'independent'", "fit_intercept=False"):
        MODEL.verify(*fresh(), probability=0.1, noise=0.0, law=NORMAL)


def test_rows_of_a_gate_are_not_symmetric():
    model = nt.NeuroTronRegressor(network="relu-gate", fit_intercept=False).fit(*relu_table(300, 0))
    found = model.verify(*relu_table(2000, 1), probability=0.05)
    assert found.radius == math.inf
    assert [each.name for each in found.failed] == ["symmetry"]


def test_a_model_that_standardizes_has_inputs_of_another_law():
    model = nt.NeuroTronRegressor(network="relu-gate", standardize=True)
    model.fit(*relu_table(300, 0, constant=2.0, noise=0.01))
    with refused("`law`", "standardize=False"):
        model.verify(*relu_table(2000, 1), probability=0.05, law=NORMAL)


def test_the_rows_of_the_fit_are_refused():
    X, y = TRAINING
    again = np.random.default_rng(0).permutation(len(y))
    for rows, labels in ((X, y), (X[again], y[again])):
        with refused("`X`", "400 of their 400 rows", "leave them out"):
            MODEL.verify(rows, labels, probability=0.1)


def test_one_row_of_the_fit_among_fresh_ones_is_counted_and_refused():
    X, y = fresh(300)
    rows, labels = np.vstack([X, TRAINING[0][:1]]), np.append(y, TRAINING[1][0])
    with refused("1 of their 301 rows", "leave them out"):
        MODEL.verify(rows, labels, probability=0.1)


def test_the_rows_of_the_fit_plus_one_are_refused():
    X, y = fresh(1)
    rows, labels = np.vstack([TRAINING[0], X]), np.append(TRAINING[1], y)
    with refused("400 of their 401 rows"):
        MODEL.verify(rows, labels, probability=0.1)


def test_rows_that_occur_twice_in_the_training_table_are_no_overlap():
    """With columns of few values, fresh rows repeat those of the fit without being them."""
    draw = np.random.default_rng(5)
    X = draw.integers(0, 2, (400, 2)).astype(float)
    y = X @ [1.0, 2.0] + draw.integers(0, 2, 400)
    found = nt.NeuroTronRegressor().fit(X, y).verify(X[:50], y[:50], probability=0.1)
    assert "nobody checked" in str(found)


def test_a_comparison_says_how_many_rows_of_the_fit_it_knows():
    """Rows that occur twice in the fit, and rounded copies, are not recognised."""
    X, y = TRAINING
    model = nt.NeuroTronRegressor().fit(np.vstack([X, X[:100]]), np.append(y, y[:100]))
    rows, labels = np.vstack([X[:100], X[100:].astype(np.float32)]), y
    found = model.verify(rows, labels, probability=0.1)
    text = " ".join(str(found).split())
    assert says(text, "in all digits", "one of the 300 whose hashes", "of 500 rows")


def test_a_model_without_row_hashes_says_that_nobody_compared_the_rows(tmp_path):
    MODEL.save(tmp_path / "model.safetensors", row_hashes=False)
    found = nt.load_model(tmp_path / "model.safetensors").verify(*TRAINING, probability=0.1)
    assert says(str(found), "keeps no hashes", "nobody checked")


def test_the_comparison_with_the_rows_of_the_fit_is_an_assumption_that_was_checked():
    found = MODEL.verify(*fresh(300), probability=0.1)
    assert found.assumptions[-1].name == "other rows"
    text = " ".join(str(found).split())
    assert says(text, "None of these rows", "one of the 400 whose hashes the model keeps")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"law": "normal"}, ("`law`", "Law", "'normal'")),
        ({"law": nt.Correlated(nt.Normal(), np.eye(2))}, ("3", "2")),
        ({"probability": 1.5}, ("`probability`", "1.5")),
        ({"attacker": "dog"}, ("`attacker`", "'any'", "'coin'", "'dog'")),
        ({"noise": "some"}, ("`noise`", "'independent'", "'some'")),
    ],
    ids=str,
)
def test_what_is_stated_is_checked(changes, parts):
    with refused(*parts):
        MODEL.verify(*fresh(50), **{"probability": 0.1} | changes)


def test_a_loaded_model_is_verified_as_the_fitted_one(tmp_path):
    MODEL.save(tmp_path / "model.safetensors")
    loaded = nt.load_model(tmp_path / "model.safetensors")
    one, other = (each.verify(*fresh(), probability=0.01) for each in (MODEL, loaded))
    assert one.to_dict() == other.to_dict()


def test_noise_that_is_even_in_x_is_not_even_in_shifted_inputs():
    """With ζ = |x| and inputs around 20, the model 2x explains all labels of x + |x|."""
    rng = np.random.default_rng(3)
    X, Z = 20.0 + rng.standard_normal((400, 1)), 20.0 + rng.standard_normal((500, 1))
    model = nt.NeuroTronRegressor().fit(X, X[:, 0] + np.abs(X[:, 0]))
    labels = Z[:, 0] + np.abs(Z[:, 0])
    with pytest.raises(nt.InputError, match="does not look drawn from"):
        model.verify(Z, labels, probability=0.05, noise="even", law=nt.Normal())
    near = 0.01 * Z
    told = model.verify(near, near[:, 0], probability=0.05, noise="even", law=nt.Normal(scale=0.3))
    assert "shifted" not in str(told)


def test_labels_that_a_large_intercept_rounds_away_prove_nothing_about_small_weights():
    """Labels near 1e8 are rounded to 1e-8, so that weights of 1e-9 leave no trace in them."""
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((300, 2)), rng.standard_normal((500, 2))
    true = np.array([1e-9, 0.0])
    model = nt.NeuroTronRegressor().fit(X, 1e8 + X @ true)
    assert not model.coef_.any()
    found = model.verify(Z, 1e8 + Z @ true, probability=0.05, law=nt.Normal())
    assert found.radius >= 1e-9
