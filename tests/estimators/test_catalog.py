"""Regressors by name: each one fits, takes its settings, and refuses wrong ones."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.support.messages import refused

import neurotron as nt
from neurotron.estimators import TrimRegressor
from neurotron.estimators.catalog import (
    BY_NAME,
    REMEDIES,
    SYNONYMS,
    TOLD,
    canonical,
    remedies,
)

COEFFICIENTS, INTERCEPT = np.array([3.0, -2.0, 1.0]), 500.0
"""Labels are far from 0, so that a regressor without an intercept would be found out."""
FAST = {"forest": "forest:trees=5", "theil-sen": "theil-sen:subsets=300"}
NAMES = [*BY_NAME]


def rows(count: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose columns have different units, and labels that are almost linear."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((count, 3)) * [1.0, 0.01, 100.0] + [0.0, 1.0, -50.0]
    noise = 0.1 * draw.standard_normal(count)
    return X, X / [1.0, 0.01, 100.0] @ COEFFICIENTS + INTERCEPT + noise


X, Y = rows()
FRESH, TRUE = rows(seed=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_builds_a_regressor_that_learns_from_columns_as_they_are(name):
    model = BY_NAME.build(FAST.get(name, name))
    assert is_regressor(model)
    predicted = model.fit(X, Y).predict(FRESH)
    assert predicted.shape == TRUE.shape
    assert np.mean((predicted - TRUE) ** 2) < 0.6 * np.var(TRUE)


@pytest.mark.parametrize("name", NAMES)
def test_equal_texts_give_equal_predictions_also_after_cloning_and_pickling(name):
    text = FAST.get(name, name)
    predicted = BY_NAME.build(text).fit(X, Y).predict(FRESH)
    again = pickle.loads(pickle.dumps(clone(BY_NAME.build(text)).fit(X, Y)))
    assert np.array_equal(again.predict(FRESH), predicted)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", NAMES)
def test_every_name_takes_frames(name, frame):
    model = BY_NAME.build(FAST.get(name, name))
    expected = clone(model).fit(X, Y).predict(FRESH)
    given, fresh = (frame(dict(zip("abc", values.T, strict=True))) for values in (X, FRESH))
    assert np.allclose(model.fit(given, Y).predict(fresh), expected, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_says_what_it_is_and_names_its_settings(name):
    assert BY_NAME.summary(name).endswith(".")
    text = inspect.getdoc(BY_NAME.factories[name])
    for setting in BY_NAME.parameters(name):
        assert f"`{setting}`" in text


@pytest.mark.parametrize(
    ("text", "parameter", "value"),
    [
        ("ridge:alpha=100", "ridge__alpha", 100.0),
        ("kernel-ridge:alpha=2,gamma=0.5", "regressor__kernelridge__alpha", 2.0),
        ("kernel-ridge:alpha=2,gamma=0.5", "regressor__kernelridge__gamma", 0.5),
        ("nearest-neighbors:k=3", "kneighborsregressor__n_neighbors", 3),
        ("splines:knots=4,alpha=2", "splinetransformer__n_knots", 4),
        ("splines:knots=4,alpha=2", "ridge__alpha", 2.0),
        ("gaussian-process:length=2", "gaussianprocessregressor__kernel__length_scale", 2.0),
        ("gaussian-process:noise=2", "gaussianprocessregressor__alpha", 2.0),
        ("gaussian-process", "gaussianprocessregressor__optimizer", None),
        ("huber:epsilon=2", "huberregressor__epsilon", 2.0),
        ("huber", "huberregressor__max_iter", 1_000),
        ("quantile:level=0.2,alpha=1", "quantileregressor__quantile", 0.2),
        ("quantile:level=0.2,alpha=1", "quantileregressor__alpha", 1.0),
        ("quantile", "quantileregressor__solver", "highs-ipm"),
        ("ransac:threshold=3", "ransacregressor__residual_threshold", 3.0),
        ("theil-sen", "theilsenregressor__max_subpopulation", 3_000),
        ("theil-sen:subsets=7", "theilsenregressor__max_subpopulation", 7),
        ("trim:share=0.1", "share", 0.1),
        ("trim", "share", None),
        ("tree:depth=2", "max_depth", 2),
        ("forest:trees=7,depth=2", "n_estimators", 7),
        ("forest:trees=7,depth=2", "max_depth", 2),
        ("boosting:trees=7,depth=2,rate=1", "learning_rate", 1.0),
        ("neurotron:network=relu-gate:leak=0.3", "network", "relu-gate:leak=0.3"),
        ("neurotron:network=convolution:filter_size=2;stride=3", "network",
         "convolution:filter_size=2,stride=3"),
    ],
)  # fmt: skip
def test_settings_reach_the_estimator(text, parameter, value):
    assert BY_NAME.build(text).get_params()[parameter] == value


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rigde", ("unknown estimator", "'rigde'", "'ridge'")),
        ("ridge:alpa=1", ("parameter of ridge", "'alpa'", "'alpha'")),
        ("ridge:alpha=-1", ("`alpha`", "-1")),
        ("ridge:alpha=nan", ("`alpha`", "nan")),
        ("ridge:alpha=inf", ("`alpha`", "inf")),
        ("ridge:alpha=true", ("`alpha`", "True")),
        ("ridge:alpha=__import__('os')", ("`alpha`", "__import__")),
        ("ridge:alpha", ("ridge:parameter=value",)),
        ("ridge:random_state=1", ("parameter of ridge", "'random_state'", "alpha")),
        ("kernel-ridge:alpha=0", ("`alpha`", "0")),
        ("kernel-ridge:gamma=-2", ("`gamma`", "-2")),
        ("nearest-neighbors:k=0", ("`k`", "from 1", "0")),
        ("nearest-neighbors:k=1.5", ("`k`", "1.5")),
        ("splines:knots=1", ("`knots`", "from 2", "1")),
        ("gaussian-process:length=0", ("`length`", "0")),
        ("gaussian-process:noise=0", ("`noise`", "0")),
        ("huber:epsilon=0.5", ("`epsilon`", "0.5")),
        ("quantile:level=1", ("`level`", "1")),
        ("ransac:threshold=0", ("`threshold`", "0")),
        ("theil-sen:subsets=0", ("`subsets`", "0")),
        ("trim:share=1", ("`share`", "1")),
        (TOLD, ("`share`", "{share}")),
        ("tree:depth=abc", ("`depth`", "abc")),
        ("forest:trees=1000000000", ("`trees`", "10,000", "1000000000")),
        ("boosting:rate=2", ("`rate`", "2")),
        ("neurotron:network=lineer", ("unknown network", "'linear'")),
        ("neurotron:network=3", ("`network`", "3")),
        ("neurotron:leak=0.5", ("parameter of neurotron", "'leak'")),
    ],
)  # fmt: skip
def test_a_wrong_name_or_setting_is_refused_in_one_sentence(text, parts):
    with refused(*parts):
        BY_NAME.build(text)


def test_remedies_can_be_built_and_one_is_told_the_share():
    texts = remedies(0.125)
    assert len(set(texts)) == len(REMEDIES)
    built = {text: BY_NAME.build(text) for text in texts}
    assert built["trim:share=0.125"].share == 0.125
    with refused("`share`", "1"):
        remedies(1.5)


SMOOTHERS = [
    "least-squares", "ridge", "kernel-ridge", "nearest-neighbors", "splines", "gaussian-process",
]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTHERS)
def test_smoothers_are_linear_in_the_labels(name):
    draw = np.random.default_rng(3)
    one, other = draw.standard_normal((2, len(Y)))

    def predict(labels):
        return BY_NAME.build(name).fit(X, labels).predict(FRESH)

    assert np.allclose(predict(2.0 * one - other), 2.0 * predict(one) - predict(other), atol=1e-9)


# ---- TRIM ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([TrimRegressor(), TrimRegressor(share=0.1)])
def test_scikit_learn_accepts_trim(estimator, check):
    check(estimator)


def test_trim_that_is_told_the_share_recovers_a_poisoned_line():
    draw = np.random.default_rng(0)
    x = draw.uniform(-1.0, 1.0, (100, 1))
    y = 2.0 * x[:, 0] + 1.0
    y[:20] += 5.0
    told = TrimRegressor(share=0.2).fit(x, y)
    assert np.allclose([*told.coef_, told.intercept_], [2.0, 1.0], atol=1e-12)
    fooled = TrimRegressor(share=0.0).fit(x, y)  # which is least squares
    assert abs(fooled.intercept_ - 1.0) > 0.5


def test_trim_refuses_a_wrong_share_and_rows_that_are_no_numbers():
    with refused("`share`", "1.5"):
        TrimRegressor(share=1.5).fit(X, Y)
    with refused("'town'", "text"):
        TrimRegressor().fit(pd.DataFrame({"town": ["a", "b", "c"]}), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("linear", "least-squares"), ("OLS", "least-squares"),
        ("LinearRegression", "least-squares"),
        ("rf:trees=7", "forest:trees=7"), ("RandomForestRegressor", "forest"), ("gbm", "boosting"),
        ("knn:k=3", "nearest-neighbors:k=3"),
        ("ridge:alpha=2", "ridge:alpha=2"), ("Ridge", "ridge"),
    ],
)  # fmt: skip
def test_names_that_people_type_are_known(typed, meant):
    assert canonical(typed) == meant
    assert repr(BY_NAME.build(meant))


def test_every_synonym_means_an_estimator_and_is_none_itself():
    assert {*SYNONYMS.values()} <= {*BY_NAME}
    assert not {*SYNONYMS} & {name.replace("-", "") for name in BY_NAME}


@pytest.mark.parametrize(
    "own", ["pipe.joblib", "ridge.pkl", "m.py", "sklearn.linear_model.Ridge", "Ridge()"]
)
def test_models_of_ones_own_are_sent_to_python_or_written_as_module_and_name(own):
    with pytest.raises(nt.InputError, match=r"unknown estimator .*module:name.*nt\.audit\(model"):
        canonical(own)
    assert canonical("mymodel:make") == "mymodel:make"
