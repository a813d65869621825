"""The regressor keeps scikit-learn's rules, alone and inside its tools."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators.tables import COEFFICIENTS, INTERCEPT, table
from tests.support.messages import refused, says

import neurotron as nt
from neurotron._extras import MissingExtra

X, Y, MASK = table(attacked=0.2)

TOO_FEW_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "its table has 27 rows and 30 columns, and "
    "the solver refuses tables with fewer rows than weights"
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [nt.NeuroTronRegressor()],
    expected_failed_checks=lambda model: TOO_FEW_ROWS,
    xfail_strict=True,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_parameters_are_checked_when_it_is_fitted_and_not_before():
    model = nt.NeuroTronRegressor(network="linaer", max_iter=-1)
    assert clone(model).network == "linaer"
    with refused("`max_iter`", "-1"):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"network": "linaer"}, ("network", "'linear'", "'linaer'")),
        ({"network": 3}, ("`network`", "FilterNetwork", "3")),
        ({"network": nt.networks.linear(4)}, ("`network`", "4", "3")),
        ({"network": lambda n: n}, ("`network`", "FilterNetwork", "3")),
        ({"network": "convolution"}, ("'convolution'", "filter_size")),
        ({"network": "convolution2d:filter_size=1"}, ("`n_inputs`", "`height`", "3")),
        ({"network": "convolution2d:filter_size=1,height=2"}, ("`height`", "3")),
        ({"network": "convolution2d:filter_size=2,height=1"}, ("`filter_size`", "2")),
        ({"network": "relu-gate:leak=2"}, ("`leak`", "2")),
        ({"fit_intercept": 1}, ("`fit_intercept`", "True or False", "1")),
        ({"standardize": "yes"}, ("`standardize`", "'yes'")),
        ({"tol": 0.0}, ("`tol`", "0")),
        ({"max_rows": 0}, ("`max_rows`", "0")),
        ({"false_alarm_rate": 1.0}, ("`false_alarm_rate`", "1")),
        ({"random_state": -1}, ("`random_state`", "-1")),
        ({"warm_start": None}, ("`warm_start`", "None")),
        ({"verbose": "a lot"}, ("`verbose`", "a whole number", "'a lot'")),
    ],
    ids=lambda given: ",".join(given) if isinstance(given, dict) else "",
)
def test_a_wrong_parameter_gets_one_sentence(parameters, parts):
    with refused(*parts):
        nt.NeuroTronRegressor(**parameters).fit(X, Y)


def with_value(value, row=3, column=1):
    rows = X.copy()
    rows[row, column] = value
    return rows


CITIES = np.where(X[:, 0] > 0, "Bonn", "Ulm")
DAY = pd.Timestamp("2026-01-01")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("rows", "labels", "parts"),
    [
        (with_value(np.nan), Y, ("`X`", "NaN", "3", "SimpleImputer")),
        (with_value(-np.inf), Y, ("`X`", "inf", "3", "leave out these rows")),
        (FRAME.mask(FRAME > 2), Y, ("`X`", "NaN", "SimpleImputer")),
        (X, np.where(MASK, np.nan, Y), ("`y`", "NaN", "leave out these rows")),
        (X, Y[:-1], ("299", "300")),
        (X, np.column_stack([Y, Y]), ("`y`", "2", "sklearn.multioutput.MultiOutputRegressor")),
        (X, CITIES, ("`y`", "numbers")),
        (X, CITIES.astype(object), ("`y`", "numbers", "'Bonn'")),
        (X, pd.Series(Y).convert_dtypes().where(~MASK), ("`y`", "NaN", "row 0", "counted from 0")),
        (FRAME.astype(object).assign(a=CITIES.astype(object)), Y, ("'a'", "text")),
        ([*X.astype(object).tolist()[:-1], ["Bonn", 1.0, 2.0]], Y, ("`X`", "text")),
        ([*X.tolist()[:-1], [1.0]], Y, ("`X`", "must be a table")),
        (FRAME.assign(city=CITIES), Y, ("'city'", "text", "OneHotEncoder")),
        (FRAME.assign(city=pd.Categorical(CITIES)), Y, ("'city'", "categories", "OneHotEncoder")),
        (FRAME.assign(day=DAY), Y, ("'day'", "dates or times", "days since")),
        (FRAME.assign(day=DAY).astype({"day": object}), Y, ("'day'", "dates or times")),
        (np.full(X.shape, np.datetime64("2026-01-01")), Y, ("`X`", "dates or times", "days since")),
        (np.full(X.shape, np.timedelta64(3, "D")), Y, ("`X`", "dates or times")),
        (pl.DataFrame({"a": X[:, 0], "city": CITIES}), Y, ("'city'", "text", "OneHotEncoder")),
        (np.column_stack([X, CITIES]), Y, ("text", "OneHotEncoder")),
        (with_value(1e300), Y, ("`X`", "1e+300", "row 3", "column 1", "unit")),
        (X[:3], Y[:3], ("`X`", "3", "4", "40")),
    ],
    ids=lambda value: "",
)
def test_rows_that_cannot_be_used_get_one_sentence_that_says_what_to_do(rows, labels, parts):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        nt.NeuroTronRegressor().fit(rows, labels)
    assert says(caught.value, *parts)


@pytest.mark.parametrize(
    ("rows", "labels", "useless"),
    [
        (X, np.where(MASK, np.nan, Y), "SimpleImputer"),  # which does not see the labels
        (FRAME.assign(day=DAY), Y, "OneHotEncoder"),
    ],
    ids=["missing labels", "dates"],
)
def test_no_error_suggests_what_cannot_help(rows, labels, useless):
    with pytest.raises(nt.InputError) as caught:
        nt.NeuroTronRegressor().fit(rows, labels)
    assert useless not in str(caught.value)


def test_truth_values_of_numpy_are_truth_values():
    model = nt.NeuroTronRegressor(fit_intercept=np.False_, verbose=np.False_).fit(X, Y)
    assert model.intercept_ == 0.0


def test_sparse_rows_get_one_sentence():
    sparse = pytest.importorskip("scipy.sparse")
    with refused("`X`", "sparse", "X.toarray()"):
        nt.NeuroTronRegressor().fit(sparse.csr_matrix(X), Y)


@pytest.mark.parametrize(
    "given",
    [
        lambda path: (FRAME, pd.Series(Y)),
        lambda path: (pl.DataFrame(X, schema=["a", "b", "c"]), pl.Series(Y)),
        lambda path: (X.tolist(), Y.tolist()),
        lambda path: (on_disk(path, X), on_disk(path, Y)),
    ],
    ids=["pandas", "polars", "lists", "memory-mapped"],
)
def test_frames_lists_and_memory_mapped_arrays_give_the_same_fit(given, tmp_path):
    rows, labels = given(tmp_path)
    model = nt.NeuroTronRegressor().fit(rows, labels)
    expected = nt.NeuroTronRegressor().fit(X, Y)
    assert np.array_equal(model.coef_, expected.coef_)
    assert np.array_equal(model.predict(rows), expected.predict(X))
    if hasattr(rows, "columns"):
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def on_disk(path, values):
    np.save(path / f"{values.ndim}.npy", values)
    return np.load(path / f"{values.ndim}.npy", mmap_mode="r")


def test_columns_in_another_order_are_refused():
    model = nt.NeuroTronRegressor().fit(FRAME, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(FRAME[["c", "b", "a"]])


def test_it_can_be_pickled_and_copied_after_a_fit():
    model = nt.NeuroTronRegressor().fit(X, Y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(X), model.predict(X))
        assert np.array_equal(other.suspects_, model.suspects_)
        assert str(other.diagnose()) == str(model.diagnose())


def test_a_text_column_works_behind_an_encoder_in_a_pipeline():
    frame = FRAME.assign(city=CITIES)
    labels = Y + 3.0 * (CITIES == "Bonn")
    encode = make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), ["city"]), remainder="passthrough"
    )
    model = make_pipeline(encode, nt.NeuroTronRegressor()).fit(frame, labels)
    assert model[-1].coef_ == pytest.approx([-3.0, *COEFFICIENTS], abs=0.1)
    assert model[-1].suspects_[MASK].all()


@pytest.mark.filterwarnings("ignore:the search tried")  # to fit a model of the wrong shape
def test_a_grid_search_chooses_the_network_that_the_labels_come_from():
    labels = nt.networks.relu_gate(3, leak=0.1)(COEFFICIENTS, X)
    grid = {"network": ["linear", "relu-gate:leak=0.1"]}
    search = GridSearchCV(nt.NeuroTronRegressor(fit_intercept=False), grid, cv=2).fit(X, labels)
    assert search.best_params_ == {"network": "relu-gate:leak=0.1"}
    assert search.best_score_ == pytest.approx(1.0)


def test_a_transformed_target_is_fitted_on_its_own_scale():
    model = TransformedTargetRegressor(nt.NeuroTronRegressor(), func=np.log, inverse_func=np.exp)
    model.fit(X, np.exp(Y))
    assert model.regressor_.coef_ == pytest.approx(COEFFICIENTS, abs=0.05)
    assert model.regressor_.suspects_[MASK].all()


def test_sample_weights_are_routed_through_a_pipeline():
    weights = np.where(MASK, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        inner = nt.NeuroTronRegressor().set_fit_request(sample_weight=True)
        model = make_pipeline(scaler, inner).fit(X, Y, sample_weight=weights)
    assert model[-1].intercept_ == pytest.approx(INTERCEPT + 5.0, abs=0.2)


def test_cross_validation_scores_it():
    clean, labels, _ = table()
    assert cross_val_score(nt.NeuroTronRegressor(), clean, labels, cv=2).min() > 0.99


def test_a_row_of_weight_zero_is_judged_but_does_not_count():
    weights = np.where(MASK, 0.0, 2.0)
    model = nt.NeuroTronRegressor().fit(X, Y, sample_weight=weights)
    alone = nt.NeuroTronRegressor().fit(X[~MASK], Y[~MASK])
    assert model.coef_ == pytest.approx(alone.coef_, abs=1e-9)
    assert model.suspects_[MASK].all()
    assert model.input_mean_ == pytest.approx(X[~MASK].mean(axis=0))


def test_a_weight_counts_a_row_so_many_times():
    times = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = nt.NeuroTronRegressor().fit(X, Y, sample_weight=times)
    repeated = nt.NeuroTronRegressor().fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-9)
    assert weighted.scale_ == pytest.approx(repeated.scale_)
    assert weighted.input_second_moment_ == pytest.approx(repeated.input_second_moment_)


@pytest.mark.parametrize("weights", [-1.0, np.zeros(len(X)), np.ones(3), -np.ones(len(X))])
def test_sample_weights_that_cannot_be_used_get_one_sentence(weights):
    with pytest.raises(nt.InputError, match=r"^`sample_weight` must"):
        nt.NeuroTronRegressor().fit(X, Y, sample_weight=weights)


def test_a_fit_that_fails_leaves_the_last_one_as_it_was():
    model = nt.NeuroTronRegressor().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(nt.InputError):
        model.fit(X[:3], Y[:3])
    assert np.array_equal(model.predict(X), before)


def test_a_search_that_does_not_agree_warns_and_still_fits():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = nt.NeuroTronRegressor(max_iter=2).fit(X, Y)
    assert (model.converged_, model.n_iter_) == (False, 2)
    assert model.coef_ == pytest.approx(COEFFICIENTS, abs=0.1)
    assert "same filter" in " ".join(model.diagnose().reasons)


@pytest.mark.filterwarnings("ignore:the search tried")
@pytest.mark.parametrize("network", ["linear", "relu-gate"])
def test_a_warm_start_begins_with_the_last_filter(network):
    """Two filters fit half of the rows each, so the first start decides which one is found."""
    made = {"linear": nt.networks.linear, "relu-gate": nt.networks.relu_gate}[network](3)
    filters = np.array([[1.0, 2.0, -1.0], [-2.0, 1.0, 1.0]])
    both = np.where(np.arange(len(X)) % 2, *(made(weights, X) + 1.0 for weights in filters))
    for weights in filters:
        model = nt.NeuroTronRegressor(network=network, warm_start=True, max_iter=1)
        model.fit(X, made(weights, X) + 1.0)
        assert model.fit(X, both).weights_ == pytest.approx(weights, abs=1e-9)
        assert model.intercept_ == pytest.approx(1.0)


def test_the_sample_that_is_searched_can_be_small():
    rows, labels, _ = table(rows=3000, attacked=0.2)
    model = nt.NeuroTronRegressor(max_rows=100).fit(rows, labels)
    assert model.coef_ == pytest.approx(nt.NeuroTronRegressor().fit(rows, labels).coef_, abs=1e-6)


def test_the_seed_may_be_a_random_state():
    one, other = (
        nt.NeuroTronRegressor(random_state=np.random.RandomState(3)).fit(X, Y) for _ in range(2)
    )
    assert np.array_equal(one.coef_, other.coef_)


def test_verbose_says_what_was_found(capsys):
    nt.NeuroTronRegressor(verbose=True).fit(X, Y)
    assert "suspects" in capsys.readouterr().err


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("neurotron.estimators")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(vars(nt), "NeuroTronRegressor", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"sklearn: pip install '\.\[sklearn\]'"):
        _ = nt.NeuroTronRegressor
