"""The ceiling of the error itself: against all changes of labels, and by wrong formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.support.audited import small_table

from neurotron.auditing.attackers import Scene
from neurotron.auditing.ceilings import exact_ceiling, harmless_rows, rms
from neurotron.auditing.effects import Effects
from neurotron.auditing.splits import AuditedTable
from neurotron.theory.smoother import Room, largest_rise

MOST = 2


def scene_of(seed: int, size: float) -> Scene:
    """Return a smoother of six labels, with residuals of some size and uneven room for changes."""
    draw = np.random.default_rng(seed)
    split = AuditedTable.of(*small_table(8, seed=seed)).split(0, 0)
    matrix = draw.standard_normal((len(split.test_y), len(split.y)))
    room = Room(*draw.uniform(0.0, 1.0, (2, len(split.y))))
    residuals = size * draw.standard_normal(len(split.test_y))
    return Scene(split, room, 1.0, None, residuals, split.y, Effects(split, None, matrix), seed)


def largest_rises(scene: Scene) -> tuple[float, float, float]:
    """Return what the worst of all changes of two labels does to error, mean and predictions."""
    count, matrix = len(scene.split.y), scene.exact
    found = []
    for rows in itertools.combinations(range(count), MOST):
        for signs in itertools.product((-1, 1), repeat=MOST):
            change = np.zeros(count)
            for row, sign in zip(rows, signs, strict=True):
                change[row] = scene.room.up[row] if sign > 0 else -scene.room.down[row]
            shift = matrix @ change
            rise = rms(scene.residuals + shift) - rms(scene.residuals)
            found.append((rise, abs(shift.mean()), np.abs(shift).max()))
    return tuple(np.max(found, axis=0).tolist())


@pytest.mark.parametrize("size", [0.0, 0.1, 1.0, 30.0])
def test_no_change_of_two_labels_exceeds_the_ceilings_and_some_reach_them(size):
    for seed in range(40):
        scene = scene_of(seed, size)
        error, mean, worst = largest_rises(scene)
        ceiling = exact_ceiling(scene, MOST)
        assert error <= ceiling.error * (1.0 + 1e-9)
        assert mean == pytest.approx(ceiling.mean)
        assert worst == pytest.approx(ceiling.worst)
        assert ceiling.error <= scene.rms_ceiling.at(MOST) * (1.0 + 1e-12)


def test_half_of_the_linear_term_would_not_be_a_ceiling():
    def halved(scene: Scene) -> float:
        residuals = scene.residuals
        along = residuals[None, :] @ scene.exact / len(residuals)
        linear = largest_rise(along, scene.room, MOST)[0]
        before, shift = rms(residuals), scene.rms_ceiling.at(MOST)
        return math.sqrt(before**2 + linear + shift**2) - before

    scenes = [scene_of(seed, 30.0) for seed in range(40)]
    assert any(largest_rises(scene)[0] > halved(scene) for scene in scenes)


def test_for_large_errors_the_ceiling_is_much_below_the_triangle_inequality():
    scene = scene_of(0, 30.0)
    assert exact_ceiling(scene, MOST).error < 0.9 * scene.rms_ceiling.at(MOST)


def test_so_many_rows_are_harmless_and_one_more_is_not_known_to_be():
    scene = scene_of(1, 1.0)
    for most in range(len(scene.split.y)):
        limit = exact_ceiling(scene, most).error
        found = harmless_rows(scene, limit)
        assert found >= most
        assert exact_ceiling(scene, found).error <= limit
