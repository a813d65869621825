"""Tables as people have them: frames come back as frames, and what cannot be used is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.estimators.tables import table
from tests.support.messages import refused, says
from threadpoolctl import threadpool_limits

import neurotron as nt

X, Y, _ = table(60)
NAMES = ["size", "age", "rooms"]
MASKED = np.arange(60) == 3
MODEL = nt.NeuroTronRegressor().fit(X, Y)


@pytest.mark.parametrize("use", ["fit", "predict", "label_report", "solve"])
def test_masked_arrays_are_refused_because_their_hidden_values_would_be_used(use):
    X_masked = np.ma.masked_array(X, np.repeat(MASKED[:, None], 3, axis=1))
    y_masked = np.ma.masked_array(Y, MASKED)
    uses = {
        "fit": lambda X, y: nt.NeuroTronRegressor().fit(X, y),
        "predict": lambda X, y: MODEL.predict(X),
        "label_report": MODEL.label_report,
        "solve": lambda X, y: nt.solve(nt.networks.linear(3), X, y),
    }
    by_rows = "`X`", list(X_masked), Y
    for name, rows, labels in (("`X`", X_masked, Y), ("`y`", X, y_masked), by_rows):
        if (use, name) == ("predict", "`y`"):
            continue
        with refused(name, "masked array", "leave out these rows"):
            uses[use](rows, labels)


def test_a_label_report_is_a_frame_of_the_same_kind_with_the_same_index():
    index = pd.Index([f"house {row}" for row in range(60)])
    of_pandas = MODEL.label_report(pd.DataFrame(X, index=index).to_numpy(), Y)
    model = nt.NeuroTronRegressor().fit(pd.DataFrame(X, columns=NAMES), Y)
    pandas = model.label_report(pd.DataFrame(X, columns=NAMES, index=index), Y)
    polars = model.label_report(pl.DataFrame(X, schema=NAMES), Y)
    assert isinstance(of_pandas, dict)
    assert isinstance(pandas, pd.DataFrame)
    assert pandas.index.equals(index)
    assert isinstance(polars, pl.DataFrame)
    for frame in (pandas, polars):
        assert list(frame.columns) == list(of_pandas)
        assert np.array_equal(frame["label_quality"].to_numpy(), of_pandas["label_quality"])


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (pd.DataFrame(X, columns=["a", "b", "a"]), ("2 columns named 'a'", "rename")),
        (
            pd.DataFrame(X, columns=NAMES).astype({"age": pd.SparseDtype(float, 1.0)}),
            ("column 'age'", "sparse", "replace it by"),
        ),
        (pl.DataFrame(X, schema=NAMES).lazy(), ("LazyFrame", "X.collect")),
    ],
    ids=["repeated names", "sparse column", "lazy frame"],
)
def test_frames_without_usable_columns_are_one_sentence(given, parts):
    with refused(*parts):
        nt.NeuroTronRegressor().fit(given, Y)


def test_a_loaded_model_says_where_its_suspects_are(tmp_path):
    MODEL.save(tmp_path / "model.safetensors")
    loaded = nt.load_model(tmp_path / "model.safetensors")
    with pytest.raises(AttributeError) as caught:
        _ = loaded.suspects_
    assert says(caught.value, "suspects_", "label_report(X, y)")
    assert not hasattr(nt.NeuroTronRegressor(), "suspects_")


def test_a_search_says_after_each_start_how_many_there_were():
    seen = []
    solution = nt.solve(nt.networks.linear(3), X, Y, progress=lambda *done: seen.append(done))
    assert [done for done, _ in seen] == list(range(1, solution.starts + 1))
    assert {most for _, most in seen} == {40}


@pytest.mark.filterwarnings("ignore:the search tried")
def test_too_few_rows_without_suspects_are_not_blamed_on_constant_columns():
    draw = np.random.default_rng(2)
    rows = draw.standard_normal((90, 60))
    labels = rows @ draw.standard_normal(60) + draw.standard_normal(90)
    reasons = " ".join(nt.NeuroTronRegressor().fit(rows, labels).diagnose().reasons)
    assert says(reasons, "the rows that are no suspects determine only 60 of 61 weights")
    assert "constant, repeated" not in reasons


@pytest.mark.filterwarnings("ignore:the search tried")
def test_the_last_bits_of_a_solution_do_not_depend_on_the_number_of_threads():
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((1000, 60))
    labels = rows @ draw.standard_normal(60) + draw.standard_normal(1000)
    network, found = nt.networks.linear(60), []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(nt.solve(network, rows, labels, max_starts=1).weights)
    assert np.array_equal(*found)


@pytest.mark.parametrize("size", [1e-61, 1e-160, 1e-310])
def test_scales_below_the_limit_are_refused_by_solve_too(size):
    for name, rows, labels in (("column 0 of `X`", X * size, Y), ("`y`", X, Y * size)):
        with refused(name, "1e-60", "another unit"):
            nt.solve(nt.networks.linear(3), rows, labels)


def test_scales_just_above_the_limit_find_the_same_suspects():
    rows, labels, attacked = table(200, attacked=0.05)
    expected = nt.NeuroTronRegressor().fit(rows, labels).suspects_
    assert expected[attacked].all()
    for inputs, outputs in ((1e-59, 1.0), (1.0, 1e-59)):
        model = nt.NeuroTronRegressor().fit(rows * inputs, labels * outputs)
        assert np.array_equal(model.suspects_, expected)
