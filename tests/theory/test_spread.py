"""The spread of two filters: how large their odd difference is, and how often it is small."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron.laws import Correlated, Empirical
from neurotron.networks.basis import Matrices
from neurotron.theory import spread as module
from neurotron.theory.concentration import AnyInterval, ByKurtosis
from neurotron.theory.spread import spread_of

NETWORK = nt.networks.symmetric(n_inputs=6, filter_size=3, width=4, seed=1)
MIXED = np.random.default_rng(3).standard_normal((6, 6))


def rows_of(kind, count=60, columns=6):
    """Return a table: normal, skewed, with two values, or with rare large entries."""
    rng = np.random.default_rng(5)
    normal = rng.standard_normal((count, columns))
    return {
        "normal": normal,
        "skewed": np.exp(normal) + 3.0,
        "signs": np.sign(normal),
        "rare": np.where(rng.random((count, columns)) < 0.1, 10.0, 0.1) * normal,
    }[kind]


TABLES = ("normal", "skewed", "signs", "rare")


def filters(size, rng, *, most=30):
    """Return differences d of two filters: one weight each, and random ones."""
    return np.concatenate([np.eye(size), rng.standard_normal((most, size))])


def worst_kurtosis(rows):
    """Return the largest mean of (uᵀz)⁴ that an ascent from many directions finds."""
    rng = np.random.default_rng(0)
    vectors = np.concatenate([np.eye(rows.shape[1]), rng.standard_normal((40, rows.shape[1]))]).T
    for _ in range(60):  # each step goes to the maximum of the linear lower bound of a convex mean
        vectors = rows.T @ (rows @ vectors) ** 3
        vectors /= np.linalg.norm(vectors, axis=0)
    return float(((rows @ vectors) ** 4).mean(axis=0).max())


def whitened(rows):
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    return rows @ (vectors / np.sqrt(values))


# ---- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [nt.Normal(scale=2.0), Correlated(nt.Normal(), MIXED)])
def test_the_smallest_size_is_that_of_the_worst_direction(law):
    spread = spread_of(NETWORK, law)
    root = np.eye(6) if isinstance(law, nt.Normal) else MIXED
    d = np.random.default_rng(0).standard_normal((4000, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    sizes = np.linalg.norm(d @ NETWORK.mean_gate @ root, axis=1)
    assert 0.0 < spread.smallest <= sizes.min() <= 1.05 * spread.smallest


def test_each_coefficient_is_bounded_and_the_bound_is_attained():
    network = nt.networks.linear(6)
    spread = spread_of(network, Correlated(nt.Normal(), MIXED))
    for j, factor in enumerate(spread.coefficients):
        worst = np.linalg.solve(MIXED @ MIXED.T, np.eye(6)[j])
        assert worst[j] == pytest.approx(factor * np.linalg.norm(MIXED.T @ worst))
    for d in filters(6, np.random.default_rng(1)):
        most = spread.coefficients * np.linalg.norm(MIXED.T @ d)
        assert (np.abs(d) <= most * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("matrix", [[[1.0], [0.0]], [[1.0, 1.0], [1.0, 1.0]], np.diag([1, 1e-14])])
def test_inputs_that_do_not_vary_in_a_direction_have_no_smallest_size(matrix):
    spread = spread_of(nt.networks.relu_gate(2), Correlated(nt.Normal(), matrix))
    assert spread.smallest == 0.0
    assert np.isinf(spread.coefficients).all()


@pytest.mark.parametrize("smallest", [1e-3, 1e-7, 1e-10, 2e-12])
def test_the_smallest_size_is_rounded_down(smallest):
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((20, 20)))[0] for _ in range(2))
    matrix = (left * np.geomspace(smallest, 1.0, 20)) @ right
    spread = spread_of(nt.networks.linear(20), Correlated(nt.Normal(), matrix))
    assert 0.9 * smallest < spread.smallest <= smallest


def test_more_weights_than_inputs_are_not_seen():
    gates = np.random.default_rng(0).standard_normal((2, 3, 2))
    network = nt.FilterNetwork(Matrices(gates))
    assert spread_of(network, nt.Normal()).smallest == 0.0


def test_the_leverage_is_the_largest_square_of_an_entry():
    """Directions that no coordinate dominates have a smaller bound for Laplace inputs."""
    spread_out, one_input = np.full((1, 6), 1.0), np.eye(1, 6)
    t = np.array([0.3])
    wide = spread_of(nt.networks.from_gates([spread_out]), nt.Laplace()).concentration(t)
    narrow = spread_of(nt.networks.from_gates([one_input]), nt.Laplace()).concentration(t)
    assert wide < 0.9 * narrow
    for matrix in (NETWORK.mean_gate, NETWORK.mean_gate @ MIXED):
        d = np.random.default_rng(2).standard_normal((5000, 3)) @ matrix
        found = (d**2 / (d**2).sum(axis=1)[:, None]).max()
        assert 0.95 * module._leverage(matrix) <= found <= module._leverage(matrix) * (1 + 1e-12)


def test_what_is_not_known_is_none():
    assert spread_of(NETWORK, nt.Rademacher()) is not None
    assert spread_of(NETWORK, nt.Rademacher(), anywhere=True) is None
    assert spread_of(NETWORK, nt.ScipyLaw(stats.t(2.5, loc=1.0))) is None
    assert spread_of(NETWORK, nt.StudentT(dof=1.0)).deviation == math.inf
    assert spread_of(NETWORK, nt.Uniform(scale=3.0)).deviation == pytest.approx(math.sqrt(3.0))


# ---- tables --------------------------------------------------------------------------------------


def violations(spread, network, rows, *, anywhere=False):
    """Return how many exact probabilities over the rows of a table exceed the bound."""
    seen, found = rows @ network.mean_gate.T, 0
    for d in filters(network.filter_size, np.random.default_rng(1)):
        projected = seen @ d / np.linalg.norm(d @ spread.matrix)
        for t in (1e-6, 0.02, 0.1, 0.3, 0.7, 0.99, 1.5):
            centres = projected if anywhere else np.zeros(1)
            within = (np.abs(projected[:, None] - centres) <= t).mean(axis=0).max()
            found += within > spread.concentration(np.array([t]))[0]
    return found


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("network", [NETWORK, nt.networks.linear(6)], ids=["gates", "linear"])
def test_tables_have_no_more_rows_near_zero_than_the_bound(kind, network):
    rows = rows_of(kind)
    spread = spread_of(network, Empirical(rows))
    assert spread.smallest > 0.0
    assert violations(spread, network, rows) == 0
    both = spread_of(network, Empirical(rows, symmetrized=True))
    assert violations(both, network, np.concatenate([rows, -rows])) == 0


@pytest.mark.parametrize("kind", TABLES)
def test_tables_have_no_more_rows_in_any_interval_than_the_bound(kind):
    rows, network = rows_of(kind), nt.networks.linear(6)
    for symmetrized in (False, True):
        law = Empirical(rows, symmetrized=symmetrized)
        spread = spread_of(network, law, anywhere=True)
        assert isinstance(spread.concentration, AnyInterval)
        drawn = np.concatenate([rows, -rows]) if symmetrized else rows
        assert violations(spread, network, drawn, anywhere=True) == 0


def test_the_kurtosis_of_the_difference_of_two_rows_is_that_of_all_pairs():
    rows = rows_of("skewed", 40, 1)
    spread = spread_of(nt.networks.linear(1), Empirical(rows), anywhere=True)
    pairs = (rows - rows.T).ravel() / np.linalg.norm(spread.matrix)
    difference = spread.concentration.difference
    assert difference.scale**2 == pytest.approx((pairs**2).mean())
    assert difference.kurtosis == pytest.approx((pairs**4).mean() / (pairs**2).mean() ** 2)


def test_half_the_kurtosis_of_a_table_would_be_noticed():
    rows = np.zeros((12, 3))
    rows[:3], rows[3:6] = np.eye(3), -np.eye(3)  # all other rows are 0
    network = nt.networks.linear(3)
    spread = spread_of(network, Empirical(rows))
    assert isinstance(spread.concentration, ByKurtosis)
    assert violations(spread, network, rows) == 0
    half = ByKurtosis(1.0, spread.concentration.kurtosis / 2.0)
    assert violations(dataclasses.replace(spread, concentration=half), network, rows) > 0


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_the_fourth_moment_of_a_table_is_bounded_in_every_direction(kind, columns):
    rows = whitened(rows_of(kind, 80, columns))
    found, bound = worst_kurtosis(rows), module.largest_fourth_moment(rows)
    assert found <= bound * (1.0 + 1e-12)
    if columns == 1:
        assert bound == pytest.approx((rows**4).mean())


def test_the_fourth_moment_of_many_normal_rows_is_near_three():
    rows = whitened(np.random.default_rng(0).standard_normal((40_000, 4)))
    assert 3.0 < module.largest_fourth_moment(rows) < 3.3


def test_blocks_and_the_simple_bound_change_nothing_that_matters(monkeypatch):
    rows = whitened(rows_of("rare", 200, 5))
    whole = module.largest_fourth_moment(rows)
    monkeypatch.setattr(module, "BLOCK", 100)
    assert module.largest_fourth_moment(rows) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    assert worst_kurtosis(rows) <= whole <= module.largest_fourth_moment(rows)


def test_rows_in_a_plane_are_refused_however_they_are_scaled():
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 3))
    for scale in (1.0, [1.0, 1e-8, 1e8]):
        spread = spread_of(nt.networks.relu_gate(3), Empirical(flat * scale, symmetrized=True))
        assert spread.smallest == 0.0
    steep = rng.standard_normal((50, 3)) * [1.0, 1e-5, 1e5]  # different units are no loss
    assert spread_of(nt.networks.linear(3), Empirical(steep)).smallest > 0.0


def test_a_column_of_ones_is_seen_only_if_labels_have_no_noise():
    rows = np.column_stack([rows_of("normal"), np.ones(60)])
    network = nt.networks.linear(7)
    assert spread_of(network, Empirical(rows)).smallest > 0.0
    assert spread_of(network, Empirical(rows), anywhere=True).smallest == 0.0


def test_a_table_of_signs_has_the_same_size_everywhere():
    rows = np.array([[1.0], [-1.0]])
    spread = spread_of(nt.networks.relu_gate(1), Empirical(rows))
    values = spread.concentration(np.array([0.5, 1.0, 2.0]))
    assert values[0] < 1e-8
    assert (values[1:] == 1.0).all()
