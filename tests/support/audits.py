"""Audits made by hand: what pages, figures and commands show of them is known in advance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

HEADLINE = (
    "10 % of the labels, moved by at most 1, can raise the error by 34 %; ridge:alpha=100 halves "
    "that."
)


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Damage:
    attack: str
    bound: float
    share: float
    rows: int
    error: Interval
    relative: Interval
    mean: Interval
    worst: Interval
    drift: Interval | None = None


@dataclass(frozen=True)
class Ceiling:
    bound: float
    share: float
    rows: int
    kind: str | None
    reason: str
    error: Interval | None = None
    relative: Interval | None = None
    mean: Interval | None = None
    worst: Interval | None = None
    reached_error: Interval | None = None
    reached_mean: Interval | None = None
    reached_worst: Interval | None = None


@dataclass(frozen=True)
class Breaking:
    bound: float
    rows: int | None
    of: int
    share: float
    unbroken: int
    certified: int | None


@dataclass(frozen=True)
class InfluentialRow:
    row: int
    shift: float
    splits: int


@dataclass(frozen=True)
class Remedy:
    name: str
    price: Interval
    damage: Damage
    error_under_attack: Interval
    ceiling: Ceiling | None = None


@dataclass(frozen=True)
class Audit:
    estimator: str
    n_rows: int
    n_columns: int
    n_training: int
    splits: int
    replicates: int
    seed: int
    label: str
    clean_error: Interval
    damages: tuple[Damage, ...]
    ceilings: tuple[Ceiling, ...]
    worst: Damage
    tolerance: float | None
    verdict: str
    breaking: Breaking | None
    influential: tuple[InfluentialRow, ...]
    remedies: tuple[Remedy, ...]
    recommendation: Remedy | None
    headline: str


CLEAN = 54.2
ATTACKS = {
    "exact-worst-case": 0.34, "greedy-influence": 0.31, "high-leverage": 0.27, "large-norm": 0.22,
    "one-sided": 0.18, "other-model": 0.15, "impostor": 0.14, "sign-flip": 0.09, "constant": 0.08,
    "alternating-sign": 0.03, "random-sign": 0.02, "uniform-noise": -0.004,
}  # fmt: skip


def around(mean: float, part: float = 0.15) -> Interval:
    """Return an interval around a mean."""
    return Interval(mean, mean - part * abs(mean), mean + part * abs(mean))


def damage(attack: str, relative: float, bound: float = 1.0, share: float = 0.1) -> Damage:
    """Return what an attack does, from the relative rise of the error."""
    return Damage(
        attack, bound, share, round(share * 332), around(CLEAN * relative), around(relative),
        around(0.6 * abs(relative)), around(3.0 * abs(relative)), around(abs(relative)),
    )  # fmt: skip


def ceiling(relative: float, bound: float = 1.0, share: float = 0.1) -> Ceiling:
    """Return a ceiling of the relative rise, of which nearly everything was reached."""
    error = around(CLEAN * relative)
    return Ceiling(
        bound, share, round(share * 332),
        "exact if the estimator is linear in the labels, which was tested", "",
        error, around(relative), around(0.21), around(1.23456),
        around(0.95 * error.mean), around(0.21), around(1.23456),
    )  # fmt: skip


def made(**changes: object) -> Audit:
    """Return the audit of a ridge regression on a table like diabetes."""
    damages = tuple(damage(name, relative) for name, relative in ATTACKS.items())
    remedies = tuple(
        Remedy(name, around(price), damage("greedy-influence", harm), around(price + harm), limit)
        for name, price, harm, limit in [
            ("ridge:alpha=100", 0.021, 0.16, ceiling(0.19)),
            ("huber", 0.004, 0.12, None),
            ("theil-sen", 0.06, 0.1, None),
            ("neurotron", 0.011, 0.05, None),
            ("forest", 0.04, 0.4, None),
        ]
    )
    audit = Audit(
        "ridge:alpha=1", 442, 10, 332, 5, 2, 0, "progression", around(CLEAN, 0.05), damages,
        (ceiling(0.36),), damages[0], 0.1, "exceeded", Breaking(1.0, 7, 332, 7 / 332, 6, 5),
        tuple(InfluentialRow(row, 0.9 - 0.05 * i, 5 - i // 3) for i, row in enumerate(range(9))),
        remedies, remedies[0], HEADLINE,
    )  # fmt: skip
    return replace(audit, **changes)
