"""The constants of the sharp certificate, each against its definition by Monte Carlo.

Intervals are five standard errors of 200 000 draws, unless a test says otherwise.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp

import neurotron as nt
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs
from neurotron.networks import sensing
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.one_step import bound_after
from neurotron.theory.sharp import sharp_constants

DRAWS = 200_000
SIGMAS = 5.0
MIX = np.random.default_rng(1).standard_normal((7, 7))
NETWORKS = {
    "leaky": nt.networks.symmetric(7, 3, 4, seed=2, leak=0.3),
    "weighted": nt.networks.from_gates(
        np.random.default_rng(3).standard_normal((3, 3, 7)), outer_weights=[1.0, 2.0, -0.5]
    ),
    "convolution": nt.networks.convolution(7, 3, 2, leak=0.1),
}
LAWS = {
    "product": nt.Laplace(scale=0.8),
    "normal": nt.Normal(scale=2.0),
    "correlated": nt.Correlated(nt.Normal(), MIX),
    "empirical": nt.Empirical(np.random.default_rng(4).laplace(size=(60, 7)), symmetrized=True),
    "weighted t(2.5)": nt.StudentT(2.5),
}


def moments_of(constants, problem, trainer, attack) -> AttackMoments:
    """Return what an attack on a trainer amounts to."""
    return attack_moments(
        constants, problem, np.asarray(trainer.sensing), trainer.weighting, attack
    )


def setting(network: str, law: str) -> tuple[nt.Problem, nt.NeuroTron]:
    problem = nt.Problem.draw(NETWORKS[network], LAWS[law], seed=1)
    weighting = "inverse-norm" if law.startswith("weighted") else None
    plain = nt.NeuroTron(1.0, "mean", weighting=weighting)
    return problem, plain.resolve(problem, batch_size=1, steps=0, attack=None)


def draws(problem: nt.Problem) -> np.ndarray:
    return drawn(problem.law, problem.network.n_inputs)


@cache
def drawn(law: nt.Law, n_inputs: int) -> np.ndarray:
    """Return inputs of a law, drawn once for all tests."""
    return draw_inputs(law, Stream.of(5, 0), 0, DRAWS, n_inputs)


def omega(trainer: nt.NeuroTron, x: np.ndarray) -> np.ndarray:
    return np.ones(len(x)) if trainer.weighting is None else 1.0 / (x**2).sum(axis=1)


def interval(samples: np.ndarray) -> tuple[float, float]:
    error = SIGMAS * samples.std() / math.sqrt(len(samples))
    return float(samples.mean() - error), float(samples.mean() + error)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_pull_of_honest_labels_is_the_matrix_of_lambda1_and_L1(network, law):
    """E[ω e Mx] = (1+α)/2 MΣĀᵀd: parity, whatever w and w* are."""
    problem, trainer = setting(network, law)
    x, m = draws(problem), np.asarray(trainer.sensing)
    constants = sharp_constants(problem, m, trainer.weighting)
    draw = np.random.default_rng(6)
    w, w_star = draw.standard_normal((2, 3))
    error = problem.network(w, x) - problem.network(w_star, x)
    pulled = (omega(trainer, x) * error)[:, None] * (x @ m.T)
    d = w - w_star
    low, _ = interval(pulled @ d)
    assert low <= constants.L1 * d @ d
    _, high = interval(pulled @ d)
    assert high >= (1.0 + problem.network.leak) / 2.0 * constants.lambda1 * d @ d
    covariance = problem.weighted_covariance(trainer.weighting)
    exact = (1.0 + problem.network.leak) / 2.0 * m @ covariance @ problem.network.mean_gate.T @ d
    for j in range(3):
        low, high = interval(pulled[:, j])
        assert low <= exact[j] <= high


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("network", NETWORKS)
def test_no_error_is_spread_more_than_L2_says(network, law):
    """E[ω² e² ‖Mx‖²] ≤ L2² ‖d‖², for w near and far, and for w = −w*."""
    problem, trainer = setting(network, law)
    x, m = draws(problem), np.asarray(trainer.sensing)
    constants = sharp_constants(problem, m, trainer.weighting)
    weight = omega(trainer, x) ** 2 * ((x @ m.T) ** 2).sum(axis=1)
    draw = np.random.default_rng(7)
    pairs = [*draw.standard_normal((4, 2, 3)), np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])]
    for w, w_star in pairs:
        error = problem.network(w, x) - problem.network(w_star, x)
        low, _ = interval(weight * error**2)
        assert low <= constants.L2**2 * ((w - w_star) ** 2).sum()
        risk, _ = interval(error**2)
        assert risk <= constants.risk * ((w - w_star) ** 2).sum()


@pytest.mark.parametrize("leak", [0.0, 0.4, 1.0])
def test_L2_is_met_with_equality_by_one_weight(leak):
    """One ReLU gate in one dimension: e = d·x left or right of zero, so the bound is exact."""
    problem = nt.Problem.draw(nt.networks.relu_gate(1, leak=leak), nt.Laplace(), true_weights=[1.0])
    constants = sharp_constants(problem, np.ones((1, 1)))
    fourth = nt.Laplace().kurtosis * nt.Laplace().variance ** 2
    spread = (1.0 + leak**2) / 2.0 * fourth
    assert pytest.approx(math.sqrt(spread), rel=1e-9) == constants.L2
    assert constants.lambda1 == pytest.approx(nt.Laplace().variance, rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_tau_and_s2_bound_what_an_attacker_can_add(law):
    """E[βω|uᵀMx|] ≤ τ for every unit u, and s2² = E[βω²‖Mx‖²]."""
    problem, trainer = setting("leaky", law)
    x, m = draws(problem), np.asarray(trainer.sensing)
    constants = sharp_constants(problem, m, trainer.weighting)
    seen = moments_of(constants, problem, trainer, nt.Budget(bound=2.0, probability=0.3))
    weight = 0.3 * omega(trainer, x)
    for u in np.linalg.qr(np.random.default_rng(8).standard_normal((3, 3)))[0]:
        low, _ = interval(weight * np.abs(x @ m.T @ u))
        assert low <= seen.tau
    low, high = interval(omega(trainer, x) * weight * ((x @ m.T) ** 2).sum(axis=1))
    assert low <= seen.s2**2 <= high
    low, _ = interval(weight * np.linalg.norm(x @ m.T, axis=1))
    assert low <= seen.s1


def test_tau_is_exact_for_normal_inputs():
    problem, trainer = setting("leaky", "normal")
    x, m = draws(problem), np.asarray(trainer.sensing)
    constants = sharp_constants(problem, m)
    worst = np.linalg.eigh(m @ problem.covariance @ m.T)[1][:, -1]
    low, high = interval(np.abs(x @ m.T @ worst))
    assert low <= constants.tau <= high


class LargeNorms(nt.attacks.Constant):
    """Attacks only inputs with ‖x‖ > 3, every one of them with chance `probability`."""

    query_fields = ("norm",)

    @staticmethod
    def chance(probability, query):
        return np.where(query.norm > 3.0, probability, 0.0)


class SmallNorms(nt.attacks.Constant):
    """Attacks small inputs more often than large ones."""

    query_fields = ("norm",)

    @staticmethod
    def chance(probability, query):
        return probability / (1.0 + 0.1 * query.norm)


class HalfSpace(nt.attacks.OddDirection):
    """Attacks one half-space only."""

    @staticmethod
    def chance(probability, query):
        return np.where(query.probe > 0.0, probability, 0.0)


@pytest.mark.parametrize(
    "attack",
    [LargeNorms(1.0, 0.8), SmallNorms(1.0, 0.8), HalfSpace(1.0, 0.8, direction=[1.0, 0.0, 0.0])],
    ids=lambda attack: type(attack).__name__,
)
def test_a_chance_that_depends_on_x_counts_where_it_strikes(attack):
    """On rows of data τ, s2, s1 are those of β(x): tighter than with the largest chance."""
    problem, trainer = setting("leaky", "empirical")
    m, rows = np.asarray(trainer.sensing), problem.law.rows
    x = np.concatenate([rows, -rows])
    constants = sharp_constants(problem, m)
    seen = moments_of(constants, problem, trainer, attack)
    if isinstance(attack, LargeNorms):
        beta = 0.8 * (np.linalg.norm(x, axis=1) > 3.0)
    elif isinstance(attack, SmallNorms):
        beta = 0.8 / (1.0 + 0.1 * np.linalg.norm(x, axis=1))
    else:
        beta = 0.8 * (x @ m.T[:, 0] > 0.0)
    sensed = x @ m.T
    assert seen.s2**2 == pytest.approx((beta * (sensed**2).sum(axis=1)).mean(), rel=1e-9)
    assert seen.s1 == pytest.approx((beta * np.linalg.norm(sensed, axis=1)).mean(), rel=1e-9)
    angles = np.random.default_rng(9).standard_normal((500, 3))
    for u in angles / np.linalg.norm(angles, axis=1)[:, None]:
        assert (beta * np.abs(sensed @ u)).mean() <= seen.tau
    squares = [
        np.linalg.eigvalsh((sensed.T * factor) @ sensed / len(x))[-1] for factor in (beta**2, beta)
    ]
    by_cauchy_schwarz = min(math.sqrt(squares[0]), math.sqrt(beta.mean() * squares[1]))
    assert seen.tau < 0.9 * by_cauchy_schwarz
    ceiling = moments_of(constants, problem, trainer, nt.Budget(1.0, 0.8))
    assert seen.tau < ceiling.tau
    assert seen.s2 < ceiling.s2


@pytest.mark.parametrize("weighting", [None, "inverse-norm"])
def test_tau_of_a_varying_chance_is_above_the_exact_worst_push_on_rows(weighting):
    """The exact supremum is the longest ‖Σ ±βωMx‖/N over all signs."""
    m = np.random.default_rng(2).standard_normal((2, 3))
    network = nt.networks.from_gates(m[None])
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=10)))
    for seed in range(10):
        x = np.random.default_rng(seed).lognormal(sigma=1.5, size=(10, 3))
        problem = nt.Problem.draw(network, nt.Empirical(x), seed=1)
        constants = sharp_constants(problem, m, weighting)
        seen = attack_moments(constants, problem, m, weighting, SmallNorms(1.0, 0.8))
        beta = 0.8 / (1.0 + 0.1 * np.linalg.norm(x, axis=1))
        weight = beta if weighting is None else beta / (x**2).sum(axis=1)
        exact = np.linalg.norm(signs @ (weight[:, None] * (x @ m.T)), axis=1).max() / 10
        assert exact <= seen.tau <= 1.26 * exact


class HighLabels(nt.attacks.Constant):
    """Attacks labels above 1 only."""

    query_fields = ("label",)

    @staticmethod
    def chance(probability, query):
        return np.where(query.label > 1.0, probability, 0.0)


def test_a_chance_that_depends_on_the_label_goes_by_the_stored_one_on_rows():
    network, draw = nt.networks.relu_gate(3), np.random.default_rng(4)
    x, y = draw.standard_normal((200, 3)), 2.0 * draw.standard_normal(200)
    for true_weights in (None, np.ones(3)):  # stored labels need not be those of w*
        problem = nt.Problem.from_rows(network, x, y, true_weights=true_weights)
        trainer = nt.NeuroTron(0.1, np.eye(3))
        constants = sharp_constants(problem, np.eye(3))
        seen = moments_of(constants, problem, trainer, HighLabels(1.0, 0.8))
        beta = 0.8 * (y > 1.0)
        assert seen.s2**2 == pytest.approx((beta * (x**2).sum(axis=1)).mean(), rel=1e-9)


def test_elsewhere_a_varying_chance_counts_as_its_largest():
    problem, trainer = setting("leaky", "normal")
    constants = sharp_constants(problem, np.asarray(trainer.sensing))
    assert moments_of(constants, problem, trainer, LargeNorms(1.0, 0.8)) == moments_of(
        constants, problem, trainer, nt.Budget(1.0, 0.8)
    )


def test_constants_are_rounded_to_the_safe_side():
    """λ1, L1, L2, s0 with 40 digits, on a network small enough for exact eigenvalues."""
    mp.dps = 40
    network = nt.networks.symmetric(5, 2, 4, seed=3, leak=0.2)
    problem = nt.Problem.draw(network, nt.Normal(scale=1.7))
    m = sensing.polar(network, problem.covariance)
    constants = sharp_constants(problem, m)
    variance = mp.mpf(1.7) ** 2
    gate, matrix = mp.matrix(network.mean_gate.tolist()), mp.matrix(m.tolist())
    product = variance * gate * matrix.T
    symmetric = (product + product.T) / 2
    smallest = min(mp.eigsy(symmetric, eigvals_only=True))
    assert mp.mpf(constants.lambda1) <= smallest
    assert constants.lambda1 == pytest.approx(float(smallest), rel=1e-9)
    largest = mp.sqrt(max(mp.eigsy(product * product.T, eigvals_only=True)))
    l1 = (1 + mp.mpf(0.2)) / 2 * largest
    assert l1 <= mp.mpf(constants.L1) <= l1 * (1 + mp.mpf("1e-9"))
    gram = matrix.T * matrix
    trace = sum(gram[i, i] for i in range(5))
    quartic = variance**2 * (trace * mp.eye(5) + 2 * gram)
    odd = gate * quartic * gate.T
    even = mp.zeros(2)
    for a in network.gates:
        a_mp = mp.matrix(a.tolist())
        even += a_mp * quartic * a_mp.T / 4
    both = ((1 + mp.mpf(0.2)) / 2) ** 2 * odd + ((1 - mp.mpf(0.2)) / 2) ** 2 * even
    l2 = mp.sqrt(max(mp.eigsy(both, eigvals_only=True)))
    assert l2 <= mp.mpf(constants.L2) <= l2 * (1 + mp.mpf("1e-9"))
    s0 = mp.sqrt(variance * trace)
    assert s0 <= mp.mpf(constants.s0) <= s0 * (1 + mp.mpf("1e-9"))


def test_the_certificate_respects_scaling_of_the_outer_weights():
    """Outer weights q with step η/q is the same run as θ/q (errata, 9): the same certificate."""

    def radius(q: float, theta: float) -> float:
        network = nt.networks.symmetric(7, 3, 4, seed=2, outer_weights=q)
        problem = nt.Problem.draw(network, nt.Normal(), seed=1)
        arm = nt.Arm(nt.NeuroTron(0.01 / q, "polar"), nt.attacks.Constant(theta, 0.5))
        return nt.certify(problem, arm, batch_size=4, steps=200).radius

    assert radius(10.0, 1.0) == pytest.approx(radius(1.0, 0.1), rel=1e-9)


def test_seeing_the_batch_is_never_less_for_an_attacker():
    problem, trainer = setting("leaky", "normal")
    constants = sharp_constants(problem, np.asarray(trainer.sensing))
    ones = {
        scope: constants.recursion(
            moments_of(constants, problem, trainer, nt.Budget(1.0, 0.5, scope)), 0.2, 8
        )
        for scope in ("query", "batch")
    }
    tau, s0, s1, s2 = 0.5 * constants.tau, constants.s0, 0.5 * constants.s0, 0.5**0.5 * constants.s0
    alone, cross = (s2 + 0.2 * s0) ** 2 / 8, 7 / 8  # θ = 1, ς = 0.2, b = 8, as in docs/theory.md
    assert ones["query"].constant == pytest.approx(alone + cross * tau**2, rel=1e-12)
    by_hand = alone + cross * (tau * s1 + 2.0 * tau * 0.2 * s0)
    assert ones["batch"].constant == pytest.approx(by_hand, rel=1e-12)
    for delta in (1e-3, 1.0, 10.0):
        query, batch = (bound_after(delta, 0.01, *r.numbers) for r in ones.values())
        assert query < batch


def test_one_step_of_a_batch_aware_attacker_who_sees_the_noise_stays_below_its_bound():
    """ξ_i = sign(x_i Σ_j ζ_j x_j) breaks the bound for query attackers, not that for batches.

    One weight at w = w*, b = 64, noise 1, θ = β = 1; 20 000 batches, five standard errors.
    """
    draw = np.random.default_rng(10)
    x, noise = draw.standard_normal((2, 20_000, 64))
    xi = np.sign(x * (noise * x).sum(axis=1, keepdims=True))
    moves = ((noise + xi) * x).mean(axis=1) ** 2
    low, high = interval(moves)
    problem = nt.Problem.draw(
        nt.networks.relu_gate(1, leak=1.0), nt.Normal(), true_weights=[1.0], noise=1.0
    )
    constants = sharp_constants(problem, np.ones((1, 1)))
    trainer = nt.NeuroTron(1.0, np.ones((1, 1)))
    query, batch = (
        constants.recursion(
            moments_of(constants, problem, trainer, nt.Budget(1.0, 1.0, scope)), 1.0, 64
        ).constant
        for scope in ("query", "batch")
    )
    assert query < low
    assert high < batch
    tau = math.sqrt(2.0 / math.pi)  # by hand: (θs2 + ςs0)²/b + (1 − 1/b)(θ²τs1 + 2θτςs0)
    assert batch == pytest.approx((1.0 + 1.0) ** 2 / 64 + 63 / 64 * (tau + 2.0 * tau), rel=1e-9)


def test_nobody_attacking_needs_no_moments():
    assert moments_of(
        sharp_constants(*_heavy()), _heavy()[0], nt.NeuroTron(1.0, _heavy()[1]), None
    ) == AttackMoments(0.0, 0.0, 0.0, 0.0, 0.0, False)


def _heavy() -> tuple[nt.Problem, np.ndarray]:
    network = nt.networks.symmetric(7, 3, 4, seed=2)
    return nt.Problem.draw(network, nt.StudentT(1.5)), network.mean_gate
