"""The cells of a filter: which there are, how far apart filters are in them, and how often."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

import neurotron as nt
from neurotron.theory.cells import Cells, Partition, slopes_of
from neurotron.theory.concentration import concentration_of

DRAWS, CONFIDENCE = 20_000, 1e-7
GATES = np.random.default_rng(4).standard_normal((3, 2, 6))
NETWORKS = {
    "symmetric": nt.networks.symmetric(n_inputs=8, filter_size=3, width=6, seed=2),
    "symmetric, leaky": nt.networks.symmetric(n_inputs=8, filter_size=3, width=4, leak=0.2, seed=3),
    "one gate": nt.networks.relu_gate(4),
    "convolution": nt.networks.convolution(6, 2, 2),
    "overlapping": nt.networks.convolution(6, 3, 1),
    "weighted": nt.networks.from_gates(GATES, outer_weights=[1.0, -0.7, 2.0], leak=0.1),
}  # fmt: skip
NAMES = tuple(NETWORKS)


def patterns(network, weights, inputs):
    """Return which gates are active, from the matrices of the gates, shape (b, k)."""
    return np.einsum("r,krn,bn->bk", weights, network.gates, inputs) > 0.0


def cells_of(network, root, weights):
    """Return the cells of one filter."""
    return Partition.of(network, root).cells(weights)


def rng_of(name):
    return np.random.default_rng(sum(map(ord, name)))


# ---- which cells there are -----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_no_input_is_in_a_cell_that_is_not_listed(name):
    network, rng = NETWORKS[name], rng_of(name)
    listed = {tuple(row) for row in (slopes_of(network) == 1.0).tolist()}
    for _ in range(20):
        weights = rng.standard_normal(network.filter_size)
        inputs = rng.standard_normal((500, network.n_inputs))
        assert {tuple(row) for row in patterns(network, weights, inputs).tolist()} <= listed


@pytest.mark.parametrize("width", [2, 4, 10, 20])
def test_symmetric_networks_have_two_cells_for_each_gate_and_all_are_found(width):
    network = nt.networks.symmetric(n_inputs=6, filter_size=3, width=width, seed=1)
    listed = slopes_of(network)
    responses = np.random.default_rng(0).standard_normal((20_000, 2))
    found = {row.tobytes() for row in responses @ network.mix.T > 0.0}
    assert len(listed) == 2 * width
    assert {row.tobytes() for row in listed == 1.0} == found


def test_other_networks_have_all_combinations_or_too_many():
    rng = np.random.default_rng(0)
    few = nt.networks.from_gates(rng.standard_normal((4, 1, 3)), leak=0.25)
    assert slopes_of(few).shape == (16, 4)
    assert set(slopes_of(few).ravel()) == {0.25, 1.0}
    assert slopes_of(nt.networks.from_gates(rng.standard_normal((11, 1, 3)))) is None


def test_duplicate_and_opposite_gates_of_two_matrices_are_listed():
    basis = np.random.default_rng(0).standard_normal((2, 2, 4))
    mix = np.array([[1.0, 0.5], [1.0, 0.5], [-1.0, -0.5], [0.0, 1.0]])
    network = nt.FilterNetwork(nt.networks.from_gates(basis).basis, mix)
    weights, inputs = np.ones(2), np.random.default_rng(1).standard_normal((2000, 4))
    found = {tuple(row) for row in patterns(network, weights, inputs).tolist()}
    assert found == {tuple(row) for row in (slopes_of(network) == 1.0).tolist()}


def test_gates_that_switch_at_places_with_the_same_rounded_number_have_a_cell_between_them():
    mix = np.array([[1.0, -3.0], [1.0 + 2.0**-52, -(3.0 + 2.0**-50)]])
    first, second = (Fraction(a) / Fraction(b) for a, b in mix.tolist())
    assert first != second
    assert float(first) == float(second)
    basis = nt.networks.from_gates(np.eye(2)[:, None]).basis
    assert len(slopes_of(nt.FilterNetwork(basis, mix))) == 4


# ---- how far apart filters are -------------------------------------------------------------------


def brute_force(network, root, weights):
    """Return the cells that can be told apart, Σ 1/τ and Σ 1/δ, one matrix after the other."""
    slopes = slopes_of(network)
    matrices = np.einsum("sk,krn->srn", slopes * network.share, network.gates) @ root
    same = [math.sqrt(max(np.linalg.eigvalsh(m @ m.T)[0], 0.0)) for m in matrices]
    apart = np.full((len(slopes), len(slopes)), math.inf)
    for (i, one), (j, other) in itertools.permutations(enumerate(matrices), 2):
        closest = np.linalg.lstsq(other.T, one.T @ weights, rcond=None)[0]
        apart[i, j] = np.linalg.norm(one.T @ weights - other.T @ closest)
    seen = [i for i in range(len(slopes)) if same[i] > 1e-5 and apart[i].min() > 1e-5]
    return (
        slopes[seen],
        sum(1.0 / same[i] for i in seen),
        sum(1.0 / apart[i, j] for i in seen for j in range(len(slopes)) if j != i),
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("correlated", [False, True])
def test_distances_are_those_of_a_brute_force(name, correlated):
    network, rng = NETWORKS[name], rng_of(name)
    size = network.n_inputs
    root = rng.standard_normal((size, size)) if correlated else np.eye(size)
    weights = rng.standard_normal(network.filter_size)
    found = cells_of(network, root if correlated else None, weights)
    slopes, same, other = brute_force(network, root, weights)
    assert np.array_equal(found.slopes, slopes)
    assert found.same == pytest.approx(same, rel=1e-6)
    assert found.other == pytest.approx(other, rel=1e-6)


def test_cells_that_another_filter_can_imitate_are_left_out():
    gate = cells_of(nt.networks.relu_gate(3), None, np.ones(3))
    assert np.array_equal(gate.slopes, [[1.0]])  # not the cell in which the output is 0
    assert gate.same == pytest.approx(1.0)
    assert gate.other == pytest.approx(1.0 / math.sqrt(3.0))
    assert cells_of(nt.networks.relu_gate(3, leak=0.5), None, np.ones(3)) is None
    assert cells_of(nt.networks.relu_gate(3), None, np.zeros(3)) is None
    assert cells_of(nt.networks.relu_gate(2), np.array([[1.0], [0.0]]), np.ones(2)) is None


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_in_the_cells_whose_slopes_they_have(name):
    network, rng = NETWORKS[name], rng_of(name)
    weights = rng.standard_normal(network.filter_size)
    inputs = rng.standard_normal((300, network.n_inputs))
    cells = cells_of(network, None, weights)
    active = patterns(network, weights, inputs)
    expected = [
        (np.where(row, 1.0, network.leak) == cells.slopes).all(axis=1).any() for row in active
    ]
    assert np.array_equal(cells.contain(active), expected)


# ---- how often a wrong filter explains an honest label -------------------------------------------


def certainly(count):
    """Return a lower limit of a probability of which `count` of the draws were seen."""
    return special.betaincinv(count, DRAWS - count + 1, CONFIDENCE) if count else 0.0


def excess(cells, slope, off, distance):
    """Return by how much rows are certainly explained more often than the bound, at the worst."""
    levels = np.quantile(off, [0.003, 0.01, 0.1, 0.5])
    bound = slope * levels * (cells.same / distance + cells.other)
    return max(certainly(int((off <= s).sum())) - b for s, b in zip(levels, bound, strict=True))


def true_filters(weights, rng):
    """Return filters that labels may come from: near, far, mirrored, parallel and 0."""
    random = rng.standard_normal((4, len(weights)))
    near = weights + [[1e-9], [0.01], [0.3], [3.0]] * random
    return [*near, -weights, 0.5 * weights, 2.0 * weights, 0.0 * weights]


LAWS = {
    "normal": (nt.Normal(), lambda rng, size: rng.standard_normal(size)),
    "Laplace": (nt.Laplace(), lambda rng, size: rng.laplace(size=size)),
    "uniform": (nt.Uniform(), lambda rng, size: rng.uniform(-1.0, 1.0, size)),
    "Cauchy": (nt.StudentT(dof=1.0), lambda rng, size: rng.standard_t(1.0, size)),
    "exponential": (nt.ScipyLaw(stats.expon()), lambda rng, size: rng.exponential(size=size)),
}  # fmt: skip
PAIRS = list(zip((*NAMES, *NAMES), itertools.cycle(LAWS), strict=False))


@pytest.mark.parametrize(("name", "law"), PAIRS)
def test_wrong_filters_explain_no_more_than_the_sum_over_cells(name, law):
    network, rng = NETWORKS[name], rng_of(name)
    weights = rng.standard_normal(network.filter_size)
    inputs = LAWS[law][1](rng, (DRAWS, network.n_inputs))
    slope, cells = concentration_of(LAWS[law][0]).slope, cells_of(network, None, weights)
    inside = cells.contain(patterns(network, weights, inputs))
    truths = np.array(true_filters(weights, rng))
    differences = network(weights, inputs)[:, None] - network(truths, inputs)
    noises = [np.zeros(DRAWS), rng.choice([-0.1, 0.02, 0.5], DRAWS), rng.standard_cauchy(DRAWS)]
    for noise, (j, truth) in itertools.product(noises, enumerate(truths)):
        off = np.abs(differences[:, j] - noise)[inside]
        assert excess(cells, slope, off, np.linalg.norm(weights - truth)) <= 0.0, (truth, noise)


def smaller(cells, **factors):
    """Return cells with sums that are smaller by these factors."""
    changes = {name: factor * getattr(cells, name) for name, factor in factors.items()}
    return dataclasses.replace(cells, **changes)


def test_crossings_that_are_not_counted_would_be_noticed():
    """The mirror of a filter is hard to tell if two gates look in nearly opposite directions."""
    network = nt.networks.from_gates([[[1.0, 0.0, 0.0]], [[-1.0, 0.1, 0.0]]])
    inputs = np.random.default_rng(0).standard_normal((DRAWS, 3))
    cells, slope = cells_of(network, None, np.ones(1)), concentration_of(nt.Normal()).slope
    inside = cells.contain(patterns(network, np.ones(1), inputs))
    off = np.abs(network(np.ones(1), inputs) - network(-np.ones(1), inputs))[inside]
    assert excess(cells, slope, off, 2.0) <= 0.0
    assert excess(smaller(cells, other=0.0), slope, off, 2.0) > 0.0


def test_half_of_the_cells_would_be_noticed():
    inputs = np.random.default_rng(0).exponential(size=DRAWS)
    cells = cells_of(nt.networks.relu_gate(1), None, np.ones(1))
    slope = concentration_of(LAWS["exponential"][0]).slope
    off = np.abs(0.01 * inputs - 0.001)  # of the true filter 1.01, with the constant noise 0.001
    assert excess(cells, slope, off, 0.01) <= 0.0
    assert excess(smaller(cells, same=0.5), slope, off, 0.01) > 0.0


def test_the_radius_solves_the_sum_for_the_distance():
    cells = Cells(np.ones((1, 1)), same=3.0, other=2.0)
    level, share = np.array([0.01, 0.1, 0.2, 0.0]), np.array([0.5, 0.5, 0.3, 0.0])
    found = cells.radius(level, 0.8, share)
    assert 0.8 * level[:2] * (3.0 / found[:2] + 2.0) == pytest.approx(share[:2])
    assert np.isinf(found[2:]).all()  # crossings alone could explain so many rows
