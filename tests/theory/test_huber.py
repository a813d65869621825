"""Huber regression with a fixed clip: the root, and a ceiling that no changed labels exceed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from tests.oracles.clipped import ceiling, equation, every_change, moved, pushed, table

from neurotron.theory.huber_ceiling import ClippedCeiling
from neurotron.theory.label_changes import Room, room_of, top_sum
from neurotron.theory.smoother import RmsCeiling


@pytest.mark.parametrize("seed", range(12))
def test_the_root_solves_the_equation(seed):
    found, y, _, _ = table(seed)
    for labels in (y, np.where(np.arange(len(y)) % 9, y, 1e8), 1e6 + y):
        assert np.linalg.norm(found.left(found.root(labels), labels)) <= found.settled(labels)


@pytest.mark.parametrize("clip", [0.3, 1.345, 10.0])
def test_without_gate_and_penalty_it_minimises_hubers_loss(clip):
    draw = np.random.default_rng(0)
    X = draw.standard_normal((60, 3))
    y = X @ [1.0, -2.0, 0.5] + draw.standard_t(2, 60)
    found = equation(X, np.ones(60), clip, 1.0, np.zeros((3, 3)))
    independent = least_squares(
        lambda v: y - found.rows @ v,
        np.zeros(3),
        loss="huber",
        f_scale=clip,
        xtol=1e-12,
        gtol=1e-12,
    )
    assert np.allclose(found.root(y), independent.x, atol=1e-5)


def exceeded(found: ClippedCeiling, most: int) -> float:
    """Return how far attacks moved the root, as a part of the ceiling."""
    return moved(found, most) / found.at(most)


@pytest.mark.parametrize(
    "seeds", [range(24), pytest.param(range(24, 4000), marks=pytest.mark.long)]
)
def test_attacks_along_directions_never_exceed_the_ceiling(seeds):
    shares = []
    for seed in seeds:
        found, y, room, most = table(seed)
        shares.append(exceeded(ceiling(found, y, room), most))
    assert max(shares) < 1.0
    assert np.median(shares) > 0.5  # and it is not far above what they reach
    assert np.count_nonzero(shares) > 0.7 * len(shares)  # it is rarely infinite


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 60), marks=pytest.mark.long)])
def test_no_change_of_two_labels_exceeds_the_ceiling_in_either_direction(seeds):
    for seed in seeds:
        draw = np.random.default_rng(seed)
        X = np.column_stack([draw.standard_normal(8), np.ones(8)])[:, : 1 + seed % 2]
        leak, y = (1.0, 0.5)[seed % 2], X[:, 0] + 0.3 * draw.standard_normal(8)
        found = equation(X, np.ones(8), 2.0, leak, 0.5 * np.eye(X.shape[1]))
        room = room_of(y, 1.0 if seed % 2 else math.inf)
        at_hand = ceiling(found, y, room)
        for labels in every_change(y, room, 2):
            root = found.root(labels)
            away = np.linalg.norm(root - at_hand.root)
            assert away < at_hand.at(2)
            if seed % 2:  # from poisoned labels to the clean ones
                assert away < ClippedCeiling(found, labels, root, room_of(labels, 1.0)).at(2)


@pytest.mark.parametrize("seed", [24, 184, 191])
def test_without_a_clip_it_is_exact_for_one_label(seed):
    found, y, room, _ = table(seed)
    assert math.isinf(found.clip)
    free = replace(found, leak=1.0, penalty=0.0 * found.penalty)
    assert exceeded(ceiling(free, y, room), 1) == pytest.approx(1.0, abs=1e-7)


def test_it_is_larger_for_more_labels_nothing_for_none_and_infinite_for_too_many():
    found, y, _, _ = table(2)
    found = replace(found, clip=2.0)
    at_hand = ceiling(found, y, room_of(y, math.inf))
    distances = [at_hand.at(most) for most in range(6)]
    assert distances[0] == 0.0
    assert distances == sorted(distances)
    assert math.isinf(at_hand.at(len(y) // 2))


def test_labels_that_become_anything_move_it_no_further_than_far_labels():
    found, y, _, most = table(141)
    far, any_label = (ceiling(found, y, room_of(y, bound)).at(most) for bound in (1e9, math.inf))
    assert far == pytest.approx(any_label)


def test_a_root_that_is_not_exact_has_a_larger_ceiling():
    found, y, _, _ = table(2)
    room, away = room_of(y, 1e-9), np.full(len(found.rows[0]), 0.01)
    wrong = ClippedCeiling(found, y, found.root(y) + away, room)
    assert np.linalg.norm(away) < wrong.at(1) < 10.0 * np.linalg.norm(away)


# ---- what is wrong if a term of the theorem is left out ------------------------------------------


class ChangedRowsPullBack(ClippedCeiling):
    def _holds(self, far, most, held, anew):
        return super()._holds(far, 0, held, anew)


class PullWithoutClip(ClippedCeiling):
    def _holds(self, far, most, held, anew):
        lost = top_sum(self.equation.counts * self._lengths**2, most) / len(self.labels)
        pull = self.equation.leak * far
        return pull > anew or pull * (1.0 - lost) > held


class SteepGate(ClippedCeiling):
    def _holds(self, far, most, held, anew):
        steep = replace(self, equation=replace(self.equation, leak=1.0))
        return ClippedCeiling._holds(steep, far, most, held, anew)


class PushOfOneClip(ClippedCeiling):
    @property
    def _ceilings(self):
        held, anew = super()._ceilings
        room = Room(*(np.minimum(end, self.equation.clip) for end in anew.room))
        return held, RmsCeiling(anew.H, room)


class HalfTheRoom(ClippedCeiling):
    @property
    def _ceilings(self):
        return tuple(
            RmsCeiling(one.H, Room(*(np.divide(one.room, 2)))) for one in super()._ceilings
        )


@pytest.mark.parametrize(
    ("mutant", "seed"),
    [(ChangedRowsPullBack, 345), (PullWithoutClip, 105), (SteepGate, 343), (PushOfOneClip, 141),
     (HalfTheRoom, 345)],
)  # fmt: skip
def test_without_one_of_its_terms_the_ceiling_would_be_exceeded(mutant, seed):
    found, y, room, most = table(seed)
    root = found.root(y)
    assert exceeded(ClippedCeiling(found, y, root, room), most) < 1.0
    assert exceeded(mutant(found, y, root, room), most) > 1.2


def test_the_attack_changes_no_more_labels_than_it_may():
    found, y, room, most = table(5)
    labels = pushed(ceiling(found, y, room), found.rows[:, 0], most)
    change = labels - y
    assert 0 < np.count_nonzero(change) <= most
    assert ((-room.down <= change) & (change <= room.up)).all()
