"""How many rows a wrong filter explains: the lemma of parity exactly, and its inversion."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron.theory.concentration import (
    ByKurtosis,
    Concentration,
    NormalConcentration,
    Proportional,
    concentration_of,
)
from neurotron.theory.explained import Explained, Shares, deviation, largest

NORMAL = NormalConcentration(1.0)
INVERSE = stats.norm.ppf

# ---- the lemma of parity, enumerated with fractions ----------------------------------------------

GATES = {
    "one gate": [[1]],
    "two gates": [[1], [-2]],
    "duplicate gates": [[1], [1], [1]],
    "one gate, two inputs": [[1, 2]],
    "two gates, two inputs": [[1, 0], [1, -1]],
    "three gates, two inputs": [[1, 1], [0, 1], [-1, 2]],
}
"""The gates A_i of networks whose filter is one number."""
COORDINATES = {"signs": [-1, 1], "lattice": [-2, -1, 0, 1, 2]}
LEAKS = (F(0), F(1, 2), F(1))
FILTERS = [(F(1), F(0)), (F(0), F(1)), (F(1), F(-1)), (F(1), F(2)), (F(1, 2), F(-3, 2))]
"""Pairs of a filter and the true one: 0, mirrors and multiples."""


def outer_weights(count):
    """Return equal weights, weights of both signs, and weights with the sum 0."""
    return [[1] * count, [1, -2, 3][:count], *{1: [], 2: [[1, -1]], 3: [[1, 1, -2]]}[count]]


def output(gates, outer, leak, weight, x):
    """Return f_w(x) for a filter of one number, as a fraction."""
    sums = [weight * sum(F(a) * b for a, b in zip(gate, x, strict=True)) for gate in gates]
    slopes = [F(1) if z > 0 else leak for z in sums]
    return sum(F(q) * s * z for q, s, z in zip(outer, slopes, sums, strict=True)) / len(gates)


class Difference:
    """The difference e of the outputs of two filters, with its odd part o and its even part g."""

    def __init__(self, gates, outer, leak, filters, coordinates):
        self.inputs = list(itertools.product(coordinates, repeat=len(gates[0])))
        estimate, truth = filters
        self.whole = {
            x: output(gates, outer, leak, estimate, x) - output(gates, outer, leak, truth, x)
            for x in self.inputs
        }
        columns = zip(*gates, strict=True)
        sums = [sum(F(q) * a for q, a in zip(outer, column, strict=True)) for column in columns]
        self.linear = {
            x: (estimate - truth) * sum(m * c for m, c in zip(sums, x, strict=True)) / len(gates)
            for x in self.inputs
        }
        self.slope = (1 + leak) / 2
        self.odd = {x: self.slope * self.linear[x] for x in self.inputs}
        mirrored = {x: self.whole[tuple(-c for c in x)] for x in self.inputs}
        assert all(self.whole[x] - mirrored[x] == 2 * self.odd[x] for x in self.inputs)
        self.even = {x: self.whole[x] - self.odd[x] for x in self.inputs}

    def noises(self):
        """Yield laws of the noise at each input: values that are equally likely."""
        yield {x: [F(0)] for x in self.inputs}
        yield {x: [F(-1, 2), F(1, 2), F(2)] for x in self.inputs}
        yield {x: [self.odd[x] - self.even[x], -self.odd[x] - self.even[x]] for x in self.inputs}

    def probability(self, noise, level):
        """Return P(|e + ζ| ≤ level)."""
        within = [
            F(sum(abs(self.whole[x] + z) <= level for z in noise[x]), len(noise[x]))
            for x in self.inputs
        ]
        return sum(within) / len(self.inputs)

    def odd_within(self, level, factor):
        """Return P(factor · |dᵀĀx| ≤ level)."""
        return F(sum(factor * abs(self.linear[x]) <= level for x in self.inputs), len(self.inputs))

    def levels(self):
        """Return every level at which something changes, and 0."""
        return sorted({F(0)} | {abs(v) for v in (*self.whole.values(), *self.odd.values())})


def differences(names=tuple(GATES), leaks=LEAKS):
    for name, leak, coordinates in itertools.product(names, leaks, COORDINATES.values()):
        gates = GATES[name]
        if len(gates[0]) > 1 and len(coordinates) > 2:
            coordinates = [-1, 0, 1]
        for outer, filters in itertools.product(outer_weights(len(gates)), FILTERS):
            yield Difference(gates, outer, leak, filters, coordinates)


@pytest.fixture(scope="module")
def cases():
    """Return (difference, P(explained), P(odd part small), level) for every case."""
    return [
        (one, one.probability(noise, level), one.odd_within(level, one.slope), level)
        for one in differences()
        for noise in one.noises()
        for level in one.levels()
    ]


def test_the_lemma_of_parity_holds_in_every_case(cases):
    assert len(cases) > 3000
    assert all(2 * explained <= 1 + near for _, explained, near, _ in cases)


def test_the_half_of_the_lemma_cannot_be_improved(cases):
    attained = [near for _, explained, near, _ in cases if 2 * explained == 1 + near and near < 1]
    assert len(attained) > 100
    assert min(attained) == 0


@pytest.mark.parametrize("factor", [F(0), F(9, 20)])
def test_a_smaller_factor_than_one_half_would_be_noticed(cases, factor):
    assert any(explained > factor + near / 2 for _, explained, near, _ in cases)
    assert any(explained > near for _, explained, near, _ in cases)


def test_one_gate_keeps_its_leak_on_the_other_side_of_each_pair():
    attained = 0
    for difference in differences(["one gate", "one gate, two inputs"], [F(1, 10), *LEAKS]):
        leak, exact = 2 * difference.slope - 1, {x: [F(0)] for x in difference.inputs}
        for level in difference.levels():
            near, far = (difference.odd_within(level, s) for s in (difference.slope, leak))
            explained = difference.probability(exact, level)
            assert 2 * explained <= near + far
            attained += 2 * explained == near + far < 2
    assert attained > 0


class Enumerated(Concentration):
    """The exact concentration of one direction."""

    unit = 1.0

    def __init__(self, difference):
        self.sizes = np.sort(np.abs([float(v) for v in difference.linear.values()]))

    def __call__(self, t):
        count = np.searchsorted(self.sizes, t * (1.0 + 1e-12), side="right")
        return count / len(self.sizes)


def test_the_bounds_of_the_package_hold_in_every_case(cases):
    for difference, explained, _, level in cases[::7]:
        bound = Explained(Enumerated(difference), float(difference.slope), pairs=True)
        found = bound.probability(np.array([float(level)]), np.ones(1))[0]
        assert float(explained) <= found + 1e-12


def test_the_enumerated_networks_are_those_of_the_package():
    for name, gates in GATES.items():
        for leak, outer in itertools.product(LEAKS, outer_weights(len(gates))):
            matrices = np.array(gates, float)[:, None, :]
            network = nt.networks.from_gates(matrices, outer_weights=outer, leak=float(leak))
            inputs = list(itertools.product([-2, 1, 3], repeat=len(gates[0])))
            exact = [float(output(gates, outer, leak, F(-3, 2), x)) for x in inputs]
            found = network(np.array([-1.5]), np.array(inputs, float))
            np.testing.assert_allclose(found, exact, atol=1e-15, err_msg=name)


# ---- what the bounds are at given sizes ----------------------------------------------------------


def test_bounds_of_normal_inputs_are_closed_forms():
    s, size = np.array([0.5, 2.0]), np.array([1.0, 4.0])

    def within(scale):
        return 2.0 * stats.norm.cdf(s / scale) - 1.0

    both = np.hypot(0.3, 0.5 * size)
    cases = {
        Explained(NORMAL, 0.5, True): (1.0 + within(0.5 * size)) / 2.0,
        Explained(NORMAL, 1.0, False): within(size),
        Explained(NORMAL, 0.6, True, other=0.2): (within(0.6 * size) + within(0.2 * size)) / 2.0,
        Explained(NORMAL, 0.5, True, noise=0.3): (within(0.3) + within(both)) / 2.0,
        Explained(NORMAL, 1.0, False, noise=0.3): within(np.hypot(0.3, size)),
    }
    for explained, expected in cases.items():
        np.testing.assert_allclose(explained.probability(s, size), expected, rtol=1e-8)


def test_known_normal_noise_is_bounded_for_every_even_part():
    """P(|e + ζ| ≤ s) over pairs ±o + g is largest if one of the two differences is 0."""
    odd = np.random.default_rng(0).standard_normal(20_000)
    explained = Explained(NORMAL, 1.0, pairs=True, noise=0.5)
    for even, s in itertools.product((0.0, odd, 0.3 * odd, 1.0), (0.1, 0.5, 2.0)):
        means = np.concatenate([odd + even, even - odd])
        found = stats.norm.cdf((s - means) / 0.5) - stats.norm.cdf((-s - means) / 0.5)
        bound = explained.probability(np.array([s]), np.ones(1))[0]
        assert found.mean() <= bound + 5.0 * found.std() / math.sqrt(len(odd))


@pytest.mark.parametrize(
    ("explained", "coin", "any_"),
    [
        (Explained(NORMAL, 0.5, pairs=True), 1 / 3, 1 / 4),
        (Explained(NORMAL, 1.0, pairs=False), 1 / 2, 1 / 2),
        (Explained(NORMAL, 0.6, pairs=True, other=0.2), 1 / 2, 1 / 2),
        (Explained(ByKurtosis(1.0, 3.0), 0.5, pairs=True), 1 / 7, 1 / 12),
    ],
)
def test_thresholds(explained, coin, any_):
    for limit, coins in ((coin, True), (any_, False)):
        assert Shares(limit - 1e-6, coins).gap(explained.perfect) > 0.0
        assert Shares(limit + 1e-6, coins).gap(explained.perfect) < 0.0


def test_attackers_add_to_the_share_of_explained_rows():
    explained, s, size = Explained(NORMAL, 0.5, pairs=True), np.array([0.1]), np.array([3.0])
    honest, later = (explained.probability(level, size) for level in (s, s + 0.7))
    expected = {
        Shares(0.2, True): 0.8 * honest + 0.2,
        Shares(0.2, False): honest + 0.2,
        Shares(0.2, True, 0.7): 0.8 * honest + 0.2 * later,
        Shares(0.2, False, 0.7): np.minimum(honest + 0.2, later),
        Shares(1.0, True, 0.7): later,
        Shares(1.0, False, 0.7): later,
    }
    for shares, value in expected.items():
        assert shares.most(explained, s, size) == pytest.approx(value)


def test_no_filter_explains_more_than_normal_noise_allows():
    s = np.array([0.1, 0.3])
    inner = 2.0 * stats.norm.cdf(s / 0.2) - 1.0
    np.testing.assert_allclose(Shares(0.1, True).most_of_noise(s, 0.2), 0.9 * inner + 0.1)
    np.testing.assert_allclose(Shares(0.1, False).most_of_noise(s, 0.2), inner + 0.1)


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 5, 30, 1000])
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.001, 1e-6])
def test_the_deviation_covers_all_levels_at_once(rows, delta):
    """The exact law of the largest excess of a share over its probability is known."""
    assert stats.ksone.sf(deviation(rows, delta), rows) <= delta


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5, 0.9])
def test_the_deviation_covers_one_level(probability):
    for rows, delta in itertools.product([1, 7, 50, 1000], [0.5, 0.05, 1e-3]):
        most = rows * (probability + deviation(rows, delta))
        assert stats.binom.sf(math.floor(most * (1 + 1e-12)), rows, probability) <= delta


def test_a_deviation_that_is_smaller_by_a_tenth_would_be_noticed():
    assert stats.ksone.sf(0.9 * deviation(1000, 0.001), 1000) > 0.001


# ---- the largest size that is consistent ---------------------------------------------------------


def radius(explained, shares, level, share):
    """Return the largest size that a share of rows within a level allows."""
    level, share = np.atleast_1d(level), np.atleast_1d(share)
    return largest(lambda size: shares.most(explained, level, size) >= share, level)


@pytest.mark.parametrize("level", [1e-90, 1e-14, 1.0, 1e20])
def test_the_radius_of_normal_inputs_is_a_closed_form(level):
    pairs, line = Explained(NORMAL, 0.5, pairs=True), Explained(NORMAL, 1.0, pairs=False)
    for beta, share in itertools.product([0.0, 0.1, 0.2], [0.8, 0.9, 0.99]):
        coin, chosen = (share - beta) / (1.0 - beta), share - beta
        expected = {
            (pairs, True): level / (0.5 * INVERSE(coin)),
            (pairs, False): level / (0.5 * INVERSE(chosen)),
            (line, True): level / INVERSE((1.0 + coin) / 2.0),
            (line, False): level / INVERSE((1.0 + chosen) / 2.0),
        }
        for (explained, coins), value in expected.items():
            found = radius(explained, Shares(beta, coins), level, share)[0]
            assert value <= found <= value * (1.0 + 1e-7)


def test_the_radius_is_rounded_up():
    pairs = Explained(Proportional(0.3), 0.5, pairs=True)  # which has no allowance of its own
    share = np.linspace(0.6, 0.99, 50)
    found = radius(pairs, Shares(0.0, True), np.full(50, 2.0), share)
    exact = 0.3 * 2.0 / (0.5 * (2.0 * share - 1.0))
    assert (exact <= found).all()
    assert (found <= exact * (1.0 + 1e-8)).all()


def test_known_noise_and_bounds_have_closed_forms():
    s, share, noise, theta = 0.3, 0.75, 0.2, 0.5
    known = Explained(NORMAL, 0.5, pairs=True, noise=noise)
    g = share + 1.0 - stats.norm.cdf(s / noise)
    found = radius(known, Shares(0.0, True), s, share)[0]
    assert found == pytest.approx(math.sqrt((s / INVERSE(g)) ** 2 - noise**2) / 0.5, rel=1e-7)
    pairs = Explained(NORMAL, 0.5, pairs=True)
    for coins in (True, False):  # even if every label is attacked
        found = radius(pairs, Shares(1.0, coins, theta), s, share)[0]
        assert found == pytest.approx((s + theta) / (0.5 * INVERSE(share)), rel=1e-7)
    assert radius(pairs, Shares(1.0, True), s, share)[0] == math.inf


def test_a_share_at_the_threshold_bounds_nothing():
    pairs = Explained(NORMAL, 0.5, pairs=True)
    found = radius(pairs, Shares(0.2, True), [1.0, 1.0, 1.0], [0.3, 0.6, 0.61])
    assert np.isinf(found[:2]).all()
    assert 10.0 < found[2] < math.inf


def test_half_the_parity_factor_would_halve_the_radius():
    pairs = Explained(NORMAL, 0.5, pairs=True)
    wrong = dataclasses.replace(pairs, pairs=False)
    one, other = (radius(e, Shares(0.1, True), 1.0, 0.8)[0] for e in (pairs, wrong))
    assert other < 0.8 * one


@pytest.mark.parametrize("law", [nt.Laplace(), nt.StudentT(dof=1.0), nt.Uniform(), nt.Rademacher()])
def test_the_size_returned_is_the_last_one_that_is_consistent(law):
    explained, shares = Explained(concentration_of(law), 0.5, pairs=True), Shares(0.05, True)
    level = np.geomspace(1e-12, 1.0, 5)
    size = radius(explained, shares, level, np.full(5, 0.97))
    assert np.isfinite(size).all()
    assert (shares.most(explained, level, size * (1.0 - 1e-6)) >= 0.97).all()
    assert (shares.most(explained, level, size * (1.0 + 1e-6)) < 0.97 + 1e-9).all()
