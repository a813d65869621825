"""The cells of a heat map: colours, words and outlines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from research.cells import COLOURS, Grid, Scale, is_dark

ERRORS = Scale("error", 1e-15, 10.0)


def luminance(colour: str) -> float:
    """Of WCAG, from 0 to 1."""
    channels = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    parts = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return float(np.dot([0.2126, 0.7152, 0.0722], list(parts)))


def test_colours_only_ever_get_brighter():
    assert (np.diff([luminance(colour) for colour in COLOURS]) > 0.02).all()


def test_numbers_stand_out_from_every_cell():
    for i, colour in enumerate(COLOURS):
        light = luminance(colour)
        white = bool(is_dark(np.array(i / (len(COLOURS) - 1))))
        assert (1.05 / (light + 0.05) if white else (light + 0.05) / 0.05) >= 4.5


def test_bright_is_good_whichever_way_numbers_go():
    values = np.array([1e-15, 1e-7, 10.0, 0.0, np.inf, np.nan])
    np.testing.assert_allclose(ERRORS.places(values), [1.0, 0.5, 0.0, 1.0, 0.0, np.nan])
    shares = Scale("share", 0.0, 1.0, is_log=False, small_is_good=False)
    np.testing.assert_allclose(shares.places(np.array([0.0, 0.25, 1.0])), [0.0, 0.25, 1.0])


@given(st.floats(1e-17, 1e6))
def test_a_cell_says_its_number_in_few_letters(value):
    word = ERRORS.word(value)
    assert len(word) <= 6
    assert float(word) == pytest.approx(value, rel=0.5)


@given(st.floats(-16.0, 3.0), st.floats(0.0, 18.0))
def test_a_scale_has_marks_in_order_and_within(low, decades):
    ticks = Scale("error", 10.0**low, 10.0 ** (low + max(decades, 1.0))).ticks()
    assert 1 <= len(ticks) <= 6
    places = [place for place, _ in ticks]
    assert places == sorted(places)
    assert -1e-9 <= places[0] <= places[-1] <= 1.0 + 1e-9


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_an_outline_separates_marked_cells_from_all_others(rows):
    marked = np.array(rows)
    none = np.zeros(marked.shape)
    borders = set(Grid(tuple("abcde"[: len(rows)]), none, none, none, marked).borders())
    inside = lambda i, j: 0 <= i < len(rows) and 0 <= j < 4 and rows[i][j]  # noqa: E731
    for i in range(-1, len(rows) + 1):
        for j in range(-1, 5):
            right = (j + 0.5, i - 0.5, j + 0.5, i + 0.5)
            above = (j - 0.5, i + 0.5, j + 0.5, i + 0.5)
            assert (right in borders) == (inside(i, j) != inside(i, j + 1))
            assert (above in borders) == (inside(i, j) != inside(i + 1, j))
