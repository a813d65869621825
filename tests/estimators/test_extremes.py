"""Labels and columns at the limits of arithmetic: a fit, or one sentence that says what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.messages import refused

import neurotron as nt

SCALES = (1.0, 1.0, 1e-69, 1e-59, 1e-12, 1e12, 1e69)
RANGE = 10.0 ** np.arange(-320, 60)


def rows_of(kind, N, n, draw):
    """Return inputs of a kind."""
    X = draw.standard_normal((N, n))
    return {
        "normal": X,
        "whole numbers": np.trunc(2.0 * X),
        "duplicates": X[draw.integers(0, N // 3 + 1, N)],
        "constant": np.ones((N, n)),
        "all sizes": X * draw.choice(RANGE, (N, n)),
    }[kind]


def labels_of(kind, N, draw):
    """Return labels of a kind."""
    y = draw.standard_normal(N)
    return {
        "noise": y,
        "equal": np.full(N, 3.7),
        "zero": np.zeros(N),
        "whole numbers": np.trunc(2.0 * y),
        "mostly equal": np.where(np.arange(N) < N // 3, y, 2.0),
        "an outlier": np.where(np.arange(N) == 0, 1e60, y),
        "all sizes": y * draw.choice(RANGE, N),
    }[kind]


@settings(max_examples=60)
@given(
    inputs=st.sampled_from(["normal", "whole numbers", "duplicates", "constant", "all sizes"]),
    labels=st.sampled_from(
        ["noise", "equal", "zero", "whole numbers", "mostly equal", "an outlier", "all sizes"]
    ),
    shape=st.sampled_from([(2, 1), (3, 3), (8, 2), (20, 3)]),
    scales=st.tuples(st.sampled_from(SCALES), st.sampled_from(SCALES)),
    network=st.sampled_from(["linear", "relu-gate"]),
    switches=st.tuples(st.booleans(), st.booleans()),
    seed=st.integers(0, 10**6),
)
def test_every_table_is_fitted_with_finite_numbers_or_refused(
    inputs, labels, shape, scales, network, switches, seed
):
    draw = np.random.default_rng(seed)
    X, y = rows_of(inputs, *shape, draw), labels_of(labels, shape[0], draw)
    with np.errstate(over="ignore"):
        X, y = X * scales[0], y * scales[1]
    model = nt.NeuroTronRegressor(
        network=network, fit_intercept=switches[0], standardize=switches[1], max_iter=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about the fit; NumPy's remain errors
        try:
            model.fit(X, y)
        except nt.InputError:
            return
    assert "weights" in str(model.diagnose())
    for name in ("weights_", "intercept_", "scale_", "suspicion_", "attacked_fraction_interval_"):
        assert np.isfinite(getattr(model, name)).all(), name
    for column in model.label_report(X, y).values():
        assert np.isfinite(column).all()


@pytest.fixture(scope="module")
def exact():
    """Inputs and exact labels."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    return X, X @ [1.0, -2.0]


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-100])
def test_a_column_of_tiny_values_is_refused_with_its_name(exact, size):
    X, y = exact
    with refused("column 1", "1e-60", "unit"):
        nt.NeuroTronRegressor().fit(X * [1.0, size], y)
    with refused("`y`", "1e-60", "unit"):
        nt.NeuroTronRegressor().fit(X, np.sign(y) * size)


def test_single_tiny_values_count_as_zero(exact):
    X, _ = exact
    some = np.where(X > 1.0, 1e-200, X)
    model = nt.NeuroTronRegressor().fit(some, np.where(some == 1e-200, 0.0, some) @ [1.0, -2.0])
    np.testing.assert_allclose(model.coef_, [1.0, -2.0], rtol=1e-10)


def test_labels_beyond_the_range_are_refused_with_their_row(exact):
    X, y = exact
    with refused("`y`", "1e+150", "row 7", "counted from 0", "1e70"):
        nt.NeuroTronRegressor().fit(X, np.where(np.arange(60) == 7, 1e150, y))


@pytest.mark.filterwarnings("ignore:80 % of the labels are equal")
def test_labels_that_are_mostly_zero_are_not_suspects(exact):
    X, _ = exact
    attacked = np.arange(60) < 12
    model = nt.NeuroTronRegressor().fit(X, 7.0 * attacked)
    assert np.array_equal(model.suspects_, attacked)
    assert not model.label_report(X, np.zeros(60))["is_label_issue"].any()


def test_noise_on_very_large_labels_is_no_rounding(exact):
    X, y = exact
    noise = 0.1 * np.random.default_rng(1).standard_normal(60)
    assert nt.NeuroTronRegressor().fit(X, y + 1e12 + noise).scale_ == pytest.approx(0.1, rel=0.5)
    assert nt.NeuroTronRegressor().fit(X, y + 1e12).scale_ <= 1e-4  # the precision of such numbers


@pytest.mark.filterwarnings("ignore:100 % of the labels are equal")
@pytest.mark.parametrize("value", [0.0, 1.0, 3.7])
def test_equal_labels_are_fitted_without_warnings_of_numpy(exact, value):
    X, _ = exact
    model = nt.NeuroTronRegressor().fit(X, np.full(60, value))
    assert model.predict(X) == pytest.approx(value)
    assert not model.suspects_.any()
