"""Audits made by hand: what pages, figures and commands show of them is known in advance."""

from __future__ import annotations

import math
from dataclasses import replace

from neurotron._intervals import Interval
from neurotron.auditing.finding import (
    STRONGEST,
    Breaking,
    Ceiling,
    Check,
    Damage,
    InfluentialRow,
    Remedy,
)
from neurotron.auditing.job import Suspects
from neurotron.auditing.report import Audit

NO_SUSPECTS = Suspects((), Interval(0.0, 0.0, 0.008))
CLEAN = 54.2
ATTACKS = {
    "worst-error": 0.34, "worst-prediction": 0.31, "high-leverage": 0.27, "large-norm": 0.22,
    "picked-rows": 0.18, "impersonation": 0.15, "sign-flip": 0.09, "constant": 0.08,
    "worst-mean": 0.03, "random-sign": 0.02, "adaptive": -0.004,
}  # fmt: skip


def around(middle: float, part: float = 0.15) -> Interval:
    """Return an interval around an estimate."""
    return Interval(middle, middle - part * abs(middle), middle + part * abs(middle))


def single(value: float) -> Interval:
    """Return what is known after one split: nothing about the spread."""
    return Interval(value, -math.inf, math.inf)


def damage(attack: str, relative: float, bound: float = 1.0, share: float = 0.1) -> Damage:
    """Return what an attack does, from the relative rise of the error."""
    return Damage(
        attack, bound, share, round(share * 332), around(CLEAN * relative), around(relative),
        around(0.6 * abs(relative)), around(3.0 * abs(relative)), around(abs(relative)),
    )  # fmt: skip


def ceiling(relative: float, bound: float = 1.0, share: float = 0.1) -> Ceiling:
    """Return a ceiling of the relative rise, of which nearly everything was reached."""
    error = around(CLEAN * relative)
    return replace(
        no_ceiling("", bound, share), radius=error.estimate, error=error,
        relative=around(relative), mean=around(0.21), worst=around(1.23456),
        reached_error=around(0.95 * error.estimate), reached_mean=around(0.21),
        reached_worst=around(1.23456),
    )  # fmt: skip


def no_ceiling(reason: str, bound: float = 1.0, share: float = 0.1) -> Ceiling:
    """Return what an audit says where there is no ceiling."""
    return Ceiling(
        kind="theorem", about="table", radius=math.inf, confidence=1.0, assumptions=(),
        bound=bound, share=share, rows=round(share * 332), reason=reason, needs=None,
    )  # fmt: skip


def remedy(name: str, price: float, harm: float, at_most: float | None = None) -> Remedy:
    """Return a remedy, from its price without an attack and its damage."""
    total = around(price + harm)
    return Remedy(
        name=name,
        error=around(CLEAN * (1.0 + total.estimate), 0.05),
        price=around(price),
        total=total,
        damage=damage("one-sided", harm),
        at_most=None if at_most is None else around(at_most),
        saved=around(0.34 - total.estimate),
        verdict="exceeded" if harm > 0.1 else "within",
        transfers_only=at_most is None,
        versus_least_squares=around(price),
    )


def made(**changes: object) -> Audit:
    """Return the audit of a ridge regression on a table like diabetes, with some changes."""
    damages = tuple(damage(name, relative) for name, relative in ATTACKS.items())
    audit = Audit(
        estimator="ridge:alpha=1",
        n_rows=442,
        n_columns=10,
        n_training=332,
        n_tested=110,
        splits=5,
        replicates=2,
        seed=0,
        table_sha256="0" * 64,
        label_range=None,
        clean_error=around(CLEAN, 0.05),
        unit=CLEAN,
        versus_least_squares=around(0.001),
        transfers_only=False,
        damages=damages,
        strongest=strongest(damages),
        ceilings=(ceiling(0.36),),
        tolerance=0.1,
        max_change=None,
        suspects=NO_SUSPECTS,
        accept_suspects=None,
        without_suspects=(),
        checks=(),
        breaking=(Breaking(1.0, 332, 7, "worst-error", 6, 5),),
        influential=tuple(InfluentialRow(30 + i, 0.9 - 0.05 * i, 5 - i // 3) for i in range(9)),
        remedies=(
            remedy("neurotron", 0.011, 0.05),
            remedy("huber", 0.004, 0.12),
            remedy("theil-sen", 0.06, 0.1),
            remedy("ridge:alpha=100", 0.021, 0.16, 0.19),
            remedy("forest", 0.04, 0.4),
        ),
    )
    if "damages" in changes:
        changes = {"strongest": strongest(changes["damages"])} | changes
    audit = replace(audit, **changes)  # type: ignore[arg-type]
    if audit.tolerance is None or "checks" in changes:
        return audit
    return replace(audit, checks=(check(*(one.relative for one in audit.strongest)),))


def check(*found: Interval, tolerance: float = 0.1, **more: object) -> Check:
    """Return a tolerance of the error beside what was found, without a ceiling."""
    given = {"what": "error", "without_suspects": False, "most": (None,) * len(found)} | more
    return Check(tolerance=tolerance, found=found, **given)  # type: ignore[arg-type]


def strongest(damages: tuple[Damage, ...]) -> tuple[Damage, ...]:
    """Return for every budget the attack that does most, as if it did so on every split."""
    found: dict[tuple[float, float, int], Damage] = {}
    for one in damages:
        key = one.bound, one.share, one.rows
        if key not in found or one.relative.estimate > found[key].relative.estimate:
            found[key] = one
    return tuple(replace(one, attack=STRONGEST) for one in found.values())
