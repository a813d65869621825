"""Moments under an even weight, against sums over draws, closed forms and each other."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

import neurotron as nt
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs
from neurotron.laws.even_moments import EvenMoments

N = 5
DRAWS = 200_000
SIGMAS = 5.0
MIX = np.random.default_rng(1).standard_normal((N, N))
GRAM = MIX[:3].T @ MIX[:3]

LAWS = {
    "normal": nt.Normal(scale=2.0),
    "laplace": nt.Laplace(scale=0.5),
    "uniform": nt.Uniform(scale=3.0),
    "rademacher": nt.Rademacher(scale=1.5),
    "t(20)": nt.StudentT(20.0),
    "t(2.5)": nt.StudentT(2.5),
    "cauchy": nt.StudentT(1.0, scale=4.0),
    "logistic": nt.ScipyLaw(stats.logistic()),
    "correlated normal": nt.Correlated(nt.Normal(scale=0.7), MIX),
    "correlated laplace": nt.Correlated(nt.Laplace(), MIX),
    "low rank normal": nt.Correlated(nt.Normal(), MIX[:, :4]),
}
HEAVY = {"t(2.5)", "cauchy"}


@cache
def draws(name: str) -> np.ndarray:
    """Return inputs of a law, drawn once for all tests."""
    return draw_inputs(LAWS[name], Stream.of(3, 0), 0, DRAWS, N)


def agrees(stated: np.ndarray, samples: np.ndarray) -> bool:
    """Whether a stated mean is within five standard errors of that of samples, entry by entry."""
    error = samples.std(axis=0) / math.sqrt(len(samples))
    return bool((np.abs(samples.mean(axis=0) - stated) <= SIGMAS * error + 1e-8).all())


@pytest.mark.parametrize("weighting", [None, "inverse-norm"])
@pytest.mark.parametrize("name", LAWS)
def test_moments_agree_with_draws(name, weighting):
    law, x = LAWS[name], draws(name)
    moments = law.even_moments(N, weighting)
    omega = np.ones(len(x)) if weighting is None else 1.0 / (x**2).sum(axis=1)
    outer = x[:, :, None] * x[:, None, :]
    if moments.covariance is not None and not (weighting is None and name in HEAVY):
        assert agrees(moments.covariance, omega[:, None, None] * outer)
        assert agrees(moments.squared, (omega**2)[:, None, None] * outer)
    if moments.quartic is not None:
        along = omega**2 * np.einsum("ij,jk,ik->i", x, GRAM, x)
        assert agrees(moments.quartic(GRAM), along[:, None, None] * outer)


@pytest.mark.parametrize(
    ("name", "weighting"),
    [
        (name, weighting)
        for name in sorted(LAWS.keys() - HEAVY)
        for weighting in (None, "inverse-norm")
        if (name, weighting) != ("correlated laplace", "inverse-norm")  # not known
    ],
)
def test_the_mean_of_a_projection_is_never_above_its_bound(name, weighting):
    law, x = LAWS[name], draws(name)
    tau = law.even_moments(N, weighting).tau
    omega = np.ones(len(x)) if weighting is None else 1.0 / (x**2).sum(axis=1)
    for direction in np.random.default_rng(2).standard_normal((4, N)):
        samples = omega * np.abs(x @ direction)
        bound = tau(direction[None])
        error = samples.std() / math.sqrt(len(samples))
        assert samples.mean() - SIGMAS * error <= bound
        exact = name == "normal" or (name == "correlated normal" and weighting is None)
        if exact:
            assert samples.mean() == pytest.approx(bound, abs=SIGMAS * error)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("name", sorted(LAWS.keys() - {"low rank normal", "correlated laplace"}))
def test_weighted_squares_sum_to_one(name, n):
    """Σ_ij E[x_i² x_j²]/‖x‖⁴ = 1 and Σ_i E[x_i²]/‖x‖² = 1, whatever the tails.

    Rounded to the safe side: the pull of labels down, their spread up.
    """
    law = LAWS[name]
    if isinstance(law, nt.Correlated):
        mix = np.random.default_rng(n).standard_normal((n, n)) + np.eye(n)
        law = nt.Correlated(law.base, mix)
    moments = law.even_moments(n, "inverse-norm")
    assert 1.0 - 2e-8 <= np.trace(moments.covariance) <= 1.0
    assert 1.0 <= np.trace(moments.quartic(np.eye(n))) <= 1.0 + 2e-8


@pytest.mark.parametrize("n", [3, 10, 100])
def test_the_inverse_norm_of_normal_inputs_has_its_closed_form(n):
    """E‖x‖⁻² = 1/(σ²(n − 2))."""
    squared = nt.Normal(scale=2.0).even_moments(n, "inverse-norm").squared
    assert np.trace(squared) == pytest.approx(1.0 / (4.0 * (n - 2)), rel=2e-8)
    assert np.trace(squared) >= 1.0 / (4.0 * (n - 2))


@pytest.mark.parametrize("n", [1, 2])
def test_in_one_and_two_dimensions_the_inverse_norm_has_no_mean(n):
    assert nt.Normal().even_moments(n, "inverse-norm").squared is None


def test_equal_variances_make_a_correlated_law_a_product_law():
    rotation = np.linalg.qr(MIX)[0]
    for weighting in (None, "inverse-norm"):
        turned = nt.Correlated(nt.Normal(scale=2.0), rotation).even_moments(N, weighting)
        plain = nt.Normal(scale=2.0).even_moments(N, weighting)
        np.testing.assert_allclose(turned.covariance, plain.covariance, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(turned.quartic(GRAM), plain.quartic(GRAM), rtol=1e-8, atol=1e-9)


def test_rows_are_summed():
    rows = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])
    moments: EvenMoments = nt.Empirical(rows).even_moments(2, "inverse-norm")
    kept = rows[[0, 2]] / np.linalg.norm(rows[[0, 2]], axis=1)[:, None]
    np.testing.assert_allclose(moments.covariance, kept.T @ kept / 3.0)
    np.testing.assert_allclose(np.trace(moments.quartic(np.eye(2))), 2.0 / 3.0)


def test_what_is_infinite_or_unknown_is_none():
    assert nt.StudentT(4.0).even_moments(N).quartic is None
    assert nt.StudentT(4.0).even_moments(N).covariance is not None
    assert nt.StudentT(1.0).even_moments(N).covariance is None
    assert nt.Correlated(nt.Laplace(), MIX).even_moments(N, "inverse-norm").quartic is None


class Signs(nt.Normal):
    """A law of its own, with the variance of the normal law and smaller odd moments."""

    kurtosis = 1.0

    @staticmethod
    def formula(u, v, scale, shape):
        return (scale * np.sign(v - 0.5),)


def test_subclasses_of_the_normal_law_do_not_inherit_its_moments_in_an_image():
    law, normal = nt.Correlated(Signs(), MIX), nt.Correlated(nt.Normal(), MIX)
    assert normal.even_moments(N, "inverse-norm").quartic is not None
    assert law.even_moments(N, "inverse-norm").quartic is None
    assert law.norm_moment(1, N) > normal.norm_moment(1, N)  # a bound, which holds for every law
    reads, moves = np.eye(N)[:2]
    moved = nt.data.Corrupted(law, size=0.5, reads=reads, moves=moves)
    assert moved.seen_moments(nt.networks.relu_gate(N)) is None


class Ternary(nt.ProductLaw):
    """−1, 0 or 1 with chances 0.1, 0.8, 0.1: x = 0 is common in few dimensions."""

    symmetric, variance, kurtosis = True, 0.2, 5.0

    def coordinates(self, u, v):
        return (np.where(u < 0.1, -1.0, np.where(u > 0.9, 1.0, 0.0)),)

    def masses(self):
        return np.array([0.0, 1.0]), np.array([0.8, 0.2])


@pytest.mark.parametrize("n", [1, 3])
def test_inputs_that_are_zero_do_not_pull(n):
    moments = Ternary().even_moments(n, "inverse-norm")
    assert np.trace(moments.covariance) == pytest.approx(1.0 - 0.8**n, rel=1e-6)
    assert moments.squared is None


def test_of_a_law_known_by_its_transform_only_nothing_weighted_is_known():
    class Triangular(nt.ProductLaw):
        symmetric, variance, kurtosis = True, 1 / 6, 2.4

        def coordinates(self, u, v):
            return (u + v - 1.0,)

    assert Triangular().even_moments(4, "inverse-norm").covariance is None
    assert Triangular().even_moments(4).quartic is not None


class TwoRings(stats.rv_continuous):
    """|x| in [0.1, 0.2] or in [10, 11]: quantiles that jump."""

    def _ppf(self, q):
        tail, sign = 2.0 * np.minimum(q, 1.0 - q), np.where(q < 0.5, -1.0, 1.0)
        far = 0.29
        inner = 0.1 + 0.1 * (1.0 - tail) / (1.0 - far)
        return sign * np.where(tail < far, 10.0 + (far - tail) / far, inner)

    def _stats(self):
        second = 0.29 * (1331.0 - 1000.0) / 3.0 + 0.71 * (0.008 - 0.001) / 0.3
        fourth = 0.29 * (161051.0 - 1e5) / 5.0 + 0.71 * (3.2e-4 - 1e-5) / 0.5
        return 0.0, second, 0.0, fourth / second**2 - 3.0


def test_quantiles_that_jump_are_not_trusted_to_quadrature():
    law = nt.ScipyLaw(TwoRings(a=-11.0, b=11.0)())
    assert law.masses() is None
    assert law.norm_moment(1, 3) == pytest.approx(math.sqrt(law.norm_moment(2, 3)))


def test_variances_too_far_apart_are_not_trusted_to_quadrature():
    law = nt.Correlated(nt.Normal(), np.diag([1.0, 1.0, 1e-6]))
    assert law.even_moments(3, "inverse-norm").covariance is None
    assert law.even_moments(3).quartic is not None


def test_rows_too_small_to_be_told_from_zero_count_for_nothing_under_weights():
    """As in the engine, where ω(x) = 0 for them; their inverse squares would not be numbers."""
    moments = nt.Empirical([[1e-160, 0.0], [0.0, 2.0]]).even_moments(2, "inverse-norm")
    np.testing.assert_allclose(moments.covariance, [[0.0, 0.0], [0.0, 0.5]])
