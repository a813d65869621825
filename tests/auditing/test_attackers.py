"""No attacker of an audit changes more labels, or changes them more, than its budget allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.support.audited import small_table

import neurotron as nt
from neurotron import attacks
from neurotron.auditing.attackers import ALL, KNOWING, Scene, attacked, is_random, parse_attacks
from neurotron.auditing.effects import Effects, _measured, of_least_squares
from neurotron.auditing.splits import AuditedTable
from neurotron.theory.smoother import room_of

NEED_NUMBERS = {"multiplicative": "multiplicative:factor=3", "replacement": "replacement:scale=9"}
NAMES = [
    *KNOWING,
    *(NEED_NUMBERS.get(name, name) for name in attacks.BY_NAME if name not in ("burst", "mixture")),
]


def scene_of(seed=0, bound=1.0, label_range=None, exact=True) -> Scene:
    split = AuditedTable.of(*small_table(seed=seed)).split(seed, 0)
    low, high = label_range or (-np.inf, np.inf)
    effects = Effects(of_least_squares(split), "" if exact else "not linear")
    residuals = np.random.default_rng(seed).standard_normal(len(split.test_y))
    room = room_of(split.y, bound, low, high)
    return Scene(split, room, bound, label_range, residuals, effects, seed)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12)
@given(
    exact=some.booleans(),
    seed=some.integers(0, 5), most=some.integers(0, 45), bound=some.sampled_from([0.01, 1.0, 50.0]),
    limited=some.booleans(),
)  # fmt: skip
def test_no_attack_exceeds_its_budget(name, exact, seed, most, bound, limited):
    scene = scene_of(seed, bound, (-30.0, 40.0) if limited else None, exact)
    labels = attacked(name, scene, most, 0)
    if labels is None:
        assert name in KNOWING
        return
    change = labels - scene.split.y
    assert np.count_nonzero(change) <= most
    assert np.abs(change).max(initial=0.0) <= bound * (1.0 + 1e-12)
    if limited:
        assert labels.min() >= -30.0
        assert labels.max() <= 40.0


@pytest.mark.parametrize("name", [name for name in ALL if name not in KNOWING])
def test_attacks_of_the_library_use_their_whole_budget(name):
    scene = scene_of()
    labels = attacked(name, scene, 7, 0)
    assert np.count_nonzero(labels - scene.split.y) == 7


def test_random_attacks_differ_from_replicate_to_replicate_and_others_do_not():
    scene = scene_of()
    for name in ALL:
        first, second = (attacked(name, scene, 7, replicate) for replicate in (0, 1))
        if first is not None:
            assert np.array_equal(first, second) != is_random(name)


def test_the_largest_norm_is_attacked_first():
    scene = scene_of()
    changed = np.flatnonzero(attacked("large-norm", scene, 3, 0) - scene.split.y)
    norms = np.linalg.norm(scene.split.inputs, axis=1)
    assert {*changed} == {*np.argsort(-norms)[:3]}


def test_another_models_labels_are_those_of_the_opposite_coefficients():
    scene = scene_of(bound=1e6)
    inputs, y = scene.split.inputs, scene.split.y
    fitted = inputs @ np.linalg.lstsq(inputs, y, rcond=None)[0]
    labels = attacked("impersonation", scene, len(y), 0)
    assert np.allclose(labels, 2.0 * y.mean() - fitted)


def test_effects_of_single_labels_are_measured_per_unit_of_the_label():
    split = AuditedTable.of(*small_table(20)).split(0, 0)
    matrix = np.random.default_rng(0).standard_normal((len(split.test_y), len(split.y)))
    for bound in (0.5, 4.0):
        room = room_of(split.y, bound)
        found = _measured(split, lambda labels: matrix @ labels, matrix @ split.y, room, 0)
        assert np.allclose(found, matrix)


def test_own_attacks_get_the_budget_of_the_audit():
    class Up(nt.Attack):
        query_fields = ()

        def distort(self, bound, query):
            return np.full(np.shape(query.label), bound)

    scene = scene_of(bound=2.0)
    labels = attacked(Up(bound=99.0), scene, 5, 0)
    assert sorted(set(np.round(labels - scene.split.y, 9))) == [0.0, 2.0]


def test_unknown_attacks_are_refused_with_a_proposal():
    with pytest.raises(nt.InputError, match=r"infuence.*did you mean 'influence'"):
        parse_attacks("infuence")
    with pytest.raises(nt.InputError, match="different"):
        parse_attacks(["constant", "constant"])
    with pytest.raises(nt.InputError, match="attacks"):
        parse_attacks([])
