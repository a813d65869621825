"""The radius of a filter on the rows of its fit: the true one is never further away."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.messages import refused

import neurotron as nt
from neurotron.solvers.distance import distance_of
from neurotron.theory.agreement import Agreement

build = nt.networks
NETWORKS = [
    build.linear(3), build.relu_gate(3), build.relu_gate(3, leak=0.4),
    build.symmetric(8, 3, 6, leak=1.0, seed=1),
]  # fmt: skip


def attacked(network, seed):
    """Return rows whose worst labels are another filter's, the noise, that filter and the truth."""
    draw, noise = np.random.default_rng(seed), (0.05, 0.3)[seed % 2]
    X, w = draw.standard_normal((300, network.n_inputs)), draw.standard_normal(3)
    other = w + draw.choice([0.02, 0.2, 1.0]) * draw.standard_normal(3)
    m = int(draw.integers(1, 25))
    y = network(w, X) + noise * draw.standard_normal(300)
    worst = np.argsort(-np.abs(network(w, X) - network(other, X)))[:m]
    y[worst] = network(other, X)[worst]
    return X, y, noise, m, other, w


def distance(network, X, y, noise, m, other):
    return distance_of(
        network, X, y, other, 0.0, tampered=m, noise=noise, estimated=False, confidence=0.999
    )


@pytest.mark.parametrize("network", NETWORKS, ids=["linear", "relu", "leaky", "other basis"])
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 400), marks=pytest.mark.long)])
def test_no_filter_that_an_attack_supports_is_further_away(network, seeds):
    shares = []
    for seed in seeds:
        X, y, noise, m, other, w = attacked(network, seed)
        found = distance(network, X, y, noise, m, other)
        shares.append(np.linalg.norm(other - w) / found.weights)
        # the root mean square over any rows that many is at least that over the nearest ones
        away = np.sort(np.abs(X @ network.mean_gate.T @ (other - w)))[: found.rows]
        assert not found.holds or np.sqrt((away**2).mean()) <= found.radius
    assert max(shares) <= 1.0
    assert np.count_nonzero(shares) > 0.2 * len(shares)
    assert max(shares) > 0.1


def test_with_fewer_exceptions_than_were_tampered_with_the_truth_would_be_further_away():
    """All rows are e_1 but 30, of which 20 have the label of the wrong filter."""
    X = np.zeros((300, 2))
    X[:, 0], X[:30, 0], X[:30, 1] = 1.0, 0.0, 1.0
    y = np.where(np.arange(300) < 20, 5.0, 0.0)
    other = np.array([0.0, 5.0])
    assert distance(build.linear(2), X, y, 0.1, 20, other).weights > 5.0
    assert distance(build.linear(2), X, y, 0.1, 2, other).weights < 5.0


def test_half_of_the_noise_would_not_do():
    """Without poison, a filter that explains all rows to the noise can be as far as the noise."""
    X, y = np.ones((400, 1)), np.tile([0.1, -0.1], 200) + 0.2
    found = distance(build.linear(1), X, y, 0.1, 0, np.array([0.2]))
    assert 0.2 <= found.radius < 0.25
    assert distance(build.linear(1), X, y, 0.03, 0, np.array([0.2])).radius < 0.2


@pytest.mark.parametrize("network", NETWORKS[:3], ids=["linear", "relu", "leaky"])
def test_labels_that_are_exact_give_the_true_filter_up_to_rounding(network):
    draw = np.random.default_rng(1)
    X, w = draw.standard_normal((200, 3)), draw.standard_normal(3)
    y = network(w, X)
    y[:8] += 3.0
    found = nt.solve(network, X, y).radius(X, y, tampered=8)
    assert (found.kind, found.confidence) == ("theorem", 1.0)
    assert found.radius < 1e-12
    assert math.isinf(nt.solve(network, X, y).radius(X, y, tampered=120).radius)


def test_with_the_noise_that_was_found_it_is_an_estimate_and_its_text_says_for_what():
    draw = np.random.default_rng(2)
    X = draw.standard_normal((400, 3))
    y = X @ [1.0, 2.0, 3.0] + 4.0 + 0.1 * draw.standard_normal(400)
    solution = nt.solve(build.linear(3), X, y, intercept=True)
    estimate, stated = (solution.radius(X, y, tampered=10, noise=given) for given in (None, 0.1))
    assert (estimate.kind, stated.kind) == ("plug-in", "theorem")
    assert estimate.radius == pytest.approx(stated.radius, rel=0.2)
    error = np.append(solution.weights - [1.0, 2.0, 3.0], solution.intercept - 4.0)
    assert np.linalg.norm(error) <= stated.weights < 1.0
    assert "10 labels" in str(stated)
    assert "0.1" in str(stated)
    assert "too many" in str(solution.radius(X, y, tampered=399, noise=0.1))


def test_networks_of_more_gates_are_refused():
    X = np.random.default_rng(0).standard_normal((60, 8))
    network = build.symmetric(8, 3, 6, seed=1)
    y = network(np.ones(3), X)
    with refused("single gates", "verify"):
        nt.solve(network, X, y).radius(X, y, tampered=1)
    with refused("`tampered`", "-1"):
        nt.solve(build.linear(8), X, y).radius(X, y, tampered=-1)


# ---- the proof on the rows -----------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS[:3], ids=["linear", "relu", "leaky"])
def test_rows_in_planes_never_make_a_number_that_assumes_nothing_wrong(network):
    """Planes hold 15, 40 and 70 % of the rows, and all rows outside are tampered with."""
    wrong = 0
    for seed in range(6):
        draw, share = np.random.default_rng(seed), (0.15, 0.4, 0.7)[seed % 3]
        X, w = draw.standard_normal((300, 3)), draw.standard_normal(3)
        normal = draw.standard_normal(3)
        inside = draw.random(300) < share
        X[inside] -= np.outer(X[inside] @ normal, normal) / (normal @ normal)
        y = network(w + normal, X)
        tampered = int((np.abs(y - network(w, X)) > 1e-9).sum())
        solution = nt.solve(network, X, y)
        assert solution.proof.unconditional < tampered
        assert solution.proof.unconditional <= solution.proof.tampered
        wrong += np.abs(solution.weights - w).max() > 0.1
    assert wrong > 2


def test_a_number_that_assumes_nothing_is_printed_beside_one_that_assumes_general_position():
    X = np.random.default_rng(0).standard_normal((300, 10))
    proof = nt.solve(build.linear(10), X, X @ np.ones(10)).proof
    assert proof.proved == proof.unconditional == Agreement(X).exceptions
    assert 40 < proof.unconditional < 100 < proof.tampered
    assert 0.0 < proof.distance < 1e-11
    assert f"{proof.unconditional} labels were (proved" in proof.statement
    assert proof.to_dict()["unconditional"] == proof.unconditional


def test_where_more_rows_contradict_a_filter_than_that_number_it_says_nothing():
    X = np.random.default_rng(0).standard_normal((300, 10))
    y = X @ np.ones(10)
    y[:100] += 5.0
    proof = nt.solve(build.linear(10), X, y).proof
    assert (proof.unconditional, proof.proved) == (-1, -1)
    assert proof.tampered > 100


def test_networks_of_more_gates_have_no_such_number():
    network = build.symmetric(9, 4, 6, leak=0.2, seed=1)
    X = np.random.default_rng(0).standard_normal((80, 9))
    proof = nt.solve(network, X, network(np.ones(4), X)).proof
    assert proof.holds
    assert proof.proved == -1
