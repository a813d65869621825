"""Numbers as text: bounds are never below what holds, and nothing looks like another number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron._digits import cell, counted, part, percent, readable, signed, up, with_ends
from neurotron._intervals import Interval

SIZES = st.floats(min_value=1e-300, max_value=1e300)


@given(SIZES)
def test_what_is_printed_is_not_below_the_bound_and_hardly_above(value):
    assert value <= float(up(value)) < value * (1.0 + 1e-3)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.362738, "0.3628"), (0.1, "0.1"), (0.0, "0"), (9999.5, "1e+04"), (float("inf"), "inf")],
)
def test_no_digit_is_given_away(value, text):
    assert up(value) == text


@given(SIZES, st.integers(1, 12))
def test_a_readable_number_is_the_number_rounded_to_so_many_digits(value, digits):
    assert float(readable(value, digits).replace(",", "")) == float(f"{value:.{digits}g}")


@given(SIZES)
def test_a_sign_is_the_only_difference_between_a_number_and_its_negative(value):
    assert signed(value)[0] == "+"
    assert signed(-value) == "−" + signed(value)[1:]


@pytest.mark.parametrize("words", [readable, percent, up])
def test_zero_has_one_sign_only(words):
    assert signed(0.0, words) == signed(-0.0, words)


def test_numbers_that_are_not_finite_are_named():
    assert [readable(value) for value in (math.inf, -math.inf, math.nan)] == [
        "∞", "-∞", "not defined"
    ]  # fmt: skip
    assert signed(-math.inf) == "−∞"


def test_an_interval_is_shown_if_it_is_known():
    assert with_ends(Interval(0.1, 0.05, 0.2), percent) == "10 % (5 % to 20 %)"
    assert with_ends(Interval(0.1, -math.inf, math.inf), percent) == "10 %"


def test_one_thing_is_singular_and_no_thing_plural():
    assert [counted(many, "row") for many in (0, 1, 1_000)] == ["0 rows", "1 row", "1,000 rows"]


def test_a_part_of_all_has_its_share():
    assert part(0, 7) == "0 of 7 rows (0 %)"
    assert part(2, 3, "labels") == "2 of 3 labels (66.7 %)"


def test_a_cell_of_a_table_says_what_is_missing():
    values = [None, math.nan, -math.inf, True, 1_000, 1234.5, "a"]
    assert [cell(value) for value in values] == ["–", "–", "−∞", "True", "1,000", "1,230", "a"]


@given(st.floats(0.0, 1.0))
def test_only_all_are_a_hundred_percent_and_only_none_are_zero(share):
    if 0.0 < share < 1.0 - 1e-9:
        assert percent(share) not in ("0 %", "100 %")
