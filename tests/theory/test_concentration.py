"""Concentration of laws: no projection has more probability near a point than the bound says."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import neurotron as nt
from neurotron.laws import ProductLaw
from neurotron.theory.concentration import (
    AnyInterval,
    ByKurtosis,
    Mixture,
    NormalConcentration,
    Proportional,
    concentration_of,
)

COORDINATES, DRAWS = 8, 40_000
CONFIDENCE = 1e-7
"""The chance that one comparison fails by accident; there are fewer than 10,000 of them."""
LEVELS = np.array([1e-3, 0.01, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0])


class RarelyAway(ProductLaw):
    """Law that is 0 with probability 3/4 and otherwise ±2: the worst one of kurtosis 4."""

    symmetric, variance, kurtosis = True, 1.0, 4.0

    def coordinates(self, u, v):
        return (rarely_away(u),)


def rarely_away(u):
    return np.where(u < 0.75, 0.0, np.where(u < 0.875, 2.0, -2.0))


def students(dof):
    return lambda rng, size: rng.standard_t(dof, size)


LAWS = {
    "normal": (nt.Normal(scale=2.0), lambda rng, size: 2.0 * rng.standard_normal(size)),
    "Laplace": (nt.Laplace(scale=1.5), lambda rng, size: rng.laplace(0.0, 1.5, size)),
    "t(4)": (nt.StudentT(dof=4.0), students(4.0)),
    "Cauchy": (nt.StudentT(dof=1.0), students(1.0)),
    "t(1/2)": (nt.StudentT(dof=0.5), students(0.5)),
    "uniform": (nt.Uniform(scale=3.0), lambda rng, size: rng.uniform(-3.0, 3.0, size)),
    "signs": (nt.Rademacher(), lambda rng, size: rng.choice([-1.0, 1.0], size)),
    "rarely away": (RarelyAway(), lambda rng, size: rarely_away(rng.random(size))),
    "logistic": (nt.ScipyLaw(stats.logistic()), lambda rng, size: rng.logistic(size=size)),
    "exponential": (nt.ScipyLaw(stats.expon()), lambda rng, size: rng.exponential(size=size)),
}  # fmt: skip
ANYWHERE = [name for name, (law, _) in LAWS.items() if concentration_of(law).anywhere]


def directions(rng):
    """Return unit vectors: extreme ones, those with few equal entries, and random ones."""
    equal = [np.r_[np.ones(m), np.zeros(COORDINATES - m)] for m in (1, 2, 3, COORDINATES)]
    uneven = [np.r_[1.0, 0.3, np.zeros(COORDINATES - 2)], np.r_[1.0, -1.0, 1e-3, np.zeros(5)]]
    vectors = np.array([*equal, *uneven, *rng.standard_normal((4, COORDINATES))])
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def certainly(count, draws):
    """Return a lower limit of a probability of which `count` of the draws were seen."""
    limit = special.betaincinv(np.maximum(count, 1), draws - count + 1, CONFIDENCE)
    return np.where(count > 0, limit, 0.0)


def excess(bound, projected, centre=0.0, levels=LEVELS):
    """Return by how much the draws certainly exceed a bound, at the worst level."""
    away = np.sort(np.abs(projected - centre))
    count = np.searchsorted(away, levels, side="right")
    return float((certainly(count, len(away)) - bound(levels)).max())


@pytest.fixture(scope="module")
def drawn():
    """Return draws of each law, all with the same seed."""
    return {
        name: draw(np.random.default_rng(7), (DRAWS, COORDINATES))
        for name, (_, draw) in LAWS.items()
    }


@pytest.mark.parametrize("name", LAWS)
def test_no_direction_has_more_probability_than_the_bound(name, drawn):
    law = LAWS[name][0]
    for vector in directions(np.random.default_rng(1)):
        bound, projected = concentration_of(law, float((vector**2).max())), drawn[name] @ vector
        assert bound is not None
        if law.symmetric:  # otherwise the bound is for all points, and tested below
            assert excess(bound, projected) <= 0.0, vector
        assert excess(concentration_of(law), projected) <= 0.0, "a leverage of 1 allows all"


@pytest.mark.parametrize(
    "name", [name for name in LAWS if concentration_of(LAWS[name][0]).anywhere]
)
def test_bounds_for_intervals_anywhere_hold_around_every_point(name, drawn):
    for vector in directions(np.random.default_rng(2)):
        bound, projected = concentration_of(LAWS[name][0], (vector**2).max()), drawn[name] @ vector
        for centre in np.quantile(projected, [0.05, 0.3, 0.5, 0.6, 0.9]):
            assert excess(bound, projected, centre) <= 0.0
            assert excess(lambda t, bound=bound: bound.slope * t, projected, centre) <= 0.0


def test_laws_with_points_of_positive_probability_have_no_slope():
    for law in (nt.Rademacher(), RarelyAway()):
        bound = concentration_of(law)
        assert not bound.anywhere
        assert bound.slope == math.inf
        assert bound.at_zero > 0.0


@pytest.mark.parametrize(
    ("law", "exactly", "loss"),
    [
        (nt.Normal(scale=2.0), lambda t: 2.0 * stats.norm.cdf(t / 2.0) - 1.0, 1e-8),
        (nt.Laplace(scale=2.0), lambda t: 1.0 - np.exp(-t / 2.0), 0.13),
        (nt.StudentT(dof=1.0), lambda t: 2.0 / math.pi * np.arctan(t), 0.13),
        (nt.StudentT(dof=4.0), lambda t: 2.0 * stats.t.cdf(t, 4.0) - 1.0, 0.10),
    ],
)
def test_one_coordinate_is_bounded_by_little_more_than_its_closed_form(law, exactly, loss):
    t = np.geomspace(1e-6, 1e3, 200)
    found = concentration_of(law)(t)
    assert (found >= exactly(t)).all()
    assert (found <= exactly(t) + loss).all()


@pytest.mark.parametrize(
    ("law", "leverage", "density"),
    [
        (nt.Normal(scale=2.0), 1.0, 1.0 / (2.0 * math.sqrt(2.0 * math.pi))),
        (nt.Laplace(scale=1.0), 1.0, 0.5),
        (nt.Laplace(scale=1.0), 0.5, math.sqrt(2.0) / 4.0),  # (1 + |x|) e^{−|x|}/4, for x/√2
        (nt.StudentT(dof=1.0), 1.0, 1.0 / math.pi),
        (nt.Uniform(scale=1.0), 1.0, 1.0 / math.sqrt(2.0)),  # the diagonal section of a square
        (nt.ScipyLaw(stats.laplace()), 1.0, 0.5),  # of all symmetric log-concave laws the worst
        (nt.ScipyLaw(stats.expon()), 1.0, 1.0),  # and of all log-concave ones
    ],
)
def test_the_slope_at_zero_is_twice_the_largest_density(law, leverage, density):
    bound = concentration_of(law, leverage)
    assert bound.slope == pytest.approx(2.0 * density, rel=1e-8)
    assert bound.slope >= 2.0 * density
    assert bound(np.array([1e-9]))[0] == pytest.approx(2e-9 * density, rel=1e-6)


def test_the_mean_of_many_laplace_coordinates_is_normal():
    t = np.linspace(0.0, 2.4, 50)  # beyond √3 standard deviations the tangent costs more
    bound, normal = concentration_of(nt.Laplace(), 1e-4), NormalConcentration(math.sqrt(2.0))
    assert (np.abs(bound(t) - normal(t)) < 0.01).all()
    assert bound.slope == pytest.approx(normal.slope, rel=1e-3)
    assert concentration_of(nt.StudentT(dof=1e9)).slope == pytest.approx(
        NormalConcentration(1.0).slope, rel=1e-6
    )


def test_smaller_leverage_never_has_a_larger_bound():
    t = np.geomspace(1e-3, 10.0, 40)
    for law in (nt.Laplace(), RarelyAway(), nt.ScipyLaw(stats.laplace())):
        values = [concentration_of(law, h)(t) for h in (1.0, 0.5, 0.34, 0.1, 0.01)]
        for larger, smaller in itertools.pairwise(values):
            assert (smaller <= larger + 2e-3).all()  # quantiles are rounded


def test_the_bound_by_kurtosis_is_attained():
    bound = concentration_of(RarelyAway())
    assert bound.at_zero == pytest.approx(0.75, rel=1e-8)
    assert bound.at_zero >= 0.75
    assert concentration_of(RarelyAway(), 0.5).at_zero == pytest.approx(1.0 - 1.0 / 3.5)


def test_a_kurtosis_of_one_says_nothing_from_the_scale_on():
    bound = ByKurtosis(scale=2.0, kurtosis=1.0)  # the size is certainly 2
    values = bound(np.array([0.0, 1.0, 2.0 - 1e-6, 2.0, 3.0]))
    assert (values[:2] < 1e-8).all()
    assert (values[3:] == 1.0).all()
    assert np.isfinite(values).all()
    assert np.isfinite(ByKurtosis(1.0, 1.0 - 1e-15)(np.linspace(0.0, 2.0, 9))).all()


BOUNDS = st.sampled_from([
    *(concentration_of(law, h) for law, _ in LAWS.values() for h in (1.0, 0.2)),
    ByKurtosis(1.0, 1.0), ByKurtosis(2.0, math.inf), AnyInterval(ByKurtosis(math.sqrt(2.0), 3.0)),
])  # fmt: skip


@settings(max_examples=200)
@given(bound=BOUNDS, sizes=st.tuples(*[st.floats(0.0, 1e300)] * 2))
def test_bounds_are_probabilities_that_never_fall(bound, sizes):
    low, high = bound(np.sort(np.array(sizes)))
    assert 0.0 <= low <= high * (1.0 + 1e-12) <= 1.0 + 1e-12


def test_an_interval_anywhere_costs_a_root():
    bound = AnyInterval(Proportional(0.5))
    np.testing.assert_allclose(bound(np.array([0.0, 0.25, 1.0, 9.0])), [0.0, 0.5, 1.0, 1.0])
    assert bound.anywhere


def test_subclasses_and_laws_without_a_bound_are_not_trusted():
    class Mine(nt.Normal):
        pass

    class Wild(ProductLaw):
        symmetric, variance, kurtosis = True, math.inf, math.inf

        def coordinates(self, u, v):
            return (np.tan(math.pi * (u - 0.5)),)

    assert isinstance(concentration_of(Mine()), ByKurtosis)
    assert concentration_of(Wild()) is None


@pytest.mark.parametrize("name", ["Laplace", "Cauchy", "t(1/2)", "uniform", "exponential"])
def test_half_the_slope_would_be_noticed(name, drawn):
    bound = concentration_of(LAWS[name][0])
    wrong = dataclasses.replace(bound, factor=0.45 * bound.factor)
    worst = np.r_[1.0, np.zeros(7)] if name != "uniform" else np.r_[1.0, 1.0, np.zeros(6)] / 2**0.5
    projected = drawn[name] @ worst
    centre = 0.3 if name == "exponential" else 0.0
    levels = np.array([0.1, 0.2, 0.3])
    assert excess(wrong, projected, centre, levels) > 0.0


def test_half_the_kurtosis_would_be_noticed(drawn):
    bound = concentration_of(RarelyAway())
    wrong = dataclasses.replace(bound, kurtosis=bound.kurtosis / 2.0)
    assert excess(wrong, drawn["rarely away"][:, 0], levels=np.zeros(1)) > 0.0


def test_larger_variances_would_be_noticed(drawn):
    bound = concentration_of(nt.StudentT(dof=0.5))
    assert isinstance(bound, Mixture)
    wrong = Mixture(math.inf, 4.0 * bound.variances)
    assert excess(wrong, drawn["t(1/2)"][:, 0]) > 0.0
