"""A chart as numbers: thinning, scales, and the table beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron.lab.figures.chart import MOST_POINTS, SMALLEST, Chart, Line, Panel, line_of
from neurotron.lab.figures.styles import OF_ALGORITHM, OTHERS, Style, shades, styles

STYLE = Style("#0072B2", "circle")


def line(y, low=None, high=None, x=None):
    x = np.arange(1.0, len(y) + 1) if x is None else x
    return line_of("a", x, np.array(y), STYLE, low, high)


def chart(*panels):
    return Chart("c", "title", "caption", "x", "y", panels)


def test_a_line_ends_where_it_diverges_and_zeros_are_drawn_at_the_bottom():
    made = line([1.0, 0.0, 2.0, math.inf, math.inf])
    np.testing.assert_array_equal(made.x, [1, 2, 3])
    np.testing.assert_array_equal(made.y, [1.0, SMALLEST, 2.0])


def test_step_zero_has_no_place_on_a_logarithmic_axis():
    made = line_of("a", np.array([0, 1, 10]), np.array([3.0, 2.0, 1.0]), STYLE)
    np.testing.assert_array_equal(made.x, [1, 10])


@given(st.integers(2, 5000), st.integers(18, 300))
def test_thinning_keeps_both_ends_and_the_order(count, most):
    made = Line("a", np.arange(1.0, count + 1), np.arange(count) * 1.0 + 1, STYLE).thinned(most)
    assert made.x[0] == 1.0
    assert made.x[-1] == count
    assert len(made.x) <= max(most, 2)
    assert (np.diff(made.x) > 0).all()
    np.testing.assert_array_equal(made.x, made.y)


def test_a_long_record_is_thinned_where_the_eye_sees_nothing():
    made = line(np.linspace(1.0, 2.0, 40_000))
    assert MOST_POINTS / 2 < len(made.x) <= MOST_POINTS
    gaps = np.diff(np.log10(made.x))
    assert gaps[10:].max() < 0.1  # no hole on the logarithmic axis
    assert np.diff(made.x).max() < 40_000 / 60  # nor on the linear one


def test_the_notes_of_dots_stay_with_their_dots():
    dots = Line("a", np.zeros(100), np.arange(100) * 1.0, STYLE, joined=False,
                notes=tuple(map(str, range(100)))).thinned(20)  # fmt: skip
    assert len(dots.notes) == len(dots.y) <= 20
    assert [float(note) for note in dots.notes] == list(dots.y)


def test_a_band_without_end_is_drawn_some_way_up_and_told_as_infinite():
    made = line([1.0, 2.0], np.array([0.5, 1.0]), np.array([5.0, math.inf]))
    low, high = made.band()
    np.testing.assert_array_equal(high, [5.0, 20.0])
    np.testing.assert_array_equal(low, [0.5, 1.0])
    (number,) = chart(Panel("p", (made,))).numbers()
    assert (number.panel, number.at, number.value, number.high) == ("p", "2", 2.0, math.inf)


def test_panels_share_a_scale_unless_one_would_be_pressed_flat():
    narrow, wide = line([1.0, 10.0]), line([1e-15, 1.0])
    assert chart(Panel("a", (narrow,)), Panel("b", (line([2.0, 30.0]),))).shared
    assert not chart(Panel("a", (narrow,)), Panel("b", (narrow,)), Panel("c", (wide,))).shared
    assert chart(Panel("empty", ())).shared


def test_the_heights_of_a_chart_hold_its_bands():
    made = line([1.0, 2.0], np.array([0.1, 1.0]), np.array([5.0, 9.0]))
    assert chart(Panel("p", (made,))).heights == (0.1, 9.0)


def test_a_table_has_every_point_at_a_tick_and_no_dots():
    points = Line("a", np.array([0.0, 2.0]), np.array([1.0, 2.0]), STYLE, np.zeros(2), np.ones(2))
    dots = Line("a", np.array([0.0]), np.array([9.0]), STYLE, joined=False)
    numbers = chart(Panel("p", (points, dots), ticks=("i", "j", "k"))).numbers()
    assert [(number.at, number.value) for number in numbers] == [("i", 1.0), ("k", 2.0)]


def test_every_trainer_has_a_look_of_its_own():
    looks = styles([("a", "neuro-tron"), ("b", "sgd"), ("c", "neuro-tron"), ("d", "mine")])
    assert looks["a"] == OF_ALGORITHM["neuro-tron"]
    assert len(set(looks.values())) == 4
    assert len({look.colour for look in looks.values()}) == 4
    assert len({look.marker for look in looks.values()}) == 4
    many = styles((f"t{i}", "mine") for i in range(3 * len(OTHERS)))
    assert len(set(many.values())) == 3 * len(OTHERS)


def luminance(colour):
    """Return the relative luminance (WCAG) of a colour."""
    parts = np.array([int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_shades_go_from_light_to_dark_and_keep_the_marker():
    made = shades(STYLE, 7)
    lights = [luminance(shade.colour) for shade in made]
    assert lights == sorted(lights, reverse=True)
    assert lights[0] > 5 * lights[-1]
    assert {shade.marker for shade in made} == {STYLE.marker}
    assert shades(STYLE, 1) == [STYLE]


@pytest.mark.parametrize("look", OF_ALGORITHM.values())
def test_lines_stand_out_from_a_white_page(look):
    assert 1.05 / (luminance(look.colour) + 0.05) >= 3.0
