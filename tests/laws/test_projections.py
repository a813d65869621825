"""Bounds on τ = sup E[ω|uᵀMx|] over unit u: against draws, exact enumeration, closed forms."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp
from scipy import integrate, stats

import neurotron as nt
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs
from neurotron.laws import rademacher, uniform
from neurotron.laws.projections import NORMAL, UNIMODAL, tau_of_rows
from neurotron.networks import sensing

N, DRAWS, SIGMAS = 7, 200_000, 5.0
NETWORK = nt.networks.symmetric(N, 3, 4, seed=2, leak=0.3)
MIX = np.random.default_rng(1).standard_normal((N, N))
SKEWED = nt.Empirical(np.random.default_rng(4).lognormal(size=(60, N)), symmetrized=True)


def optimal(law: nt.Law, weighting: str | None) -> np.ndarray:
    """Return the optimal sensing matrix of the network for inputs of a law."""
    covariance = law.even_moments(N, weighting).covariance
    return sensing.optimal(NETWORK, covariance)


@cache
def draws(law: nt.Law) -> np.ndarray:
    """Return inputs of a law, drawn once for all tests."""
    return draw_inputs(law, Stream.of(3, 0), 0, DRAWS, N)


def attained(z: np.ndarray) -> tuple[float, float]:
    """Return mean |uᵀz| in the worst direction of half of the draws, measured on the other half.

    The second number is its standard error.
    """
    search, other = z[::2], z[1::2]
    best = max(
        (climbed(search[:20_000], u) for u in np.linalg.eigh(search.T @ search)[1].T),
        key=lambda u: np.abs(search @ u).mean(),
    )
    size = np.abs(other @ best)
    return float(size.mean()), float(size.std() / math.sqrt(len(size)))


def climbed(z: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return a direction that u ← Σ sign(uᵀz) z leads to, which never makes mean |uᵀz| smaller."""
    for _ in range(30):
        y = z.T @ np.sign(z @ u)
        u = y / np.linalg.norm(y)
    return u


SHARP = {
    "normal": (nt.Normal(scale=2.0), None, 0.995),
    "laplace": (nt.Laplace(scale=0.5), None, 0.94),
    "t(5)": (nt.StudentT(5.0), None, 0.95),
    "logistic": (nt.ScipyLaw(stats.logistic()), None, 0.97),
    "uniform": (nt.Uniform(scale=3.0), None, 0.97),
    "triangular": (nt.ScipyLaw(stats.triang(0.5, -1.0, 2.0)), None, 0.91),
    "Johnson": (nt.ScipyLaw(stats.johnsonsu(0.0, 1.5)), None, 0.9),
    "rademacher": (nt.Rademacher(scale=1.5), None, 0.87),
    "laplace image": (nt.Correlated(nt.Laplace(), MIX), None, 0.90),
    "uniform image": (nt.Correlated(nt.Uniform(), MIX), None, 0.90),
    "rows": (SKEWED, None, 0.90),
    "normal, weighted": (nt.Normal(scale=2.0), "inverse-norm", 0.995),
    "laplace, weighted": (nt.Laplace(scale=0.5), "inverse-norm", 0.95),
    "t(4), weighted": (nt.StudentT(4.0), "inverse-norm", 0.93),
    "cauchy, weighted": (nt.StudentT(1.0), "inverse-norm", 0.79),
    "uniform, weighted": (nt.Uniform(), "inverse-norm", 0.89),
    "rademacher, weighted": (nt.Rademacher(), "inverse-norm", 0.87),
    "normal image, weighted": (nt.Correlated(nt.Normal(), MIX), "inverse-norm", 0.95),
    "rows, weighted": (SKEWED, "inverse-norm", 0.90),
}
"""Laws with a weighting, and the least share of the bound that the worst direction must attain."""


@pytest.mark.parametrize("name", SHARP)
def test_no_direction_exceeds_tau_and_the_worst_one_comes_close(name):
    """Five standard errors of 100 000 draws; a τ that is halved would be exceeded."""
    law, weighting, share = SHARP[name]
    x, m = draws(law), optimal(law, weighting)
    omega = 1.0 if weighting is None else 1.0 / (x**2).sum(axis=1, keepdims=True)
    found, error = attained(omega * x @ m.T)
    tau = law.even_moments(N, weighting).tau(m)
    assert found - SIGMAS * error <= tau
    assert share * tau <= found + SIGMAS * error
    assert tau / 2.0 < found - SIGMAS * error


@pytest.mark.parametrize("name", SHARP)
def test_tau_is_never_above_the_Cauchy_Schwarz_bound(name):
    law, weighting, _ = SHARP[name]
    moments, m = law.even_moments(N, weighting), optimal(law, weighting)
    plain = math.sqrt(np.linalg.eigvalsh(m @ moments.squared @ m.T)[-1])
    assert moments.tau(m) <= plain * (1.0 + 2e-6)


def test_for_one_coordinate_of_known_mean_tau_is_as_stated():
    """E|x| of one coordinate: of uniforms ½, of Laplace numbers and signs 1."""
    tau = {
        type(law).__name__: law.even_moments(1).tau(np.ones((1, 1)))
        for law in (nt.Normal(), nt.Laplace(), nt.Uniform(), nt.Rademacher())
    }
    assert tau["Normal"] == pytest.approx(math.sqrt(2.0 / math.pi), rel=1e-10)
    assert tau["Laplace"] == pytest.approx(1.0, rel=2e-6)
    assert tau["Uniform"] == pytest.approx(0.5, rel=1e-7)
    assert tau["Rademacher"] == pytest.approx(1.0, rel=2e-6)
    assert tau["Uniform"] >= 0.5
    assert tau["Laplace"] >= 1.0
    assert tau["Rademacher"] >= 1.0


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_tau_of_weighted_normal_inputs_is_exact(n):
    """E[|x₁|/‖x‖²] = √(2/π)/(σ(n − 1)); in two dimensions E‖x‖⁻² is infinite, and τ is not."""
    tau = nt.Normal(scale=2.0).even_moments(n, "inverse-norm").tau(np.eye(1, n))
    exact = NORMAL / (2.0 * (n - 1))
    assert exact <= tau <= exact * (1.0 + 2e-6)


@pytest.mark.parametrize("n", [1])
def test_in_one_dimension_weighted_projections_have_no_mean(n):
    assert nt.Normal().even_moments(n, "inverse-norm").tau is None


def test_tau_of_a_linear_image_is_that_of_the_product_of_both_matrices():
    m = np.random.default_rng(5).standard_normal((2, N))
    for base in (nt.Uniform(), nt.Rademacher(), nt.StudentT(3.0)):
        image = nt.Correlated(base, MIX).even_moments(N).tau(m)
        assert image == pytest.approx(base.even_moments(N).tau(m @ MIX), rel=1e-12)


# ---- uniform coordinates ---------------------------------------------------------------------


def mean_of_uniforms(c: np.ndarray) -> float:
    """Return E|Σ c_j U_j| for U uniform on (−1, 1): the n-fold integral of |y|, at all corners."""
    n, total = len(c), 0.0
    for signs in itertools.product([-1.0, 1.0], repeat=n):
        y = float(np.dot(signs, c))
        total += math.prod(signs) * abs(y) * y**n
    return total / (math.factorial(n + 1) * 2**n * math.prod(c))


@pytest.mark.parametrize("ell", [1.0, 0.7, 0.5, 0.41, 1 / 3, 0.3, 0.25, 0.2])
def test_the_factor_of_uniform_coordinates_is_the_mean_at_the_extreme_point(ell):
    count = math.floor(1.0 / ell)
    rest = max(1.0 - count * ell, 0.0)
    squares = [ell] * count + [rest] * (rest > 1e-9)
    exact = math.sqrt(3.0) * mean_of_uniforms(np.sqrt(squares))
    assert exact <= uniform.largest_mean(ell) <= exact * (1.0 + 1e-7)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_no_direction_of_a_grid_exceeds_tau_of_uniform_inputs(n):
    for seed in range(5):
        m = np.random.default_rng(seed).standard_normal((2, n))
        tau = nt.Uniform(scale=2.0).even_moments(n).tau(m)
        found = max(2.0 * mean_of_uniforms(c) for c in directions(m, 150) if abs(c).min() > 0.02)
        assert 0.93 * tau <= found <= tau


def directions(m: np.ndarray, count: int) -> np.ndarray:
    """Return Mᵀu for unit vectors u of the plane."""
    angle = np.linspace(0.0, math.pi, count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ m


# ---- other symmetric unimodal coordinates ------------------------------------------------------


def test_a_uniform_coordinate_attains_the_factor_of_unimodal_laws():
    tau = nt.ScipyLaw(stats.uniform(-1.0, 2.0)).even_moments(1).tau(np.ones((1, 1)))
    assert tau == pytest.approx(0.5, rel=1e-9)
    assert tau >= 0.5


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_mixture_of_uniforms_exceeds_the_factor_of_unimodal_laws(n):
    """Coordinates R U with R at random from two sizes, all sizes of all coordinates enumerated."""
    draw, largest = np.random.default_rng(16), 0.0
    for _ in range(60):
        sizes, chance = draw.choice([0.01, 0.3, 1.0, 5.0], 2), draw.uniform()
        c = draw.standard_normal(n) + 0.01
        mean = sum(
            math.prod((chance, 1.0 - chance)[i] for i in which)
            * mean_of_uniforms(c * sizes[list(which)])
            for which in itertools.product((0, 1), repeat=n)
        )
        variance = (chance * sizes[0] ** 2 + (1.0 - chance) * sizes[1] ** 2) / 3.0
        largest = max(largest, mean / math.sqrt(variance * float(c @ c)))
    assert 0.97 * UNIMODAL < largest <= UNIMODAL * (1.0 + 1e-9)


# ---- random signs ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 5, 8, 12])
def test_no_direction_of_a_grid_exceeds_tau_of_random_signs(n):
    """All sign vectors are enumerated."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
    for seed in range(5):
        m = np.random.default_rng(seed).standard_normal((2, n))
        found = np.abs(signs @ directions(m, 360).T).mean(axis=0).max()
        tau = nt.Rademacher().even_moments(n).tau(m)
        weighted = nt.Rademacher().even_moments(n, "inverse-norm").tau(m)
        assert 0.75 * tau <= found <= tau
        assert found / n <= weighted == pytest.approx(tau / n, rel=3e-6)


@pytest.mark.parametrize("ell", [0.5, 0.3, 0.1])
def test_the_factor_of_random_signs_agrees_with_another_quadrature(ell):
    """The same integral over t, with h from the same grid, by QUADPACK."""

    def least(t: float) -> float:
        s = math.sqrt(ell) * t
        if s < math.pi / 2.0:
            return math.cos(s) ** (1.0 / ell)
        if s < math.pi:
            return -max(abs(math.cos(s)) ** (1.0 / ell), math.exp(-t * t / 2.0))
        return -1.0

    ends = np.array([1e-4, math.pi / 2.0, rademacher.TURN, math.pi]) / math.sqrt(ell)
    values = []
    for h in np.linspace(0.0, 1.0, 51)[2:40]:

        def smoothed(t: float, h: float = h) -> float:
            return (1.0 - least(t) * math.exp(-((h * t) ** 2) / 2.0)) / t**2

        total = ends[0] * (1.0 + h * h) / 2.0  # the integrand is nearly constant near 0
        total += sum(integrate.quad(smoothed, *pair)[0] for pair in itertools.pairwise(ends))
        values.append(2.0 / math.pi * (total + integrate.quad(smoothed, ends[-1], np.inf)[0]))
    assert rademacher.largest_mean(ell) == pytest.approx(min(values), rel=2e-6)
    assert rademacher.largest_mean(ell) >= min(values)


def test_a_smaller_share_never_has_a_larger_factor():
    grid = np.geomspace(1e-3, 1.0, 40)
    for factor in (uniform.largest_mean, rademacher.largest_mean):
        values = [factor(float(ell)) for ell in grid]
        assert values == sorted(values)
        assert NORMAL < values[0] < NORMAL + 1e-3


def test_tau_falls_when_the_columns_of_the_matrix_become_shorter():
    """The same norm ‖M‖ = 1, spread over more and more inputs: from E|x| of one to a normal sum."""
    for law in (nt.Uniform(), nt.Rademacher()):
        tau = law.even_moments(64).tau
        taus = [tau((np.arange(64) < n)[None] / math.sqrt(n)) for n in (1, 2, 4, 16, 64)]
        assert taus == sorted(taus, reverse=True)
        assert taus[-1] == pytest.approx(NORMAL * law.variance**0.5, rel=0.01)


def test_the_norm_and_the_longest_column_decide_not_the_direction_that_attains_them():
    """Padding a shorter vector never makes the mean of a projection smaller."""
    m = np.diag([1.0, 0.5, 0.5]) @ np.linalg.qr(np.random.default_rng(14).random((3, 3)))[0]
    share = float((m**2).sum(axis=0).max())
    tau = nt.Uniform().even_moments(3).tau(m)
    assert share < 1.0  # the leverage of a square matrix is 1
    assert tau == pytest.approx(uniform.largest_mean(share) / math.sqrt(3.0), rel=1e-9)
    angles = np.random.default_rng(15).standard_normal((300, 3))
    for u in angles / np.linalg.norm(angles, axis=1, keepdims=True):
        if abs(u @ m).min() > 0.02:
            assert mean_of_uniforms(u @ m) <= tau


# ---- scale mixtures of normals -----------------------------------------------------------------


def test_a_subclass_does_not_inherit_what_is_proved_for_one_law():
    class Other(nt.Laplace):
        pass

    class Bounded(nt.Uniform):
        pass

    assert nt.Laplace().variances() is not None
    assert Other().variances() is None

    assert nt.Laplace().scale_mixture
    assert not Other().scale_mixture
    for law in (Other(), Bounded()):
        assert law.projection_factor(0.5) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("factor", "distribution"),
    [
        *((NORMAL, known) for known in (
            stats.logistic(scale=3.0), stats.t(3.0), stats.hypsecant(), stats.gennorm(1.2),
            stats.dweibull(c=0.9), stats.dgamma(0.6), stats.johnsonsu(0.0, 0.5),
        )),
        *((UNIMODAL, known) for known in (
            stats.gennorm(beta=2.5), stats.cosine(), stats.semicircular(), stats.anglit(),
            stats.beta(2.0, 2.0, -0.5), stats.rdist(3.0), stats.uniform(-1.0, 2.0),
            stats.triang(0.5, loc=-1.0, scale=2.0), stats.trapezoid(0.3, 0.7, -0.5),
            stats.truncnorm(-1.0, 1.0), stats.genlogistic(1.0), stats.laplace_asymmetric(1.0),
            stats.vonmises_line(0.3, scale=2.0), stats.tukeylambda(0.7), stats.tukeylambda(-0.2),
        )),
        *((1.0, unknown) for unknown in (
            stats.beta(0.5, 0.5, -0.5), stats.rdist(1.5), stats.dweibull(1.5), stats.dgamma(1.1),
            stats.arcsine(-0.5), stats.logistic(loc=1.0), stats.johnsonsu(0.3, 1.0),
            stats.triang(0.3), stats.vonmises_line(1.0, loc=0.5), stats.tukeylambda(1.5),
            stats.norminvgauss(0.7, 0.2), stats.trapezoid(0.3, 0.6, -0.5),
        )),
    ],
    ids=lambda value: getattr(getattr(value, "dist", None), "name", None),
)  # fmt: skip
def test_the_factor_of_scipy_laws_is_the_smallest_that_is_known(distribution, factor):
    """A bimodal law, an asymmetric one and one that is on no list keep the factor 1."""
    assert nt.ScipyLaw(distribution).projection_factor(0.5) == pytest.approx(factor, rel=1e-9)


@pytest.mark.parametrize(
    "distribution",
    [
        stats.vonmises_line(1.5), stats.tukeylambda(0.7), stats.tukeylambda(-0.2),
        stats.trapezoid(0.3, 0.7, -0.5), stats.trapezoid(0.2, 0.9), stats.truncnorm(-0.5, 2.0),
        stats.genlogistic(2.5), stats.laplace_asymmetric(2.0),
    ],
    ids=lambda value: value.dist.name,
)  # fmt: skip
def test_densities_fall_on_both_sides_or_have_concave_logarithms_as_is_stated(distribution):
    """On a grid of quantiles from 0.001 to 0.999."""
    law = nt.ScipyLaw(distribution)
    x = np.linspace(*distribution.ppf([0.001, 0.999]), 400)
    density = distribution.pdf(x)
    rises = np.diff(density) > 1e-9
    assert law.unimodal
    assert not (rises[1:] & ~rises[:-1]).any()
    if law.log_concave:
        assert (np.diff(np.log(density), 2) <= 1e-9).all()


def test_a_law_of_ones_own_may_state_that_it_is_unimodal():
    class Spread(nt.ProductLaw):
        symmetric, variance, kurtosis, unimodal = True, 1.0, 3.0, True

        def coordinates(self, u, v):
            return (u + v - 1.0,)

    class Other(Spread):
        pass

    assert Spread().projection_factor(0.5) == pytest.approx(UNIMODAL, rel=1e-9)
    assert Other().projection_factor(0.5) == pytest.approx(1.0, rel=1e-9)


def test_a_distribution_that_only_has_the_name_of_a_scale_mixture_is_not_one():
    class logistic_gen(stats.rv_continuous):
        def _pdf(self, x):
            return 0.75 * (1.0 - x**2)

    law = nt.ScipyLaw(logistic_gen(a=-1.0, b=1.0, name="logistic")())
    assert not law.scale_mixture


class TwoSizes(nt.ProductLaw):
    """√V z with V = 0.04 or 9, of probabilities 0.9 and 0.1, and z standard normal."""

    sizes, chances = np.array([0.04, 9.0]), np.array([0.9, 0.1])
    symmetric = scale_mixture = True
    variance = float(sizes @ chances)
    kurtosis = 3.0 * float(sizes**2 @ chances) / variance**2

    def coordinates(self, u, v):
        size = np.where(u < 0.1, 9.0, 0.04)
        return (np.sqrt(size) * stats.norm.ppf(v),)

    def density(self, x):
        deviations = np.sqrt(self.sizes)[:, None]
        return self.chances @ (stats.norm.pdf(x / deviations) / deviations)

    def variances(self):
        return self.sizes, self.chances

    def mean_projection(self, c: np.ndarray, tilt: float = 0.0) -> float:
        """Return E[e^{−s‖x‖²}|cᵀx|], all sizes of all coordinates enumerated."""
        which = np.array(list(itertools.product((0, 1), repeat=len(c))))
        v = self.sizes[which]
        chance = self.chances[which].prod(axis=1) / np.sqrt(1.0 + 2.0 * tilt * v).prod(axis=1)
        return NORMAL * float(chance @ np.sqrt((v / (1.0 + 2.0 * tilt * v)) @ c**2))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_the_worst_direction_of_a_mixture_has_equal_entries(n):
    """Where the Cauchy–Schwarz inequality and Jensen's are far off: V is rarely large."""
    law, draw = TwoSizes(), np.random.default_rng(17)
    tau = law.even_moments(n).tau(np.eye(n))
    exact = law.mean_projection(np.ones(n) / math.sqrt(n))
    assert exact <= tau <= exact * (1.0 + 2e-6)
    assert tau < 0.8 * NORMAL * math.sqrt(law.variance)
    for c in draw.standard_normal((200, n)):
        assert law.mean_projection(c) <= tau * float(np.linalg.norm(c)) * (1.0 + 1e-9)


@pytest.mark.parametrize("n", [3, 5])
def test_the_worst_direction_of_a_weighted_mixture_has_equal_entries(n):
    """E[|cᵀx|/‖x‖²] = ∫ E[e^{−s‖x‖²}|cᵀx|] ds, by another quadrature."""
    law, draw = TwoSizes(), np.random.default_rng(18)
    tau = law.even_moments(n, "inverse-norm").tau(np.eye(n))

    def exact(c: np.ndarray) -> float:
        def of_log(log_s: float) -> float:
            return math.exp(log_s) * law.mean_projection(c, math.exp(log_s))

        parts = itertools.pairwise([-30.0, -5.0, 0.0, 5.0, 15.0, 60.0])
        return sum(integrate.quad(of_log, *part)[0] for part in parts)

    assert exact(np.ones(n) / math.sqrt(n)) <= tau <= exact(np.ones(n) / math.sqrt(n)) * (1 + 2e-6)
    for c in draw.standard_normal((5, n)):
        assert exact(c / np.linalg.norm(c)) <= tau


@pytest.mark.parametrize("n", [1, 2, 10, 300])
def test_tau_of_laplace_and_student_inputs_is_exact_for_the_identity(n):
    """E√(V₁ + … + V_n) is Γ(n + ½)/Γ(n) for exponential V, and E|t| is 2ν/(ν − 1) · f(0)."""
    exact = 2.0 * math.exp(math.lgamma(n + 0.5) - math.lgamma(n)) / math.sqrt(math.pi * n)
    tau = nt.Laplace().even_moments(n).tau(np.eye(n))
    assert exact <= tau <= exact * (1.0 + 2e-6)
    for dof in (2.1, 2.5, 4.0, 50.0):
        exact = 2.0 * dof / (dof - 1.0) * stats.t.pdf(0.0, dof)
        tau = nt.StudentT(dof).even_moments(1).tau(np.ones((1, 1)))
        assert exact <= tau <= exact * (1.0 + 2e-6)


@pytest.mark.parametrize(
    ("dof", "n", "part"), [(2.5, 8, 0.814), (2.5, 100, 0.908), (3.0, 10, 0.924), (4.0, 300, 0.998)]
)
def test_few_inputs_and_heavy_tails_have_a_smaller_tau(dof, n, part):
    """It tends to √(2/π) standard deviations when inputs are many."""
    law = nt.StudentT(dof)
    tau = law.even_moments(n).tau(np.eye(1, n))
    assert tau == pytest.approx(part * NORMAL * math.sqrt(law.variance), rel=1e-3)


# ---- weighted images of normal inputs ----------------------------------------------------------


def test_tau_of_weighted_normal_images_is_exact_for_one_direction():
    """E[ω|aᵀx|] = √(2/π) ∫ D √(aᵀΛ_s a) ds, with 20 digits, for variances 1 to 10⁴."""
    variances = [1.0, 30.0, 1e4, 200.0]
    law = nt.Correlated(nt.Normal(), np.diag(np.sqrt(variances)))
    moments, mp.dps = law.even_moments(4, "inverse-norm"), 20
    for a in ([1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5], [1.0, -1.0, 0.01, 0.1]):

        def integrand(log_s, a=a):
            s = mp.exp(log_s)
            decay = mp.sqrt(mp.fprod(1 / (1 + 2 * s * v) for v in variances))
            return (
                s
                * decay
                * mp.sqrt(
                    mp.fsum(x * x * v / (1 + 2 * s * v) for x, v in zip(a, variances, strict=True))
                )
            )

        exact = float(mp.sqrt(2 / mp.pi) * mp.quad(integrand, [-35, -20, -10, -5, 0, 5, 15, 40]))
        tau = moments.tau(np.array([a]))
        assert exact <= tau <= exact * (1.0 + 2e-6)


def test_tau_of_weighted_normal_images_is_above_that_of_every_direction():
    """One direction is exact; the bound for all of them is at most 2 % above the worst."""
    law = nt.Correlated(nt.Normal(), MIX @ np.diag(np.geomspace(1.0, 100.0, N)))
    tau, m = law.even_moments(N, "inverse-norm").tau, optimal(law, "inverse-norm")
    angles = np.random.default_rng(13).standard_normal((150, 3))
    each = [tau((u @ m)[None]) for u in angles / np.linalg.norm(angles, axis=1, keepdims=True)]
    assert max(each) <= tau(m) <= 1.02 * max(each)


# ---- rows ------------------------------------------------------------------------------------


def worst_of_rows(z: np.ndarray) -> float:
    """Return sup mean |uᵀz| exactly: the longest ‖Σ ±z‖/N over all signs."""
    count = len(z)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=count - 1)))
    return float(np.linalg.norm((signs @ z[1:]) + z[0], axis=1).max()) / count


@pytest.mark.parametrize("kind", ["normal", "heavy", "intercept", "sparse", "few"])
def test_tau_of_rows_is_above_the_exact_value_and_below_Cauchy_Schwarz(kind):
    for seed in range(10):
        draw = np.random.default_rng(seed)
        z = {
            "normal": draw.standard_normal((11, 3)),
            "heavy": draw.standard_cauchy((11, 4)),
            "intercept": np.column_stack([np.ones(11), draw.lognormal(size=(11, 2))]),
            "sparse": draw.standard_normal((11, 3)) * (draw.random((11, 1)) < 0.5),
            "few": draw.standard_normal((2, 4)),
        }[kind]
        exact, tau = worst_of_rows(z), tau_of_rows(z)
        plain = math.sqrt(np.linalg.eigvalsh(z.T @ z / len(z))[-1])
        assert exact <= tau <= plain * (1.0 + 1e-9)
        assert tau / 2.0 < exact
        assert tau <= math.sqrt(math.pi / 2.0) * 1.01 * exact  # the gap of the best W


def test_tau_of_rows_is_attained_by_an_intercept():
    """With whitened columns and an intercept, τ is 1: attack all labels with the same sign."""
    x = np.column_stack([np.ones(200), np.random.default_rng(9).lognormal(size=(200, 4))])
    z = x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / 200)).T
    assert tau_of_rows(z) == pytest.approx(1.0, rel=1e-9)


def test_many_rows_are_searched_by_a_sample_and_bounded_by_all():
    """The rows beyond the sample are much longer, so a bound from the sample would be exceeded."""
    z = np.random.default_rng(10).standard_normal((5000, 3)) * [1.0, 2.0, 3.0]
    z[1::2] *= 100.0
    found = np.abs(z @ climbed(z, np.eye(3)[2])).mean()
    plain = math.sqrt(np.linalg.eigvalsh(z.T @ z / len(z))[-1])
    assert found <= tau_of_rows(z) <= plain


def test_shares_may_make_the_bound_smaller_and_leave_out_zero_rows():
    z = np.random.default_rng(11).standard_normal((8, 2))
    beta = np.array([0.0, 0.9, 0.01, 0.9, 0.0, 0.02, 0.5, 0.9])
    pushed = beta[:, None] * z
    assert worst_of_rows(pushed) <= tau_of_rows(pushed, beta) <= tau_of_rows(pushed)


def test_rows_without_size_and_rows_that_overflow_have_a_tau():
    assert tau_of_rows(np.zeros((5, 2))) == 0.0
    assert tau_of_rows(np.full((5, 2), np.inf)) == math.inf
    z = np.random.default_rng(12).standard_normal((6, 2))
    for size in (1e-200, 1e200):
        assert tau_of_rows(size * z) == pytest.approx(size * tau_of_rows(z), rel=1e-9)
