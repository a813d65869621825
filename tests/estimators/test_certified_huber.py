"""Huber regression with a fixed clip: what it says about changed labels is never exceeded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.support.messages import refused

import neurotron as nt

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((200, 3))
Y = X @ [1.0, -2.0, 0.5] + 3.0 + DRAW.standard_normal(200)
NEW = np.vstack([2.0 * DRAW.standard_normal((50, 3)), [[9.0, 9.0, 9.0]]])
WEIGHTS = DRAW.uniform(0.2, 2.0, 200)


def rms(values, weights=None):
    return float(np.sqrt(np.average(values**2, weights=weights)))


def attacked(m, bound):
    """Yield labels of which m are changed, along each column and along the constant."""
    for along in (*(X - X.mean(axis=0)).T, np.ones(len(X))):
        for sign in (1.0, -1.0):
            rows, labels = np.argsort(-np.abs(along))[:m], Y.copy()
            labels[rows] += sign * np.sign(along[rows]) * min(bound, 1e5)
            yield labels


@pytest.mark.parametrize(
    ("settings", "bound"),
    [
        ({}, math.inf), ({"alpha": 0.5}, math.inf), ({"leak": 0.6}, math.inf),
        ({"fit_intercept": False}, 3.0), ({"clip": 4.0}, 3.0),
    ],
)  # fmt: skip
def test_no_attack_moves_predictions_further_than_it_says(settings, bound):
    weights = WEIGHTS if settings else None
    clean, m = nt.CertifiedHuberRegressor(**settings).fit(X, Y, weights), 4
    again = nt.CertifiedHuberRegressor(**settings).set_params(clip=clean.clip_)
    limits = clean.damage_bound(m, bound), clean.damage_bound(m, bound, X=NEW)
    low, high = clean.predict_bounds(NEW, m, bound=bound).T
    assert np.isfinite(limits).all()
    for labels in attacked(m, bound):
        poisoned = again.fit(X, labels, weights)
        new = poisoned.predict(NEW)
        assert rms(poisoned.predict(X) - clean.predict(X), weights) < limits[0]
        assert rms(new - clean.predict(NEW)) < limits[1]
        assert ((low < new) & (new < high)).all()
        # and from the poisoned labels, where the clean ones are not known
        from_there, to_there = poisoned.predict_bounds(NEW, m, bound=bound).T
        assert ((from_there < clean.predict(NEW)) & (clean.predict(NEW) < to_there)).all()


def test_without_a_clip_it_is_least_squares_and_its_bound_is_reached():
    model = nt.CertifiedHuberRegressor(clip=math.inf).fit(X, Y)
    assert np.allclose(model.coef_, LinearRegression().fit(X, Y).coef_, atol=1e-10)
    assert math.isinf(model.damage_bound(1))
    reached = 0.0
    for row in range(len(X)):
        labels = Y + 2.0 * (np.arange(len(X)) == row)
        moved = nt.CertifiedHuberRegressor(clip=math.inf).fit(X, labels).predict(X)
        reached = max(reached, rms(moved - model.predict(X)))
    assert model.damage_bound(1, 2.0) == pytest.approx(reached, rel=1e-7)


def test_where_nothing_is_proved_bounds_are_infinite():
    model = nt.CertifiedHuberRegressor(fit_intercept=False).fit(X, Y)
    assert math.isinf(model.damage_bound(150))
    assert math.isinf(model.damage_bound(150, X=np.zeros((2, 3))))
    assert np.array_equal(model.predict_bounds(np.zeros((1, 3)), 150), [[-math.inf, math.inf]])
    assert np.array_equal(model.predict_bounds(NEW, 0).T, [model.predict(NEW)] * 2)


def test_the_clip_is_chosen_once_and_kept():
    model = nt.CertifiedHuberRegressor().fit(X, Y)
    assert model.clip == "auto"
    assert model.clip_ == pytest.approx(2.0, rel=0.15)  # the noise has the standard deviation 1
    again = nt.CertifiedHuberRegressor(clip=model.clip_).fit(X, Y)
    assert np.array_equal(again.predict(NEW), model.predict(NEW))


def test_labels_that_fit_exactly_have_a_small_clip_and_a_small_bound():
    exact = X @ [1.0, -2.0, 0.5] + 3.0
    model = nt.CertifiedHuberRegressor().fit(X, exact)
    assert np.allclose(model.coef_, [1.0, -2.0, 0.5], atol=1e-5)
    assert 0.0 < model.damage_bound(4) < 1e-4
    constant = nt.CertifiedHuberRegressor().fit(X, np.full(200, 7.0))
    assert np.allclose(constant.predict(NEW), 7.0)


def test_columns_that_say_nothing_new_change_nothing():
    model = nt.CertifiedHuberRegressor(clip=2.0).fit(X, Y)
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(200, 5.0)])
    found = nt.CertifiedHuberRegressor(clip=2.0).fit(wide, Y)
    assert np.allclose(found.predict(wide), model.predict(X))
    assert found.damage_bound(3) == pytest.approx(model.damage_bound(3))


def test_units_of_columns_and_labels_do_not_matter():
    model = nt.CertifiedHuberRegressor(alpha=0.3).fit(X, Y)
    scaled = nt.CertifiedHuberRegressor(alpha=0.3).fit(1e5 * X + 1e6, 1e-3 * Y)
    assert scaled.clip_ == pytest.approx(1e-3 * model.clip_, rel=1e-3)
    same = nt.CertifiedHuberRegressor(1e-3 * model.clip_, alpha=0.3).fit(1e5 * X + 1e6, 1e-3 * Y)
    assert same.damage_bound(3) == pytest.approx(1e-3 * model.damage_bound(3), rel=1e-6)


def test_labels_of_the_caller_may_change_afterwards():
    labels = Y.copy()
    model = nt.CertifiedHuberRegressor().fit(X, labels)
    before = nt.CertifiedHuberRegressor().fit(X, Y).damage_bound(2)
    labels[:] = 0.0
    assert model.damage_bound(2) == before


def test_wrong_parameters_get_one_sentence():
    for settings, parts in (
        ({"clip": 0.0}, ("`clip`", "0")), ({"clip": "best"}, ("`clip`", "'best'")),
        ({"alpha": -1.0}, ("`alpha`", "-1")), ({"leak": 0.0}, ("`leak`", "0")),
        ({"fit_intercept": 2}, ("`fit_intercept`", "2")),
    ):  # fmt: skip
        with refused(*parts):
            nt.CertifiedHuberRegressor(**settings).fit(X, Y)
    with refused("`m`", "-1"):
        nt.CertifiedHuberRegressor().fit(X, Y).damage_bound(-1)
    with refused("`X`", "0", "nothing"):
        nt.CertifiedHuberRegressor(fit_intercept=False).fit(0.0 * X, Y)


def test_a_clip_that_is_too_small_for_the_labels_is_reported():
    with pytest.warns(ConvergenceWarning, match="clip"):
        nt.CertifiedHuberRegressor(clip=1e-12).fit(X, 1e6 * Y)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([nt.CertifiedHuberRegressor()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
