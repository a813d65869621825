"""Constants of tables: one step is enumerated exactly, and the fit of changed labels is solved."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

import neurotron as nt
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.coordinates import Coordinates
from neurotron.theory.leaky_gate import fit_of_gate, for_leaky_gate
from neurotron.theory.one_step import bound_after
from neurotron.theory.sharp import SharpConstants, sharp_constants
from neurotron.theory.table import TableFit


class Case(NamedTuple):
    """A small table, a trainer's matrix and weighting, and an attacker."""

    problem: nt.Problem
    sensing: np.ndarray
    weighting: str | None
    budget: nt.Budget
    batch_size: int

    @property
    def rows(self) -> np.ndarray:
        return self.problem.data.X

    @property
    def seen(self) -> np.ndarray:
        return self.rows @ self.problem.network.mean_gate.T

    @property
    def counted(self) -> np.ndarray:
        x = self.rows
        inverse = 1.0 / (x**2).sum(axis=1) if self.weighting else np.ones(len(x))
        return self.problem.law.counts * inverse

    def constants(self) -> SharpConstants:
        return sharp_constants(self.problem, self.sensing, self.weighting)

    def moments(self, constants: SharpConstants) -> AttackMoments:
        return attack_moments(constants, self.problem, self.sensing, self.weighting, self.budget)


def cases(scope: str) -> Iterator[Case]:
    """Yield tables of 3 to 5 rows with residuals that grow with ‖x‖, some with weights."""
    for seed in range(9):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(3, 6 if scope == "query" else 5))
        X = draw.lognormal(0.0, 0.8, (count, 1)) * draw.choice([-1.0, 1.0, 1.0], (count, 1))
        y = X[:, 0] + draw.standard_normal(count) * (0.2 + X[:, 0] ** 2)
        network = nt.networks.linear(2)
        if seed % 4 == 3:  # a filter of one weight, seen through two gates
            network = nt.networks.from_gates(draw.standard_normal((2, 1, 2)), leak=1.0)
        problem = nt.Problem.from_rows(
            network, np.column_stack([X, np.ones(count)]), y, replacement=True,
            sample_weight=draw.random(count) + 0.2 if seed % 3 == 1 else None,
        )  # fmt: skip
        weighting = "inverse-norm" if seed % 3 == 2 else None
        sensing = problem.sensing_matrix("mean" if seed % 2 else "optimal", weighting)
        theta, beta = draw.choice([0.0, 0.3, 3.0]), draw.choice([0.3, 1.0])
        b = 1 if count == 5 else 1 + seed % 2
        yield Case(problem, sensing, weighting, nt.Budget(theta, beta, scope), b)


def fit_by_hand(case: Case) -> np.ndarray:
    """Return the weighted fit by the normal equations."""
    x, g = case.seen, case.counted
    return np.linalg.solve((x.T * g) @ x, (x.T * g) @ case.problem.data.y)


def exact_step(case: Case, away: np.ndarray, eta: float) -> float:
    """Return E‖w − w°‖² after a step from w° + away, against the worst attacker."""
    left = case.problem.data.y - case.seen @ (fit_by_hand(case) + away)
    moved = case.counted[:, None] * (case.rows @ case.sensing.T)
    return worst_step(left, moved, case.budget, case.batch_size, away, eta)


def worst_step(
    left: np.ndarray,
    moved: np.ndarray,
    budget: nt.Budget,
    b: int,
    away: np.ndarray,
    eta: float,
) -> float:
    """Return the mean of ‖away + (η/b) Σ (left + change) · moved‖², in the worst case.

    A query attacker has one change for each row; a batch attacker may choose anew for each batch
    and its coins. Changes are ±θ or 0.
    """
    theta, beta = budget.bound, budget.probability
    choices = (-theta, 0.0, theta) if theta else (0.0,)
    batches = list(itertools.product(range(len(left)), repeat=b))
    coins = list(itertools.product((0, 1), repeat=b))

    def after(batch: tuple[int, ...], tossed: tuple[int, ...], change: tuple[float, ...]) -> float:
        step = sum(
            (left[i] + a * d) * moved[i] for i, a, d in zip(batch, tossed, change, strict=True)
        )
        return float(np.sum((away + eta / b * step) ** 2))

    def chance(tossed: tuple[int, ...]) -> float:
        return float(np.prod([beta if a else 1.0 - beta for a in tossed])) / len(batches)

    if budget.scope == "batch":
        return sum(
            chance(tossed)
            * max(after(batch, tossed, c) for c in itertools.product(choices, repeat=b))
            for batch in batches
            for tossed in coins
        )
    return max(
        sum(
            chance(tossed) * after(batch, tossed, tuple(change[i] for i in batch))
            for batch in batches
            for tossed in coins
        )
        for change in itertools.product(choices[::2], repeat=len(left))
    )


def starts(case: Case) -> Iterator[np.ndarray]:
    """Yield differences w − w°: none, two directions, and the one that residuals make worst."""
    r = case.problem.data.y - case.seen @ fit_by_hand(case)
    lengths = case.counted * np.linalg.norm(case.rows @ case.sensing.T, axis=1)
    along = (lengths**2 * r) @ case.seen
    yield np.zeros(len(along))
    for size in (0.3, 3.0):
        yield np.array([size, -size / 2])[: len(along)]
        yield -size * along / max(np.linalg.norm(along), 1e-300)


class Step(NamedTuple):
    """A squared distance before a step, its size, and the exact mean after it."""

    before: float
    eta: float
    after: float


@functools.cache
def enumerated(scope: str) -> list[tuple[Case, list[Step]]]:
    """Return all cases with their exact steps, which every test compares with its bounds."""
    return [
        (
            case,
            [
                Step(float(away @ away), eta, exact_step(case, away, eta))
                for away in starts(case)
                for eta in np.array([0.05, 1.0, 20.0]) / case.constants().L1
            ],
        )
        for case in cases(scope)
    ]


def ratio(
    case: Case, steps: list[Step], constants: SharpConstants, moments: AttackMoments
) -> float:
    """Return the largest exact/certified mean after a step."""
    numbers = constants.recursion(moments, 0.0, case.batch_size).numbers
    bounds = [max(float(bound_after(step.before, step.eta, *numbers)), 1e-20) for step in steps]
    return max(step.after / bound for step, bound in zip(steps, bounds, strict=True))


@pytest.mark.parametrize("scope", ["query", "batch"])
def test_one_step_towards_the_fit_of_a_table_stays_below_the_bound(scope):
    """Intercept, weights, a wrong model and labels of any kind; near 1 at best."""
    worst = [
        ratio(case, steps, constants := case.constants(), case.moments(constants))
        for case, steps in enumerated(scope)
    ]
    assert max(worst) <= 1.0 + 1e-9
    assert max(worst) > 0.999


def halved(case: Case, steps: list[Step], name: str) -> float:
    """Return the ratio with one constant halved."""
    constants = case.constants()
    moments = case.moments(constants)
    if name.startswith("misfit."):
        part = name.removeprefix("misfit.")
        misfit = dataclasses.replace(
            constants.misfit, **{part: getattr(constants.misfit, part) / 2}
        )
        constants = dataclasses.replace(constants, misfit=misfit)
    elif hasattr(moments, name):
        moments = dataclasses.replace(moments, **{name: getattr(moments, name) / 2})
    else:
        constants = dataclasses.replace(constants, **{name: getattr(constants, name) / 2})
    return ratio(case, steps, constants, moments)


@pytest.mark.parametrize("name", ["misfit.s2", "misfit.along", "L2", "tau", "s2", "coin"])
def test_a_constant_of_a_table_that_is_halved_is_exceeded(name):
    assert max(halved(*one, name) for one in enumerated("query")) > 1.0 + 1e-6


def test_the_fit_of_a_problem_is_the_weighted_one():
    for case in cases("query"):
        np.testing.assert_allclose(
            case.problem.least_squares(case.weighting), fit_by_hand(case), rtol=1e-9, atol=1e-12
        )


# ---- one leaky gate ------------------------------------------------------------------------------


class Leaky(NamedTuple):
    """A small table for one leaky gate, in its own coordinates, with its exact steps."""

    problem: nt.Problem
    coordinates: Coordinates
    budget: nt.Budget
    batch_size: int
    steps: list[Step]


@functools.cache
def leaky_cases() -> list[Leaky]:
    """Return tables without symmetry, of wrong models. Steps are made in the old coordinates."""
    found = []
    for seed in range(10):
        draw = np.random.default_rng(100 + seed)
        count, alpha = int(draw.integers(3, 5)), draw.choice([0.2, 0.6])
        X = np.column_stack([draw.lognormal(0.0, 0.8, count), np.ones(count)])
        gate = nt.networks.from_gates(draw.standard_normal((1, 2, 2)), leak=alpha)
        y = draw.standard_normal(count) * (0.2 + X[:, 0] ** 2)
        problem = nt.Problem.from_rows(gate, X, y, replacement=True)
        sensing = problem.sensing_matrix("optimal")
        new = for_leaky_gate(problem, sensing, None)
        theta, beta = draw.choice([0.0, 0.3, 3.0]), draw.choice([0.3, 1.0])
        budget, b = nt.Budget(theta, beta), 1 + seed % 2
        centre, to_new = fit_of_gate(problem, new), np.linalg.inv(new.back)
        steps = []
        for away in (np.zeros(2), *(size * draw.standard_normal(2) for size in (0.1, 1, 1, 9, 9))):
            left = y - gate(centre + new.back @ away, X)
            moved = X @ sensing.T @ to_new.T
            for eta in (0.1, 1.0, 5.0):
                after = worst_step(left, moved, budget, b, away, eta)
                steps.append(Step(float(away @ away), eta, after))
        found.append(Leaky(problem, new, budget, b, steps))
    return found


def leaky_ratio(case: Leaky, **changed: float) -> float:
    """Return the largest exact/certified mean after a step, with some constants changed."""
    problem, sensing = case.problem, case.problem.sensing_matrix("optimal")
    constants = sharp_constants(problem, sensing, None, case.coordinates)
    moments = attack_moments(constants, problem, sensing, None, case.budget, case.coordinates)
    for name, factor in changed.items():
        if name == "misfit":
            part = dataclasses.replace(constants.misfit, s2=factor * constants.misfit.s2)
            constants = dataclasses.replace(constants, misfit=part)
        elif name == "tau":
            moments = dataclasses.replace(moments, tau=factor * moments.tau)
        else:
            value = factor * getattr(constants, name)
            constants = dataclasses.replace(constants, **{name: value})
    numbers = constants.recursion(moments, 0.0, case.batch_size).numbers
    bounds = [max(float(bound_after(s.before, s.eta, *numbers)), 1e-20) for s in case.steps]
    return max(step.after / bound for step, bound in zip(case.steps, bounds, strict=True))


def test_one_step_of_a_leaky_gate_stays_below_the_bound_without_symmetry():
    worst = [leaky_ratio(case) for case in leaky_cases()]
    assert max(worst) <= 1.0 + 1e-9
    assert max(worst) > 0.95


@pytest.mark.parametrize("changed", [{"misfit": 0.5}, {"tau": 0.5}, {"L2": 0.5}, {"gain": 2.0}])
def test_a_constant_of_a_leaky_gate_that_is_wrong_is_exceeded(changed):
    assert max(leaky_ratio(case, **changed) for case in leaky_cases()) > 1.0 + 1e-6


def leaky_fit(case: Leaky) -> TableFit:
    sensing = case.problem.sensing_matrix("optimal")
    return TableFit.of(case.problem, sensing, None, case.coordinates)


def test_the_mean_update_of_a_leaky_gate_vanishes_at_its_fit():
    for case in leaky_cases():
        rows, fit = case.problem.data, leaky_fit(case)
        left = rows.y - case.problem.network(fit.weights, rows.X)
        sizes = np.abs(rows.y).max() * np.abs(fit.sensed).max()
        assert np.linalg.norm(left @ fit.sensed) / len(rows.y) <= 1e-12 * sizes
        assert fit.is_centre


def test_changed_labels_move_the_fit_of_a_leaky_gate_by_no_more_than_the_bound():
    ratios = []
    for case in leaky_cases():
        data, fit = case.problem.data, leaky_fit(case)
        allowed = fit.moved(2.0, 1)
        for row, sign in itertools.product(range(len(data.y)), (-2.0, 2.0)):
            labels = data.y.copy()
            labels[row] += sign
            other = nt.Problem.from_rows(case.problem.network, data.X, labels, replacement=True)
            moved = fit_of_gate(other, case.coordinates) - fit.weights
            ratios.append(np.linalg.norm(case.coordinates.updates(moved)) / allowed)
    assert 0.5 < max(ratios) <= 1.0 + 1e-9


# ---- labels that were changed before training ----------------------------------------------------


def fit_of(case: Case) -> TableFit:
    return TableFit.of(case.problem, case.sensing, case.weighting)


def largest_move(case: Case, rows: int) -> float:
    """Return how far the fit moves if `rows` labels change by ±1, in the worst case, by solving."""
    x, g = case.seen, case.counted
    solve = np.linalg.solve((x.T * g) @ x, x.T * g)
    return max(
        float(np.linalg.norm(solve[:, list(chosen)] @ signs))
        for chosen in itertools.combinations(range(len(x)), rows)
        for signs in itertools.product((-1.0, 1.0), repeat=rows)
    )


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_changed_labels_move_the_fit_by_no_more_than_the_bound(rows):
    ratios = [largest_move(case, rows) / fit_of(case).moved(1.0, rows) for case in cases("query")]
    assert max(ratios) <= 1.0 + 1e-9
    assert max(ratios) > (1.0 - 1e-6 if rows == 1 else 0.9)  # one row is exact


def test_the_share_of_changed_labels_does_not_stand_for_a_probability():
    """Of 100 rows one has the leverage 20: its label moves the fit more than β = 1/100 allows."""
    X = np.ones((100, 1))
    X[0] = 20.0
    problem = nt.Problem.from_rows(nt.networks.linear(1), X, X[:, 0], replacement=True)
    case = Case(problem, problem.sensing_matrix("optimal"), None, nt.Budget(1.0, 0.01), 1)
    constants = case.constants()
    as_coins = case.moments(constants).tau / constants.lambda1
    exact = largest_move(case, 1)
    assert exact > 3.0 * as_coins
    assert exact == pytest.approx(fit_of(case).moved(1.0, 1), rel=1e-9)


def test_nothing_moves_the_fit_without_changed_labels():
    case = next(cases("query"))
    assert fit_of(case).moved(0.0, 3) == fit_of(case).moved(5.0, 0) == 0.0
    assert fit_of(case).moved(1.0, 10**6) == fit_of(case).moved(1.0, len(case.rows))


# ---- sensing matrices ----------------------------------------------------------------------------


def test_the_fit_is_the_centre_only_if_the_sensing_matrix_is_made_of_the_mean_gate():
    draw = np.random.default_rng(5)
    X = draw.standard_normal((60, 4)) + draw.exponential(size=4)
    network = nt.networks.from_gates(draw.standard_normal((3, 2, 4)), leak=1.0)
    problem = nt.Problem.from_rows(network, X, X[:, 0] ** 2, replacement=True)
    centre = {
        name: TableFit.of(problem, problem.sensing_matrix(name), None).is_centre
        for name in ("optimal", "mean", "polar")
    }
    assert centre == {"optimal": True, "mean": True, "polar": False}


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_columns_of_very_different_units_keep_the_fit_exact_to_many_digits(scale):
    draw = np.random.default_rng(6)
    X = draw.lognormal(size=(300, 3)) * [1.0, scale, 1.0]
    problem = nt.Problem.from_rows(
        nt.networks.linear(3), X, X[:, 0] ** 2, intercept=True, replacement=True
    )
    fit = TableFit.of(problem, problem.sensing_matrix("optimal"), None)
    assert fit.is_centre
    assert fit.off < 1e-8 * np.linalg.norm(fit.weights)


@pytest.mark.parametrize("name", ["optimal", "polar"])
def test_the_least_squares_fit_moves_within_the_bound_whatever_the_sensing_matrix_is(name):
    """Exact labels make the fit the centre of every matrix, but not after some were changed."""
    draw = np.random.default_rng(5)
    X = draw.standard_normal((30, 4)) + draw.exponential(size=4)
    network = nt.networks.from_gates(draw.standard_normal((3, 2, 4)), leak=1.0)
    y = network([1.0, -2.0], X)
    problem = nt.Problem.from_rows(network, X, y, replacement=True)
    case = Case(problem, problem.sensing_matrix(name), None, nt.Budget(1.0, 0.1), 1)
    assert fit_of(case).is_centre
    assert largest_move(case, 1) == pytest.approx(fit_of(case).moved(1.0, 1), rel=1e-9)
