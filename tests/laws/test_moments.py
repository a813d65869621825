"""Norm moments against closed forms, check values, and Monte Carlo with stated intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import neurotron as nt


def test_normal_moments_are_those_of_the_chi_distribution():
    law = nt.Normal(scale=1.5)
    for n in (1, 2, 7, 100):
        for order in (1, 2, 3, 4):
            expected = 1.5**order * stats.chi(n).moment(order)
            assert law.norm_moment(order, n) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 100])
@pytest.mark.parametrize("order", [1, 3])
def test_the_quadrature_reproduces_the_closed_form_of_a_normal_law(order, n):
    quadrature = nt.ScipyLaw(stats.norm(scale=1.5)).norm_moment(order, n)
    assert quadrature == pytest.approx(nt.Normal(scale=1.5).norm_moment(order, n), rel=1e-9)


def test_check_values_of_the_theory_page():
    assert nt.Laplace(scale=2.0).norm_moment(1, 50) == pytest.approx(19.76137, abs=5e-6)
    assert nt.Laplace(scale=2.0).norm_moment(3, 50) == pytest.approx(8291.77, abs=5e-3)
    assert nt.StudentT(4).norm_moment(1, 50) == pytest.approx(9.7780, abs=5e-5)


def student_moment(dof: float, scale: float, order: int) -> float:
    """Return E|x|^order of scale · t(dof) by its gamma functions."""
    log = math.lgamma((order + 1) / 2) + math.lgamma((dof - order) / 2) - math.lgamma(dof / 2)
    return scale**order * dof ** (order / 2) * math.exp(log) / math.sqrt(math.pi)


@pytest.mark.parametrize("order", [1, 3])
def test_in_one_dimension_they_are_the_absolute_moments(order):
    closed_forms = [
        (nt.Laplace(scale=0.3), math.factorial(order) * 0.3**order),
        (nt.Uniform(scale=5.0), 5.0**order / (order + 1)),
        (nt.StudentT(3.2, scale=2.0), student_moment(3.2, 2.0, order)),
        (nt.StudentT(3.01), student_moment(3.01, 1.0, order)),
        (nt.StudentT(9), student_moment(9, 1.0, order)),
    ]
    for law, expected in closed_forms:
        assert law.norm_moment(order, 1) == pytest.approx(expected, rel=1e-9), law


@pytest.mark.parametrize("n", [2, 10, 100])
@pytest.mark.parametrize(
    "law",
    [
        nt.Laplace(scale=2.0),
        nt.StudentT(9),
        nt.Uniform(),
        nt.Rademacher(scale=2.0),
        nt.ScipyLaw(stats.logistic()),
    ],
    ids=repr,
)
def test_moments_lie_within_five_standard_errors_of_200_000_draws(law, n):
    count = 200_000 // n
    norms = np.linalg.norm(
        law.inputs(*np.random.default_rng(n).random((2, law.pairs(count, n))), count, n), axis=1
    )
    for order in (1, 2, 3, 4):
        sample = norms**order
        error = sample.std() / math.sqrt(count)
        assert abs(law.norm_moment(order, n) - sample.mean()) <= 5 * error + 1e-9


@pytest.mark.parametrize(
    ("distribution", "order", "n"),
    [
        (stats.dweibull(20), 1, 3),
        (stats.dgamma(20), 3, 2),
        (stats.arcsine(-3, 6), 1, 2),
        (stats.beta(0.01, 0.01, -1, 2), 3, 3),
        (stats.gennorm(100), 1, 3),
        (stats.norm(30, 1), 1, 3),
        (stats.norm(100, 0.01), 3, 3),
    ],
    ids=lambda value: value.dist.name if hasattr(value, "dist") else str(value),
)
def test_scipy_laws_with_their_mass_in_odd_places(distribution, order, n):
    """Within five standard errors of 200 000 draws by SciPy's own sampler."""
    norms = np.linalg.norm(distribution.rvs((200_000, n), random_state=1), axis=1) ** order
    error = norms.std() / math.sqrt(len(norms))
    stated = nt.ScipyLaw(distribution).norm_moment(order, n)
    assert abs(stated - norms.mean()) <= 5 * error


def test_a_density_with_its_mass_out_of_sight_gives_a_bound_not_a_number_that_is_wrong():
    class Tiny(nt.ProductLaw):
        symmetric, variance, kurtosis = True, 1e-60, 3.0

        def coordinates(self, u, v):
            return tuple(1e-30 * part for part in nt.Normal().coordinates(u, v))

        def density(self, x):
            return stats.norm(scale=1e-30).pdf(x)

    assert Tiny().norm_moment(1, 4) == pytest.approx(2e-30)


def test_student_t_moments_are_infinite_from_the_degrees_of_freedom_on():
    for dof, finite in [(0.5, 0), (1.0, 0), (1.5, 1), (2.0, 1), (3.0, 2), (4.0, 3), (4.5, 4)]:
        moments = [nt.StudentT(dof).norm_moment(order, 10) for order in (1, 2, 3, 4)]
        assert [math.isfinite(m) for m in moments] == [i < finite for i in range(4)], dof


def test_correlated_normal_moments_against_monte_carlo_and_the_isotropic_limit():
    root = np.random.default_rng(5).standard_normal((4, 6))
    law = nt.Correlated(nt.Normal(scale=1.3), root)
    sample = np.random.default_rng(6).standard_normal((400_000, 6)) * 1.3 @ root.T
    norms = np.linalg.norm(sample, axis=1)
    for order in (1, 2, 3, 4):
        values = norms**order
        assert abs(law.norm_moment(order, 4) - values.mean()) <= 5 * values.std() / 632.0
    plain = nt.Correlated(nt.Normal(scale=2.0), np.eye(7))
    for order in (1, 2, 3, 4):
        assert plain.norm_moment(order, 7) == pytest.approx(
            nt.Normal(scale=2.0).norm_moment(order, 7), rel=1e-10
        )


def test_correlated_non_normal_odd_moments_are_bounds_from_above():
    root = np.random.default_rng(5).standard_normal((4, 6))
    law = nt.Correlated(nt.Laplace(), root)
    x = law.inputs(*np.random.default_rng(7).random((2, law.pairs(100_000, 4))), 100_000, 4)
    norms = np.linalg.norm(x, axis=1)
    for order, room in [(1, 1.2), (3, 1.2)]:
        assert (norms**order).mean() <= law.norm_moment(order, 4)
        assert law.norm_moment(order, 4) <= room * (norms**order).mean()
    fourth = norms**4
    assert abs(law.norm_moment(4, 4) - fourth.mean()) <= 5 * fourth.std() / math.sqrt(1e5)


@pytest.mark.parametrize(
    "law", [nt.Normal(scale=2.0), nt.Uniform(scale=3.0), nt.Rademacher(scale=0.5)], ids=repr
)
def test_light_tailed_laws_have_no_moment_above_those_of_a_normal_law(law):
    """By sums over their points and probabilities."""
    assert law.light_tailed
    x, mass = law.masses()
    for p, normal in ((1, 1.0), (2, 3.0), (3, 15.0), (4, 105.0)):
        moment = float(mass @ (x * law.unit) ** (2 * p)) / law.variance**p
        assert moment <= normal * (1.0 + 1e-9)


def test_other_laws_and_subclasses_are_not_known_to_be_light_tailed():
    class Other(nt.Normal):
        pass

    assert not any(law.light_tailed for law in (nt.Laplace(), nt.StudentT(9.0), Other()))
