"""The recursion F, its floor, its schedule, and the bound that needs no iterating."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from neurotron.theory.iteration import SCHEDULED, fill
from neurotron.theory.mean_path import linear_steps
from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import EXACT_STEPS, Recursion


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


@given(recursions(), st.floats(1e-6, 1e6), st.floats(1e-3, 1e3) | st.none())
def test_python_and_the_compiled_loop_compute_the_same_bounds_to_the_last_bit(
    recursion, start, part
):
    step_size = None if part is None else part * recursion.fastest
    compiled, plain = np.full((2, 300), start)
    fill(SCHEDULED if step_size is None else step_size, *recursion.numbers, compiled)
    recursion.fill_in_python(plain, step_size)
    np.testing.assert_array_equal(plain, compiled)


def test_linear_steps_are_the_same_to_the_last_bit_without_the_compiler(monkeypatch):
    factors, added = np.random.default_rng(0).uniform(-1.1, 1.1, (2, 300))
    compiled = linear_steps(0.3, factors, added)
    monkeypatch.delitem(sys.modules, "numba")
    np.testing.assert_array_equal(linear_steps(0.3, factors, added), compiled)
    assert compiled[:2].tolist() == [0.3, factors[0] * 0.3 + added[0]]


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


@given(recursions(), st.floats(0.02, 1.0), st.floats(1.05, 50.0))
def test_steps_to_a_target_are_the_fewest(recursion, part, above):
    eta = part * recursion.fastest
    target = (above * recursion.floor(eta)) ** 2
    start = 1e4 * target
    steps = recursion.steps_to(start, target, eta)
    if steps <= EXACT_STEPS:
        before, after = recursion.after(start, [steps - 1, steps], eta)
        assert after <= target < before


@given(recursions(), st.floats(0.02, 1.0), st.floats(1.05, 50.0), st.booleans())
def test_the_integral_never_promises_too_much(recursion, part, above, scheduled):
    """Fewer than 1 + ∫ dΔ/h steps lead below the target."""
    eta = None if scheduled else part * recursion.fastest
    edge = recursion.limit if scheduled else recursion.floor(eta)
    target = (above * edge) ** 2
    start = 100.0 * target
    steps = 1 + math.floor(recursion.time(start, target, eta))
    if steps <= 5000:
        assert recursion.iterate(start, steps, eta)[-1] <= target * (1.0 + 1e-12)


def test_many_steps_are_bounded_closely():
    """Beyond the iterated steps the bound is above the recursion, by little."""
    recursion = Recursion(1.0, 0.15, 14.0, 0.85, 0.017)
    for eta in (1e-4, 1e-5, None):
        wanted = np.array([30_000, 100_000, 300_000])
        bounds = recursion.after(40.0, wanted, eta)
        exact = np.array(recursion.iterate(40.0, 300_000, eta))[wanted]
        assert (bounds >= exact * (1.0 - 1e-12)).all()
        assert (bounds <= exact * 1.003).all()


def test_a_schedule_beats_every_constant_step_at_every_horizon():
    recursion = Recursion(1.0, 0.15, 14.0, 0.85, 0.017)
    horizon = [10, 100, 1000, 10_000]
    scheduled = recursion.after(40.0, horizon, None)
    for eta in np.geomspace(1e-5, 0.07, 30):
        assert (scheduled <= recursion.after(40.0, horizon, float(eta)) * (1.0 + 1e-12)).all()


def test_a_step_too_large_has_no_floor_and_no_bound_in_the_long_run():
    recursion = Recursion(1.0, 0.1, 4.0, 0.1, 0.1)
    assert recursion.floor(0.26) == math.inf
    assert recursion.steps_to(1.0, 0.5, 0.26) is None
    assert recursion.after(1.0, [1, 10**9], 0.26)[-1] == math.inf


def test_what_starts_below_its_floor_never_leaves_it():
    recursion = Recursion(1.0, 0.15, 14.0, 0.85, 0.017)
    floor = recursion.floor(0.01) ** 2
    course = recursion.after(0.25 * floor, [0, 10, 1000, 10**9], 0.01)
    assert (np.diff(course) >= 0.0).all()
    assert course[-1] <= floor * (1.0 + 1e-12)
    assert recursion.steps_to(0.25 * floor, floor, 0.01) == 0


def test_clean_learning_goes_to_zero_without_a_warning():
    clean = Recursion(1.0, 0.0, 4.0, 0.0, 0.0)
    for eta in (clean.fastest, None):
        assert clean.after(1.0, [10_000, 10**12], eta).max() < 1e-190


@given(recursions(), st.floats(0.01, 1.5), st.floats(1.1, 5.0), st.floats(1.1, 1e3))
def test_the_time_is_the_integral_of_one_over_the_decrease(recursion, part, above, ratio):
    """∫ dΔ/(Δ − F(Δ)) by SciPy's quadrature: both roots and their signs are right."""
    eta = part * recursion.fastest
    target = (above * recursion.floor(eta)) ** 2
    by_quadrature, _ = integrate.quad(
        lambda y: math.exp(y) / (math.exp(y) - one_step(recursion, math.exp(y), eta)),
        math.log(target), math.log(ratio * target),
    )  # fmt: skip
    assert recursion.time(ratio * target, target, eta) == pytest.approx(by_quadrature, rel=1e-5)


def test_a_bound_on_the_steps_is_never_one_short(monkeypatch):
    """A start hardly above the target still needs one step, though the integral is almost 0."""
    monkeypatch.setattr("neurotron.theory.recursion.EXACT_STEPS", -1)
    recursion = Recursion(1.0, 0.15, 14.0, 0.85, 0.017)
    for eta in (1e-3, None):
        assert recursion.steps_to(1.0 + 1e-9, 1.0, eta) == 1


def test_just_beyond_the_iterated_steps_the_bound_still_suffices():
    recursion = Recursion(1.0, 0.15, 14.0, 0.85, 0.017)
    target = recursion.after(40.0, [EXACT_STEPS + 500], 1e-4)[0]
    steps = recursion.steps_to(40.0, float(target), 1e-4)
    assert steps > EXACT_STEPS
    assert recursion.iterate(40.0, steps, 1e-4)[-1] <= target
    assert steps <= 1.001 * (EXACT_STEPS + 500)
