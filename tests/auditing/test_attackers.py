"""No attacker of an audit changes more labels, or changes them more, than its budget allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from tests.support.audited import small_table

import neurotron as nt
from neurotron import attacks
from neurotron.auditing import effects as effects_module
from neurotron.auditing.attackers import (
    ALL,
    EXACT,
    KNOWING,
    NORMAL,
    SIZES,
    SURROGATES,
    Scene,
    is_random,
    parse_attacks,
    plans_of,
)
from neurotron.auditing.effects import WIDTH, Effects
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
    draw = np.random.default_rng(seed)
    effects = Effects(split, None)
    if exact:
        effects = Effects(split, None, effects.linear)
    residuals = draw.standard_normal(len(split.test_y))
    fitted = split.y + draw.standard_normal(len(split.y))
    room = room_of(split.y, bound, low, high)
    return Scene(split, room, bound, label_range, residuals, fitted, effects, seed)


def attacked(name, scene, most, replicate=0):
    """Return the labels of each way in which an attack is tried."""
    return [plan(most) for plan in plans_of(name, scene, replicate)]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12)
@given(
    exact=some.booleans(),
    seed=some.integers(0, 5), most=some.integers(0, 45), bound=some.sampled_from([0.01, 1.0, 50.0]),
    limited=some.booleans(),
)  # fmt: skip
def test_no_attack_exceeds_its_budget(name, exact, seed, most, bound, limited):
    scene = scene_of(seed, bound, (-30.0, 40.0) if limited else None, exact)
    found = attacked(name, scene, most)
    assert found or name in KNOWING
    for labels in found:
        change = labels - scene.split.y
        assert np.count_nonzero(change) <= most
        assert np.abs(change).max(initial=0.0) <= bound * (1.0 + 1e-12)
        if limited:
            assert labels.min() >= -30.0
            assert labels.max() <= 40.0


@pytest.mark.parametrize("name", [name for name in ALL if name not in KNOWING])
def test_attacks_of_the_library_use_their_whole_budget(name):
    scene = scene_of()
    (labels,) = attacked(name, scene, 7)
    assert np.count_nonzero(labels - scene.split.y) == 7


def test_random_attacks_differ_from_replicate_to_replicate_and_others_do_not():
    scene = scene_of()
    for name in ALL:
        first, second = (attacked(name, scene, 7, replicate) for replicate in (0, 1))
        if first:
            assert np.array_equal(first, second) != is_random(name)


def test_the_largest_norm_is_attacked_first():
    scene = scene_of()
    changed = np.flatnonzero(attacked("large-norm", scene, 3)[0] - scene.split.y)
    norms = np.linalg.norm(scene.split.inputs, axis=1)
    assert {*changed} == {*np.argsort(-norms)[:3]}


def test_another_models_labels_are_those_of_the_opposite_coefficients():
    scene = scene_of(bound=1e6)
    inputs, y = scene.split.inputs, scene.split.y
    fitted = inputs @ np.linalg.lstsq(inputs, y, rcond=None)[0]
    (labels,) = attacked("impersonation", scene, len(y))
    assert np.allclose(labels, 2.0 * y.mean() - fitted)


def test_surrogates_are_least_squares_and_ridge_regression_with_gaussian_kernels():
    split = AuditedTable.of(*small_table()).split(0, 0)
    inputs, tests = split.inputs[:, :-1], split.test_inputs[:, :-1]
    kernels = KernelRidge(kernel="rbf", alpha=1.0, gamma=WIDTH / inputs.shape[1])
    effects = Effects(split, None)
    for matrix, model in ((effects.linear, LinearRegression()), (effects.kernel, kernels)):
        expected = model.fit(inputs, split.y).predict(tests)
        assert np.allclose(matrix @ split.y, expected, atol=1e-6)


def test_some_rows_span_the_kernels_of_many_almost_as_well(monkeypatch):
    split = AuditedTable.of(*small_table(200)).split(0, 0)
    whole = Effects(split, None).kernel
    monkeypatch.setattr(effects_module, "LANDMARKS", 100)
    assert np.linalg.norm(Effects(split, None).kernel - whole) < 0.1 * np.linalg.norm(whole)


def test_the_leaves_of_a_model_are_its_own_also_behind_other_steps():
    split = AuditedTable.of(*small_table()).split(0, 0)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    for model in (tree, make_pipeline(StandardScaler(), tree)):
        model.fit(split.X, split.y)
        assert np.allclose(Effects(split, model).leaf @ split.y, model.predict(split.test_X))


def test_models_that_are_not_linear_meet_all_surrogates_and_linear_ones_their_own_worst_case():
    """Every estimator meets the attacks of the library and shifts to one side as well."""
    other, linear = ({name for name in ALL if plans_of(name, scene_of(exact=exact), 0)}
                     for exact in (False, True))  # fmt: skip
    assert other ^ linear == {*SURROGATES, *EXACT}
    assert {*SURROGATES} <= other
    assert "one-sided" in other & linear


def test_labels_are_also_moved_only_as_far_as_a_robust_model_believes_them():
    """Such a model gives labels that are far from its fit no weight, so they do no harm."""
    scene = scene_of(bound=50.0, exact=False)
    spread = NORMAL * np.median(np.abs(scene.residuals))
    far = [
        np.abs(labels - scene.fitted)[labels != scene.split.y].max() / spread
        for labels in attacked("linear-surrogate", scene, 7)
    ]
    assert far[0] > 10.0
    assert far[1:] == pytest.approx(SIZES)


def test_a_one_sided_attack_moves_the_rows_at_one_end_of_a_direction_to_one_side():
    scene = scene_of()
    inputs = scene.split.inputs[:, :-1]
    widest = inputs @ np.linalg.svd(inputs, full_matrices=False)[2][0]
    ends = [{*np.argsort(sign * widest)[:5]} for sign in (1.0, -1.0)]
    found = [labels - scene.split.y for labels in attacked("one-sided", scene, 5)]
    assert all(len({*np.sign(change[change != 0.0])}) == 1 for change in found)
    for end in ends:
        signs = {np.sign(change.sum()) for change in found if {*np.flatnonzero(change)} == end}
        assert signs == {-1.0, 1.0}


def test_own_attacks_get_the_budget_of_the_audit():
    class Up(nt.Attack):
        query_fields = ()

        def distort(self, bound, query):
            return np.full(np.shape(query.label), bound)

    scene = scene_of(bound=2.0)
    (labels,) = attacked(Up(bound=99.0), scene, 5)
    assert sorted(set(np.round(labels - scene.split.y, 9))) == [0.0, 2.0]


def test_unknown_attacks_are_refused_with_a_proposal():
    with pytest.raises(nt.InputError, match=r"onesided.*did you mean 'one-sided'"):
        parse_attacks("onesided")
    with pytest.raises(nt.InputError, match="different"):
        parse_attacks(["constant", "constant"])
    with pytest.raises(nt.InputError, match="attacks"):
        parse_attacks([])
