"""The page of an audit: what an attacker can do to a model, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from neurotron._digits import percent, readable, up
from neurotron._environment import package_version
from neurotron.figures.audit import audit_chart, level_name
from neurotron.report.frame import figure_of, render

if TYPE_CHECKING:
    from neurotron.audit import Audit, Ceiling, Damage, Interval, Remedy

__all__ = ["build_audit", "change", "verdict_of"]

MOST_ROWS = 500
"""Of the table of attacks."""
VERDICTS = {
    "within": ("✓", "holds", "Within the tolerance of {}"),
    "exceeded": ("✗", "does-not-hold", "The tolerance of {} is exceeded"),
    "undecided": ("?", "undecided", "Undecided whether the tolerance of {} is exceeded"),
    "not asked": ("–", "not-tested", "No tolerance was given"),
}
"""The mark of each verdict, its colour, and its words."""
MEASURES = {
    "error": "rise of the error (RMSE)",
    "mean": "shift of the mean prediction",
    "worst": "shift of a single prediction",
}


def build_audit(audit: Audit, *, command: str = "", rows: Sequence[int] | None = None) -> str:
    """Return the page as text, which is the same for the same audit.

    Parameters
    ----------
    audit
        The audit.
    command
        The command that repeats it, if it was made on the command line.
    rows
        The numbers of the rows in the user's file. By default rows are counted from 0.
    """
    return render("audit.html", _values(audit, rows) | {"command": command})


def _values(audit: Audit, rows: Sequence[int] | None) -> dict[str, Any]:
    mark, kind, _ = VERDICTS[audit.verdict]
    return {
        "title": f"Audit of {audit.estimator}",
        "audit": audit,
        "verdict": {"mark": mark, "kind": kind, "sentence": verdict_of(audit)},
        "ceilings": [_ceiling(one) for one in audit.ceilings],
        "figure": figure_of(audit_chart(audit)),
        "damages": [_damage(one) for one in audit.damages[:MOST_ROWS]],
        "more_damages": max(0, len(audit.damages) - MOST_ROWS),
        "has_drift": any(one.drift is not None for one in audit.damages),
        "breaking": breaking_of(audit),
        "influential": [
            {"row": one.row if rows is None else rows[one.row], "shift": readable(one.shift, 3),
             "splits": one.splits}
            for one in audit.influential
        ],
        "first_row": 0 if rows is None else 1,
        "remedies": [_remedy(one, audit) for one in audit.remedies],
        "itself": {
            "worst": _damage(audit.worst), "total": _relative(audit.worst.relative),
            "limit": _limit_of(audit),
        },
        "clean": _both(audit.clean_error, _size),
        "version": package_version(),
    }  # fmt: skip


def verdict_of(audit: Audit) -> str:
    """Return the verdict in a sentence, with the tolerance and the worst attack."""
    words = VERDICTS[audit.verdict][2].format(percent(audit.tolerance or 0.0))
    worst = audit.worst
    return f"{words}: {worst.attack} changes the error by {_relative(worst.relative)}."


def change(relative: float) -> str:
    """Return a relative change with its sign.

    >>> change(0.3412), change(-0.0041), change(12.5), change(0.0), change(math.inf)
    ('+34 %', '−0.41 %', '+1,250 %', '0 %', '+∞ %')
    """
    return f"{_signed(100.0 * relative)} %"


def breaking_of(audit: Audit) -> list[str]:
    """Return what is known about the smallest budget that breaks the tolerance."""
    found = audit.breaking
    if found is None or audit.tolerance is None:
        return []
    limit, by = percent(audit.tolerance), _by(found.bound)
    if found.rows is None:
        sentences = [
            f"No number of labels that was tried, up to {found.unbroken:,} of {found.of:,}, "
            f"{by}, raised the error by more than {limit}."
        ]
    else:
        sentences = [
            f"{found.rows:,} of {found.of:,} labels ({percent(found.share)}), {by}, are enough to "
            f"raise the error by more than {limit}.",
            f"With {found.unbroken:,} labels or fewer, no attack that was tried did so.",
        ]
    if found.certified is not None:
        sentences.append(
            f"Up to {found.certified:,} labels, the ceiling shows that no attack at all can do so."
        )
    return sentences


def _ceiling(one: Ceiling) -> dict[str, Any]:
    """Return a ceiling as rows of the table: at most Y, and we reached Z."""
    measures = [
        {"name": name, "most": up(limit.mean), "reached": _maybe(reached, _size),
         "most_change": change(one.relative.mean) if key == "error" and one.relative else ""}
        for key, name in MEASURES.items()
        if (limit := getattr(one, key)) is not None
        for reached in [getattr(one, f"reached_{key}")]
    ]  # fmt: skip
    return {"level": _level(one), "kind": one.kind, "reason": one.reason, "measures": measures}


def _damage(one: Damage) -> dict[str, Any]:
    return {
        "attack": one.attack, "level": _level(one), "rows": f"{one.rows:,}",
        "relative": _relative(one.relative), "error": _both(one.error, _signed),
        "mean": _size(one.mean.mean), "worst": _size(one.worst.mean),
        "drift": _maybe(one.drift, _size),
    }  # fmt: skip


def _remedy(one: Remedy, audit: Audit) -> dict[str, Any]:
    limit = one.ceiling.relative if one.ceiling is not None else None
    return {
        "name": one.name, "is_best": one == audit.recommendation,
        "price": _relative(one.price), "worst": _damage(one.damage),
        "total": _relative(one.error_under_attack),
        "limit": "–" if limit is None else change(limit.mean),
    }  # fmt: skip


def _limit_of(audit: Audit) -> str:
    """Return the ceiling of the budget under which the estimator was damaged most."""
    worst = audit.worst.bound, audit.worst.share
    for one in audit.ceilings:
        if (one.bound, one.share) == worst and one.relative is not None:
            return change(one.relative.mean)
    return "–"


def _level(one: Damage | Ceiling) -> str:
    return level_name(one.bound, one.share)


def _by(bound: float) -> str:
    if math.isinf(bound):
        return "changed to anything in their range"
    return f"each changed by at most {bound:.4g}"


def _relative(found: Interval) -> str:
    """Return a relative change and its interval, in percent."""
    low, high = (_signed(100.0 * end) for end in (found.low, found.high))
    return f"{change(found.mean)} ({low} … {high})"


def _both(found: Interval, words: Callable[[float], str]) -> str:
    """Return a mean and its interval."""
    return f"{words(found.mean)} ({words(found.low)} … {words(found.high)})"


def _maybe(found: Interval | None, words: Callable[[float], str]) -> str:
    return "–" if found is None else words(found.mean)


def _size(value: float) -> str:
    """Return a number with three digits.

    >>> _size(0.123456), _size(1234.5), _size(math.inf)
    ('0.123', '1,230', '∞')
    """
    return readable(value, 3) if math.isfinite(value) else "∞"


def _signed(value: float) -> str:
    """Return a number with its sign, with two digits, or three from a hundred on."""
    if math.isnan(value):
        return "not defined"
    size = _size(abs(value)) if abs(value) >= 100.0 else readable(abs(value), 2)
    sign = "" if size == "0" else "+" if value > 0.0 else "−"
    return f"{sign}{size}"
