"""Gathers what was measured on all splits into an `Audit`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._intervals import Interval, of_mean
from neurotron._types import Array
from neurotron.auditing.attackers import EXACT, SURROGATES
from neurotron.auditing.coefficients import Flip, flips
from neurotron.auditing.finding import (
    STRONGEST,
    Breaking,
    Ceiling,
    Check,
    Damage,
    InfluentialRow,
    Remedy,
    assumptions_of,
    worse,
)
from neurotron.auditing.job import Contender, Job
from neurotron.auditing.question import Level
from neurotron.auditing.records import Attempt, Failed, Measured, from_rows
from neurotron.auditing.report import Audit
from neurotron.theory.label_changes import room_of

IMPOSSIBLE = (
    f"none of these attacks is possible on this estimator: {', '.join(EXACT)} need predictions "
    f"that are linear in the labels, and {', '.join(SURROGATES)} are for all other estimators; try "
    "all attacks"
)
SHOWN_ROWS = 10
"""How many of the rows that matter most are kept."""

Splits = Sequence[Measured]
"""What was measured of one estimator on each split."""


def gathered(job: Job, rows: Mapping[Any, Iterable[Mapping[str, Any]]]) -> Audit:
    """Return the audit of a job from the rows of each case and split, by (name, number)."""
    measured = {
        name: _measured([from_rows(rows[name, number]) for number in range(job.splits)])
        for name in job.cases
    }
    audited, splits = job.cases["audited"], measured["audited"]
    if isinstance(splits, str):
        raise _check.InputError(splits)
    question, table = audited.question, audited.table
    limits = question.tolerance, job.max_change
    remedies, failures = [], []
    for name, case in job.remedies.items():
        own = measured[name]
        if isinstance(own, str):
            failures.append(f"{case.name}: {own}")
        else:
            remedies.append(_remedy(case, own, splits, limits))
    without: list[tuple[Splits, tuple[Level, ...]]] = []
    other = measured.get("without-suspects", "")
    if not isinstance(other, str):
        without.append((other, job.cases["without-suspects"].question.levels))
    return Audit(
        estimator=audited.name,
        n_rows=len(table),
        n_columns=table.n_columns,
        n_training=table.n_training,
        n_tested=table.n_tested,
        splits=job.splits,
        replicates=question.replicates,
        seed=question.seed,
        table_sha256=table.digest,
        label_range=question.limited_range,
        clean_error=of_mean(_errors(splits)),
        unit=float(_units(splits).mean()),
        versus_least_squares=_versus_least_squares(splits),
        transfers_only=_transfers_only(splits),
        damages=damages(splits, question.levels),
        strongest=tuple(strongest(splits, level) for level in question.levels),
        ceilings=tuple(ceiling(splits, level) for level in question.levels),
        tolerance=question.tolerance,
        max_change=job.max_change,
        suspects=job.suspects,
        accept_suspects=job.accept_suspects,
        without_suspects=tuple(
            strongest(those, level) for those, levels in without for level in levels
        ),
        checks=(
            *_checks(splits, question.levels, *limits),
            *(check for each in without for check in _checks(*each, *limits, without=True)),
        ),
        breaking=tuple(
            breaking(splits, bound, question.tolerance, table.n_training)
            for bound in dict.fromkeys(level.bound for level in question.levels)
            if question.tolerance is not None
        ),
        influential=_influential(splits, len(table)),
        remedies=tuple(sorted(remedies, key=lambda remedy: remedy.error.estimate)),
        failures=tuple(failures),
        flips=_flips(audited, splits),
    )


def _measured(outcomes: Sequence[Measured | Failed]) -> Splits | str:
    """Return what was measured on all splits, or why an estimator could not be audited."""
    found = [one for one in outcomes if isinstance(one, Measured)]
    failed = [one.reason for one in outcomes if isinstance(one, Failed)]
    if failed:
        return failed[0]
    attacked = all(any(not one.searched for one in each.attempts) for each in found)
    return found if attacked else IMPOSSIBLE


# ---- of one estimator ----------------------------------------------------------------------------


def _errors(splits: Splits) -> Array:
    return np.array([each.fitted.error for each in splits])


def _units(splits: Splits) -> Array:
    return np.array([each.fitted.unit for each in splits])


def _versus_least_squares(splits: Splits) -> Interval:
    return of_mean(_errors(splits) / np.array([each.fitted.least_squares for each in splits]) - 1.0)


def _transfers_only(splits: Splits) -> bool:
    return any(each.fitted.reason for each in splits)


def damages(splits: Splits, levels: Sequence[Level]) -> tuple[Damage, ...]:
    """Return what every attack does at every level, in the order in which they were tried.

    An attack that is possible on some splits only is left out.
    """
    return tuple(
        _damage(attack, level, splits, found)
        for level in levels
        for attack in dict.fromkeys(one.attack for one in splits[0].at(level))
        if all(found := [[one for one in each.at(level) if one.attack == attack]
                         for each in splits])
    )  # fmt: skip


def strongest(splits: Splits, level: Level, *, searched: bool = False) -> Damage:
    """Return what an attacker does who uses the strongest attack on each split."""
    found = _strongest(splits, level, searched=searched)
    return _damage(STRONGEST, level, splits, [[one] for one in found])


def _strongest(splits: Splits, level: Level, *, searched: bool) -> list[Attempt]:
    return [max(each.at(level, searched=searched), key=lambda one: one.error) for each in splits]


def _damage(
    attack: str, level: Level, splits: Splits, found: Sequence[Sequence[Attempt]]
) -> Damage:
    """Return the mean over splits of the mean over the attempts that were found on each."""

    def means(value: Callable[[Attempt], Any]) -> Array:
        return np.array([np.mean([value(one) for one in attempts]) for attempts in found])

    rise = means(lambda one: one.error) - _errors(splits)
    drift = None
    if all(one.drift is not None for attempts in found for one in attempts):
        drift = of_mean(means(lambda one: one.drift))
    return Damage(
        attack, *level, _of_rises(rise), _of_rises(rise / _units(splits)),
        of_mean(means(lambda one: one.mean)), of_mean(means(lambda one: one.worst)), drift,
    )  # fmt: skip


def _of_rises(rises: Array) -> Interval:
    """Return the mean of values that are not negative, whose interval is not, either."""
    found = of_mean(rises)
    return found._replace(low=max(found.low, 0.0))


def _reached(splits: Splits, level: Level, name: str) -> Array:
    """Return the largest value under any attack, on each split."""
    return np.array([max(getattr(one, name) for one in each.at(level)) for each in splits])


def _at_most(splits: Splits, level: Level, name: str) -> Array | None:
    """Return the ceiling of a value on each split, or None if a split has none."""
    values = [getattr(each.limit(level), name) for each in splits]
    return None if None in values else np.array(values)


def ceiling(splits: Splits, level: Level) -> Ceiling:
    """Return the ceiling of a level; there is one only if every split has one."""
    limits = [each.limit(level) for each in splits]
    reason = next((one.reason for one in limits if one.reason), "")
    most = {name: _at_most(splits, level, name) for name in ("error", "mean", "worst")}
    if most["error"] is not None:
        most["relative"] = most["error"] / _units(splits)
    known: dict[str, Any] = {
        name: of_mean(values) for name, values in most.items() if values is not None
    }
    return Ceiling(
        kind="theorem", about="table", confidence=1.0, reason=reason,
        radius=math.inf if reason else known["error"].estimate, needs=limits[0].needs,
        theorem=limits[0].theorem, **level._asdict(),
        assumptions=() if reason or limits[0].theorem else assumptions_of(limits[0].needs),
        reached_error=of_mean(_reached(splits, level, "error") - _errors(splits)),
        reached_mean=of_mean(_reached(splits, level, "mean")),
        reached_worst=of_mean(_reached(splits, level, "worst")),
        **known,
    )  # fmt: skip


def breaking(splits: Splits, bound: float, tolerance: float, of: int) -> Breaking:
    """Return the smallest number of rows that breaks the tolerance, on the safe side.

    A number breaks it if the interval of the strongest damage reaches beyond the tolerance, unless
    it is proved to be harmless.
    """
    safe = [
        [one.harmless for one in each.limits if one.bound == bound and one.harmless is not None]
        for each in splits
    ]
    proven = min(map(min, safe)) if all(safe) else None
    tried = set.intersection(
        *(
            {(one.rows, one.share, one.searched) for one in each.attempts if one.bound == bound}
            for each in splits
        )
    )
    unbroken = 0
    for count, share, searched in sorted(tried):
        level = Level(bound, share, count)
        harmless = proven is not None and count <= proven
        if not harmless and strongest(splits, level, searched=searched).relative.high > tolerance:
            worst = max(
                zip(_strongest(splits, level, searched=searched), _units(splits), strict=True),
                key=lambda pair: pair[0].error / pair[1],
            )[0]
            return Breaking(bound, of, count, worst.attack, unbroken, proven)
        unbroken = count
    return Breaking(bound, of, None, "", unbroken, proven)


def _influential(splits: Splits, count: int) -> tuple[InfluentialRow, ...]:
    """Return the rows whose labels move predictions most, on average over their splits."""
    total, times = np.zeros(count), np.zeros(count, int)
    for each in splits:
        total[each.fitted.training] += each.fitted.sizes
        times[each.fitted.training] += 1
    shift = np.where(times > 0, total / np.maximum(times, 1), 0.0)
    order = np.argsort(-shift, kind="stable")[:SHOWN_ROWS]
    return tuple(
        InfluentialRow(int(row), float(shift[row]), int(times[row])) for row in order
        if shift[row] > 0.0
    )  # fmt: skip


def _flips(audited: Contender, splits: Splits) -> tuple[Flip, ...]:
    """Return the fewest labels that flip each coefficient; none unless all splits are linear.

    The drift of parameters is known if there are any.
    """
    if _transfers_only(splits) or not any(one.drift is not None for one in splits[0].attempts):
        return ()
    question, table = audited.question, audited.table
    room = room_of(table.y, max(level.bound for level in question.levels), *question.label_range)
    return flips(audited.estimator, table, room, question.seed)


# ---- against tolerances and other estimators -----------------------------------------------------


def _checks(
    splits: Splits,
    levels: Sequence[Level],
    tolerance: float | None,
    max_change: float | None,
    *,
    without: bool = False,
) -> Iterator[Check]:
    """Yield each tolerance that was given, with what was found on these splits."""

    def most(name: str, units: Any) -> tuple[float | None, ...]:
        found = (_at_most(splits, level, name) for level in levels)
        return tuple(None if each is None else float((each * units).max()) for each in found)

    if tolerance is not None:
        rises = tuple(strongest(splits, level).relative for level in levels)
        yield Check("error", tolerance, without, rises, most("error", 1.0 / _units(splits)))
    if max_change is not None:
        changes = tuple(_largest(_reached(splits, level, "worst")) for level in levels)
        yield Check("change", max_change, without, changes, most("worst", 1.0))


def _largest(values: Array) -> Interval:
    """Return the largest of some values, and how large their mean may be if that is more."""
    top = float(values.max())
    return Interval(top, top, max(top, of_mean(values).high))


def _remedy(
    case: Contender, splits: Splits, audited: Splits, limits: tuple[float | None, float | None]
) -> Remedy:
    """Return an alternative, compared with the audited estimator on the same splits."""
    (level,) = case.question.levels
    own, clean, unit = _errors(splits), _errors(audited), _units(audited)
    after, before = (_reached(each, level, "error") for each in (splits, audited))
    most = _at_most(splits, level, "error")
    return Remedy(
        case.name,
        error=of_mean(after),
        price=of_mean((own - clean) / unit),
        total=of_mean((after - clean) / unit),
        damage=max(
            damages(splits, [level]), key=lambda damage: damage.relative.estimate,
            default=strongest(splits, level),
        ),
        at_most=None if most is None else of_mean((own + most - clean) / unit),
        saved=of_mean((before - after) / unit),
        verdict=worse(check.verdict for check in _checks(splits, [level], *limits)),
        transfers_only=_transfers_only(splits),
        versus_least_squares=_versus_least_squares(splits),
    )  # fmt: skip
