"""Bounds as text: never below what holds, and hardly above it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron._digits import up


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_what_is_printed_is_not_below_the_bound_and_hardly_above(value):
    assert value <= float(up(value)) < value * (1.0 + 1e-3)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.362738, "0.3628"), (0.1, "0.1"), (0.0, "0"), (9999.5, "1e+04"), (float("inf"), "inf")],
)
def test_no_digit_is_given_away(value, text):
    assert up(value) == text
