"""The fourth moment of deviations: exactly on random signs and for small steps, and simulated."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
from tests.oracles.fourth_moments import fourth_moments, fourth_powers
from tests.oracles.small_laws import SmallCase, law_case, signs
from tests.theory.test_mean_path import grow, worst_chances

import neurotron as nt
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.course import Bounds
from neurotron.theory.fourth_moment import FourthMoment, fourth_moment
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import bound_after
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import sharp_constants

SIGMAS = 5.0
"""Standard errors that a simulated mean may be off."""


def of_problem(
    problem: nt.Problem, budget: nt.Budget | None = None, batch_size: int = 1,
    sensing: np.ndarray | str = "optimal", weighting: str | None = None,
) -> FourthMoment | None:  # fmt: skip
    """Return the recursion for U of a problem."""
    matrix = problem.sensing_matrix(sensing, weighting)
    constants = sharp_constants(problem, matrix, weighting)
    moments = attack_moments(constants, problem, matrix, weighting, budget)
    path = constants.mean_path(moments, problem.noise, batch_size)
    beta = 0.0 if budget is None else budget.probability
    return fourth_moment(problem, matrix, weighting, path, moments, beta, batch_size)


def changed(fourth: FourthMoment, **factors: float) -> FourthMoment:
    """Return the recursion with some of its constants multiplied; "constant" is that of v."""
    path = fourth.path
    for name in {"square", "linear", "constant"} & factors.keys():
        path = dataclasses.replace(path, **{name: factors.pop(name) * getattr(path, name)})
    own = {name: factor * getattr(fourth, name) for name, factor in factors.items()}
    return dataclasses.replace(fourth, path=path, **own)


# ---- where it is known ---------------------------------------------------------------------------


def known_as(path: np.ndarray, variance: np.ndarray) -> Bounds:
    """Return B and V as bounds after 0, 1, … steps."""
    return Bounds(np.nan, np.nan, path, np.sqrt(variance))


def deltas_of(recursion: Recursion, start: float, etas: np.ndarray) -> np.ndarray:
    """Return Δ after 0, 1, … steps."""
    found = [start]
    for eta in etas:
        found.append(float(bound_after(found[-1], eta, *recursion.numbers)))
    return np.array(found)


def known_after(fourth: FourthMoment, start: float, deltas: np.ndarray, etas: np.ndarray) -> Bounds:
    """Return B and V after 0, 1, … steps, as docs/theory.md states them."""
    path, b, v, found = fourth.path, start, 0.0, [(start, 0.0)]
    for delta, eta in zip(deltas, etas, strict=False):
        f = max(abs(1.0 - eta * path.low), abs(1.0 - eta * path.high))
        b, v = (
            f * b + eta * path.push,
            f**2 * v + eta**2 * (path.square * delta + path.linear * delta**0.5 + path.constant),
        )
        found.append((b, v))
    return known_as(*np.array(found).T)


def test_no_fourth_moment_is_known_for_other_inputs():
    rows = nt.Empirical([[1.0, 1.0], [1.0, -1.0]], symmetrized=True)
    for law in (nt.Laplace(), nt.StudentT(30.0), nt.Correlated(nt.Laplace(), np.eye(2)), rows):
        assert of_problem(nt.Problem.draw(nt.networks.relu_gate(2), law, noise=0.5)) is None


def test_no_fourth_moment_is_known_for_weights_batch_attackers_and_noise_of_no_stated_kurtosis():
    class OtherNoise(nt.data.Simulated):
        pass

    gate, budget = nt.networks.relu_gate(4), nt.Budget(1.0, 0.5)
    problem = nt.Problem.draw(gate, nt.Normal(), noise=0.5)
    assert of_problem(problem, budget) is not None
    assert of_problem(problem, dataclasses.replace(budget, scope="batch")) is None
    assert of_problem(problem, budget, weighting="inverse-norm") is None
    for noise, known in ((0.5, False), (0.0, True)):
        other = nt.Problem(gate, OtherNoise(nt.Normal(), np.ones(4), noise))
        assert (of_problem(other, budget) is not None) == known


# ---- one update, exactly -------------------------------------------------------------------------


def of_signs(number: int) -> tuple[SmallCase, FourthMoment]:
    """Return a small network with inputs Bs, s of random signs, with its recursion for U."""
    draw = np.random.default_rng([41, number])
    m = int(draw.integers(1, 4))
    r, b = int(draw.integers(1, m + 1)), int(draw.integers(1, 3 if m < 3 else 2))
    mixing = np.eye(m) if number % 2 else draw.standard_normal((m, m))
    rows = signs(m)[2 ** (m - 1) :] @ mixing.T  # the others are their opposites
    noise = float(draw.choice([0.0, 1.0])) if m < 3 else 0.0
    theta, beta = float(draw.choice([0.0, 0.3, 3.0])), float(draw.choice([0.1, 0.5, 1.0]))
    gates = draw.standard_normal((int(draw.integers(1, 4)), r, m))
    network = nt.networks.from_gates(gates, leak=float(draw.choice([0.0, 0.5, 1.0])))
    case = law_case(
        network, rows, draw.standard_normal(r), nt.Budget(theta, beta), noise=noise, batch_size=b,
        sensing=draw.standard_normal((r, m)) if number % 3 else "optimal",
        toss=float(draw.uniform(-1.0, 1.0)),
    )  # fmt: skip
    law = nt.Rademacher() if number % 2 else nt.Correlated(nt.Rademacher(), mixing)
    problem = nt.Problem.draw(network, law, true_weights=case.centre, noise=noise)
    return case, of_problem(problem, case.attack, b, case.sensing)


@functools.cache
def updates() -> list[tuple[FourthMoment, float, np.ndarray, np.ndarray]]:
    """Return E‖m‖², its largest part along one direction and E‖m‖⁴ of updates, at some distances.

    Attacks change labels by ±θ, in some random way for each input.
    """
    found = []
    for number in range(300):
        case, fourth = of_signs(number)
        draw = np.random.default_rng([42, number])
        away = draw.standard_normal(len(case.centre)) * draw.choice([0.0, 0.1, 1.0, 10.0])
        change = case.bound * draw.choice([-1.0, 1.0], len(case.labels))
        likely = np.concatenate([1.0 - case.coins, case.coins]) / len(case.labels)
        left = case.left(away)
        y = np.concatenate([left, left + change])[:, None] * np.tile(case.moves, (2, 1))
        y = y - likely @ y
        b, every = case.batch_size, range(len(y))
        drawn = np.array(list(itertools.product(every, repeat=b)))
        m, chance = y[drawn].mean(axis=1), likely[drawn].prod(axis=1)
        along = float(np.linalg.eigvalsh((m.T * chance) @ m)[-1])
        square = (m**2).sum(axis=1)
        found.append((fourth, float(np.linalg.norm(away)), along, chance @ square**2))
    return found


def bounds(fourth: FourthMoment, s: float) -> tuple[float, float]:
    """Return a² and k⁴ + 3v² at the distance s from the true weights."""
    path = fourth.path
    v = path.square * s**2 + path.linear * s + path.constant
    k = fourth.single * s + fourth.single_disturbed
    return (fourth.along * s + fourth.along_disturbed) ** 2, k**4 + 3.0 * v**2


def test_no_update_deviates_more_than_its_bounds_along_a_direction_and_to_the_fourth_power():
    found = np.array([
        np.divide((along, fourth), np.maximum(bounds(known, s), 1e-300))
        for known, s, along, fourth in updates()
    ])  # fmt: skip
    assert (found <= 1.0 + 1e-9).all()
    assert found[:, 0].max() > 0.999  # noise along one direction
    assert found[:, 1].max() > 0.1


def test_the_constants_of_normal_inputs_are_exact_but_for_the_mean_that_is_subtracted():
    """One weight and −d(x² − 1): its variance is 2d² ≤ 3d², and its fourth moment 60d⁴."""
    problem = nt.Problem.draw(nt.networks.linear(1), nt.Normal(), true_weights=[1.0])
    fourth = of_problem(problem)
    assert fourth.along**2 == pytest.approx(3.0, rel=1e-9)
    assert fourth.single == pytest.approx(105.0**0.25 + 1.0, rel=1e-9)
    a, whole = bounds(changed(fourth, along=0.5), 2.0)
    assert a < 2.0 * 4.0 < bounds(fourth, 2.0)[0]
    _, whole = bounds(changed(fourth, single=0.5), 2.0)
    assert whole < 60.0 * 16.0 < bounds(fourth, 2.0)[1]


@pytest.mark.parametrize("name", ["normal", "uniform", "signs", "image"])
def test_constants_of_a_network_exceed_simulated_moments_of_its_updates(name):
    """200 000 updates of a network with ReLU gates, some standard errors allowed."""
    draw = np.random.default_rng(43)
    law = {
        "normal": nt.Normal(scale=0.7), "uniform": nt.Uniform(scale=2.0), "signs": nt.Rademacher(),
        "image": nt.Correlated(nt.Uniform(), draw.standard_normal((6, 6))),
    }[name]  # fmt: skip
    network = nt.networks.from_gates(draw.standard_normal((4, 2, 6)), outer_weights=[1, 2, -1, 3])
    problem = nt.Problem.draw(network, law, seed=1)
    fourth, matrix = of_problem(problem), problem.sensing_matrix("optimal")
    x = law.inputs(draw.random(2_400_000), draw.random(2_400_000), 200_000, 6)
    for direction in draw.standard_normal((5, 2)):
        away = direction / np.linalg.norm(direction)
        left = network(problem.true_weights, x) - network(problem.true_weights + away, x)
        y = left[:, None] * (x @ matrix.T)
        y -= y.mean(axis=0)
        axis = np.linalg.eigh(y.T @ y)[1][:, -1]
        square, whole = (y @ axis) ** 2, (y**2).sum(axis=1) ** 2
        for moment, bound in zip((square, whole), bounds(fourth, 1.0), strict=True):
            error = moment.std() / math.sqrt(len(moment))
            assert moment.mean() - SIGMAS * error <= bound


def test_the_even_part_of_the_output_counts_and_single_samples_of_a_batch_count_less():
    """Two gates whose odd parts nearly cancel: e is about |x|, by quadrature on both sides of 0."""
    network = nt.networks.from_gates([[[1.0]], [[-0.9]]])
    problem = nt.Problem.draw(network, nt.Normal(), true_weights=[1.0])
    one, many = (of_problem(problem, batch_size=b, sensing=np.ones((1, 1))) for b in (1, 16))
    x, weight = np.polynomial.hermite_e.hermegauss(100)
    y = (network([1.0], x[:, None]) - network([2.0], x[:, None])) * x
    weight = weight / weight.sum()
    exact = float(weight @ (y - weight @ y) ** 4)
    assert 0.1 * bounds(one, 1.0)[1] < exact <= bounds(one, 1.0)[1]
    assert bounds(changed(one, single=0.5), 1.0)[1] < exact
    assert many.single == pytest.approx(one.single / 8.0, rel=1e-12)


@pytest.mark.parametrize("b", [2, 1000])
def test_a_large_batch_of_noise_is_nearly_normal(b):
    """One step from the true weights: the mean of b signs has the fourth moment (3b − 2)/b³."""
    problem = nt.Problem.draw(nt.networks.linear(1), nt.Rademacher(), noise=1.0)
    fourth = of_problem(problem, batch_size=b)
    u = fourth.follow(known_as(np.zeros(2), np.zeros(2)), np.ones(1))[-1]
    one = of_problem(problem)
    assert fourth.single_disturbed == pytest.approx(one.single_disturbed / b**0.75, rel=1e-12)
    exact = fourth_powers([-1.0, 1.0], [0.5, 0.5], b) / b**4
    assert exact <= u
    if b == 1000:
        assert exact > 0.98 * u


# ---- the formula ---------------------------------------------------------------------------------


def test_the_recursion_is_the_product_of_its_polynomials():
    draw = np.random.default_rng(47)
    for _ in range(20):
        low, more, push, *v = draw.lognormal(size=6)
        path = MeanPath(low, low + more, push, *v)
        fourth = FourthMoment(path, *draw.lognormal(size=4))
        etas = draw.lognormal(-2.0, 1.0, 30)
        known = known_as(draw.lognormal(size=31), draw.lognormal(size=31))
        exact = fourth_moments(fourth, known.path, known.spread**2, etas)
        np.testing.assert_allclose(fourth.follow(known, etas), np.array(exact, float), rtol=1e-12)


@pytest.mark.parametrize("rare", [0.02, 0.1])
def test_an_update_that_is_skewed_against_the_deviation_is_covered(rare):
    """After a step of ±σ, an attacker makes the next one skewed to the side of the first one."""
    values = np.array([1.0 - rare, -rare])  # with the mean 0
    chances = np.array([rare, 1.0 - rare])
    v, third, whole = (float(chances @ values**p) for p in (2, 3, 4))
    path = MeanPath(0.5, 0.5, 0.0, 0.0, 0.0, v)
    fourth = FourthMoment(path, 0.0, math.sqrt(v), 0.0, (whole - 3.0 * v * v) ** 0.25)
    ratios = []
    for first in (0.1, 0.3, 1.0):  # the size of the first step, and 1 is that of the second one
        etas = np.array([first, 1.0])
        known = known_as(np.zeros(3), first**2 * v * np.array([0.0, 1.0, 0.0]))
        z = 0.5 * first * math.sqrt(v)
        exact = z**4 + 6.0 * z**2 * v + 4.0 * z * third + whole
        ratios.append(exact / fourth.follow(known, etas)[-1])
    assert max(ratios) <= 1.0
    assert max(ratios) > 0.9


# ---- courses, exactly ----------------------------------------------------------------------------


def test_no_course_of_random_signs_exceeds_the_fourth_moment():
    """All batches and coins of 2 to 4 steps, for attackers that aim at d, b, Z or the residual."""
    draw, ratios = np.random.default_rng(44), []
    for number in range(80):
        case, fourth = of_signs(number)
        count = (2 if case.bound else 1) * len(case.labels)
        steps = min(int(np.log(4000) / (np.log(count) * case.batch_size)), 4)
        if steps < 2:
            continue
        away = draw.standard_normal(len(case.centre)) * draw.choice([0.0, 0.3, 3.0])
        eta = draw.choice([0.05, 0.3, 1.0]) / case.constants().L1
        etas = np.full(steps, eta)
        deltas = deltas_of(case.recursion(), float(away @ away), etas)
        known = known_after(fourth, float(np.linalg.norm(away)), deltas, etas)
        u = fourth.follow(known, etas)
        for aim in ("d", "z", "b", "residual")[: 4 if case.bound else 1]:
            tree = grow(case, away, eta, steps, aim)
            ratios.append((tree.fourth[1:] / np.maximum(u[1:], 1e-30)).max())
    assert len(ratios) > 100
    assert max(ratios) <= 1.0 + 1e-9
    assert max(ratios) > 0.2


def test_no_adaptive_attack_leaves_the_radius_more_often_than_it_may():
    """One weight and inputs ±1: the worst of all attacks, for each radius on its own."""
    draw, deltas, found = np.random.default_rng(45), np.geomspace(0.001, 0.9, 25), []
    for _ in range(100):
        theta, beta = draw.choice([0.3, 1.0, 10.0]), draw.choice([0.02, 0.1, 0.5, 1.0])
        gate = nt.networks.relu_gate(1, leak=draw.choice([0.0, 0.3, 1.0]))
        case = law_case(gate, np.ones((1, 1)), [1.0], nt.Budget(theta, beta))
        problem = nt.Problem.draw(gate, nt.Rademacher(), true_weights=[1.0])
        fourth = of_problem(problem, case.attack, 1, case.sensing)
        steps, start = int(draw.integers(1, 6)), draw.choice([0.0, 0.5, -2.0, 5.0])
        eta = draw.choice([0.05, 0.3, 1.0, 1.5]) / case.constants().L1
        etas = np.full(steps, eta)
        known = known_after(fourth, abs(start), deltas_of(case.recursion(), start**2, etas), etas)
        radii = np.array([fourth.radii(known, etas, delta, 0.0)[-1] for delta in deltas])
        found.append((worst_chances(case, start, eta, steps, radii) / deltas).max())
    assert max(found) <= 1.0
    assert max(found) > 0.2


# ---- many steps ----------------------------------------------------------------------------------

ETA, STEPS = 1e-9, 100_000
"""Steps so small that the weights stay where they are: Z is a sum of independent updates."""


def part_of_bound(size: int, attacked: bool, **factors: float) -> float:
    """Return E‖Z‖⁴ divided by U, with some constants of U multiplied.

    Inputs are random signs, and the linear network starts at its true weights. Labels have noise of
    ±1, or a fifth of them is attacked by ±√5, which has the same variance and the kurtosis 5. Given
    an attacked label, either sign is as likely, so B is 0.
    """
    network = nt.networks.linear(size)
    budget = nt.Budget(math.sqrt(5.0), 0.2) if attacked else None
    problem = nt.Problem.draw(network, nt.Rademacher(), noise=0.0 if attacked else 1.0)
    fourth = of_problem(problem, budget)
    path, etas = dataclasses.replace(fourth.path, push=0.0), np.full(STEPS, ETA)
    fourth = dataclasses.replace(fourth, path=path)
    spread = size * ETA**2 * np.arange(STEPS + 1.0)
    u = changed(fourth, **factors).follow(known_as(0.0 * spread, spread), etas)[-1]
    alone, together = (5.0 if attacked else 1.0) * size**2, size**2 + 2.0 * size
    return ETA**4 * (STEPS * alone + STEPS * (STEPS - 1.0) * together) / u


@pytest.mark.parametrize("attacked", [False, True])
@pytest.mark.parametrize("size", [1, 2, 25])
def test_the_fourth_moment_of_many_small_updates_is_exact(size, attacked):
    assert 0.95 < part_of_bound(size, attacked) <= 1.0


@pytest.mark.parametrize("attacked", [False, True])
@pytest.mark.parametrize("size", [1, 2, 25])
@pytest.mark.parametrize("name", ["along_disturbed", "constant"])
def test_a_part_of_the_recursion_that_is_halved_is_exceeded(size, attacked, name):
    assert part_of_bound(size, attacked, **{name: 0.5}) > 1.05


@pytest.mark.parametrize(("kurtosis", "exceeded"), [(3.0, True), (100.0, False)])
def test_rare_noise_needs_a_kurtosis_that_is_stated(kurtosis, exceeded):
    """Noise of ±10 with probability 1/100, else 0: its variance is 1 and its kurtosis 100."""

    class Rare(nt.data.Simulated):
        noise_kurtosis = kurtosis

    data = Rare(nt.Rademacher(), np.ones(1), 1.0)
    fourth = of_problem(nt.Problem(nt.networks.linear(1), data))
    start = known_after(fourth, 0.0, np.zeros(2), np.ones(1))
    radius = fourth.radii(start, np.ones(1), 0.009, 0.0)[-1]
    assert (radius < 10.0) == exceeded  # one step of size 1 leaves it with probability 0.01
    if not exceeded:
        halved = changed(fourth, single_disturbed=0.5)
        assert halved.radii(start, np.ones(1), 0.0099, 0.0)[-1] < 10.0


def test_rounding_errors_are_added_to_the_radius():
    problem = nt.Problem.draw(nt.networks.linear(2), nt.Normal(), noise=0.1, seed=1)
    fourth, etas, deltas = of_problem(problem), np.full(100, 0.1), np.full(101, 0.01)
    known = known_after(fourth, 0.1, deltas, etas)
    plain, rounded = (fourth.radii(known, etas, 0.05, e)[-1] for e in (0.0, 1e-9))
    assert plain + 1e-9 * math.sqrt(100 / (0.05 * 1e-4)) <= rounded <= plain + 1e-4


def test_a_bound_that_overflows_is_none():
    problem = nt.Problem.draw(nt.networks.linear(2), nt.Normal(), noise=1.0, seed=1)
    fourth, etas = of_problem(problem), np.full(500, 10.0)
    with np.errstate(over="ignore", invalid="ignore"):
        known = known_after(fourth, 1.0, np.full(501, 1e200), etas)
    radii = fourth.radii(known, etas, 0.05, 0.0)
    assert not math.isfinite(radii[-1])
