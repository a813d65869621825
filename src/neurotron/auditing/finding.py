"""What an audit found: numbers with intervals, gathered from the rows of all splits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron._intervals import Interval, of_mean
from neurotron._types import Array
from neurotron.auditing.measuring import ATTACK, CEILING, CLEAN, EFFECTS, SAFE, SEARCH, Row
from neurotron.auditing.question import Level

if TYPE_CHECKING:
    from neurotron.auditing.verdicts import Verdict

__all__ = [
    "STRONGEST", "WORSE", "Breaking", "Ceiling", "Damage", "InfluentialRow", "Remedy", "Splits",
    "breaking", "ceiling_rows", "ceilings", "clean_errors", "damages", "influential", "largest",
    "plain", "strongest", "transfers_only", "units", "versus_least_squares",
]  # fmt: skip

STRONGEST = "strongest"
"""What tables call the strongest attack on each split."""
WORSE = 0.05
"""A model whose error is by more than this part above that of least squares fits badly."""
SHOWN_ROWS = 10
"""How many of the rows that matter most are kept."""

Splits = Sequence[Sequence[Row]]
"""The rows that `measure` returned for each split."""


@dataclass(frozen=True)
class Damage:
    """What one attack does, as means over splits with their 95 % intervals."""

    attack: str
    bound: float
    """θ, the largest change of a label."""
    share: float
    """β, the share of labels that were changed, at most."""
    rows: int
    """How many of the fitted labels were changed, at most."""
    error: Interval
    """The rise of the root mean squared error on test rows, in units of the label; at least 0."""
    relative: Interval
    """The same, in units of the error without an attack."""
    mean: Interval
    """The absolute change of the mean prediction."""
    worst: Interval
    """The largest absolute change of a prediction."""
    drift: Interval | None
    """The change of the parameters, relative to their length, if there are any."""


@dataclass(frozen=True)
class Ceiling:
    """What no attack within a budget can exceed, beside what our attacks reached."""

    bound: float
    share: float
    rows: int
    kind: str
    """What the ceiling rests on, in a sentence; empty if there is none."""
    reason: str
    """Why there is no ceiling; empty if there is one."""
    error: Interval | None = None
    """At most so much can the error rise."""
    relative: Interval | None = None
    mean: Interval | None = None
    worst: Interval | None = None
    reached_error: Interval | None = None
    """So much did it rise in the strongest attack on each split."""
    reached_mean: Interval | None = None
    reached_worst: Interval | None = None


@dataclass(frozen=True)
class Breaking:
    """The smallest number of labels whose change breaks the tolerance."""

    bound: float
    of: int
    """The number of fitted labels."""
    rows: int | None
    """The smallest number that was found to break it, or None if none of those tried does."""
    attack: str
    """The attack that raised the error most with so few rows, on any split."""
    unbroken: int
    """The largest number below, for which no attack that was tried breaks it."""
    proven: int | None
    """Up to so many, the ceiling proves that no attack can break it; None without a ceiling."""

    @property
    def share(self) -> float | None:
        """The share of the fitted labels that breaks the tolerance."""
        return None if self.rows is None else self.rows / self.of


@dataclass(frozen=True)
class InfluentialRow:
    """A row whose label matters much."""

    row: int
    """The number of the row in the table, from 0."""
    shift: float
    """The root mean square of the changes of predictions if this label moves as far as it can."""
    splits: int
    """In how many splits it was fitted."""


@dataclass(frozen=True)
class Remedy:
    """Another estimator, with what it costs and what attacks do to it."""

    name: str
    error: Interval
    """The error under the strongest attack on each split, in units of the label."""
    price: Interval
    """The rise of the error without an attack, in units of that of the audited estimator."""
    total: Interval
    """The rise of the error under the strongest attack on each split, in the same units; the price
    is included."""
    damage: Damage
    """The attack that raises its error most, in units of its own error without an attack."""
    at_most: Interval | None
    """What no attack can raise its error beyond, like `total`; None without a ceiling."""
    saved: Interval
    """How much less the error rises than that of the audited estimator, in the same units."""
    verdict: Verdict
    """Whether it holds the tolerances of the audit with the largest budget."""
    transfers_only: bool
    """Whether no attack was worked out for it, so that all are transferred from other models."""
    versus_least_squares: Interval
    """By which part its error without an attack is above that of least squares."""

    @property
    def fits_badly(self) -> bool:
        """Whether a small rise of its error means little, because that is large anyway."""
        return self.versus_least_squares.estimate > WORSE


# ---- gathering -----------------------------------------------------------------------------------


def clean_errors(splits: Splits) -> Array:
    """Return the error without an attack on each split."""
    return np.array([_only(rows, CLEAN)[0]["error"] for rows in splits])


def units(splits: Splits) -> Array:
    """Return the error of each split in units of which damage is given: never quite zero."""
    return np.array([_only(rows, CLEAN)[0]["unit"] for rows in splits])


def versus_least_squares(splits: Splits) -> Interval:
    """Return by which part the error without an attack is above that of least squares."""
    least = np.array([_only(rows, CLEAN)[0]["least_squares"] for rows in splits])
    return of_mean(clean_errors(splits) / least - 1.0)


def transfers_only(splits: Splits) -> bool:
    """Return whether no attack was worked out for the estimator itself, on some split."""
    return any(row["reason"] for rows in splits for row in _only(rows, EFFECTS))


def damages(splits: Splits, levels: Sequence[Level]) -> tuple[Damage, ...]:
    """Return what every attack does at every level, in the order in which they were tried.

    An attack that is possible on some splits only is left out.
    """
    return tuple(
        _damage(splits, attack, level)
        for level in levels
        for attack in dict.fromkeys(row["attack"] for row in _at(splits[0], ATTACK, level))
        if all(attack in (row["attack"] for row in _at(rows, ATTACK, level)) for rows in splits)
    )


def _damage(splits: Splits, attack: str, level: Level) -> Damage:
    found = [
        [row for row in _at(rows, ATTACK, level) if row["attack"] == attack] for rows in splits
    ]
    return _summary(attack, level, splits, found)


def _summary(attack: str, level: Level, splits: Splits, found: Sequence[Sequence[Row]]) -> Damage:
    """Return the mean over splits of the mean over the rows that were found on each."""
    rise = _means(found, "error") - clean_errors(splits)
    drift = None
    if all(row["drift"] is not None for rows in found for row in rows):
        drift = of_mean(_means(found, "drift"))
    return Damage(
        attack, *level, _of_rises(rise), _of_rises(rise / units(splits)),
        of_mean(_means(found, "mean")), of_mean(_means(found, "worst")), drift,
    )  # fmt: skip


def _of_rises(rises: Array) -> Interval:
    """Return the mean of values that are not negative, whose interval is not, either."""
    found = of_mean(rises)
    return found._replace(low=max(found.low, 0.0))


def strongest(splits: Splits, level: Level, kind: str = ATTACK) -> Damage:
    """Return what an attacker does who uses the strongest attack on each split."""
    found = _strongest(splits, level, kind)
    return _summary(STRONGEST, level, splits, [[row] for row in found])


def _strongest(splits: Splits, level: Level, kind: str) -> list[Row]:
    """Return the row of the strongest attack on each split."""
    return [max(_at(rows, kind, level), key=lambda row: row["error"]) for rows in splits]


def largest(splits: Splits, level: Level, name: str) -> Array:
    """Return the largest value of a column under any attack, on each split."""
    return np.array([max(row[name] for row in _at(rows, ATTACK, level)) for rows in splits])


def ceilings(splits: Splits, levels: Sequence[Level]) -> tuple[Ceiling, ...]:
    """Return the ceiling of each level; there is one only if every split has one."""
    return tuple(_ceiling(splits, level) for level in levels)


def ceiling_rows(splits: Splits, level: Level) -> list[Row]:
    """Return the row of each split with the ceiling of a level, or with why there is none."""
    return [_at(rows, CEILING, level)[0] for rows in splits]


def _ceiling(splits: Splits, level: Level) -> Ceiling:
    found = ceiling_rows(splits, level)
    first, clean = found[0], clean_errors(splits)
    reasons = [row["reason"] for row in found if row["reason"]]
    reached: dict[str, Any] = {
        "reached_error": of_mean(largest(splits, level, "error") - clean),
        "reached_mean": of_mean(largest(splits, level, "mean")),
        "reached_worst": of_mean(largest(splits, level, "worst")),
    }
    bare = Ceiling(*level, first["attack"], "", **reached)
    if reasons:
        return replace(bare, kind="", reason=reasons[0])
    values = {
        name: np.array([math.nan if row[name] is None else row[name] for row in found])
        for name in ("error", "mean", "worst")
    }
    values["relative"] = values["error"] / units(splits)
    known: dict[str, Any] = {
        name: of_mean(array) for name, array in values.items() if not np.isnan(array).any()
    }
    return replace(bare, **known)


def breaking(splits: Splits, bound: float, tolerance: float, of: int) -> Breaking:
    """Return the smallest number of rows that breaks the tolerance, on the safe side.

    A number breaks it if the interval of the strongest damage reaches beyond the tolerance, unless
    it is proved to be harmless.
    """
    safe = [[row["rows"] for row in _only(each, SAFE) if row["bound"] == bound] for each in splits]
    proven = min(map(min, safe)) if all(safe) else None
    tried = set.intersection(
        *(
            {(row["rows"], row["share"], row["kind"]) for row in rows if row["bound"] == bound}
            for rows in splits
        )
    )
    unbroken = 0
    for count, share, kind in sorted(tried):
        if kind not in (SEARCH, ATTACK):
            continue
        level = Level(bound, share, count)
        harmless = proven is not None and count <= proven
        if not harmless and strongest(splits, level, kind).relative.high > tolerance:
            worst = max(
                zip(_strongest(splits, level, kind), units(splits), strict=True),
                key=lambda pair: pair[0]["error"] / pair[1],
            )[0]
            return Breaking(bound, of, count, worst["attack"], unbroken, proven)
        unbroken = count
    return Breaking(bound, of, None, "", unbroken, proven)


def influential(splits: Splits, count: int) -> tuple[InfluentialRow, ...]:
    """Return the rows whose labels move predictions most, on average over their splits."""
    total, times = np.zeros(count), np.zeros(count, int)
    for rows in splits:
        (row,) = _only(rows, EFFECTS)
        chosen = np.asarray(row["training"], int)
        total[chosen] += np.asarray(row["sizes"])
        times[chosen] += 1
    shift = np.where(times > 0, total / np.maximum(times, 1), 0.0)
    order = np.argsort(-shift, kind="stable")[:SHOWN_ROWS]
    return tuple(
        InfluentialRow(int(row), float(shift[row]), int(times[row])) for row in order
        if shift[row] > 0.0
    )  # fmt: skip


def _only(rows: Iterable[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["kind"] == kind]


def _at(rows: Iterable[Row], kind: str, level: Level) -> list[Row]:
    """Return the rows of a kind at a level."""
    return [
        row for row in _only(rows, kind)
        if (row["bound"], row["share"], row["rows"]) == level
    ]  # fmt: skip


def _means(found: Sequence[Sequence[Row]], name: str) -> Array:
    """Return the mean over replicates of a column, on each split."""
    return np.array([np.mean([row[name] for row in rows]) for rows in found])


def plain(value: Any) -> Any:
    """Return a value as JSON has it; infinite numbers become None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Interval):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value
