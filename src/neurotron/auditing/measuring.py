"""Measures on one split of a table what attacks on the labels do to an estimator.

`measure` is a pure function: what it returns depends on its arguments alone, so splits can be
measured anywhere and in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from neurotron import _check, _seeds
from neurotron._threads import no_warnings, one_blas_thread
from neurotron._types import Array
from neurotron.auditing import ceilings
from neurotron.auditing.attackers import SURROGATES, Plan, Scene, is_random, name_of, plans_of
from neurotron.auditing.ceilings import Most, rms
from neurotron.auditing.effects import Effects, effects_of
from neurotron.auditing.estimators import FittedEstimator, fit, predicted
from neurotron.auditing.question import Level, Question
from neurotron.auditing.records import Attempt, Failed, HonestFit, Limit, Measured
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import catalog
from neurotron.estimators.copies import prepared
from neurotron.theory.smoother import room_of, worst_rms_change

ROUNDING = 1e-6
"""By which part of a ceiling the damage may exceed it before the ceiling is withdrawn."""
SEARCHED = (1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 2.0, 4.0)
"""The numbers of rows that a search by fits tries, as multiples of the budget."""
KEPT = 2
"""How many ways to attack that search tries: those that did most harm with the budget."""
NO_ERROR = 1e-6
"""An error below this part of the spread of the labels counts as none. Damage is then compared
with this part of the spread."""
ALL_UP_TO = 40
"""If nothing needs to be fitted, all numbers of rows up to this one are tried."""
FINER = 1.1
"""The factor from one number of rows to the next, beyond that."""


class Tried(NamedTuple):
    """A way to attack, and what it did with the budget of the audit."""

    attempt: Attempt
    plan: Plan
    fit: FittedEstimator | None


def measure(
    estimator: Any,
    table: AuditedTable,
    question: Question,
    number: int,
    progress: Callable[[int, int], None] | None = None,
) -> Measured | Failed:
    """Return what was measured on split `number` of a table.

    Parameters
    ----------
    estimator
        A regressor of scikit-learn, or one with the same methods, which is cloned for every fit;
        or its name in the list of estimators.
    table
        The rows and honest labels.
    question
        The attacks, their budgets and how often they are repeated.
    number
        The number of the split.
    progress
        Called now and then with how much is done and how much there is to do.
    """
    look = progress or (lambda done, total: None)
    with one_blas_thread(), no_warnings():  # estimators warn about labels that were made to be odd
        try:
            audited = _Split(estimator, table, question, number, look)
        except _check.InputError as error:  # it cannot be fitted to honest labels
            return Failed(str(error))
        return audited.measured()


class _Split:
    """An estimator that is audited on one split."""

    def __init__(
        self,
        estimator: Any,
        table: AuditedTable,
        question: Question,
        number: int,
        look: Callable[[int, int], None],
    ) -> None:
        self.question, self.split = question, table.split(question.seed, number)
        self.look, self.done = look, 0
        self.seed = _seeds.key(question.seed, "audit", number)
        built = catalog.BY_NAME.build(estimator) if isinstance(estimator, str) else estimator
        self.estimator = prepared(built, self.seed)
        self.clean = self._fit(self.split.y)
        self.estimator = ceilings.settled(self.estimator, self.clean.estimator)
        self.fitted = predicted(self.clean.estimator, self.split.X)
        self.error = rms(self.clean.predictions - self.split.test_y)
        self.least = NO_ERROR * float(table.y.std())
        self.unit = max(self.error, self.least)

    def _fit(self, labels: Array) -> FittedEstimator:
        """Fit to some labels; Ctrl-C is noticed between fits."""
        self.look(self.done, len(self.question.levels))
        return fit(self.estimator, self.split, labels)

    def measured(self) -> Measured:
        """Return what every attack does at every level, and what none can."""
        split, levels = self.split, self.question.levels
        weights = np.linalg.lstsq(split.inputs, split.y, rcond=None)[0]
        effects = effects_of(
            self.estimator, split, self.clean.estimator, levels[0].bound, self.seed
        )  # fmt: skip
        attempts: list[Attempt] = []
        limits = []
        for level in levels:
            scene = self._scene(level, effects)
            tried = self._attacks(scene, level)
            limits.append(self._limit(scene, level, [way for ways in tried for way in ways]))
            attempts += (
                max(ways, key=lambda way: way.attempt.error).attempt for ways in tried
            )  # fmt: skip
            if self.question.tolerance is not None:
                attempts += self._searched(scene, level, [way for ways in tried for way in ways])
            self.done += 1
        fitted = HonestFit(
            self.error,
            self.unit,
            max(rms(split.test_inputs @ weights - split.test_y), self.least),
            effects.reason,
            split.training.tolist(),
            (_sizes(effects, tried) * np.maximum(*scene.room)).tolist(),
        )
        return Measured(fitted, tuple(attempts), tuple(limits))

    def _scene(self, level: Level, effects: Effects) -> Scene:
        """Return what attackers know at a level."""
        split, (low, high) = self.split, self.question.label_range
        room = room_of(split.y, level.bound, low, high)
        bound = min(level.bound, high - low)
        residuals = self.clean.predictions - split.test_y
        limited = self.question.limited_range
        return Scene(split, room, bound, limited, residuals, self.fitted, effects, self.seed)

    # ---- attacks ----

    def _attacks(self, scene: Scene, level: Level) -> list[list[Tried]]:
        """Return what all ways do in which each attack is tried, for each of its replicates."""
        return [
            [self._tried(level, name_of(attack), plan) for plan in plans]
            for attack in self.question.attacks
            for replicate in range(self.question.replicates if is_random(attack) else 1)
            if (plans := plans_of(attack, scene, replicate))
        ]

    def _tried(self, level: Level, attack: str, plan: Plan, *, searched: bool = False) -> Tried:
        """Return what a fit to attacked labels changes; everything is infinite if it fails."""
        try:
            found = self._fit(plan(level.rows))
        except _check.InputError:
            lost = Attempt(*level, attack, searched, math.inf, math.inf, math.inf, None)
            return Tried(lost, plan, None)
        shift = found.predictions - self.clean.predictions
        error = max(rms(found.predictions - self.split.test_y), self.error)
        drift = _drift(self.clean, found)
        return Tried(Attempt(*level, attack, searched, error, *_shifts(shift), drift), plan, found)

    def _searched(self, scene: Scene, level: Level, tried: list[Tried]) -> Iterator[Attempt]:
        """Yield what the worst attacks do with other numbers of rows."""
        if scene.effects.exact is not None:
            yield from self._search_exactly(scene, level)
            return
        numbers = {max(math.ceil(part * level.rows), 1) for part in SEARCHED} - {level.rows}
        worst = sorted(tried, key=lambda way: way.attempt.error, reverse=True)[:KEPT]
        for number in sorted(numbers):
            for way in worst:
                if number <= len(self.split.y):
                    other = level._replace(rows=number)
                    yield self._tried(other, way.attempt.attack, way.plan, searched=True).attempt

    def _search_exactly(self, scene: Scene, level: Level) -> Iterator[Attempt]:
        """Yield the damage of many numbers of rows, without a fit."""
        matrix, room, residuals = scene.exact, scene.room, scene.residuals
        near = worst_rms_change(matrix, room, level.rows, residuals)
        most = min(4 * level.rows, len(self.split.y))
        larger = np.geomspace(1.0, most, 1 + round(math.log(most, FINER))).round().astype(int)
        for number in sorted({*range(1, min(ALL_UP_TO, most) + 1), *larger.tolist()}):
            if number != level.rows:
                shift = matrix @ worst_rms_change(matrix, room, number, residuals, near)
                yield Attempt(
                    *level._replace(rows=number), "worst-error", True, rms(residuals + shift),
                    *_shifts(shift), None,
                )  # fmt: skip

    # ---- ceilings ----

    def _limit(self, scene: Scene, level: Level, tried: list[Tried]) -> Limit:
        """Return what no attack can exceed, or why that is not known."""
        most = self._most(scene, level)
        if isinstance(most, str):
            return Limit(*level, most)
        doubts = [doubt for way in tried if (doubt := self._doubt(most, way))]
        if doubts:
            return Limit(*level, doubts[0])
        harmless = None
        if self.question.tolerance is not None and scene.effects.exact is not None:
            harmless = ceilings.harmless_rows(scene, self.question.tolerance * self.unit)
        return Limit(*level, "", **most._asdict(), harmless=harmless)

    def _most(self, scene: Scene, level: Level) -> Most | str:
        if scene.effects.exact is not None:
            return ceilings.exact_ceiling(scene, level.rows)
        model = self.clean.estimator
        found = ceilings.by_bounds(model, scene, level.rows) or ceilings.by_proof(
            model, self.split.y, level.rows
        )
        return found or scene.effects.reason

    def _doubt(self, most: Most, way: Tried) -> str:
        """Return why a ceiling says nothing about a fit to attacked labels, or nothing."""
        found = way.attempt
        if way.fit is None or not most.covers(way.fit.estimator):
            return f"it is not about the fit to the labels of the attack {found.attack}"
        reached = found.error - self.error, found.mean, found.worst
        exceeded = any(
            value > limit + ROUNDING * (limit + self.unit)
            for value, limit in zip(reached, most[:3], strict=True)
        )
        return exceeded * (
            f"the attack {found.attack} exceeded the ceiling, so the estimator is not what the "
            "ceiling assumes"
        )


def _shifts(shift: Array) -> tuple[float, float]:
    """Return the change of the mean prediction, and the largest change of a prediction."""
    return abs(float(shift.mean())), float(np.abs(shift).max())


def _sizes(effects: Effects, tried: list[list[Tried]]) -> Array:
    """Return the size of the effect of each label, by the surrogate that did most harm, (N,)."""
    matrix = effects.exact
    if matrix is None:
        ways = [way.attempt for ways in tried for way in ways if way.attempt.attack in SURROGATES]
        worst = max(ways, key=lambda one: one.error, default=None)
        matrix = effects.linear if worst is None else SURROGATES[worst.attack](effects)
    return np.asarray(np.sqrt(np.mean(matrix**2, axis=0)))


def _drift(clean: FittedEstimator, found: FittedEstimator) -> float | None:
    """Return by which part of their length the parameters changed."""
    before, after = clean.parameters, found.parameters
    if before is None or after is None or before.shape != after.shape:
        return None
    length = float(np.linalg.norm(before))
    return float(np.linalg.norm(after - before)) / length if length > 0.0 else None
