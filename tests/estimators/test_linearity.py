"""Which regressors are linear in the labels, and that attacks on them reach their ceilings."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_regression,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    RANSACRegressor,
    Ridge,
    RidgeCV,
    TheilSenRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler, TargetEncoder
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from neurotron._check import InputError
from neurotron.estimators import linearity
from neurotron.estimators.linearity import NotLinear, smoother_matrix
from neurotron.theory.smoother import largest_rise, room_of, worst_change

RNG = np.random.default_rng(11)
X, TEST = RNG.standard_normal((60, 3)), RNG.standard_normal((12, 3))
Y = X @ [1.0, -2.0, 0.5] + np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(60) + 12.0
BOUND, MOST = 1.5, 6

SMOOTHERS = {
    "least squares": LinearRegression(),
    "ridge": Ridge(2.0),
    "kernel ridge": KernelRidge(alpha=0.3, kernel="rbf", gamma=0.4),
    "nearest neighbors": KNeighborsRegressor(4),
    "near neighbors by distance": KNeighborsRegressor(4, weights="distance"),
    "splines": make_pipeline(SplineTransformer(5), Ridge(0.1)),
    "gaussian process": GaussianProcessRegressor(RBF(1.5), alpha=0.1, optimizer=None),
    "normalised process": GaussianProcessRegressor(
        RBF(1.5), alpha=0.1, optimizer=None, normalize_y=True
    ),
    "process of a fixed kernel": GaussianProcessRegressor(RBF(1.5, "fixed"), alpha=0.1),
    "mean": DummyRegressor(),
    "scaled": make_pipeline(StandardScaler(), VarianceThreshold(), Ridge()),
    "scaled labels": TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
    "random features": make_pipeline(RBFSampler(random_state=0), Ridge()),
    "one column only": VotingRegressor([("a", Ridge()), ("b", KNeighborsRegressor())]),
    "bags": BaggingRegressor(Ridge(), 3, random_state=0),
}

NOT_LINEAR = "not linear in the labels: predictions deviate by"
TUNED = "tuned on the labels"
COLUMNS = "the labels decide which columns it uses"
REFUSED = {
    "huber": (HuberRegressor(), NOT_LINEAR),
    "ransac": (RANSACRegressor(random_state=0), f"{NOT_LINEAR}|cannot be fitted to other labels"),
    "theil-sen": (TheilSenRegressor(max_subpopulation=50, random_state=0), NOT_LINEAR),
    "tree": (DecisionTreeRegressor(random_state=0), NOT_LINEAR),
    "forest": (RandomForestRegressor(3, random_state=0), NOT_LINEAR),
    "boosting": (GradientBoostingRegressor(n_estimators=5, random_state=0), NOT_LINEAR),
    "boosting that stops": (
        GradientBoostingRegressor(n_iter_no_change=3), r"when its training stops \(Gradient"
    ),
    "histograms": (HistGradientBoostingRegressor(), r"when its training stops \(HistGrad"),
    "lasso": (Lasso(0.1), NOT_LINEAR),
    "lasso below its threshold": (Lasso(1000.0), NOT_LINEAR),
    "elastic net": (ElasticNet(), NOT_LINEAR),
    "ridge with a search": (RidgeCV(), rf"{TUNED} \(RidgeCV\)"),
    "search": (GridSearchCV(Ridge(), {"alpha": [1, 2]}), rf"{TUNED} \(GridSearchCV\)"),
    "search inside": (make_pipeline(StandardScaler(), RidgeCV()), rf"{TUNED} \(RidgeCV\)"),
    "kernel with an optimizer": (GaussianProcessRegressor(RBF(1.0)), f"kernel is {TUNED}"),
    "default kernel": (GaussianProcessRegressor(), f"kernel is {TUNED}"),
    "bayesian ridge": (BayesianRidge(), NOT_LINEAR),
    "best columns": (make_pipeline(SelectKBest(k=2), Ridge()), rf"{COLUMNS} \(SelectKBest\)"),
    "columns of a model": (
        make_pipeline(SelectFromModel(Ridge()), Ridge()), rf"{COLUMNS} \(SelectFromModel\)"
    ),
    "encoded labels": (make_pipeline(TargetEncoder(), Ridge()), rf"{COLUMNS} \(TargetEncoder\)"),
    "neural network": (MLPRegressor(hidden_layer_sizes=3, max_iter=20, random_state=0), NOT_LINEAR),
    "logarithm": (
        TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp),
        "cannot be fitted to other labels",
    ),
    "cubes": (
        TransformedTargetRegressor(Ridge(), func=np.cbrt, inverse_func=lambda y: y**3), NOT_LINEAR
    ),
    "positive weights": (LinearRegression(positive=True), NOT_LINEAR),
    "support vectors": (SVR(), NOT_LINEAR),
    "stacked": (StackingRegressor([("a", Ridge())], Ridge()), NOT_LINEAR),
    "median": (DummyRegressor(strategy="median"), NOT_LINEAR),
    "constant": (DummyRegressor(strategy="constant", constant=4.0), NOT_LINEAR),
    "random": (make_pipeline(RBFSampler(), Ridge()), "fixed random_state"),
    "no neighbors": (RadiusNeighborsRegressor(1e-9), "not finite"),
}  # fmt: skip


def matrix(estimator, *, labels=Y, bound=BOUND, seed=0):
    return smoother_matrix(estimator, X, labels, TEST, bound=bound, seed=seed)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", SMOOTHERS)
def test_an_executed_attack_on_one_prediction_reaches_its_ceiling(name):
    estimator = SMOOTHERS[name]
    H = matrix(estimator)
    clean = estimator.fit(X, Y).predict(TEST)
    np.testing.assert_allclose(H @ Y, clean, rtol=1e-8)
    for room in (room_of(Y, BOUND), room_of(Y, math.inf, Y.min(), Y.max())):
        for sign in (1.0, -1.0):
            ceilings = largest_rise(sign * H, room, MOST)
            for row in (0, 7):
                labels = Y + worst_change(sign * H[row], room, MOST)
                moved = sign * (estimator.fit(X, labels).predict(TEST) - clean)
                assert moved[row] == pytest.approx(ceilings[row], rel=1e-7)
                assert (moved <= ceilings * (1.0 + 1e-7)).all()


@pytest.mark.parametrize("name", REFUSED)
def test_another_regressor_is_refused_with_its_reason(name):
    estimator, reason = REFUSED[name]
    with pytest.raises(NotLinear, match=reason):
        matrix(estimator)


def test_a_large_mean_of_the_labels_hides_nothing():
    with pytest.raises(NotLinear, match=NOT_LINEAR):
        matrix(HuberRegressor(), labels=Y + 1e8)
    H = matrix(Ridge(2.0), labels=Y + 1e8)
    np.testing.assert_allclose(H, matrix(Ridge(2.0)), atol=1e-12)


@pytest.mark.parametrize("bound", [0.0, 1e-9, 1e9, math.inf])
def test_any_bound_is_possible(bound):
    np.testing.assert_allclose(matrix(Ridge(), bound=bound), matrix(Ridge()), atol=1e-12)


@pytest.mark.parametrize("labels", [np.zeros(60), np.ones(60), np.arange(60)], ids=["0", "1", "i"])
def test_any_labels_are_possible(labels):
    np.testing.assert_allclose(matrix(Ridge(), labels=labels), matrix(Ridge()), atol=1e-12)


def test_the_regressor_is_not_changed():
    estimator = make_pipeline(StandardScaler(), Ridge())
    matrix(estimator)
    assert not hasattr(estimator[-1], "coef_")


def test_rows_may_be_a_data_frame():
    frame, test = (pd.DataFrame(rows, columns=list("abc")) for rows in (X, TEST))
    H = smoother_matrix(Ridge(), frame, pd.Series(Y), test, bound=1.0, seed=0)
    np.testing.assert_allclose(H, matrix(Ridge()), atol=1e-12)


def test_the_matrix_is_the_same_in_blocks_and_one_by_one(monkeypatch):
    whole = matrix(Ridge())
    monkeypatch.setattr(linearity, "BLOCK", 60 * 7)
    np.testing.assert_allclose(matrix(Ridge()), whole, atol=1e-14)


class Strange(RegressorMixin, BaseEstimator):
    """Ridge, but different for many columns of labels, or for labels that are far from zero."""

    def __init__(self, columns=1.0, limit=math.inf):
        self.columns = columns
        self.limit = limit

    def fit(self, X, y):
        factor = self.columns if np.ndim(y) == 2 else 1.0
        self.inner_ = Ridge().fit(X, factor * np.clip(y, -self.limit, self.limit))
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def test_a_regressor_that_treats_many_columns_in_another_way_is_fitted_one_by_one(monkeypatch):
    np.testing.assert_allclose(matrix(Strange(columns=2.0)), matrix(Ridge()), atol=1e-12)
    monkeypatch.setattr(linearity, "MOST_FITS", 59)
    with pytest.raises(NotLinear, match=NOT_LINEAR):
        matrix(Strange(columns=2.0))


def test_a_regressor_that_is_linear_up_to_some_limit_is_refused():
    with pytest.raises(NotLinear, match=NOT_LINEAR):
        matrix(Strange(limit=1000.0))


class Hidden(RegressorMixin, BaseEstimator):
    """Another regressor, of which its parameters say nothing."""

    def __init__(self, name="ridge"):
        self.name = name

    def fit(self, X, y):
        tuned = {
            "ridge": RidgeCV(np.logspace(-3, 3, 7)),
            "lasso": Lasso(0.01),
            "process": GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1)),
            "columns": make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()),
            "residuals": HuberRegressor(epsilon=10.0),
        }
        self.inner_ = tuned[self.name].fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize("name", ["ridge", "lasso", "process", "columns", "residuals"])
def test_tuning_that_cannot_be_seen_is_found_by_its_predictions(name):
    with pytest.raises(NotLinear, match=NOT_LINEAR):
        matrix(Hidden(name))


class Watchful(RegressorMixin, BaseEstimator):
    """Ridge that knows the clean labels, and uses them if the mean prediction rises suddenly."""

    def fit(self, X, y):
        self.inner_ = Ridge().fit(X, y)
        clean = Ridge().fit(X, Y)
        rise = float((self.inner_.predict(TEST) - clean.predict(TEST)).mean())
        if np.count_nonzero(np.ravel(y) != np.resize(Y, np.size(y))) <= MOST and rise > 0.1:
            self.inner_ = clean
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def test_a_regressor_that_is_linear_except_under_the_worst_attack_is_refused(monkeypatch):
    with pytest.raises(NotLinear, match=NOT_LINEAR):
        matrix(Watchful())
    monkeypatch.setattr(linearity, "worst_change", lambda *_: np.zeros(60))
    np.testing.assert_allclose(matrix(Watchful()), matrix(Ridge()), atol=1e-12)


def test_too_many_fits_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(linearity, "MOST_FITS", 59)
    with pytest.raises(NotLinear, match=r"60 fits.*at most 59"):
        matrix(SMOOTHERS["one column only"])


def test_too_large_a_matrix_is_refused_before_the_tests(monkeypatch):
    monkeypatch.setattr(linearity, "MOST_ENTRIES", 60 * 12 - 1)
    with pytest.raises(NotLinear, match=r"12 predictions from 60 labels.*at most 719"):
        matrix(Ridge())


def test_what_the_regressor_says_about_the_labels_given_is_not_hidden():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        smoother_matrix(Ridge(), X, Y[:-1], TEST, bound=1.0, seed=0)


@pytest.mark.parametrize(("setting", "value"), [("labels", Y * math.nan), ("bound", -1.0)])
def test_bad_input_gets_one_clear_sentence(setting, value):
    with pytest.raises(InputError, match=r"`(y|bound)` must be"):
        matrix(Ridge(), **{setting: value})
