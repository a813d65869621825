"""What a unit may return, and what it is told when it returns something else."""

from __future__ import annotations

import datetime
import math

import numpy as np
import polars
import pytest

from neurotron._check import InputError
from neurotron.lab.results.rows import plain_rows

WANTED = [{"name": "a", "size": 1.0}, {"name": "b", "size": 2.5}]


@pytest.mark.parametrize(
    "result",
    [
        WANTED,
        tuple(WANTED),
        [{"name": "a", "size": 1}, {"size": np.float32(2.5), "name": np.str_("b")}],
        {"name": ["a", "b"], "size": np.array([1.0, 2.5])},
        {"name": np.array(["a", "b"]), "size": (np.array(1), 2.5)},
        polars.DataFrame({"name": ["a", "b"], "size": [1.0, 2.5]}),
        polars.DataFrame({"name": ["a", "b"], "size": [1.0, 2.5]}).cast({"size": polars.Float32}),
    ],
)
def test_rows_columns_and_tables_mean_the_same(result):
    rows = plain_rows(result)
    assert rows == WANTED
    assert [type(value) for row in rows for value in row.values()] == [str, float] * 2
    assert list(rows[1]) == ["name", "size"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1, 2], np.array([3], np.uint8)], np.int64),
        ([[1, 2], [0.5]], np.float64),
        ([[1, 2], []], np.int64),
        ([(), None], np.float64),
        (np.ones((2, 3), np.float32), np.float64),
        (polars.Series([[1, 2], None]), np.int64),
        (polars.Series([[1, 2], [3, 4]], dtype=polars.Array(polars.Int16, 2)), np.int64),
    ],
)
def test_lists_of_numbers_become_arrays_of_one_type(values, kind):
    for row in plain_rows({"x": values}):
        assert row["x"] is None or (row["x"].dtype, row["x"].ndim) == (kind, 1)


def test_no_rows_are_a_result():
    assert plain_rows([]) == plain_rows({}) == plain_rows({"x": []}) == []


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (None, "must return a list of rows.*got None"),
        (3.0, "must return a list of rows"),
        ("text", "must return a list of rows"),
        ([1, 2], "must return a list of rows"),
        ({"a": [1], "b": [1, 2]}, r"equally long, got lengths \[1, 2\]"),
        ([{"a": 1}, {"b": 1}], r"the same columns, got \['b'\] after \['a'\]"),
        ([{"setting": 1}], "names of columns .* got 'setting'"),
        ([{3: 1}], "names of columns .* got 3"),
        ({"\ud800": [1]}, r"names of columns .* UTF-8 .* got '\\ud800'"),
        ({"law": "ab"}, "column 'law' must be a list .* got 'ab'"),
        ({"law": b"ab"}, "column 'law' must be a list .* got b'ab'"),
        ({"law": ["a", "b"], "mean": 0.5}, r"column 'mean' must be a list .* got 0\.5"),
        ({"mean": np.array(0.5)}, "column 'mean' must be a list"),
        ({"law": {"a": 1}}, "column 'law' must be a list"),
        ([{"a": 1}, {"a": "x"}], "column 'a' must be of one kind, got a text and a whole number"),
        ([{"a": True}, {"a": 1}], "of one kind, got a truth value and a whole number"),
        ([{"a": []}, {"a": "x"}], "of one kind, got a list of numbers and a text"),
        ([{"a": 2**63}], "column 'a' must have .* more than 64 bits"),
        ([{"a": np.array([2**63], np.uint64)}], "column 'a' must have .* more than 64 bits"),
        ([{"a": "\ud800"}], "column 'a' must have .* UTF-8"),
        ([{"a": 1j}], "column 'a' must have .* got 1j"),
        ([{"a": [[1], [2, 3]]}], "column 'a' must have"),
        ([{"a": np.eye(2)}], r"column 'a' must have .* shape \(2, 2\)"),
        ([{"a": ["x"]}], "column 'a' must have .* array of"),
        ([{"a": datetime.date(2026, 1, 1)}], "column 'a' must have"),
        ([{"a": {}}], "column 'a' must have"),
        (polars.DataFrame({"a": [[1, None]]}), "column 'a' must have .* missing"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(result, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        plain_rows(result)
    assert "\n" not in str(caught.value)


def test_numbers_that_are_not_finite_are_kept():
    (row,) = plain_rows([{"a": math.inf, "b": np.array([math.nan, 1])}])
    assert row["a"] == math.inf
    assert math.isnan(row["b"][0])
