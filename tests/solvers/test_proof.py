"""The proof on the rows: a filter that is not the true one is never proved."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.impostors import cases, old_rule
from tests.support.messages import says

import neurotron as nt
from neurotron.networks import Matrices
from neurotron.solvers.coincidence import coincidences
from neurotron.solvers.position import by_rounding, fullest_hyperplane
from neurotron.solvers.proof import Proof, prove

build = nt.networks
GENERAL = "proved if the rows are in general position"


def rows(number: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, number, n]).standard_normal((number, n))


def proof_of(network, x, *, explained=None, weights=None, intercept=False) -> Proof:
    w = rows(1, network.filter_size, 5)[0] if weights is None else weights
    every = np.ones(len(x), bool) if explained is None else explained
    return prove(network, x, w, every, intercept=intercept)


@pytest.fixture(scope="module")
def poisoned():
    return list(cases(seed=20, number=56))


def test_a_wrong_filter_is_never_proved_against_the_rows_that_were_tampered_with(poisoned):
    for case in poisoned:
        proof = prove(
            case.network, case.inputs, case.filter, case.explained, intercept=case.intercept
        )
        assert proof.tampered < case.tampered, (case.kind, proof)


def test_the_rule_of_more_than_half_of_the_rows_would_accept_wrong_filters(poisoned):
    fooled = [c for c in poisoned if old_rule(c) and 2 * c.tampered < len(c.inputs)]
    assert len(fooled) >= 10
    assert {"linear", "ReLU gate", "symmetric"} <= {case.kind for case in fooled}


@pytest.mark.parametrize(
    ("network", "kind", "shared"),
    [
        (build.linear(4), "proved", 3),
        (build.symmetric(9, 4, 6, leak=1.0), "proved", 3),
        (build.relu_gate(4, leak=0.3), "proved", 3),
        (build.linear(9), GENERAL, 8),
        (build.symmetric(9, 4, 6, leak=0.2), GENERAL, 4),
        (build.convolution(12, 4, 4, leak=0.2), GENERAL, 4),
        (build.convolution(12, 4, 1), GENERAL, 4),
        (build.convolution2d((4, 4), (2, 2)), GENERAL, 4),
        (build.from_gates(rows(12, 7).reshape(3, 4, 7), leak=0.1), GENERAL, 4),
    ],
    ids=repr,
)
def test_rows_in_general_position_are_shared_up_to_the_number_of_the_theorem(network, kind, shared):
    proof = proof_of(network, rows(60, network.n_inputs))
    shared += by_rounding(60, shared) if kind == GENERAL else 0
    assert (proof.basis, proof.shared, proof.tampered) == (kind, shared, 60 - 1 - shared)
    says(proof.reason, str(shared), "60")


def test_only_rows_that_are_explained_and_not_switched_off_count():
    network, x, w = build.relu_gate(3), rows(80, 3), np.array([1.0, 2.0, -1.0])
    explained = np.arange(80) < 60
    on = int((x[:60] @ w > 0.0).sum())
    assert proof_of(network, x, weights=w, explained=explained).tampered == on - 1 - 2


def test_an_intercept_is_one_more_number_to_determine():
    assert proof_of(build.linear(4), rows(30, 4), intercept=True).tampered == 30 - 1 - 4
    x = np.hstack([rows(30, 4), np.ones((30, 1))])
    same = proof_of(build.linear(5), x)
    assert (same.basis, same.tampered) == ("proved", 30 - 1 - 4)


def test_an_intercept_of_a_network_that_is_not_linear_is_not_proved():
    proof = proof_of(build.relu_gate(3), rows(60, 3), intercept=True)
    assert (proof.basis, proof.tampered) == ("none", -1)
    says(proof.reason, "intercept")


@pytest.mark.parametrize("scale", [1.0, -2.0])
def test_a_repeated_row_is_shared_with_all_its_copies(scale):
    x = rows(40, 3)
    x = np.vstack([x, scale * x[:1], scale * x[:1], scale * x[1:2]])
    proof = proof_of(build.linear(3), x)
    assert (proof.basis, proof.shared, proof.tampered) == ("proved", 3 + 2, 43 - 1 - 5)
    network = build.symmetric(6, 3, 4, leak=0.2)
    wide = rows(40, 6)
    wide = np.vstack([wide, np.repeat(scale * wide[:1], 2, axis=0)])
    assert proof_of(network, wide).shared == 3 + 2 + by_rounding(40, 3)


def test_two_filters_share_all_rows_in_which_a_rare_dummy_is_zero():
    x = rows(300, 6)
    x[:, 2] = np.arange(300) < 9
    proof = proof_of(build.linear(6), x)
    assert (proof.basis, proof.tampered) == ("measured", 8)
    says(proof.reason, "estimate", "column 2")


@pytest.mark.parametrize(
    ("column", "shared"),
    [
        (lambda x: np.where(np.arange(300) < 200, x[:, 0], x[:, 1]), 200),
        (lambda x: np.where(np.arange(300) < 200, -2.0 * x[:, 0], x[:, 1]), 200),
        (lambda x: np.where(np.arange(300) < 200, x[:, 0] - x[:, 3], x[:, 1]), 200),
        (lambda x: np.where(np.arange(300) < 180, x @ np.arange(5.0), x[:, 1]), 180),
    ],
    ids=["equal", "a multiple", "a difference", "a combination"],
)
def test_a_hidden_hyperplane_with_many_rows_is_found(column, shared):
    x = rows(300, 5)
    x = np.column_stack([x, column(x)])
    proof = proof_of(build.linear(6), x)
    assert proof.basis == "measured"
    assert proof.shared >= shared


@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_with_an_intercept_are_shared_where_two_columns_have_a_fixed_sum(seed):
    x = np.random.default_rng(seed).integers(-2, 3, (96, 12)).astype(float)
    sums = [x[:, j] + sign * x[:, k] for j, k in combinations(range(12), 2) for sign in (1, -1)]
    most = max(np.unique(column, return_counts=True)[1].max() for column in (*x.T, *sums))
    assert proof_of(build.linear(12), x, intercept=True).shared >= most


@pytest.mark.parametrize("seed", range(3))
def test_rounded_decimals_are_shared_where_three_columns_cancel(seed):
    x = rows(200, 12, seed).round(1)
    sums = [
        x[:, i] + a * x[:, j] + b * x[:, k]
        for i, j, k in combinations(range(12), 3)
        for a, b in product([-1, 1], repeat=2)
    ]
    most = max(int((np.abs(column) < 1e-9).sum()) for column in (*x.T, *sums))
    assert proof_of(build.linear(12), x).shared >= most


def test_signs_are_shared_where_two_of_many_columns_are_equal_or_opposite():
    x = np.random.default_rng(0).choice([-1.0, 1.0], (120, 25))
    most = max(
        max(np.sum(x[:, j] == x[:, k]), np.sum(x[:, j] == -x[:, k]))
        for j, k in combinations(range(25), 2)
    )
    assert proof_of(build.linear(25), x).shared >= most


def test_a_hidden_hyperplane_is_found_even_if_no_column_shows_it():
    x = rows(300, 10)
    normal = rows(1, 10, 3)[0]
    x[::2] -= np.outer(x[::2] @ normal, normal) / (normal @ normal)
    proof = proof_of(build.linear(10), x)
    assert (proof.basis, proof.shared) == ("measured", 150)


def test_a_hyperplane_with_a_minority_of_the_rows_is_found_by_trying_lines():
    x, normal = rows(80, 5), rows(1, 5, 3)[0]
    x[:20] -= np.outer(x[:20] @ normal, normal) / (normal @ normal)
    assert fullest_hyperplane(x) == (20, False)


def test_few_rows_that_are_not_in_general_position_are_proved_by_trying_all_hyperplanes():
    x = np.random.default_rng(0).integers(-1, 2, (18, 3)).astype(float)
    proof = proof_of(build.linear(3), x)
    most = max(
        np.count_nonzero(np.abs(x @ np.cross(a, b)) < 1e-9)
        for a, b in combinations(x, 2)
        if np.abs(np.cross(a, b)).max() > 0.0
    )
    zeros = np.count_nonzero(~x.any(axis=1))
    assert (proof.basis, proof.shared) == ("proved", most - zeros)


@pytest.mark.parametrize(
    ("network", "x"),
    [
        (build.linear(5), rows(4, 5)),
        (build.linear(3), rows(30, 3)[:, [0, 1, 1]]),
        (build.linear(3), rows(30, 3) * [1.0, 1.0, 0.0]),
        (build.convolution(8, 3, circular=True, leak=1.0), rows(30, 8)),
        (build.symmetric(6, 3, 4), rows(30, 6).round()),
        (build.symmetric(6, 3, 4), rows(2, 6)),
    ],
    ids=["few rows", "equal columns", "zeros", "rank of Ā", "whole numbers", "few rows, gates"],
)
def test_nothing_is_proved_where_another_filter_may_explain_all_rows(network, x):
    proof = proof_of(network, x)
    assert (proof.basis, proof.tampered) == ("none", -1)
    assert proof.reason


def test_a_filter_that_explains_no_row_is_not_proved():
    for network in (build.linear(3), build.relu_gate(3), build.symmetric(6, 3, 4)):
        assert proof_of(network, rows(30, network.n_inputs), explained=np.zeros(30)).basis == "none"
        zero = proof_of(network, rows(30, network.n_inputs), weights=np.zeros(3))
        assert zero.basis == ("proved" if network.leak == 1.0 else "none")


SHARED_PATTERNS = {
    "factor": (build.convolution(4, 2), [1.0, 1.0], [1.0, 0.0]),
    "longer factor": (build.convolution(6, 4), [0.3, -0.5, 0.3, -0.5], [0.3, -0.2, -0.5, 0.0]),
    "shift": (build.convolution(6, 3), [0.3, -0.5, 0.0], [0.0, 0.3, -0.5]),
    "shift, many windows": (build.convolution(30, 3), [0.3, -0.5, 0.0], [0.0, 0.3, -0.5]),
    "opposite": (
        build.from_gates(np.eye(4).reshape(2, 2, 4), outer_weights=[1.0, -1.0]),
        [1.0, 1.0],
        [-1.0, -1.0],
    ),
}


@pytest.mark.parametrize("name", SHARED_PATTERNS)
def test_filters_that_share_a_whole_pattern_are_counted_on_the_rows(name):
    network, weights, other = SHARED_PATTERNS[name]
    x = rows(1000, network.n_inputs)
    same = np.abs(network(weights, x) - network(other, x)) < 1e-12
    together = int((same & (network(weights, x) != 0.0)).sum())
    proof = proof_of(network, x, weights=weights)
    assert proof.basis == "none" or proof.shared >= max(together, network.filter_size)
    assert together > 10 or name == "opposite"


@pytest.mark.parametrize("form", ["gates", "mixed"])
def test_a_filter_and_its_mirror_share_all_rows_of_an_absolute_value(form):
    gate = rows(2, 3)
    network = (
        build.from_gates(np.array([gate, -gate]))
        if form == "gates"
        else nt.FilterNetwork(Matrices(gate[None]), np.array([[1.0], [-1.0]]))
    )
    assert proof_of(network, rows(60, 3)).basis == "none"


def test_rows_of_a_pattern_that_infinitely_many_filters_could_share_do_not_count():
    """With all four windows of the ring on, only the sum of the two weights matters."""
    network = build.convolution(4, 2, circular=True)
    patterns = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]) / 4.0
    found = coincidences(network, np.array([1.0, 1.0]), patterns)
    assert found.lost.tolist() == [True, False]


def test_square_symmetric_gates_have_filters_that_share_a_pattern():
    network, w = build.symmetric(4, 4, 4, seed=2), rows(1, 4, 5)[0]
    x = rows(500, 4)
    proof = proof_of(network, x)
    assert proof.basis == GENERAL
    assert proof.shared > 20
    on = np.where(network.gates @ x[0] @ w > 0.0, 1.0, 0.0)
    own = np.tensordot(on, network.gates, axes=1)
    for slopes in product([0.0, 1.0], repeat=4):
        other = np.tensordot(slopes, network.gates, axes=1)
        if np.linalg.matrix_rank(other) == 4 and not np.array_equal(slopes, on):
            twin = np.linalg.solve(other.T, own.T @ w)
            same = np.abs(network(twin, x) - network(w, x)) < 1e-10
            assert (same & (network(w, x) != 0.0)).sum() <= proof.shared


def test_a_long_filter_of_many_windows_is_measured_and_says_why():
    network = build.convolution2d((28, 28), (5, 5))
    proof = proof_of(network, rows(60, 784))
    assert (proof.basis, proof.shared) == ("measured", 25 + by_rounding(60, 25))
    says(proof.reason, "estimate", "pattern")


TINY = {
    "linear": build.linear(2),
    "ReLU gate": build.relu_gate(2),
    "leaky gate": build.relu_gate(2, leak=0.4),
    "one weight": build.convolution(3, 1, 1),
    "symmetric": build.symmetric(3, 2, 2, seed=1),
    "symmetric, leaky": build.symmetric(3, 2, 2, seed=1, leak=0.3),
    "square": build.symmetric(2, 2, 2, seed=4),
    "stride 1": build.convolution(3, 2),
    "stride = window": build.convolution(4, 2, 2),
    "gates": build.from_gates(rows(6, 3).reshape(3, 2, 3), outer_weights=[1.0, -1.0, 2.0]),
}


def most_shared(network, x, w) -> int:
    """Try the filters through all subsets of r rows with all patterns of each row."""
    labels, r, most = network(w, x), network.filter_size, 0
    patterns = np.array(list(product([network.leak, 1.0], repeat=network.width)))
    seen = np.einsum("tk,krn,bn->btr", patterns * network.share, network.gates, x)
    for chosen in combinations(range(len(x)), r):
        for which in product(range(len(patterns)), repeat=r):
            matrix = seen[list(chosen), list(which)]
            if abs(np.linalg.det(matrix)) < 1e-9:
                continue
            other = np.linalg.solve(matrix, labels[list(chosen)])
            if np.abs(other - w).max() > 1e-7:
                same = np.abs(network(other, x) - labels) < 1e-9
                most = max(most, int((same & (np.abs(labels) > 1e-9)).sum()))
    return most


@pytest.mark.parametrize("name", TINY)
def test_no_filter_at_all_shares_more_rows_than_is_proved(name):
    network = TINY[name]
    for seed in range(3):
        x, w = rows(6, network.n_inputs, seed), rows(1, network.filter_size, seed)[0]
        proof = proof_of(network, x, weights=w)
        if proof.basis in ("proved", GENERAL):
            assert most_shared(network, x, w) <= proof.shared


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(0, 40),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_a_filter_through_chosen_rows_has_to_tamper_with_more_than_is_proved(seed, r, more, leak):
    """Honest labels are those of `true`; `wrong` gets r − 1 of them and changes some others."""
    draw = np.random.default_rng(seed)
    network = build.relu_gate(r, leak=leak)
    x, true = draw.standard_normal((r + more, r)), draw.standard_normal(r)
    normal = np.linalg.svd(x[: r - 1])[2][-1] if r > 1 else np.ones(1)
    wrong = true + normal
    shared = np.abs(network(true, x) - network(wrong, x)) < 1e-10
    tampered = ~shared & (draw.random(len(x)) < 0.5)
    assert prove(network, x, wrong, shared | tampered).tampered < tampered.sum()


def test_the_proof_does_not_depend_on_units_or_on_the_order_of_the_rows():
    network, x = build.linear(4), rows(50, 4)
    x[:, 1] = np.arange(50) < 7
    first = proof_of(network, x)
    assert proof_of(network, x[::-1] * [1.0, 1e6, 1e-6, 3.0]).tampered == first.tampered == 6


def test_a_proof_is_plain_data():
    proof = proof_of(build.linear(2), rows(10, 2))
    plain = json.loads(json.dumps(proof.to_dict()))
    assert (plain["kind"], plain["basis"], plain["tampered"]) == ("theorem", "proved", 8)
    assert [one["name"] for one in plain["assumptions"]] == ["exact labels"]
    assert str(proof).startswith(proof.statement.partition(" as long")[0])


# ---- what a referee broke ------------------------------------------------------------------------


@pytest.mark.parametrize("signs", [(1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
@pytest.mark.parametrize("power", [1, 2, 4, 6, 8])
def test_a_negative_multiple_of_any_size_is_counted_on_the_rows(power, signs):
    ratio = np.random.default_rng(power).uniform(1.0, 9.9) * 10.0**-power
    weights = np.array([ratio, 1.0]) * signs
    network = nt.FilterNetwork(Matrices(np.eye(6)[None]), [[1.0], [-1.0]], outer_weights=weights)
    x, w = rows(200, 6), rows(1, 6, 5)[0]
    for true in (-ratio * w, -w / ratio):
        shared = np.abs(network(true, x) / network(w, x) - 1.0) <= 1e-9
        assert shared.sum() > 80 or signs[0] != signs[1]
        explained = shared | (np.cumsum(~shared) <= 60)  # 60 tampered rows
        assert proof_of(network, x, weights=w, explained=explained).tampered < 60


@pytest.mark.parametrize("powers", [(0, -15), (8, 0, -12)])
def test_weights_of_columns_that_rounding_hides_are_not_proved(powers):
    """Of a column of 1e-15 beside one of 1, labels show only how large the weight may be."""
    x, w = rows(40, len(powers)) * 10.0 ** np.array(powers), np.ones(len(powers))
    found = nt.solve(build.linear(len(w)), x, x @ w)
    assert np.abs(found.weights - w).max() > 1e-3
    assert says(found.proof.reason, "sizes differ too much")
    proved = nt.solve(build.linear(2), x[:, :2] * 10.0 ** -np.array(powers[:2]), x[:, 0]).proof
    assert proved.basis == "proved"


def test_rows_in_a_plane_never_make_a_wrong_filter_proved():
    """In 45 of 300 rows a column is the sum of two others, and 130 labels are another filter's."""
    network, wrong = build.linear(10), 0
    for seed in range(3):
        draw = np.random.default_rng(seed)
        x, w, normal = draw.standard_normal((300, 10)), draw.standard_normal(10), np.eye(10)[9]
        place, normal[:2] = draw.permutation(300), -1.0
        x[place < 45, 9] = x[place < 45, :2].sum(axis=1)
        labels = np.where(place < 175, network(w + 2.0 * normal, x), network(w, x))
        solution = nt.solve(network, x, labels)
        wrong += np.abs(solution.weights - w).max() > 0.1
        assert solution.proof.basis == "measured"
        assert not wrong or solution.proven_against < 130
        assert "(proved:" not in " ".join(str(solution).split())
    assert wrong


@pytest.mark.parametrize("network", [build.linear(8), build.relu_gate(8)], ids=repr)
def test_two_planes_with_a_third_of_the_rows_each_never_make_a_wrong_filter_proved(network):
    draw = np.random.default_rng(78100)
    x, part = draw.standard_normal((160, 8)), np.arange(160) % 3
    x[part == 0, 7] = x[part == 0, 0] + x[part == 0, 1]
    x[part == 1, 7] = x[part == 1, 2] - x[part == 1, 3]
    w = draw.standard_normal(8)
    labels = network(w + 1.5 * np.array([1, 1, 0, 0, 0, 0, 0, -1]), x)
    tampered = int((np.abs(labels - network(w, x)) > 1e-9).sum())
    solution = nt.solve(network, x, labels)
    assert solution.proven_against < tampered
    assert solution.proof.basis != "proved"


def test_a_plane_that_no_search_finds_is_left_to_the_assumption():
    x, normal = rows(400, 25), rows(1, 25, 3)[0]
    x[:60] -= np.outer(x[:60] @ normal, normal) / (normal @ normal)
    assert proof_of(build.linear(25), x).basis == GENERAL


@pytest.mark.parametrize(("columns", "number"), [(2, 40), (9, 60)], ids=["all planes", "search"])
def test_rows_that_are_shared_up_to_rounding_count_as_shared(columns, number):
    """Two rows differ by 1e-8: a filter 1e-6 away that has the label of one has the other's."""
    x, w = rows(number, columns), rows(1, columns, 5)[0]
    x[1] = x[0] + 1e-8 * rows(1, columns, 6)[0]
    normal = np.linalg.svd(x[: columns - 1] if columns == 2 else x[1:columns])[2][-1]
    network, other = build.linear(columns), w + 1e-6 * np.linalg.norm(w) * normal
    labels = network(other, x)
    labels[:columns] = network(w, x)[:columns]
    solution = nt.solve(network, x, labels)
    assert np.allclose(solution.weights, other, rtol=0.0, atol=1e-9)
    assert solution.explained.all()
    assert solution.proven_against < number - columns  # the tampered rows


def test_the_rows_that_rounding_adds_are_those_of_the_page_of_theory():
    assert (by_rounding(300, 24), by_rounding(50_000, 19)) == (7, 23)
    assert (by_rounding(5, 3), by_rounding(3, 3)) == (1, 0)


def test_without_a_proof_nothing_is_claimed():
    x, w = rows(60, 4), rows(1, 4, 5)[0]
    solution = nt.solve(build.linear(4), x, x @ w, prove=False)
    assert (solution.proven_against, solution.exact) == (-1, False)
    says(str(solution), "no proof", "prove=False")


@pytest.mark.parametrize(
    ("name", "change"),
    [("X", {"X": rows(5, 2)}), ("weights", {"weights": [1.0]}), ("explained", {"explained": [1]})],
)
def test_arguments_of_a_wrong_shape_are_named(name, change):
    given_ = {"X": rows(5, 3), "weights": [1.0, 2.0, 3.0], "explained": np.ones(5)} | change
    with pytest.raises(nt.InputError) as error:
        prove(build.linear(3), **given_)
    says(error.value, f"`{name}`")


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_of_many_tables_no_wrong_filter_tampers_with_fewer_rows_than_is_proved(part):
    """5,000 poisoned tables of all kinds of networks and inputs."""
    poisoned = list(cases(seed=2000 + part, number=500))
    exceeded = [
        case
        for case in poisoned
        if prove(
            case.network, case.inputs, case.filter, case.explained, intercept=case.intercept
        ).tampered
        >= case.tampered
    ]
    assert exceeded == []
    fooled = sum(old_rule(case) and 2 * case.tampered < len(case.inputs) for case in poisoned)
    assert fooled >= 50
