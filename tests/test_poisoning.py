"""Poisoning of stored rows by any attack."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.attacks import example
from tests.support.messages import refused

import neurotron as nt
from neurotron.attacks import Query

NETWORK = nt.networks.symmetric(6, 4, 6, seed=3)
DRAW = np.random.default_rng(0)
X, WEIGHTS = DRAW.standard_normal((200, 6)), DRAW.standard_normal(4)
Y = NETWORK(WEIGHTS, X)
FILTER = (NETWORK, WEIGHTS)
ALL = [example(kind, bound=0.5, probability=0.3) for kind in nt.attacks.BUILT_IN]
BY_KIND = {type(attack).__name__: attack for attack in ALL}
ALL[-2] = BY_KIND["PickedRows"] = nt.attacks.PickedRows(
    weights=np.ones(4), bound=0.5, probability=0.3
)


class Fitted:
    """A regressor in the manner of scikit-learn."""

    def predict(self, rows):
        return np.asarray(rows) @ np.arange(6.0)


# ---- every attack --------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ALL, ids=repr)
def test_only_masked_labels_change_each_within_the_bound_and_as_the_seed_says(attack):
    labels, mask = nt.poison(X, Y, attack, model=FILTER, seed=4)
    again, same = nt.poison(X, Y, attack, model=FILTER, seed=4)
    np.testing.assert_array_equal(labels, again)
    np.testing.assert_array_equal(mask, same)
    np.testing.assert_array_equal(labels[~mask], Y[~mask])
    assert (labels[mask] != Y[mask]).all()
    assert np.abs(labels - Y).max() <= 0.5 * (1 + 1e-12)
    assert 0 < mask.sum() < 200


RANDOM = [a for a in ALL if not isinstance(a, (nt.attacks.HighLeverage, nt.attacks.PickedRows))]
FIXED = [a for a in ALL if a not in RANDOM and not isinstance(a, nt.attacks.Impostor)]


@pytest.mark.parametrize("attack", RANDOM, ids=repr)
def test_another_seed_attacks_other_rows(attack):
    masks = [nt.poison(X, Y, attack, model=FILTER, seed=seed)[1] for seed in (0, 1)]
    assert (masks[0] != masks[1]).any()


@pytest.mark.parametrize("attack", FIXED, ids=repr)
def test_an_attack_that_chooses_its_rows_does_not_depend_on_the_seed(attack):
    masks = [nt.poison(X, Y, attack, model=FILTER, seed=seed)[1] for seed in (0, 1)]
    np.testing.assert_array_equal(*masks)


@given(count=st.integers(1, 60), percent=st.integers(0, 100), kind=st.sampled_from(FIXED))
def test_an_attack_on_rows_spends_exactly_its_budget(count, percent, kind):
    attack = type(kind).spending(
        nt.Problem.draw(NETWORK, nt.Normal()), 0.5, percent / 100, 0
    )  # fmt: skip
    _, mask = nt.poison(X[:count], Y[:count], attack, model=FILTER)
    assert mask.sum() == percent * count // 100


def test_a_rounded_share_costs_no_row():
    attack = nt.attacks.HighLeverage(bound=1.0, probability=1 - 0.9)  # 0.09999999999999998
    assert nt.poison(X[:10], Y[:10], attack)[1].sum() == 1


def test_without_a_choice_each_row_has_its_own_coin():
    attack = nt.attacks.Constant(bound=1.0, probability=0.3)
    rows, y = np.ones((20_000, 1)), np.zeros(20_000)
    _, mask = nt.poison(rows, y, attack)
    assert abs(mask.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 20_000)
    _, few = nt.poison(rows[:50], y[:50], attack)
    np.testing.assert_array_equal(few, mask[:50])  # whatever rows follow
    more = nt.poison(rows, y, nt.attacks.Constant(bound=1.0, probability=0.4))[1]
    assert (mask <= more).all()


def test_never_and_always_mean_what_they_say():
    for probability, expected in ((0.0, 0), (1.0, 200)):
        _, mask = nt.poison(X, Y, nt.attacks.Constant(1.0, probability))
        assert mask.sum() == expected


# ---- what attacks mean for a table ---------------------------------------------------------------


def test_the_adaptive_attack_pushes_along_the_direction_in_which_the_rows_resist_least():
    labels, _ = nt.poison(X, Y, nt.attacks.Adaptive(1.0), model=FILTER)
    g = NETWORK.gradient(WEIGHTS, X)
    weakest = np.linalg.svd(g)[2][-1]
    seen = g.any(axis=1)
    signs = (labels - Y) * np.sign(g @ weakest)
    assert seen.sum() > 150
    np.testing.assert_allclose(signs[seen], signs[seen][0])


def test_without_a_model_the_rows_are_those_of_a_linear_filter():
    vector = np.arange(1.0, 7.0)
    odd = nt.attacks.OddDirection(1.0, direction=vector)
    np.testing.assert_allclose(nt.poison(X, Y, odd)[0] - Y, np.sign(X @ vector))
    other = nt.attacks.Impersonation(1e3, weights=vector)
    np.testing.assert_allclose(nt.poison(X, Y, other)[0], X @ vector)
    adaptive = nt.attacks.Adaptive(1.0)
    alone = nt.poison(X, Y, adaptive)[0]
    for model in (nt.networks.linear(6), vector, Fitted()):
        np.testing.assert_array_equal(nt.poison(X, Y, adaptive, model=model)[0], alone)


def test_signs_alternate_and_bursts_come_along_the_rows():
    rows, y = np.ones((2500, 1)), np.zeros(2500)
    labels, _ = nt.poison(rows, y, nt.attacks.AlternatingSign(1.0))
    np.testing.assert_array_equal(labels, [-1.0, 1.0] * 1250)
    _, mask = nt.poison(rows, y, nt.attacks.Burst(1.0, share=0.2))
    np.testing.assert_array_equal(mask, np.arange(2500) % 1000 < 200)


# ---- models --------------------------------------------------------------------------------------


def test_the_labels_may_be_those_of_any_fitted_regressor():
    labels, mask = nt.poison(X, Y, nt.attacks.PickedRows(probability=0.1), model=Fitted())
    np.testing.assert_allclose(labels[mask], (X @ np.arange(6.0))[mask])
    assert mask.sum() == 20


def test_a_solution_is_a_model_with_its_intercept():
    solution = nt.solve(NETWORK, X, Y + 3.0, intercept=True)
    assert solution.intercept == pytest.approx(3.0)
    attack = nt.attacks.PickedRows(weights=np.ones(4), probability=1.0)
    labels, _ = nt.poison(X, Y + 3.0, attack, model=solution)
    np.testing.assert_allclose(labels, NETWORK(np.ones(4), X) + 3.0)
    own = nt.attacks.PickedRows(probability=1.0)
    assert not nt.poison(X, Y + 3.0, own, model=solution)[1].any()  # it changes nothing


def test_a_network_alone_is_enough_where_no_filter_is_needed():
    attack = nt.attacks.Impersonation(1e3, weights=np.ones(4))
    labels, _ = nt.poison(X, Y, attack, model=NETWORK)
    np.testing.assert_allclose(labels, NETWORK(np.ones(4), X))


class Shrinking(nt.Attack):
    """Pulls labels towards the model's output; of the fields it uses it says nothing."""

    def distort(self, bound, query):
        return np.clip(query.output - query.label, -bound, bound)


class Louder(nt.Attack):
    query_fields = ("label",)

    def distort(self, bound, query):
        return 2.0 * bound + 0.0 * query.label


class Eager(nt.Attack):
    query_fields = ()

    def distort(self, bound, query):
        return bound

    def chance(self, probability, query):
        return 2.0 * probability


class Largest(nt.Attack):
    """Raises the largest labels."""

    query_fields = ()
    scope = "rows"

    def distort(self, bound, query):
        return bound

    def priority(self, table):
        return table.labels


class AnyRows(nt.attacks.Constant):
    scope = "rows"


def test_attacks_of_a_users_own_work_too():
    labels, mask = nt.poison(X, Y, Shrinking(0.2), model=np.zeros(6))
    np.testing.assert_allclose(labels, Y - np.clip(Y, -0.2, 0.2), atol=1e-12)
    labels, mask = nt.poison(X, Y, Largest(1.0, 0.1))
    assert set(np.flatnonzero(mask)) == set(np.argsort(Y)[-20:])
    masks = [nt.poison(X, Y, AnyRows(1.0, 0.1), seed=seed)[1] for seed in (0, 1)]
    assert [mask.sum() for mask in masks] == [20, 20]
    assert (masks[0] != masks[1]).any()
    for attack in (Largest(1.0, 0.1), AnyRows(1.0, 0.1)):
        nt.check_attack(attack)


# ---- the range of labels -------------------------------------------------------------------------


@given(low=st.floats(-5.0, 0.0), high=st.floats(0.0, 5.0), kind=st.sampled_from([*BY_KIND]))
def test_labels_stay_in_their_range(low, high, kind):
    inside = (low <= Y) & (high >= Y)
    rows, y = X[inside][:30], Y[inside][:30]
    if len(y) < 10 or kind == "Impostor":
        return
    labels, mask = nt.poison(rows, y, BY_KIND[kind], model=FILTER, label_range=(low, high))
    assert low <= labels.min()
    assert labels.max() <= high
    np.testing.assert_array_equal(mask, labels != y)


def test_a_label_at_the_end_of_its_range_stays_out_of_the_mask():
    attack = nt.attacks.Constant(1.0)
    labels, mask = nt.poison([[1], [2], [3]], [0, 1, 1], attack, label_range=(0, 1))
    assert labels.tolist() == [1.0, 1.0, 1.0]
    assert mask.tolist() == [True, False, False]


# ---- wrong input ---------------------------------------------------------------------------------

CONSTANT = nt.attacks.Constant(1.0, 0.5)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: nt.poison([[1.0], [np.nan]], [1, 2], CONSTANT), ("X", "nan", "row 1, column 0")),
        (lambda: nt.poison([["a"]], [1], CONSTANT), ("X", "numbers")),
        (lambda: nt.poison([1, 2], [1, 2], CONSTANT), ("X", "(N, n)", "(2,)")),
        (lambda: nt.poison(X, Y[:-1], CONSTANT), ("y", "(200,)", "(199,)")),
        (lambda: nt.poison(X, np.where(Y > 0, np.inf, Y), CONSTANT), ("y", "finite", "inf")),
        (lambda: nt.poison(X, Y, "constant"), ("attack", "an Attack", "'constant'")),
        (lambda: nt.poison(X, Y, CONSTANT, seed=-1), ("seed", "-1")),
        (lambda: nt.poison(X, Y, CONSTANT, model="linear"),
         ("model", "predict(X)", "(network, weights)", "'linear'")),
        (lambda: nt.poison(X, Y, CONSTANT, model=Fitted), ("model", "predict(X)")),
        (lambda: nt.poison(X, Y, CONSTANT, model=np.ones(4)), ("weights", "(6,)", "(4,)")),
        (lambda: nt.poison(X, Y, CONSTANT, model=(NETWORK, np.ones(5))),
         ("weights", "(4,)", "(5,)")),
        (lambda: nt.poison(X[:, :5], Y, CONSTANT, model=FILTER), ("X", "columns", "6", "5")),
        (lambda: nt.poison(X, Y, CONSTANT, label_range=(1, 0)), ("label_range", "low ≤ high")),
        (lambda: nt.poison(X, Y, CONSTANT, label_range=3.0), ("label_range", "(low, high)")),
        (lambda: nt.poison([[1]], [7], CONSTANT, label_range=(0, 1)),
         ("label_range", "7", "row 0")),
        (lambda: nt.poison(X, Y, Louder(1.0)), ("distort", "Louder(bound=1, probability=1)", "2")),
        (lambda: nt.poison(X, Y, Eager(1.0, 0.8)), ("chance", "[0, 0.8]")),
        # what an attack needs
        (lambda: nt.poison(X, Y, BY_KIND["OddDirection"]), ("(4,)", "6", "model=network")),
        (lambda: nt.poison(X, Y, nt.attacks.PickedRows()),
         ("predicts", "model=(network, weights)")),
        (lambda: nt.poison(X, Y, nt.attacks.Impostor()), ("filter", "model=(network, weights)")),
        (lambda: nt.poison(X, Y, BY_KIND["Adaptive"], model=NETWORK),
         ("gradient", "model=(network, weights)")),
        (lambda: nt.poison(X, Y, BY_KIND["HighLeverage"], model=NETWORK),
         ("gradient", "model=(network, weights)")),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_sentence(call, parts):
    with refused(*parts):
        call()


def test_predictions_are_checked():
    model = SimpleNamespace(predict=lambda rows: np.full(len(rows), np.nan))
    with refused("model.predict(X)", "finite"):
        nt.poison(X, Y, nt.attacks.PickedRows(), model=model)


def test_lists_and_whole_numbers_are_tables_too_and_stay_as_they_are():
    rows, y = [[1, 2], [3, 4]], [5, 6]
    labels, mask = nt.poison(rows, y, nt.attacks.Constant(1.0))
    assert labels.tolist() == [6.0, 7.0]
    assert labels.dtype == float
    assert mask.dtype == bool
    assert (rows, y) == ([[1, 2], [3, 4]], [5, 6])


def test_the_query_has_what_is_known_and_no_more():
    seen = []

    class Curious(nt.Attack):
        def distort(self, bound, query):
            seen.append(query)
            return 0.0 * query.label

    for model in (NETWORK, FILTER):
        nt.poison(X, Y, Curious(1.0), model=model)
    unknown = [{n for n in Query._fields if np.isnan(getattr(q, n)).all()} for q in seen]
    assert unknown[0] == {"output", "push", "probe", "probe_output", "parameter"}
    assert unknown[1] == {"probe", "parameter"}
