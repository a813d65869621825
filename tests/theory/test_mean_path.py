"""The mean path and the deviations from it, exactly: all courses of a few steps on small laws."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pytest
from tests.oracles.recursions import bounds_of, course_of
from tests.oracles.small_laws import SmallCase, law_case, random_law_case, samples, signs

import neurotron as nt
from neurotron.theory.course import Bounds as Known
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.one_step import largest_factor

DELTAS = np.geomspace(0.01, 0.9, 25)


def path_of(case: SmallCase) -> MeanPath:
    constants = case.constants()
    return constants.mean_path(case.moments(constants), case.problem.noise, case.batch_size)


class Bounds(NamedTuple):
    """The recursions of a case from a start whose mean square is `delta`."""

    case: SmallCase
    delta: float
    eta: float
    steps: int

    def follow(self, *, random: bool = False, **changed: float) -> Known:
        """Return all bounds after 0, 1, … steps, with some numbers of the path multiplied."""
        path = path_of(self.case)
        numbers = {name: factor * getattr(path, name) for name, factor in changed.items()}
        path = dataclasses.replace(path, **numbers)
        course = course_of(self.case.recursion(), path, self.delta**0.5, random=random)
        return bounds_of(course, self.eta, self.steps)

    def radii(self, path: float = 1.0, spread: float = 1.0, *, random: bool = False) -> np.ndarray:
        """Return the radii after the last step for all `DELTAS`, with B and V multiplied."""
        end = self.follow(random=random)
        return path * end.path[-1] + (spread / DELTAS) ** 0.5 * end.spread[-1]


# ---- all adaptive attacks on one weight ----------------------------------------------------------


def one_weight(theta: float, beta: float, x=(1.0,), leak: float = 1.0) -> SmallCase:
    """Return a case of one gate with one weight, w* = 1, and the inputs ±x."""
    gate = nt.networks.relu_gate(1, leak=leak)
    rows = np.array(x)[:, None]
    return law_case(gate, rows, [1.0], nt.Budget(theta, beta), sensing=np.ones((1, 1)))


def worst_chances(
    case: SmallCase, start: float, eta: float, steps: int, radii: np.ndarray
) -> np.ndarray:
    """Return the largest P(|w − w*| > radius) over all adaptive attacks, for each radius.

    A tree of all courses is built and solved backwards, for each radius on its own. At every node
    the attacker chooses a change of −θ, 0 or θ for each input.
    """
    d, x, leak = np.array([start]), case.inputs[:, 0], case.problem.network.leak
    moves, coins = case.moves[:, 0], case.coins[:, None]
    pushes = eta * moves[:, None] * case.bound * np.array([-1.0, 0.0, 1.0])
    for _ in range(steps):
        z = (case.centre + d)[:, None] * x
        honest = d[:, None] + eta * (case.labels - np.where(z >= 0.0, z, leak * z)) * moves
        d = (honest[:, :, None] + pushes).ravel()
    beyond = (np.abs(d)[:, None] > radii).astype(float)
    for _ in range(steps):
        beyond = beyond.reshape(-1, len(x), 3, len(radii))
        chosen = (1.0 - coins) * beyond[:, :, 1] + coins * beyond.max(axis=2)
        beyond = chosen.mean(axis=1)
    return beyond[0]


class Course(NamedTuple):
    """A start, a step size and a number of steps on one weight."""

    case: SmallCase
    start: float
    eta: float
    steps: int


@functools.cache
def courses() -> list[Course]:
    draw, found = np.random.default_rng(31), []
    for number in range(150):
        x = ((1.0,), (0.4, 1.6))[number % 2]
        theta, beta = draw.choice([0.3, 1.0, 10.0]), draw.choice([0.02, 0.1, 0.5, 1.0])
        case = one_weight(theta, beta, x, leak=draw.choice([0.0, 0.3, 1.0]))
        eta = draw.choice([0.05, 0.3, 1.0, 1.5]) / case.constants().L1
        steps = int(draw.integers(1, 6 - number % 2))
        found.append(Course(case, draw.choice([0.0, 0.5, -2.0, 5.0]), eta, steps))
    return found


def excess(course: Course, **changed: float) -> float:
    """Return the largest P(|w − w*| > radius)/δ, with B and V multiplied by some factor."""
    case, start, eta, steps = course
    radii = Bounds(case, start**2, eta, steps).radii(**changed)
    return float((worst_chances(case, start, eta, steps, radii) / DELTAS).max())


def test_no_adaptive_attack_leaves_the_radius_more_often_than_it_may():
    found = [excess(course) for course in courses()]
    assert max(found) <= 1.0
    assert max(found) > 0.5


def test_a_halved_spread_is_left_too_often():
    rare = Course(one_weight(1.0, 0.1), 0.0, 0.1, 1)
    assert excess(rare) <= 1.0
    assert excess(rare, spread=0.5) > 1.1


def test_a_halved_path_is_left_too_often():
    assert max(excess(course, path=0.5) for course in courses()) > 1.1


# ---- the sure bound ------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [0.01, 0.3, 1.7])
def test_the_bound_on_the_path_is_attained_by_a_steady_push(eta):
    """With x = ±1, β = 1 and leak 1 every update is the same; beyond η = 1 the push alternates."""
    case, d, exact = one_weight(2.0, 1.0), 3.0, [3.0]
    for _ in range(200):
        kept = (1.0 - eta) * d
        d = kept + eta * 2.0 * (1.0 if kept >= 0.0 else -1.0)
        exact.append(abs(d))
    end = Bounds(case, 9.0, eta, 200).follow()
    np.testing.assert_allclose(end.path, exact, rtol=1e-8)


def test_a_halved_push_is_exceeded_with_certainty():
    """After 200 small steps the weights are at B for sure, far outside of the wrong radius."""
    bounds = Bounds(one_weight(2.0, 1.0), 0.0, 0.01, 200)
    right, wrong = (bounds.follow(push=factor) for factor in (1.0, 0.5))
    assert right.path[-1] > 1.2 * (wrong.path[-1] + wrong.spread[-1] / 0.5**0.5)


# ---- a random start ------------------------------------------------------------------------------


def test_a_random_start_needs_a_spread_of_its_own():
    """‖d₁‖² is 10 with probability 0.1, else 0, so that Δ₁ = 1."""
    case, eta, steps = one_weight(0.1, 0.1), 0.01, 3

    def too_often(*, random: bool) -> bool:
        radii = Bounds(case, 1.0, eta, steps).radii(random=random)
        far, near = (worst_chances(case, d, eta, steps, radii) for d in (10.0**0.5, 0.0))
        return bool((0.1 * far + 0.9 * near > DELTAS).any())

    assert not too_often(random=True)
    assert too_often(random=False)


# ---- trees of two weights ------------------------------------------------------------------------


class Tree(NamedTuple):
    """Deviations from the mean path, squared and to the fourth power, and its largest length."""

    spread: np.ndarray
    path: np.ndarray
    fourth: np.ndarray


def grow(case: SmallCase, away: np.ndarray, eta: float, steps: int, aim: str) -> Tree:
    """Return what all courses lead to if the attacker pushes d, b, Z or the residual away.

    At each node the mean of the update is checked to be −cNd + p̄ with ‖p̄‖ ≤ θτ.
    """
    network, moves = case.problem.network, case.moves
    points, attacked, likely = samples(case)
    gain = (1.0 + network.leak) / 2.0
    pull = gain * moves.T @ (case.inputs @ network.mean_gate.T) / len(moves)
    most = path_of(case).push * (1.0 + 1e-9)
    d, b, z, chances = away[None], away[None], np.zeros((1, len(away))), np.ones(1)
    spread, path, fourth = [0.0], [float(np.linalg.norm(away))], [0.0]
    for _ in range(steps):
        left = case.left(d)
        aims = {"d": d, "b": b, "z": z}.get(aim)
        changes = _changes(case, eta, left, aims, points, attacked)  # (D, K, b)
        scaled = moves[points] / case.batch_size
        pushed = np.einsum("dkb,kbr->dkr", attacked * changes, scaled)
        update = np.einsum("dkb,kbr->dkr", left[:, points], scaled) + pushed
        mean, push = np.tensordot(update, likely, (1, 0)), np.tensordot(pushed, likely, (1, 0))
        size = (np.abs(case.labels).max() + np.abs(left).max()) * np.abs(moves).max()
        np.testing.assert_allclose(mean, push - d @ pull.T, atol=1e-10 * size)
        assert (np.linalg.norm(push, axis=1) <= most).all()
        b = b - eta * b @ pull.T + eta * push
        z = (z - eta * z @ pull.T)[:, None] + eta * (update - mean[:, None])
        d = (d[:, None] + eta * update).reshape(-1, len(away))
        b, z = np.repeat(b, len(likely), axis=0), z.reshape(-1, len(away))
        chances = (chances[:, None] * likely).ravel()
        np.testing.assert_allclose(d, b + z, atol=1e-10 * (np.abs(d).max() + eta * size))
        spread.append(float(chances @ (z**2).sum(axis=1)))
        fourth.append(float(chances @ (z**2).sum(axis=1) ** 2))
        path.append(float(np.linalg.norm(b, axis=1).max()))
    return Tree(np.array(spread), np.array(path), np.array(fourth))


def _changes(
    case: SmallCase,
    eta: float,
    left: np.ndarray,
    aims: np.ndarray | None,
    points: np.ndarray,
    attacked: np.ndarray,
) -> np.ndarray:
    """Return the changes of all labels of all batches at every node, (D, K, b)."""
    if not case.batch_aware:
        of_points = left if aims is None else aims @ case.moves.T
        return case.bound * np.where(of_points >= 0.0, 1.0, -1.0)[:, points]
    options = case.bound * signs(case.batch_size)
    scaled = eta / case.batch_size * case.moves[points]
    ends = np.einsum("dkb,kbr->dkr", left[:, points], scaled)[:, :, None]
    ends = ends + np.einsum("sb,kb,kbr->ksr", options, attacked, scaled)
    ends = ends if aims is None else ends + aims[:, None, None]
    return options[(ends**2).sum(axis=3).argmax(axis=2)]


class Grown(NamedTuple):
    """A tree with its bounds."""

    tree: Tree
    bounds: Bounds
    batch_aware: bool

    @classmethod
    def of(cls, case: SmallCase, away: np.ndarray, eta: float, steps: int, aim: str) -> Grown:
        tree = grow(case, away, eta, steps, aim)
        return cls(tree, Bounds(case, float(away @ away), eta, steps), case.batch_aware)

    def ratios(self, **changed: float) -> np.ndarray:
        """Return E‖Z‖²/V and ‖b‖/B at their largest, with some numbers multiplied."""
        end = self.bounds.follow(**changed)
        pairs = ((self.tree.spread, end.spread**2), (self.tree.path, end.path))
        return np.array([(exact / np.maximum(bound, 1e-20))[1:].max() for exact, bound in pairs])


@functools.cache
def trees() -> list[Grown]:
    draw, found = np.random.default_rng(32), []
    for number in range(160):
        case = random_law_case(number)
        count = len(samples(case)[2])
        steps = int(np.log(5000) / np.log(count))
        if steps < 2:
            continue
        away = draw.standard_normal(len(case.centre)) * draw.choice([0.0, 0.3, 3.0])
        eta = draw.choice([0.05, 0.3, 1.0]) / case.constants().L1
        for aim in ("d", "z", "b", "residual")[: 4 if case.bound else 1]:
            found.append(Grown.of(case, away, eta, min(steps, 4), aim))
    return found


def largest(scope: str, **changed: float) -> np.ndarray:
    """Return the largest ratios of all trees with attackers of one scope."""
    aware = scope == "batch"
    return np.max([one.ratios(**changed) for one in trees() if one.batch_aware == aware], 0)


@pytest.mark.parametrize("scope", ["query", "batch"])
def test_deviations_and_mean_paths_stay_below_their_bounds_and_reach_them(scope):
    """Attackers that aim at w − w*, at its mean path, at the deviation or at the residual."""
    ratios = largest(scope)
    assert (ratios <= 1.0 + 1e-9).all()
    assert (ratios > 0.999).all()


@pytest.mark.parametrize("scope", ["query", "batch"])
def test_a_push_or_a_noise_that_is_halved_is_exceeded(scope):
    assert largest(scope, constant=0.5)[0] > 1.5
    assert largest(scope, push=0.5)[1] > 1.5


@pytest.mark.parametrize("scope", ["query", "batch"])
@pytest.mark.parametrize("name", ["square", "linear", "constant"])
def test_a_part_of_the_spread_that_is_halved_is_exceeded_if_inputs_have_long_tails(name, scope):
    """One input of 20 is long: the mean of an update is small compared with its deviation."""
    gate, rows = nt.networks.relu_gate(1, leak=1.0), np.array([[1.0]] + [[1e-3]] * 19)
    case = law_case(gate, rows, [1.0], nt.Budget(1.0, 1.0, scope), sensing=np.ones((1, 1)))
    start = {"square": 9.0, "linear": 1.0, "constant": 0.1}[name]
    one = Grown.of(case, np.array([start]), 1.0, 1, "residual")
    assert 0.9 < one.ratios()[0] <= 1.0
    assert one.ratios(**{name: 0.5})[0] > 1.1


# ---- formulas ------------------------------------------------------------------------------------


def test_the_gap_is_what_the_factor_lacks_to_one():
    draw = np.random.default_rng(33)
    for _ in range(100):
        low, more = draw.uniform(-0.5, 1.0), draw.exponential()
        path = MeanPath(low, low + more, 0.0, 0.0, 0.0, 0.0)
        eta = draw.exponential()
        assert path.gap(eta) == pytest.approx(1.0 - largest_factor(eta, low, path.high), abs=1e-13)
    assert MeanPath(0.5, 0.6, 0.0, 0.0, 0.0, 0.0).gap(1e-20) == 0.5e-20


def test_the_limit_of_the_path_is_where_pull_and_push_balance():
    path = path_of(one_weight(2.0, 0.3, leak=0.5))
    assert path.limit == pytest.approx(2.0 * 0.3 / 0.75, rel=1e-9)
    kept = largest_factor(0.1, path.low, path.high) * path.limit
    assert kept + 0.1 * path.push == pytest.approx(path.limit, rel=1e-9)
    assert MeanPath(-0.1, 1.0, 0.3, 0.0, 0.0, 0.0).limit == np.inf
