"""Attacks that choose among all rows of a table: which rows they take, and what they do there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.messages import refused, says

import neurotron as nt
from neurotron.attacks import HighLeverage, Impersonation, Impostor, PickedRows
from neurotron.attacks.table import AttackedTable

NETWORKS = {
    "linear": nt.networks.linear(26),
    "symmetric": nt.networks.symmetric(30, 12, 6, seed=1),
    "gate": nt.networks.relu_gate(10),
    "leaky gate": nt.networks.relu_gate(10, leak=0.2),
    "convolution": nt.networks.convolution(20, 5, 5),
    "overlapping": nt.networks.convolution(16, 5),
    "weighted": nt.networks.symmetric(20, 8, 4, seed=2, outer_weights=[1.0, 2.0, 0.5, 1.5]),
}


def rows_of(network: nt.FilterNetwork, count: int = 300, seed: int = 0) -> AttackedTable:
    """Return rows with exact labels of a random filter."""
    draw = np.random.default_rng(seed)
    weights = draw.standard_normal(network.filter_size)
    X = draw.standard_normal((count, network.n_inputs))
    return AttackedTable(X, network(weights, X), network, weights, seed=seed)


def poisoned(table: AttackedTable, attack: nt.Attack):
    model = (table.network, table.weights)
    return nt.poison(table.inputs, table.labels, attack, model=model, seed=table.seed)


def explained(table: AttackedTable, labels, weights):
    """Return the rows that a filter explains up to rounding, of those that tell filters apart."""
    residual = np.abs(labels - table.network(weights, table.inputs))
    active = table.network.gradient(weights, table.inputs).any(axis=1)
    return active & (residual <= 1e-9 * np.abs(table.labels).max())


def test_a_scope_that_does_not_exist_is_refused():
    class Everywhere(nt.attacks.Constant):
        scope = "row"

    with refused("Everywhere.scope", "'rows'", "'row'"):
        Everywhere(1.0)


# ---- high leverage -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_high_leverage_takes_the_rows_with_the_largest_entries_of_the_hat_matrix(name):
    table = rows_of(NETWORKS[name], 120)
    _, mask = poisoned(table, HighLeverage(bound=1.0, probability=0.25))
    g = table.network.gradient(table.weights, table.inputs)
    hat = np.diag(g @ np.linalg.pinv(g))
    assert mask.sum() == 30
    assert hat[mask].min() >= hat[~mask].max()


def test_high_leverage_moves_least_squares_more_than_any_random_attack_of_its_budget():
    draw = np.random.default_rng(1)
    X = draw.standard_normal((200, 5)) * [1.0, 2.0, 3.0, 4.0, 5.0]
    y = X @ np.ones(5)

    def error(attack, seed=0):
        labels, _ = nt.poison(X, y, attack, seed=seed)
        return np.linalg.norm(np.linalg.lstsq(X, labels)[0] - 1.0)

    other = nt.attacks.RandomSign(bound=1.0, probability=0.2)
    assert error(HighLeverage(bound=1.0, probability=0.2)) > 2 * max(
        error(other, seed) for seed in range(20)
    )


def test_high_leverage_needs_a_finite_bound():
    with pytest.raises(nt.InputError) as caught:
        HighLeverage(bound=np.inf)
    assert says(caught.value, "bound", "[0, inf)", "inf")


def test_columns_that_are_always_zero_or_repeated_have_no_leverage_of_their_own():
    X = np.random.default_rng(0).standard_normal((40, 3))
    wide = np.column_stack([X, np.zeros(40), X[:, 0]])
    narrow = AttackedTable(X, np.zeros(40), nt.networks.linear(3)).leverage
    stretched = AttackedTable(
        X @ np.diag([1.0, 10.0, 0.1]), np.zeros(40), nt.networks.linear(3)
    ).leverage
    np.testing.assert_allclose(AttackedTable(wide, X[:, 0], nt.networks.linear(5)).leverage, narrow)
    np.testing.assert_allclose(stretched, narrow)
    assert (AttackedTable(0.0 * X, X[:, 0], nt.networks.linear(3)).leverage == 0.0).all()


# ---- picked rows ---------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 1.0), name=st.sampled_from([*NETWORKS]))
def test_picked_rows_are_those_where_the_filters_differ_most(seed, share, name):
    """Against brute force: all rows sorted by the difference."""
    table = rows_of(NETWORKS[name], 40, seed)
    other = np.random.default_rng(seed + 1).standard_normal(table.network.filter_size)
    labels, mask = poisoned(table, PickedRows(weights=other, probability=share))
    adversary = table.network(other, table.inputs)
    gap = np.abs(adversary - table.labels)
    taken = sorted(range(40), key=lambda i: gap[i])[40 - int(share * 40 + 1e-9) :]
    taken = [i for i in taken if gap[i] > 0.0]  # where both are zero there is nothing to change
    assert set(np.flatnonzero(mask)) == set(taken)
    np.testing.assert_allclose(labels[mask], adversary[mask], rtol=1e-12, atol=1e-12)


def test_picked_rows_by_name_impersonate_the_filter_that_impersonation_draws(small_problem):
    budget = {"bound": np.inf, "probability": 0.3, "seed": 7}
    picked = nt.attacks.build("picked-rows", small_problem, **budget)
    assert type(picked) is PickedRows
    assert picked.probability == 0.3
    other = Impersonation.spending(small_problem, 1.0, 0.3, 7)
    np.testing.assert_array_equal(picked.weights, other.weights)


# ---- the impostor --------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [np.inf, 0.3])
@pytest.mark.parametrize("name", NETWORKS)
def test_an_impostor_explains_its_rows_and_as_many_honest_ones_as_a_filter_can_share(name, bound):
    """r − 1 for a linear network; r are possible for others."""
    table = rows_of(NETWORKS[name])
    attack = Impostor(probability=0.42, bound=bound)
    labels, mask = poisoned(table, attack)
    impostor = attack.aimed(table).weights
    r, fits = table.network.filter_size, explained(table, labels, impostor)
    shared = int((fits & ~mask).sum())
    assert mask.sum() == 126
    assert fits[mask].all()
    assert shared == r - 1 if table.network.leak == 1.0 else shared in (r - 1, r)
    difference = table.network(impostor, table.inputs) - table.labels
    assert np.abs(difference[fits & ~mask]).max() <= 1e-12 * np.abs(table.labels).max()
    assert np.median(np.abs(difference[mask])) > 1e-3 * np.abs(table.labels).mean()
    assert np.abs(labels - table.labels).max() <= bound * (1.0 + 1e-12)


def test_an_impostor_without_a_majority_fools_the_rule_of_more_than_half_of_the_rows():
    """42 % of the labels are changed, and a wrong filter explains 151 of 300 rows exactly."""
    table = rows_of(NETWORKS["linear"])
    attack = Impostor(probability=0.42)
    labels, mask = poisoned(table, attack)
    impostor, r = attack.aimed(table).weights, table.network.filter_size
    fits = explained(table, labels, impostor).sum()
    assert mask.sum() < 150 < fits == 151
    assert fits > 2 * r
    assert np.linalg.norm(impostor - table.weights) > 0.05 * np.linalg.norm(table.weights)
    assert fits - 1 - (r - 1) < mask.sum()  # the rule that counts shared rows is not fooled


def test_an_impostor_is_another_one_for_another_seed_and_its_weights_may_be_given():
    table, other = (rows_of(NETWORKS["gate"], 60, seed) for seed in (0, 1))
    first = Impostor(probability=0.2).aimed(table).weights
    np.testing.assert_array_equal(first, Impostor(probability=0.2).aimed(table).weights)
    assert not np.array_equal(first, Impostor(probability=0.2).aimed(other).weights)
    chosen = Impostor(probability=0.2, weights=np.ones(10))
    assert chosen.aimed(table) is chosen


def test_an_impostor_is_made_for_a_filter_of_a_single_weight():
    table = rows_of(nt.networks.relu_gate(1), 20)
    _, mask = poisoned(table, Impostor(probability=0.1))
    assert mask.sum() == 2


def test_an_impostor_that_does_not_exist_is_refused():
    """With one active row for ten weights, no r − 1 rows can be shared."""
    table = rows_of(NETWORKS["gate"], 3)
    with refused("Impostor(probability=0.5)", "weights", "PickedRows"):
        poisoned(table, Impostor(probability=0.5))


# ---- streams -------------------------------------------------------------------------------------

ON_ROWS = [HighLeverage(1.0, 0.2), PickedRows(weights=np.ones(4)), Impostor()]


@pytest.mark.parametrize("attack", ON_ROWS, ids=repr)
def test_a_simulation_refuses_an_attack_that_needs_all_rows_and_names_poison(small_problem, attack):
    for call in (
        lambda: nt.Arm(nt.SGD(0.1), attack),
        lambda: nt.simulate(small_problem, nt.SGD(0.1), attack=attack, steps=1, batch_size=1),
    ):
        with refused(repr(attack), "nt.poison(X, y, attack)"):
            call()


@pytest.mark.parametrize("attack", ON_ROWS, ids=repr)
def test_no_guarantee_is_planned_against_an_attack_on_rows(small_problem, attack):
    with pytest.raises(nt.NotAchievable, match="no guarantee covers"):
        nt.plan(small_problem, attack, radius=0.5, steps=10**5, batch_size=8)
