"""What a unit may return, and what it is told when it returns something else."""

from __future__ import annotations

import datetime
import math
import re

import numpy as np
import pandas
import polars
import pytest

from neurotron._check import InputError
from neurotron.work.columns import TYPES, checked_columns, plain_rows

TWO = {"name": "str", "size": "float"}
WANTED = [{"name": "a", "size": 1.0}, {"name": "b", "size": 2.5}]
TABLE = {"name": ["a", "b"], "size": [1.0, 2.5]}


@pytest.mark.parametrize(
    "result",
    [
        WANTED,
        tuple(WANTED),
        [{"name": "a", "size": 1}, {"size": np.float32(2.5), "name": np.str_("b")}],
        {"name": ["a", "b"], "size": np.array([1.0, 2.5])},
        {"name": np.array(["a", "b"]), "size": (np.array(1), 2.5)},
        polars.DataFrame(TABLE),
        polars.DataFrame(TABLE).cast({"size": polars.Float32}),
        pandas.DataFrame(TABLE),
        pandas.DataFrame(TABLE, index=[7, 7])[["size", "name"]],
    ],
)
def test_rows_columns_and_tables_mean_the_same(result):
    rows = plain_rows(result, TWO)
    assert rows == WANTED
    assert [type(value) for row in rows for value in row.values()] == [str, float] * 2
    assert list(rows[1]) == ["name", "size"]


@pytest.mark.parametrize("size", [2.5, np.float64(2.5), np.array(2.5)])
def test_a_mapping_of_single_values_is_one_row(size):
    assert plain_rows({"name": "b", "size": size}, TWO) == WANTED[1:]
    declared = {"errors": "list[float]", "size": "float"}
    (row,) = plain_rows({"errors": np.array([1, 2]), "size": size}, declared)
    assert row["errors"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        ("list[int]", [[1, 2], np.array([3], np.uint8)], [[1, 2], [3]]),
        ("list[float]", [[1, 2], [0.5]], [[1.0, 2.0], [0.5]]),
        ("list[int]", [(), None], [[], None]),
        ("list[float]", np.ones((2, 3), np.float32), [[1.0] * 3] * 2),
        ("list[int]", polars.Series([[1, 2], None]), [[1, 2], None]),
        ("float", [None, math.inf], [None, math.inf]),
        ("bool", [None, np.bool_(True)], [None, True]),
        ("int", [np.int8(3), -(2**63)], [3, -(2**63)]),
        ("str", ["", "θ\n"], ["", "θ\n"]),
    ],
)
def test_a_column_has_the_declared_type_and_any_value_may_be_missing(kind, values, wanted):
    found = [row["x"] for row in plain_rows({"x": values}, {"x": kind})]
    for got, value in zip(found, wanted, strict=True):
        if isinstance(got, np.ndarray):
            assert got.dtype == (np.int64 if kind == "list[int]" else np.float64)
        assert (got.tolist() if isinstance(got, np.ndarray) else got) == value


def test_no_rows_are_a_result():
    assert plain_rows([], TWO) == plain_rows(polars.DataFrame(TABLE).clear(), TWO) == []


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (None, "a unit must return a row.*got None"),
        (3.0, "a unit must return a row"),
        ("text", "a unit must return a row"),
        ([1, 2], "a unit must return a row"),
        ({"name": ["a"], "size": [1, 2]}, r"equally long, got lengths \[1, 2\]"),
        ({"name": ["a"], "size": 1.0}, "one value or one list of values for every column"),
        ({"name": {"a": 1}, "size": [1]}, "one value or one list"),
        ({}, "returned no column 'name', which the study declares"),
        ({"name": "a"}, "returned no column 'size'"),
        ([WANTED[0], {"name": "a"}], "returned no column 'size'"),
        ({"name": "a", "size": 1, "more": 2}, "column 'more', which the study does not declare"),
        ({"name": "a", "size": 1, 3: 2}, "column 3, which the study does not declare"),
    ],
)  # fmt: skip
def test_what_are_not_the_declared_columns_is_refused_in_one_sentence(result, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        plain_rows(result, TWO)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "value", "got"),
    [
        ("str", 1, "1"),
        ("str", b"ab", "b'ab'"),
        ("str", "\ud800", "UTF-8"),
        ("bool", 1, "1"),
        ("int", True, "True"),
        ("int", 1.0, r"1\.0"),
        ("int", 2**63, "more than 64 bits"),
        ("float", True, "True"),
        ("float", "1", "'1'"),
        ("float", 10**400, "more than 64 bits"),
        ("float", 1j, "1j"),
        ("float", datetime.date(2026, 1, 1), "datetime"),
        ("list[int]", [0.5], "a list of floats"),
        ("list[int]", [2**63], "uint64"),
        ("list[float]", [True], "bool"),
        ("list[float]", ["x"], "type"),
        ("list[float]", [1.0, None], "object"),
        ("list[float]", [[1], [2, 3]], r"\[\[1\], \[2, 3\]\]"),
        ("list[float]", np.eye(2), r"shape \(2, 2\)"),
        ("list[float]", "text", "shape"),
    ],
)
def test_a_value_of_another_type_is_refused_in_one_sentence(kind, value, got):
    said = f"column 'a' is declared as {re.escape(kind)}, got .*{got}"
    with pytest.raises(InputError, match=said) as caught:
        plain_rows([{"a": value}], {"a": kind})
    assert "\n" not in str(caught.value)


def test_every_type_may_be_declared_by_its_name():
    by_type = {f"x{i}": kind for i, kind in enumerate(TYPES)}
    assert checked_columns(by_type) == checked_columns(checked_columns(by_type))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (None, "`columns` must say what a unit returns"),
        ({}, "`columns` must say what a unit returns"),
        (["a"], "`columns` must say what a unit returns"),
        ({3: int}, "names of columns .* got 3"),
        ({"setting": str}, "names of columns .* got 'setting'"),
        ({"\ud800": str}, r"names of columns .* got '\\ud800'"),
        ({"a": "real"}, "column 'a' must be declared as one of str, bool.* got 'real'"),
        ({"a": list}, "column 'a' must be declared"),
        ({"a": list[str]}, "column 'a' must be declared"),
        ({"a": 3}, "column 'a' must be declared .* got 3"),
        ({"a": []}, "column 'a' must be declared"),
    ],
)
def test_columns_that_cannot_be_are_refused_in_one_sentence(columns, sentence):
    with pytest.raises(InputError, match=sentence):
        checked_columns(columns)
