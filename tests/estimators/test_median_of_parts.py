"""The median of parts: bounds for every regressor that no change of labels exceeds."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.support.messages import refused

import neurotron as nt

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((10, 1))
Y = 2.0 * X[:, 0] + DRAW.standard_normal(10)
NEW = np.array([[-1.0], [0.3], [2.0]])
FAR = 1e6
LINEAR = LinearRegression()


def fitted(labels, estimator=LINEAR, parts=5, rows=X):
    return nt.MedianOfParts(estimator, parts=parts).fit(rows, labels)


def changed(rows, values):
    labels = Y.copy()
    labels[list(rows)] = values
    return labels


def within(bounds, predicted):
    return bool(((bounds[:, 0] <= predicted) & (predicted <= bounds[:, 1])).all())


@pytest.mark.parametrize("m", [0, 1, 2])
def test_no_change_of_labels_leads_out_of_the_bounds_in_either_direction(m):
    clean = fitted(Y)
    bounds, predicted = clean.predict_bounds(NEW, m), clean.predict(NEW)
    reached = [predicted]
    for rows in itertools.combinations(range(10), m):
        for signs in itertools.product([-FAR, FAR], repeat=m):
            poisoned = fitted(changed(rows, signs))
            reached.append(found := poisoned.predict(NEW))
            assert within(bounds, found)
            assert within(poisoned.predict_bounds(NEW, m), predicted)
    # both ends are reached, so that no smaller interval would do, and one label more exceeds them
    assert np.array_equal(np.min(reached, axis=0), bounds[:, 0])
    assert np.array_equal(np.max(reached, axis=0), bounds[:, 1])


def test_one_changed_label_more_in_another_part_exceeds_the_bounds():
    clean = fitted(Y)
    row = X[:, 0].argmax()
    rows = [part[np.abs(X[part, 0]).argmax()] for part in clean.parts_ if row not in part][:2]
    poisoned = fitted(changed([row, *rows], FAR * np.sign(X[[row, *rows], 0])))
    assert not within(clean.predict_bounds(NEW, 2), poisoned.predict(NEW))


def test_the_parts_are_disjoint_cover_all_rows_and_do_not_depend_on_labels():
    parts = fitted(Y).parts_
    assert sorted(np.concatenate(parts)) == list(range(10))
    for one, other in zip(parts, fitted(-FAR * Y).parts_, strict=True):
        assert np.array_equal(one, other)
    other = nt.MedianOfParts(LinearRegression(), parts=5, random_state=1).fit(X, Y)
    assert not all(map(np.array_equal, parts, other.parts_))


def test_a_regressor_that_draws_random_numbers_gives_the_same_fit_again():
    forest = RandomForestRegressor(3, max_depth=2)
    assert np.array_equal(fitted(Y, forest).predict(NEW), fitted(Y, forest).predict(NEW))
    assert forest.random_state is None


def test_what_is_tuned_is_tuned_within_each_part():
    search = GridSearchCV(Ridge(), {"alpha": [1e-3, 1e3]}, cv=2, scoring="neg_mean_squared_error")
    clean, poisoned = fitted(Y, search), fitted(changed([0], FAR), search)
    hit = [0 in part for part in clean.parts_]
    for one, other, spoilt in zip(clean.estimators_, poisoned.estimators_, hit, strict=True):
        assert spoilt or one.best_params_ == other.best_params_
        assert spoilt or np.array_equal(one.predict(NEW), other.predict(NEW))


class Breaking(RegressorMixin, BaseEstimator):
    """Predicts the mean, or nothing if a label is far away."""

    def fit(self, X, y):
        self.mean_ = np.nan if np.abs(y).max() >= FAR else y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_a_part_that_poison_makes_predict_nothing_counts_as_one_that_predicts_anything():
    clean, poisoned = fitted(Y, Breaking()), fitted(changed([0, 1], FAR), Breaking())
    assert within(clean.predict_bounds(NEW, 2), poisoned.predict(NEW))


def test_rows_of_any_form_are_split():
    frame = pd.DataFrame({"town": np.array(["Bonn", "Ulm", "Kiel"])[np.arange(10) % 3]})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeRegressor())
    found = fitted(Y, model, rows=frame)
    assert found.feature_names_in_.tolist() == ["town"]
    assert np.isfinite(found.predict_bounds(frame, 1)).all()


def test_its_bounds_give_intervals_of_the_same_shape_as_other_models_with_a_ceiling():
    assert np.array_equal(
        fitted(Y).predict_bounds(NEW, 1, bound=0.1), fitted(Y).predict_bounds(NEW, 1)
    )
    assert fitted(Y).predict_bounds(NEW, 1).shape == (3, 2)


def test_what_cannot_be_bounded_is_refused_with_what_to_do():
    with refused("`m`", "2", "2", "5", "3", "`parts`", "7", "13"):
        fitted(Y).predict_bounds(NEW, 3)
    with refused("`parts`", "odd", "4"):
        fitted(Y, parts=4)
    with refused("10", "17", "`parts`", "fewer"):
        fitted(Y, parts=17)
    with refused("`estimator`", "classifier"):
        fitted(Y, LogisticRegression())


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([nt.MedianOfParts(LinearRegression(), parts=3)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
