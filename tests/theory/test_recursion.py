"""The recursion F, its floor and its best step sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import Recursion


@st.composite
def recursions(draw, attacked=True):
    """Recursions as they come: L2 ≥ L1 ≥ p/2, so that F is non-decreasing."""
    p = draw(st.floats(0.1, 2.0))
    l1 = p / 2.0 * draw(st.floats(1.0, 3.0))
    l2 = l1 * draw(st.floats(1.0, 5.0))
    b = draw(st.integers(1, 64))
    push = draw(st.floats(1e-4, 1.0)) if attacked else 0.0
    alone = push * draw(st.floats(1.0, 5.0))
    cross = 1.0 - 1.0 / b
    batch_aware = draw(st.booleans())
    low, high = (-l2, -l2) if batch_aware else (p / 2.0, l1)
    return Recursion(
        p,
        2.0 * push,
        l2**2 / b + cross * l1**2,
        2.0 * l2 * alone * draw(st.floats(0.0, 1.0)) / b,
        alone**2 / b + cross * push * (alone if batch_aware else push),
        cross * low,
        cross * high,
    )


def one_step(recursion: Recursion, delta, eta):
    return bound_after(delta, eta, *recursion.numbers)


@given(recursions(), st.floats(1e-6, 10.0), st.floats(1e-3, 1.9))
def test_f_is_non_decreasing_and_concave(recursion, delta, part):
    eta = part * recursion.fastest
    x = delta * np.array([1.0, 1.5, 2.0])
    y = one_step(recursion, x, eta)
    assert (np.diff(y) >= -1e-12 * y[-1]).all()
    assert y[1] >= (y[0] + y[2]) / 2.0 * (1.0 - 1e-12)


@given(recursions(), st.floats(0.01, 1.9))
def test_the_floor_is_a_fixed_point(recursion, part):
    eta = part * recursion.fastest
    floor = recursion.floor(eta)
    assert one_step(recursion, floor**2, eta) == pytest.approx(floor**2, rel=1e-9)
    assert floor >= recursion.limit * (1.0 - 1e-12)


@given(recursions())
def test_small_steps_lead_to_the_limit(recursion):
    assert recursion.floor(1e-9 * recursion.fastest) == pytest.approx(recursion.limit, rel=1e-3)


@given(recursions(), st.floats(1.0, 100.0), st.floats(0.1, 3.0))
def test_no_step_beats_the_best_step(recursion, factor, part):
    delta = (factor * recursion.limit) ** 2
    best = best_step(delta, *recursion.numbers)
    other = one_step(recursion, delta, best * part)
    assert one_step(recursion, delta, best) <= other * (1.0 + 1e-12)


@given(recursions(attacked=False), st.floats(0.1, 3.0))
def test_without_an_attack_nothing_is_faster_than_fastest(recursion, part):
    shrink = one_step(recursion, 1.0, recursion.fastest)
    assert shrink <= one_step(recursion, 1.0, part * recursion.fastest) * (1.0 + 1e-12)
    assert recursion.floor(recursion.fastest) == 0.0
