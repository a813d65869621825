"""Ceilings for linear smoothers, against brute force over all changes of the labels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.smoothers import ROUNDING, RandomTable
from tests.support.messages import refused
from tests.support.pieces import pieces

from neurotron.theory import smoother
from neurotron.theory.smoother import (
    RmsCeiling,
    Room,
    largest_rise,
    largest_rms,
    room_of,
    worst_change,
    worst_rms_change,
)

LABELS, PREDICTIONS, TABLES = 6, 4, 5
MOSTS = (0, 1, 2, 3, LABELS, LABELS + 2)

ROOMS = {
    "bound": lambda y: room_of(y, 0.7),
    "bound and range": lambda y: room_of(y, 0.7, -1.0, 1.0),
    "range": lambda y: room_of(y, math.inf, -1.0, 1.5),
    "only up": lambda y: Room(np.zeros(len(y)), np.full(len(y), 0.5)),
    "only down": lambda y: Room(np.abs(y), np.zeros(len(y))),
    "half-open range": lambda y: room_of(y, math.inf, low=-1.0),
    "none": lambda y: room_of(y, 0.0),
    "unbounded": lambda y: room_of(y, math.inf),
}
FINITE = ("bound", "bound and range", "range", "only up", "only down", "none")


def table(kind, number):
    """Return a matrix with some zeros, also whole columns of them, and a room."""
    rng = np.random.default_rng([number, *kind.encode()])
    H = rng.standard_normal((PREDICTIONS, LABELS)) * (rng.random((PREDICTIONS, LABELS)) < 0.8)
    H[:, rng.random(LABELS) < 0.2] = 0.0
    return H, ROOMS[kind](rng.uniform(-1.0, 1.0, LABELS))


def all_changes(room, most):
    """Return every change that puts at most `most` labels at an end of their room."""
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=len(room.up))))
    signs = signs[np.count_nonzero(signs, axis=1) <= most]
    return np.where(signs > 0, room.up, np.where(signs < 0, -room.down, 0.0))


def effects_of(H, changes):
    """Return H e of every change e, (changes, m); −inf where +∞ meets −∞, as others are larger."""
    with np.errstate(invalid="ignore"):
        terms = np.where((H == 0.0) | (changes[:, None, :] == 0.0), 0.0, H * changes[:, None, :])
        sums = terms.sum(axis=-1)
    return np.where(np.isnan(sums), -math.inf, sums)


def true_rises(H, room, most):
    return effects_of(H, all_changes(room, most)).max(axis=0)


def true_rms(H, room, most):
    return float(np.sqrt((effects_of(H, all_changes(room, most)) ** 2).mean(axis=1)).max())


def rms(values):
    return float(np.sqrt((values**2).mean()))


def cases(kinds):
    return ((*table(kind, n), most) for kind in kinds for n in range(TABLES) for most in MOSTS)


# ---- one prediction ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ROOMS)
def test_the_largest_rise_and_fall_are_those_of_all_changes(kind):
    for H, room, most in cases([kind]):
        for effects in (H, -H):
            np.testing.assert_allclose(
                largest_rise(effects, room, most), true_rises(effects, room, most), atol=1e-12
            )


@pytest.mark.parametrize("kind", ROOMS)
def test_the_worst_change_is_allowed_and_attains_the_largest_rise(kind):
    for H, room, most in cases([kind]):
        for effect, rise in zip(H, largest_rise(H, room, most), strict=True):
            change = worst_change(effect, room, most)
            assert np.count_nonzero(change) <= most
            assert (change <= room.up).all()
            assert (-change <= room.down).all()
            assert effects_of(effect[None], change[None])[0, 0] == pytest.approx(rise)


def test_without_a_range_it_is_the_bound_times_the_largest_effects():
    effect = np.array([[3.0, -4.0, 0.5, 2.0]])
    assert largest_rise(effect, room_of(np.zeros(4), 0.5), 2) == [0.5 * (4.0 + 3.0)]


def test_a_label_without_effect_does_no_harm_though_nothing_bounds_it():
    room = room_of([0.0, 0.0], math.inf)
    assert largest_rise([[0.0, 0.0], [0.0, 1.0]], room, 1).tolist() == [0.0, math.inf]
    assert worst_change([0.0, -1.0], room, 2).tolist() == [0.0, -math.inf]
    assert largest_rms([[0.0, 0.0]], room, 2) == 0.0
    assert largest_rms([[0.0, 1.0]], room, 2) == math.inf


def test_a_large_matrix_is_treated_in_blocks(monkeypatch):
    H, room = np.random.default_rng(0).standard_normal((7, 5)), room_of(np.zeros(5), 1.0)
    whole = largest_rise(H, room, 2)
    monkeypatch.setattr("neurotron.theory.label_changes.BLOCK", 10)
    assert (largest_rise(H, room, 2) == whole).all()


# ---- all predictions -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FINITE)
def test_the_largest_rms_lies_between_what_is_attained_and_the_bound(kind):
    for H, room, most in cases([kind]):
        change, exact = worst_rms_change(H, room, most), true_rms(H, room, most)
        assert np.count_nonzero(change) <= most
        assert ((change <= room.up) & (-change <= room.down)).all()
        assert rms(H @ change) <= exact * (1.0 + 1e-12)
        assert exact <= largest_rms(H, room, most) <= 1.6 * exact


def test_the_search_mostly_finds_the_largest_rms_and_the_bound_is_close():
    attempts = [case for case in cases(["bound", "bound and range"]) if case[-1] > 0]
    exact = np.array([true_rms(*case) for case in attempts])
    attained = np.array([rms(case[0] @ worst_rms_change(*case)) for case in attempts])
    bounds = np.array([largest_rms(*case) for case in attempts])
    assert (attained > 0.999 * exact).mean() > 0.95
    assert np.median(bounds / exact) < 1.06


@pytest.mark.parametrize("kind", FINITE)
def test_for_one_label_the_bound_is_exact(kind):
    for number in range(TABLES):
        H, room = table(kind, number)
        assert largest_rms(H, room, 1) == pytest.approx(true_rms(H, room, 1), rel=1e-8)


@pytest.mark.parametrize("most", [1, 3, 6])
def test_for_more_labels_than_thresholds_are_tried_for_the_bound_holds(most, monkeypatch):
    monkeypatch.setattr(smoother, "MANY", 0)
    for number in range(TABLES):
        H, room = table("bound and range", number)
        assert largest_rms(H, room, most) >= true_rms(H, room, most)


def test_an_rmse_rises_by_no_more_than_the_bound_and_the_search_attacks_it():
    gained, blind = [], []
    for H, room, most in cases(["bound"]):
        errors = np.random.default_rng(most).standard_normal(len(H))
        everything = errors + effects_of(H, all_changes(room, most))
        exact = float(np.sqrt((everything**2).mean(axis=1)).max())
        change = worst_rms_change(H, room, most, errors)
        gained.append(rms(errors + H @ change) / exact)
        blind.append(rms(errors + H @ worst_rms_change(H, room, most)) / exact)
        assert exact <= (rms(errors) + largest_rms(H, room, most)) * (1.0 + 1e-12)
    assert max(gained) <= 1.0 + 1e-12
    assert np.mean(np.array(gained) > 0.999) > 0.95
    assert np.mean(blind) < np.mean(gained) - 0.05


@given(
    seed=st.integers(0, 2**32),
    most=st.integers(0, 9),
    low=st.floats(-2.0, 0.0),
    high=st.floats(0.0, 2.0),
    offset=st.floats(0.0, 3.0),
)
@settings(max_examples=40, deadline=None)
def test_a_step_of_the_search_never_makes_the_mean_square_smaller(seed, most, low, high, offset):
    rng = np.random.default_rng(seed)
    H, away = rng.standard_normal((5, 9)), offset * rng.standard_normal(5)
    room = Room(np.full(9, -low), high * rng.random(9))
    change = np.where(rng.permutation(9) < most, rng.uniform(-room.down, room.up), 0.0)
    for _ in range(5):
        better = worst_change((away + H @ change) @ H, room, most)
        assert rms(away + H @ better) >= rms(away + H @ change) * (1.0 - 1e-12)
        change = better


def test_one_ceiling_serves_all_numbers_of_labels():
    H, room = table("bound", 3)
    ceiling = RmsCeiling(H, room)
    assert [ceiling.at(most) for most in MOSTS] == [largest_rms(H, room, most) for most in MOSTS]


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_the_labels_does_not_matter(unit):
    H, room = table("bound", 1)
    scaled = Room(room.down * unit, room.up * unit)
    assert largest_rms(H, scaled, 3) == pytest.approx(unit * largest_rms(H, room, 3), rel=1e-6)
    np.testing.assert_allclose(
        worst_rms_change(H, scaled, 3), unit * worst_rms_change(H, room, 3), rtol=1e-12
    )


# ---- the tests can fail --------------------------------------------------------------------------


def mutated_rise(gain=1.0, less=0, falls=True):
    """Return `largest_rise` with a factor, with fewer labels, or of labels that only rise."""

    def rises(effects, room, most):
        room = room if falls else Room(np.zeros_like(room.down), room.up)
        return gain * largest_rise(effects, room, max(most - less, 0))

    return rises


MUTATIONS = {
    "half of it": mutated_rise(gain=0.5),
    "one label fewer": mutated_rise(less=1),
    "no falls": mutated_rise(falls=False),
}


def is_exceeded(rises, kinds=("bound", "range")):
    return any(
        (true_rises(H, room, most) > rises(H, room, most) + 1e-9).any()
        for H, room, most in cases(kinds)
    )


def test_the_true_formula_is_never_exceeded():
    assert not is_exceeded(largest_rise)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_wrong_formula_is_exceeded(name):
    assert is_exceeded(MUTATIONS[name])


def rms_is_exceeded():
    return any(
        true_rms(H, room, most) > largest_rms(H, room, most)
        for H, room, most in cases(["bound", "bound and range"])
    )


def half_eigenvalues(monkeypatch):
    original = smoother.largest_eigenvalue
    monkeypatch.setattr(smoother, "largest_eigenvalue", lambda S: 0.5 * original(S))


def nothing_clipped(monkeypatch):
    monkeypatch.setattr(smoother, "top", lambda values, most: 0.0 * values)


def half_rises(monkeypatch):
    monkeypatch.setattr(smoother, "largest_rise", MUTATIONS["half of it"])


def no_falls(monkeypatch):
    monkeypatch.setattr(smoother, "largest_rise", MUTATIONS["no falls"])


def one_row_fewer(monkeypatch):
    original = smoother.top_sum
    monkeypatch.setattr(smoother, "top_sum", lambda values, most: original(values, most - 1))


def one_entry_fewer(monkeypatch):
    original = smoother.top
    monkeypatch.setattr(smoother, "top", lambda values, most: original(values, most - 1))


def test_the_true_rms_bound_is_never_exceeded():
    assert not rms_is_exceeded()


@pytest.mark.parametrize(
    "mutation",
    [half_eigenvalues, nothing_clipped, half_rises, no_falls, one_row_fewer, one_entry_fewer],
)
def test_a_wrong_rms_bound_is_exceeded(mutation, monkeypatch):
    mutation(monkeypatch)
    assert rms_is_exceeded()


# ---- input ---------------------------------------------------------------------------------------


def test_labels_outside_their_range_are_refused():
    with refused("labels", "[0, 1]", "2", "row 1", "widen"):
        room_of([0.5, 2.0], 0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: room_of([[0.0]], 1.0), ["labels", "(N,)", "(1, 1)"]),
        (lambda: room_of([0.0], -1.0), ["bound", "-1"]),
        (lambda: room_of([0.0], math.nan), ["bound", "nan"]),
        (lambda: worst_change([1.0], Room(np.zeros(2), np.zeros(2)), 1), ["room.down", "(1,)"]),
        (lambda: worst_change([1.0], Room(np.zeros(1), -np.ones(1)), 1), ["room.up", "from 0"]),
        (lambda: worst_change([1.0], Room(np.ones(1), np.ones(1) * 1e80), 1), ["room.up", "1e+70"]),
        (lambda: worst_change([1.0], (np.ones(1), np.ones(1)), 1), ["room", "Room"]),
        (lambda: worst_change([1.0], room_of([0.0], 1.0), -1), ["most", "-1"]),
        (lambda: largest_rise([1.0], room_of([0.0], 1.0), 1), ["effects", "(m, N)", "(1,)"]),
        (lambda: largest_rms([[math.nan]], room_of([0.0], 1.0), 1), ["H", "nan"]),
        (lambda: worst_rms_change([[1.0]], room_of([0.0], math.inf), 1), ["room", "range"]),
    ],
    ids=[
        "labels", "bound", "nan", "shape", "negative", "large", "tuple", "most", "effects", "H",
        "unbounded",
    ],
)  # fmt: skip
def test_bad_input_gets_one_clear_sentence(call, words):
    with refused(*words):
        call()


# ---- random tables, and everybody who attacks their labels ---------------------------------------

MANY, PIECES = 1000, 4


@pytest.mark.long
@pytest.mark.quick
@pytest.mark.parametrize("numbers", pieces(MANY, PIECES), ids=str)
def test_no_attack_exceeds_a_ceiling(numbers):
    found = {number: RandomTable(number).excess() for number in numbers}
    assert {number: excess for number, excess in found.items() if excess > ROUNDING} == {}


@pytest.mark.long
@pytest.mark.quick
@pytest.mark.parametrize("numbers", pieces(MANY, PIECES), ids=str)
def test_a_refit_reaches_the_ceiling_of_a_prediction(numbers):
    found = {number: RandomTable(number).refitted() for number in numbers}
    assert {number: away for number, away in found.items() if away > 1e-6} == {}


@pytest.mark.long
@pytest.mark.quick
@pytest.mark.parametrize("part", [0.5, 0.99])
def test_a_smaller_ceiling_is_exceeded_on_every_table(part):
    assert min(RandomTable(number).excess(part) for number in range(50)) > ROUNDING
