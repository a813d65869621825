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
from neurotron.auditing.attackers import SURROGATES, Plan, Scene, is_random, name_of, plans_of
from neurotron.auditing.ceilings import exact_ceiling, harmless_rows, rms
from neurotron.auditing.certified import Certified, certified_ceiling
from neurotron.auditing.effects import Effects, effects_of
from neurotron.auditing.estimators import Fit, fit, predicted, prepared
from neurotron.auditing.question import Level, Question
from neurotron.auditing.splits import AuditedTable
from neurotron.theory.smoother import room_of, worst_rms_change

__all__ = ["ATTACK", "CEILING", "CLEAN", "EFFECTS", "FAILED", "SAFE", "SEARCH", "Row", "measure"]

CLEAN, ATTACK, SEARCH, CEILING, SAFE, EFFECTS, FAILED = (
    "clean", "attack", "search", "ceiling", "safe", "effects", "failed"
)  # fmt: skip
"""The kinds of rows that `measure` returns."""
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

Row = dict[str, Any]


class Damage(NamedTuple):
    """What a fit to attacked labels changed."""

    error: float
    """The root mean squared error on the test rows; at least that without an attack, because nobody
    attacks to lower it."""
    mean: float
    """The absolute change of the mean prediction."""
    worst: float
    """The largest absolute change of a prediction."""
    drift: float | None
    """The relative change of the parameters, if there are any."""


class Tried(NamedTuple):
    """A way to attack, and what it did with the budget of the audit."""

    attack: str
    plan: Plan
    damage: Damage
    fit: Fit | None


def measure(
    estimator: Any,
    table: AuditedTable,
    question: Question,
    number: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Return a row for each fit, ceiling and vector of effects on split `number` of a table.

    Parameters
    ----------
    estimator
        A regressor of scikit-learn, or one with the same methods. It is cloned for every fit.
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
            return [_row(FAILED, reason=str(error))]
        return [*audited.rows()]


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
        self.estimator = prepared(estimator, self.seed)
        self.clean = self._fit(self.split.y)
        self.fitted = predicted(self.clean.estimator, self.split.X)
        self.error = rms(self.clean.predictions - self.split.test_y)
        self.least = NO_ERROR * float(table.y.std())
        self.unit = max(self.error, self.least)

    def _fit(self, labels: Array) -> Fit:
        """Fit to some labels; Ctrl-C is noticed between fits."""
        self.look(self.done, len(self.question.levels))
        return fit(self.estimator, self.split, labels)

    def rows(self) -> Iterator[Row]:
        """Yield all rows."""
        split, levels = self.split, self.question.levels
        weights = np.linalg.lstsq(split.inputs, split.y, rcond=None)[0]
        yield _row(
            CLEAN, error=self.error, unit=self.unit,
            least_squares=max(rms(split.test_inputs @ weights - split.test_y), self.least),
        )  # fmt: skip
        effects = effects_of(
            self.estimator, split, self.clean.estimator, levels[0].bound, self.seed
        )  # fmt: skip
        for level in levels:
            scene = self._scene(level, effects)
            tried = self._attacks(scene, level)
            yield from self._level(scene, level, tried)
            self.done += 1
        yield _row(
            EFFECTS, reason=effects.reason, training=split.training,
            sizes=_sizes(effects, tried) * np.maximum(*scene.room),
        )  # fmt: skip

    def _scene(self, level: Level, effects: Effects) -> Scene:
        """Return what attackers know at a level."""
        split, (low, high) = self.split, self.question.label_range
        room = room_of(split.y, level.bound, low, high)
        bound = min(level.bound, high - low)
        residuals = self.clean.predictions - split.test_y
        limited = self.question.limited_range
        return Scene(split, room, bound, limited, residuals, self.fitted, effects, self.seed)

    def _level(self, scene: Scene, level: Level, tried: list[list[Tried]]) -> Iterator[Row]:
        ceiling = self._ceiling(scene, level)
        reason = ceiling if isinstance(ceiling, str) else ""
        for repetition, ways in enumerate(tried):
            worst = max(ways, key=lambda way: way.damage.error)
            yield _row(
                ATTACK, attack=worst.attack, repetition=repetition, **level._asdict(),
                **worst.damage._asdict(),
            )  # fmt: skip
            if isinstance(ceiling, Certified):
                reason = next(filter(None, (self._doubt(ceiling, way) for way in ways)), reason)
        known = {} if reason or isinstance(ceiling, str) else _bounds(ceiling)
        yield _row(CEILING, reason=reason, **level._asdict(), **known)
        if self.question.tolerance is None:
            return
        if scene.effects.exact is not None:
            yield from self._search_exactly(scene, level, reason)
        else:
            yield from self._search(level, [way for ways in tried for way in ways])

    def _search(self, level: Level, tried: list[Tried]) -> Iterator[Row]:
        """Yield what those attacks that did most harm do with other numbers of rows."""
        numbers = {max(math.ceil(part * level.rows), 1) for part in SEARCHED} - {level.rows}
        worst = sorted(tried, key=lambda way: way.damage.error, reverse=True)[:KEPT]
        for number in sorted(numbers):
            for place, way in enumerate(worst):
                if number <= len(self.split.y):
                    damage, _ = self._damage(way.plan(number))
                    yield _row(
                        SEARCH, attack=way.attack, repetition=place,
                        **level._replace(rows=number)._asdict(), **damage._asdict(),
                    )  # fmt: skip

    def _search_exactly(self, scene: Scene, level: Level, reason: str) -> Iterator[Row]:
        """Yield the damage of many numbers of rows, and up to which nothing can break."""
        matrix, room, residuals = scene.exact, scene.room, scene.residuals
        near = worst_rms_change(matrix, room, level.rows, residuals)
        most = min(4 * level.rows, len(self.split.y))
        larger = np.geomspace(1.0, most, 1 + round(math.log(most, FINER))).round().astype(int)
        for tried in sorted({*range(1, min(ALL_UP_TO, most) + 1), *larger.tolist()}):
            if tried != level.rows:
                shift = matrix @ worst_rms_change(matrix, room, tried, residuals, near)
                yield _row(
                    SEARCH, attack="worst-error", repetition=0,
                    **level._replace(rows=tried)._asdict(), error=rms(residuals + shift),
                    mean=abs(float(shift.mean())), worst=float(np.abs(shift).max()),
                )  # fmt: skip
        assert self.question.tolerance is not None
        if not reason:
            harmless = harmless_rows(scene, self.question.tolerance * self.unit)
            yield _row(SAFE, **level._replace(rows=harmless)._asdict())

    def _attacks(self, scene: Scene, level: Level) -> list[list[Tried]]:
        """Return what all ways do in which each attack is tried, for each of its replicates."""
        return [
            [Tried(name_of(attack), plan, *self._damage(plan(level.rows))) for plan in plans]
            for attack in self.question.attacks
            for replicate in range(self.question.replicates if is_random(attack) else 1)
            if (plans := plans_of(attack, scene, replicate))
        ]

    def _damage(self, labels: Array) -> tuple[Damage, Fit | None]:
        """Return what a fit to these labels changes; everything is infinite if it fails."""
        try:
            found = self._fit(labels)
        except _check.InputError:
            return Damage(math.inf, math.inf, math.inf, None), None
        shift = found.predictions - self.clean.predictions
        damage = Damage(
            max(rms(found.predictions - self.split.test_y), self.error),
            abs(float(shift.mean())), float(np.abs(shift).max()), _drift(self.clean, found),
        )  # fmt: skip
        return damage, found

    def _ceiling(self, scene: Scene, level: Level) -> Certified | str:
        """Return what no attack can exceed, or why that is not known."""
        if scene.effects.exact is not None:
            return exact_ceiling(scene, level.rows)
        found = certified_ceiling(self.clean.estimator, self.split.y, level.rows)
        return found or scene.effects.reason

    def _doubt(self, ceiling: Certified, way: Tried) -> str:
        """Return why a ceiling says nothing about a fit to attacked labels, or nothing."""
        if way.fit is None or not ceiling.covers(way.fit.estimator):
            return f"it is not about the fit to the labels of the attack {way.attack}"
        reached = way.damage.error - self.error, way.damage.mean, way.damage.worst
        exceeded = any(
            value > most + ROUNDING * (most + self.unit)
            for value, most in zip(reached, ceiling[:3], strict=True)
        )
        return exceeded * (
            f"the attack {way.attack} exceeded the ceiling, so the estimator is not what the "
            "ceiling assumes"
        )


def _sizes(effects: Effects, tried: list[list[Tried]]) -> Array:
    """Return the size of the effect of each label, by the surrogate that did most harm, (N,)."""
    matrix = effects.exact
    if matrix is None:
        ways = [way for ways in tried for way in ways if way.attack in SURROGATES]
        worst = max(ways, key=lambda way: way.damage.error, default=None)
        matrix = effects.linear if worst is None else SURROGATES[worst.attack](effects)
    return np.asarray(np.sqrt(np.mean(matrix**2, axis=0)))


def _bounds(ceiling: Certified) -> Row:
    values = ceiling._asdict()
    return {"attack": values["kind"]} | {name: values[name] for name in ("error", "mean", "worst")}


def _drift(clean: Fit, found: Fit) -> float | None:
    """Return by which part of their length the parameters changed."""
    before, after = clean.parameters, found.parameters
    if before is None or after is None or before.shape != after.shape:
        return None
    length = float(np.linalg.norm(before))
    return float(np.linalg.norm(after - before)) / length if length > 0.0 else None


COLUMNS: Row = {
    "kind": "", "attack": "", "reason": "", "bound": None, "share": None, "rows": None,
    "repetition": None, "unit": None, "least_squares": None, "error": None, "mean": None,
    "worst": None, "drift": None, "sizes": None, "training": None,
}  # fmt: skip


def _row(kind: str, **values: Any) -> Row:
    return COLUMNS | {"kind": kind} | values
