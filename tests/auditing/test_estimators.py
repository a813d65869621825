"""Any regressor on any table can be audited, nothing is changed, and nonsense is refused."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.support.audited import BUDGET, small_table

import neurotron as nt
from neurotron.auditing.attackers import SURROGATES
from neurotron.auditing.job import job_of
from neurotron.auditing.splits import AuditedTable

X, Y = small_table()
QUICK = {"budget": BUDGET, "remedies": [], "splits": 2, "attacks": ["constant", "worst-error"]}
EVERY_KIND = ["constant", "picked-rows", *SURROGATES, "worst-error"]
COLOURS = np.array(["red", "green", "blue"])[np.arange(len(Y)) % 3]
FRAME = {"size": X[:, 0], "colour": COLOURS, "weight": np.where(X[:, 1] > 2, np.nan, X[:, 1])}
ENCODED = make_column_transformer((OneHotEncoder(), ["colour"]), ("passthrough", ["size"]))


@pytest.mark.parametrize(
    ("estimator", "rows", "linear"),
    [
        (make_pipeline(StandardScaler(), Ridge()), X, True),
        (GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2), X, False),
        (TransformedTargetRegressor(Ridge(), func=np.sinh, inverse_func=np.arcsinh), X, False),
        (Ridge(), scipy.sparse.csr_array(X), True),
        (make_pipeline(ENCODED, Ridge()), pd.DataFrame(FRAME), True),
        (make_pipeline(ENCODED, Ridge()), pl.DataFrame(FRAME), True),
        (make_pipeline(TfidfVectorizer(), Ridge()), COLOURS.tolist(), True),
        (Ridge(), X.tolist(), True),
        (nt.NeuroTronRegressor(), X, False),
        (RandomForestRegressor(3), X, False),
    ],
    ids=["pipeline", "search", "transformed-labels", "sparse", "pandas", "polars", "texts", "lists",
         "ours", "forest"],
)  # fmt: skip
def test_any_regressor_on_any_table_can_be_audited(estimator, rows, linear):
    if hasattr(rows, "tocsr"):
        estimator = Ridge(solver="lsqr", tol=1e-12)
    found = nt.audit(estimator, rows, np.abs(Y), **QUICK | {"attacks": EVERY_KIND})
    assert found.n_rows == len(Y)
    assert (found.ceilings[0].error is not None) == linear
    assert np.isfinite([damage.relative.estimate for damage in found.damages]).all()


def test_estimators_and_arrays_are_left_as_they_are():
    model, inputs, labels = Ridge(alpha=2.0), X.copy(), Y.copy()
    nt.audit(model, inputs, labels, **QUICK)
    assert vars(model) == vars(Ridge(alpha=2.0))
    assert np.array_equal(inputs, X)
    assert np.array_equal(labels, Y)


def test_labels_of_test_rows_are_never_given_to_a_fit_and_never_attacked():
    seen = []

    class Spy(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            seen.append((X[:, 0].copy(), y.copy()))
            self.mean_ = np.mean(y)
            return self

        def predict(self, X):
            seen.append((X[:, 0].copy(), None))
            return np.full(len(X), self.mean_)

    nt.audit(Spy(), X, Y, **QUICK | {"splits": 1}, executor=None)
    fitted = {tuple(rows) for rows, labels in seen if labels is not None}
    tested = {tuple(rows) for rows, labels in seen if labels is None} - fitted
    assert len(fitted) == len(tested) == 1
    assert not {*next(iter(fitted))} & {*next(iter(tested))}


class InPlace(RegressorMixin, BaseEstimator):
    """Least squares that centres its rows and labels where they are."""

    def fit(self, X, y):
        y -= y.mean()
        X -= X.mean(axis=0)
        self.coef_ = np.linalg.lstsq(X, y, rcond=None)[0]
        return self

    def predict(self, X):
        X -= X.mean(axis=0)
        return X @ self.coef_


def test_estimators_that_change_their_rows_and_labels_are_audited_like_others():
    class Careful(InPlace):
        def fit(self, X, y):
            return super().fit(X.copy(), y.copy())

        def predict(self, X):
            return super().predict(X.copy())

    first, second = (nt.audit(model, X + 9.0, Y, **QUICK) for model in (InPlace(), Careful()))
    assert first.damages == second.damages
    assert first.ceilings[0].error == second.ceilings[0].error is not None


def test_small_changes_are_tried_on_estimators_that_reject_large_ones():
    """A larger bound allows everything that a smaller one does, so it must not look safer."""
    draw = np.random.default_rng(1)
    rows = draw.standard_normal((160, 4))
    labels = rows @ [3.0, -2.0, 1.0, 0.5] + 0.5 * draw.standard_normal(160)
    found = [
        nt.audit("trim:share=0.1", rows, labels, remedies=[], splits=3, attacks="linear-surrogate",
                 budget=nt.Budget(bound=bound, probability=0.1)).largest.relative.estimate
        for bound in (1.25, 5.0, 1e3)
    ]  # fmt: skip
    assert found[0] > 0.2
    assert min(found[1:]) > 0.15  # 0.04 or less if only the whole bound were tried


def reached(estimator, rows, labels, *attacks):
    """Return by how much attacks on a tenth of the labels raise the error, each in its place."""
    budget = nt.Budget(bound=float(labels.std()), probability=0.1)
    found = nt.audit(estimator, rows, labels, **QUICK | {"attacks": attacks, "budget": budget})
    return [one.relative.estimate for one in found.damages]


def curved(seed=0):
    """Return a table that no linear model fits well."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((120, 3)) * [2.0, 1.0, 1.0]
    return rows, rows[:, 0] + 0.2 * rows[:, 0] ** 2 + 0.3 * draw.standard_normal(120)


@pytest.mark.parametrize(
    "estimator",
    ["boosting:trees=20", HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5)],
    ids=["its own leaves", "those of other trees"],
)
def test_boosting_is_attacked_by_leaves_also_if_nobody_can_look_into_its_own(estimator):
    straight, leaves = reached(estimator, *curved(), "linear-surrogate", "leaf-surrogate")
    assert leaves > 1.3 * straight


def test_rows_at_one_end_that_move_to_one_side_harm_trimming_more_than_least_squares_shows():
    draw = np.random.default_rng(2)
    rows = draw.standard_normal((120, 3))
    rows[:, 0] = np.exp(rows[:, 0])
    labels = 3.0 * np.log1p(rows[:, 0]) + 0.3 * draw.standard_normal(120)
    straight, one_sided = reached("trim", rows, labels, "linear-surrogate", "one-sided")
    assert one_sided > 2.0 * straight


def test_a_model_that_is_not_linear_is_fitted_at_most_65_times_to_a_split_with_the_search():
    fits = []

    class Median(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            fits.append(len(y))
            self.middle_ = np.median(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.middle_)

    more = {"attacks": "all", "splits": 1, "tolerance": 0.1}
    found = nt.audit(Median(), *small_table(260), **QUICK | more)
    assert found.transfers_only
    assert 60 < len(fits) <= 65


def test_audits_in_threads_leave_the_filters_of_warnings_as_they_were():
    before = [*warnings.filters]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(nt.audit, "tree", X, Y, **QUICK | {"attacks": ["constant"]})
                for _ in range(3)]  # fmt: skip
        assert all(run.result() for run in runs)
    assert warnings.filters == before


def test_estimators_that_look_the_same_are_numbered():
    longest = [GridSearchCV(Ridge(), {"alpha": [0.1] * 50 + [last]}) for last in (1.0, 2.0)]
    table = AuditedTable.of(X, Y)
    job = job_of(longest[0], table, budget=BUDGET, remedies=longest[1:])
    first, second = job.cases.values()
    assert second.name == f"{first.name} (2)"


def test_a_random_estimator_is_given_the_same_random_numbers_at_every_fit():
    first, second = (nt.audit(RandomForestRegressor(3), X, Y, **QUICK) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_an_estimator_that_fails_under_attack_is_damaged_without_limit():
    class Fragile(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            if y.max() > 100.0:
                raise ValueError("too large")
            self.mean_ = np.mean(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    found = nt.audit(Fragile(), X, Y, **QUICK | {
        "budget": nt.Budget(bound=1e6, probability=0.1), "attacks": "constant", "tolerance": 0.5,
    })  # fmt: skip
    assert found.worst.relative.estimate == np.inf
    assert found.verdict == "exceeded"
    assert "any amount" in found.headline
    assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("raised", "seen"),
    [(KeyboardInterrupt, KeyboardInterrupt), (MemoryError("no room"), nt.InputError)],
    ids=["Ctrl-C", "no memory"],
)
def test_what_ends_a_fit_for_good_ends_the_audit(raised, seen):
    class Ended(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            raise raised

        def predict(self, X):
            return X[:, 0]

    with pytest.raises(seen, match="no room" if seen is nt.InputError else None):
        nt.audit(Ended(), X, Y, **QUICK)


class Bad(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full((len(X), 2), np.nan)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimator": "rigde"}, "did you mean 'ridge'"),
        ({"estimator": "ridge:alpha=-1"}, "alpha"),
        ({"estimator": "__import__('os').system('x')"}, "unknown estimator"),
        ({"estimator": Ridge}, "regressor"),
        ({"estimator": None}, "regressor"),
        ({"estimator": LogisticRegression()}, "classifier"),
        ({"estimator": Bad()}, "one number for each row"),
        ({"estimator": Ridge(alpha=-1.0)}, "cannot be fitted"),
        ({"X": X[:5], "y": Y[:5]}, "at least 8 rows"),
        ({"X": X[:-1]}, "as many rows"),
        ({"X": 3.0}, "table of rows"),
        ({"X": {*range(60)}}, "rows can be chosen"),
        ({"label_range": (-100.0, np.inf), "budget": nt.Budget(probability=0.1)}, "two ends"),
        ({"y": np.full(len(Y), 2.0)}, "nothing to learn"),
        ({"y": np.where(np.arange(len(Y)) == 3, np.nan, Y)}, "`y`"),
        ({"y": np.column_stack([Y, Y])}, "`y`"),
        ({"y": ["a"] * len(Y)}, "`y`"),
        ({"budget": 0.1}, "Budget"),
        ({"budget": []}, "Budget"),
        ({"budget": nt.Budget(bound=1.0)}, "how many labels"),
        ({"budget": nt.Budget(probability=0.1)}, "how far"),
        ({"budget": nt.Budget(bound=0.0, probability=0.1)}, "above 0"),
        ({"budget": nt.Budget(bound=1.0, probability=1e-4)}, "none of the 45 labels"),
        ({"budget": nt.Budget(bound=1.0, rows=61)}, "only 60"),
        ({"attacks": "worst"}, "unknown attack"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": "x"}, "tolerance"),
        ({"splits": 0}, "splits"),
        ({"splits": 1e9}, "splits"),
        ({"replicates": 0}, "replicates"),
        ({"label_range": (5.0, 0.0)}, "label_range"),
        ({"label_range": (0.0, 1.0)}, "label_range"),
        ({"label_range": 3}, "label_range"),
        ({"seed": -1}, "seed"),
        ({"executor": "threads"}, "executor"),
        ({"progress": 1}, "progress"),
        ({"remedies": ["huber", "huber"]}, "twice"),
        ({"remedies": "all"}, "unknown estimator"),
        ({"remedies": 7}, "remedies"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_nonsense_is_refused_in_one_sentence(change, words):
    given = {"estimator": "ridge", "X": X, "y": Y} | QUICK | change
    with pytest.raises(nt.InputError, match=words) as refusal:
        nt.audit(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)
    assert "\n" not in str(refusal.value)
