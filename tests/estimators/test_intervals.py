"""Intervals cover clean labels although calibration rows are poisoned, and are no wider for it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import HuberRegressor, LinearRegression, Ridge, RidgeCV
from tests.estimators import coverage
from tests.support.messages import refused, says

import neurotron as nt
from neurotron.estimators import LinearSmoother, catalog

ZERO = coverage.Zero()


def band(scores, **asked):
    """Return the intervals of a model that predicts 0, whose errors are the scores."""
    return nt.intervals(ZERO, np.zeros((len(scores), 1)), scores, **asked)


# ---- coverage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "m"), [(20, 0), (20, 1), (50, 3)])
def test_the_worst_attack_on_m_rows_leaves_the_coverage_that_is_guaranteed(rows, m):
    coverage.check_budget(rows, m, draws=200_000)


@pytest.mark.parametrize(("rows", "chance"), [(20, 0.1), (50, 0.3)])
def test_the_worst_attack_by_coins_leaves_the_coverage_that_is_guaranteed(rows, chance):
    coverage.check_coins(rows, chance, draws=200_000)


def test_calibration_rows_are_good_enough_with_the_confidence_given():
    coverage.check_given(100, 2, given=0.95, draws=50_000)


@pytest.mark.slow("1,000 tables, with six intervals for each")
def test_an_attacker_who_sees_all_rows_leaves_the_coverage_that_is_guaranteed():
    coverage.check_same(rows=50, m=2, draws=1_000)


def test_who_has_seen_the_calibration_rows_doubles_the_misses_although_these_are_honest():
    """The model is a mean of which one label is moved without limit, up or down at will."""
    calibration = np.sort(np.random.default_rng(0).random((50_000, 99)), axis=1)
    k = band(calibration[0], poisoned=0).index
    missed = calibration[:, 99 - k] + 1.0 - calibration[:, k - 1]  # for uniform labels
    assert missed.mean() == pytest.approx(0.2, abs=0.001)


# ---- what the object says ------------------------------------------------------------------------


def test_an_interval_says_what_it_covers_and_against_whom():
    scores = np.arange(1.0, 100.0)
    found = band(scores, poisoned=4)
    assert (found.index, found.half_width, found.radius) == (94, 94.0, 94.0)
    assert (found.guaranteed, found.unattacked) == (0.9, 0.94)
    assert found.widest == 98.0
    assert says(found.statement, "94", "0.9", "0.94", "4", "99 calibration rows", "clean")
    assert says(" ".join(str(found).split()), "whoever poisoned labels to fit had not seen")
    assert found.holds
    assert not found.failed
    assert found.to_dict()["half_width"] == 94.0
    assert repr(found) == "PredictionIntervals(half_width=94, guaranteed=0.9, 99 rows)"
    assert "<table" in found._repr_html_()


def test_intervals_have_the_shape_of_mapie():
    found = band(np.arange(1.0, 100.0), poisoned=4)
    predicted, ends = found.predict_interval(np.zeros((3, 1)))
    assert (predicted == 0.0).all()
    assert ends.shape == (3, 2, 1)
    assert ends[0, :, 0] == pytest.approx([-94.0, 94.0])


def test_a_label_at_the_end_of_an_interval_is_inside_although_ends_are_rounded():
    draw = np.random.default_rng(0)
    labels = 1e3 + draw.standard_normal(200)

    class Constant:
        def predict(self, X):
            return np.full(len(X), 0.1)

    X = np.zeros((200, 1))
    found = nt.intervals(Constant(), X, labels, poisoned=0)
    _, ends = found.predict_interval(X)
    inside = (ends[:, 0, 0] <= labels) & (labels <= ends[:, 1, 0])
    assert inside.sum() == found.index


@pytest.mark.parametrize("given", [None, 0.9])
def test_a_half_width_is_valid_against_the_rows_it_was_made_for_and_a_smaller_one_is_not(given):
    scores = np.random.default_rng(0).standard_normal(400)
    for m in (0, 5, 20):
        found = band(scores, poisoned=m, given_calibration=given)
        assert found.valid_against(found.half_width) == m
        assert found.valid_against(np.nextafter(found.half_width, 0.0)) == m - 1
    assert found.valid_against(0.0) == -1
    assert found.valid_against(np.inf) == 400


def test_nobody_widens_intervals_beyond_the_widest():
    scores = np.random.default_rng(0).uniform(size=200)
    honest = band(scores, poisoned=5)
    attacked = scores.copy()
    attacked[np.argsort(scores)[:5]] = 1e9
    assert band(attacked, poisoned=5).half_width == honest.widest
    assert band(scores, poisoned=10).widest == np.inf
    assert band(scores, coin=0.01).widest == np.inf


def test_against_coins_independent_scores_are_named_and_less_is_needed():
    scores = np.random.default_rng(0).uniform(size=99)
    found = band(scores, coin=0.1)
    assert found.index == 91
    assert says(found.statement, "independent", "coin of its own", "0.1", "whatever the row is")
    assert band(scores, coin=0.0).index == band(scores, poisoned=0).index == 90


def test_what_an_interval_says_is_never_more_than_what_is_proved():
    scores = np.random.default_rng(0).uniform(size=400)
    assert "at most 0.01239 " in band(scores, coin=0.0123999).statement
    found = band(scores, poisoned=1, confidence_level=0.90019, given_calibration=0.95999)
    assert says(found.statement, "confidence 0.9599", "at least 0.9001")


def test_tied_scores_are_covered_together():
    found = band(np.repeat([0.0, 1.0, 2.0], [50, 45, 5]), poisoned=3)
    assert found.half_width == 1.0
    assert found.valid_against(1.0) == 4
    assert found.valid_against(0.0) == -1


def test_scores_in_units_of_a_scale_give_each_row_a_width():
    draw = np.random.default_rng(0)
    spread = draw.uniform(0.5, 5.0, (300, 1))
    labels = spread[:, 0] * draw.standard_normal(300)
    found = nt.intervals(ZERO, spread, labels, poisoned=5, scale=lambda X: X[:, 0])
    assert found.half_width == band(labels / spread[:, 0], poisoned=5).half_width
    assert found.half_widths(spread) == pytest.approx(found.half_width * spread[:, 0])
    trained = LinearRegression().fit(spread, spread[:, 0])
    fitted = nt.intervals(ZERO, spread, labels, poisoned=5, scale=trained)
    assert fitted.half_width == pytest.approx(found.half_width)
    assert says(found, "scale")


def test_leaving_suspects_out_of_the_calibration_rows_is_the_worst_attack():
    """Without the m largest scores, the usual index covers what it covers after that attack."""
    scores = np.random.default_rng(0).uniform(size=199)
    attacked = scores.copy()
    attacked[np.argsort(scores)[-10:]] = 0.0
    kept = np.sort(scores)[:-10]
    assert band(kept, poisoned=0).half_width < np.sort(scores)[180 - 1]
    assert band(attacked, poisoned=10).half_width == np.sort(scores)[180 - 1]


# ---- an attacker who sees all rows ---------------------------------------------------------------


def table(seed=0, rows=120):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, 2))
    return X, X @ [1.0, -2.0] + draw.standard_normal(rows)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        Ridge(alpha=3.0),
        DummyRegressor(),
        catalog.BY_NAME.build("kernel-ridge"),
        catalog.BY_NAME.build("gaussian-process"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_bounds_of_a_smoother_are_reached_and_not_exceeded_by_refits(estimator):
    X, y = table(rows=6)
    model = LinearSmoother(estimator).fit(X[:5], y[:5])
    found, reached = model.predict_bounds(X, 2, bound=3.0), [model.predict(X)]
    for rows in combinations(range(5), 2):
        for signs in product((3.0, -3.0), repeat=2):
            labels = y[:5].copy()
            labels[list(rows)] += signs
            reached.append(clone(estimator).fit(X[:5], labels).predict(X))
    assert np.min(reached, axis=0) == pytest.approx(found[:, 0], abs=1e-9)
    assert np.max(reached, axis=0) == pytest.approx(found[:, 1], abs=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSmoother(Ridge()),
        nt.MedianOfParts(Ridge(), parts=9),
        nt.CertifiedHuberRegressor(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_with_an_attacker_of_all_rows_each_row_has_the_half_width_of_the_theorem(estimator):
    X, y = table()
    model = clone(estimator).fit(X[:60], y[:60])
    found = nt.intervals(model, X[60:], y[60:], poisoned=2, training_attacker="same", bound=4.0)
    errors = np.abs(y[60:] - model.predict(X[60:]))
    new = X[:5] * 3.0
    wanted = np.zeros(5)
    for a in range(3):
        at, of_new = (
            np.abs(model.predict_bounds(rows, a, bound=4.0).T - model.predict(rows)).max(axis=0)
            for rows in (X[60:], new)
        )
        wanted = np.maximum(wanted, np.sort(errors + at)[found.index - a - 1] + of_new)
    assert found.half_width is None
    assert found.half_widths(new) == pytest.approx(wanted)
    assert says(found, "a half-width of its own", "2 labels", "4")
    with refused("`valid_against`", "training_attacker='separate'"):
        found.valid_against(1.0)


def test_with_honest_training_labels_both_attackers_get_the_same_intervals():
    X, y = table()
    model = LinearSmoother(Ridge()).fit(X[:60], y[:60])
    one, other = (
        nt.intervals(model, X[60:], y[60:], poisoned=0, training_attacker=who)
        for who in ("same", "separate")
    )
    assert one.predict_interval(X)[1] == pytest.approx(other.predict_interval(X)[1])


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (HuberRegressor(), "linear in the labels"),
        (RandomForestRegressor(5, random_state=0), "linear in the labels"),
        (RidgeCV(), "tuned"),
    ],
)
def test_a_regressor_without_ceiling_is_no_smoother(estimator, reason):
    X, y = table()
    with refused(type(estimator).__name__, "no ceiling", reason):
        LinearSmoother(estimator).fit(X, y)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ({}, ("`poisoned`", "`coin`")),
        ({"poisoned": 1, "coin": 0.1}, ("`poisoned`", "`coin`")),
        ({"poisoned": -1}, ("`poisoned`", "-1")),
        ({"poisoned": 0.5}, ("`poisoned`", "0.5")),
        ({"coin": 1.0}, ("`coin`", "1")),
        ({"poisoned": 1, "confidence_level": 1.0}, ("`confidence_level`", "1")),
        ({"poisoned": 1, "confidence_level": None}, ("`confidence_level`", "None")),
        ({"poisoned": 7}, ("60 calibration rows", "79", "too few")),
        ({"coin": 0.9}, ("60 calibration rows", "99", "too few")),
        ({"poisoned": 0, "given_calibration": 0.999}, ("60 calibration rows", "66", "too few")),
        ({"coin": 0.1, "given_calibration": 0.9}, ("`given_calibration`", "`poisoned`")),
        ({"coin": 0.1, "training_attacker": "same"}, ("training_attacker='same'", "`coin`")),
        ({"poisoned": 1, "training_attacker": "other"}, ("`training_attacker`", "'other'")),
        ({"poisoned": 1, "training_attacker": "same"}, ("LinearRegression", "LinearSmoother")),
        ({"poisoned": 1, "bound": 2.0}, ("`bound`", "training_attacker='same'")),
        ({"poisoned": 1, "training_attacker": "same", "scale": abs}, ("`scale`",)),
        ({"poisoned": 1, "scale": lambda X: X[:, 0]}, ("`scale`", "positive")),
    ],
)
def test_what_has_no_answer_is_refused_in_one_sentence(asked, parts):
    X, y = table()
    model = LinearRegression().fit(X[:60], y[:60])
    with refused(*parts):
        nt.intervals(model, X[60:], y[60:], **asked)


def test_the_rows_that_a_refusal_names_are_enough():
    X, y = table(rows=79)
    model = LinearRegression().fit(*table(seed=1))
    assert nt.intervals(model, X, y, poisoned=7).holds
    with refused("78 calibration rows"):
        nt.intervals(model, X[1:], y[1:], poisoned=7)


def test_an_infinite_half_width_and_predictions_that_are_no_numbers_are_refused():
    X, y = table()
    smoother = LinearSmoother(Ridge()).fit(X[:60], y[:60])
    with refused("`bound`", "2 labels"):
        nt.intervals(smoother, X[60:], y[60:], poisoned=2, training_attacker="same")

    class Lost:
        def predict(self, X):
            return np.full(len(X), np.nan)

    with refused("`model`", "finite"):
        nt.intervals(Lost(), X, y, poisoned=1)
    with refused("`model`", "60 rows"):
        nt.intervals(ZERO, X, y[:60], poisoned=1)
    with pytest.raises(ValueError, match="inconsistent"):
        nt.intervals(nt.NeuroTronRegressor().fit(X, y), X, y[:60], poisoned=1)


# ---- rows that a fit holds out -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nt.NeuroTronRegressor, coverage.TrimRegressor])
def test_a_fit_holds_rows_out_whatever_their_labels_are_and_gives_intervals(kind):
    X, y = table(rows=400)
    model = kind().fit(X, y, calibration=0.25)
    held = model.calibration_rows_
    assert len(held) == 100
    assert np.array_equal(kind().fit(X, -3.0 * y, calibration=0.25).calibration_rows_, held)
    others = np.delete(np.arange(400), held)
    alone = kind().fit(X[others], y[others])
    assert np.array_equal(model.coef_, alone.coef_)
    predicted, ends = model.predict_interval(X, poisoned=3)
    wanted = nt.intervals(alone, X[held], y[held], poisoned=3).predict_interval(X)
    assert np.array_equal(predicted, wanted[0])
    assert np.array_equal(ends, wanted[1])


@pytest.mark.parametrize("kind", [nt.NeuroTronRegressor, coverage.TrimRegressor])
def test_without_rows_held_out_the_model_says_what_to_pass(kind):
    X, y = table()
    model = kind().fit(X, y, calibration=0.5).fit(X, y)
    assert len(model.calibration_rows_) == 0
    with refused("fit(X, y, calibration=0.25)", "neurotron.intervals"):
        model.predict_interval(X, poisoned=1)


def test_a_frame_keeps_its_columns_and_a_saved_model_keeps_no_calibration_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table(rows=200)
    frame = pandas.DataFrame(X, columns=["one", "other"])
    model = nt.NeuroTronRegressor().fit(frame, y, calibration=0.25)
    assert model.predict_interval(frame, poisoned=1)[1].shape == (200, 2, 1)
    model.save(tmp_path / "m.safetensors")
    with refused("neurotron.intervals"):
        nt.load_model(tmp_path / "m.safetensors").predict_interval(frame, poisoned=1)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"calibration": 1.5}, ("`calibration`", "1.5")),
        ({"calibration": 0.001}, ("`calibration`", "0 of 120 rows")),
        ({"calibration": 0.999}, ("`calibration`", "120 of 120 rows")),
        ({"calibration": 0.5, "sample_weight": np.ones(120)}, ("`sample_weight`",)),
    ],
)
def test_shares_that_cannot_be_held_out_are_refused(given, parts):
    with refused(*parts):
        nt.NeuroTronRegressor().fit(*table(), **given)


def test_rows_of_the_fit_are_no_calibration_rows():
    X, y = table(rows=200)
    model = nt.NeuroTronRegressor().fit(X[:100], y[:100])
    assert says(nt.intervals(model, X[100:], y[100:], poisoned=1), "None of these rows")
    with refused("50", "100 rows in common"):
        nt.intervals(model, X[50:150], y[50:150], poisoned=1)


def test_poisoned_rows_that_were_held_out_do_not_spoil_the_intervals():
    X, y = table(rows=1_200)
    clean, new = y[:800].copy(), y[800:]
    poisoned = clean.copy()
    poisoned[::20] += 30.0
    model = nt.NeuroTronRegressor().fit(X[:800], poisoned, calibration=0.5)
    most = int((poisoned != clean)[model.calibration_rows_].sum())
    _, ends = model.predict_interval(X[800:], poisoned=most)
    inside = (ends[:, 0, 0] <= new) & (new <= ends[:, 1, 0])
    assert inside.mean() > 0.87
