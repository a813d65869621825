"""The page of an audit: what an attacker can do to a model, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron import _check, _files, attacks
from neurotron._digits import percent, readable, up
from neurotron._environment import package_version
from neurotron.auditing.attackers import KNOWING
from neurotron.auditing.finding import STRONGEST
from neurotron.auditing.wording import (
    TRANSFERS,
    breaking_words,
    held_words,
    no_remedy_words,
    suspects_words,
    verdict_words,
    with_interval,
)
from neurotron.lab.figures.audit import audit_chart, level_name
from neurotron.lab.pages.frame import figure_of, render

if TYPE_CHECKING:
    from neurotron._intervals import Interval
    from neurotron.auditing.finding import Ceiling, Damage, Remedy
    from neurotron.auditing.report import Audit

__all__ = ["build_audit", "write_audit"]

PAGES = (".html", ".htm")
NONE = "–"
"""What a table shows where there is nothing."""
MOST_ROWS = 500
"""Of the table of attacks."""
VERDICTS = {
    "within": ("✓", "holds"),
    "exceeded": ("✗", "does-not-hold"),
    "undecided": ("?", "undecided"),
    "not asked": ("–", "not-tested"),
}
"""The mark of each verdict, and what gives it its colour."""
MEASURES = {
    "error": "rise of the error (RMSE)",
    "mean": "shift of the mean prediction",
    "worst": "shift of a single prediction",
}


def build_audit(
    audit: Audit, *, label: str = "", command: str = "", rows: Sequence[int] | None = None
) -> str:
    """Return the page as text, which is the same for the same audit.

    Parameters
    ----------
    audit
        The audit.
    label
        The name of the label, if it has one.
    command
        The command that repeats the audit, if it was made on the command line.
    rows
        The numbers of the rows in the user's file. By default rows are counted from 0.
    """
    unit = f"units of {label}" if label else "label units"
    return render("audit.html", _values(audit, rows) | {"unit": unit, "command": command})


def write_audit(audit: Audit, path: str | Path, **more: Any) -> Path:
    """Write the page to a file, of which nothing remains half-written; return its path."""
    place = _check.path("path", path)
    if place.suffix.lower() not in PAGES:
        raise _check.InputError(
            f"`path` must end in {' or '.join(PAGES)}, got {_check.shown(str(path))}"
        )
    text = build_audit(audit, **more)
    try:
        _files.remove_leftovers(place)
        _files.replace(place, text.encode("utf-8", "replace"))
    except OSError as error:
        raise _check.InputError(
            f"`path`: {str(place)!r} cannot be written: {error.strerror}; choose another place"
        ) from None
    return place


def _values(audit: Audit, rows: Sequence[int] | None) -> dict[str, Any]:
    mark, kind = VERDICTS[audit.verdict]
    return {
        "title": f"Audit of {audit.estimator}",
        "audit": audit,
        "verdict": {"mark": mark, "kind": kind, "words": verdict_words(audit)},
        "suspects": suspects_words(audit),
        "suspected": [row if rows is None else rows[row] for row in audit.suspects.rows],
        "only": _only_budget(audit),
        "ceilings": [_ceiling(one) for one in audit.ceilings],
        "kinds": _grouped(audit, "kind"),
        "reasons": _grouped(audit, "reason"),
        "transfers": TRANSFERS * audit.transfers_only,
        "figure": figure_of(audit_chart(audit)),
        "damages": [_damage(one) for one in _ranked(audit)[:MOST_ROWS]],
        "described": _described(audit),
        "more_damages": max(0, len(_ranked(audit)) - MOST_ROWS),
        "has_drift": any(one.drift is not None for one in audit.damages),
        "breaking": [breaking_words(audit, one) for one in audit.breaking],
        "influential": [
            {"row": one.row if rows is None else rows[one.row], "shift": readable(one.shift, 3),
             "splits": one.splits}
            for one in audit.influential
        ],
        "first_row": 0 if rows is None else 1,
        "remedies": [_remedy(one, audit) for one in audit.remedies],
        "no_remedy": no_remedy_words(audit),
        "itself": _itself(audit),
        "clean": _both(audit.clean_error, _size),
        "failures": audit.failures,
        "version": package_version(),
    }  # fmt: skip


def _ceiling(one: Ceiling) -> dict[str, Any]:
    """Return a ceiling as rows of the table: at most Y, and we reached Z."""
    measures = [
        {"name": name, "most": up(limit.estimate), "reached": _maybe(reached, _exact),
         "most_change": _most(one.relative) if key == "error" and one.relative else ""}
        for key, name in MEASURES.items()
        if (limit := getattr(one, key)) is not None
        for reached in [getattr(one, f"reached_{key}")]
    ]  # fmt: skip
    return {"level": _level(one), "measures": measures}


def _grouped(audit: Audit, name: str) -> dict[str, str]:
    """Return what is said about ceilings, each with its budgets unless it is about all of them."""
    found: dict[str, list[str]] = {}
    for one in audit.ceilings:
        if getattr(one, name):
            found.setdefault(getattr(one, name), []).append(_level(one))
    return {
        said: "" if len(levels) == len(audit.ceilings) else f"{', '.join(levels)}: "
        for said, levels in found.items()
    }


def _ranked(audit: Audit) -> list[Damage]:
    """Return the damages budget by budget, the largest first."""
    budgets = [_budget(one) for one in audit.strongest]
    return sorted(
        (*audit.strongest, *audit.damages),
        key=lambda one: (
            budgets.index(_budget(one)), one.attack != STRONGEST, -one.relative.estimate
        ),
    )  # fmt: skip


def _described(audit: Audit) -> dict[str, str]:
    """Return what each attack does, as far as it is one of the package."""
    found = {}
    for name in dict.fromkeys(one.attack for one in _ranked(audit)):
        known = name.partition(":")[0]
        if known == STRONGEST:
            found[name] = (
                "the strongest of these attacks on each split, as an attacker would choose"
            )
        elif known in KNOWING:
            found[name] = KNOWING[known]
        elif known in attacks.BY_NAME:
            found[name] = attacks.BY_NAME.summary(known)
    return found


def _damage(one: Damage) -> dict[str, Any]:
    return {
        "attack": one.attack, "level": _level(one), "rows": f"{one.rows:,}",
        "relative": with_interval(one.relative), "error": _both(one.error, _signed),
        "mean": _size(one.mean.estimate), "worst": _size(one.worst.estimate),
        "drift": _maybe(one.drift, _size),
    }  # fmt: skip


def _remedy(one: Remedy, audit: Audit) -> dict[str, Any]:
    return {
        "name": one.name, "is_best": one == audit.recommendation, "error": _both(one.error, _size),
        "held": held_words(audit, one), "transfers_only": one.transfers_only,
        "price": with_interval(one.price), "worst": _damage(one.damage),
        "total": with_interval(one.total),
        "limit": NONE if one.at_most is None else _most(one.at_most),
    }  # fmt: skip


def _only_budget(audit: Audit) -> str:
    """Return the budget in words if all attacks have the same one."""
    one, *others = {(each.bound, each.share, each.rows) for each in audit.damages}
    if others:
        return ""
    bound, share, count = one
    by = "to anything in their range" if math.isinf(bound) else f"each by at most {bound:.4g}"
    return f"{count:,} of {audit.n_training:,} labels ({percent(share)}), {by}"


def _itself(audit: Audit) -> dict[str, Any]:
    """Return the audited estimator as its remedies are shown: at the largest budget."""
    largest = audit.largest
    same = [one for one in audit.damages if _budget(one) == _budget(largest)]
    worst = max(same, key=lambda one: one.relative.estimate, default=largest)
    limits = [
        one.relative for one in audit.ceilings
        if one.relative is not None and _budget(one) == _budget(largest)
    ]  # fmt: skip
    return {
        "level": _level(largest), "worst": _damage(worst),
        "error": _size(audit.clean_error.estimate + largest.error.estimate),
        "total": with_interval(largest.relative), "limit": _most(limits[0]) if limits else NONE,
    }  # fmt: skip


def _budget(one: Damage | Ceiling) -> tuple[float, float, int]:
    return one.bound, one.share, one.rows


def _level(one: Damage | Ceiling) -> str:
    return level_name(one.bound, one.share)


def _both(found: Interval, words: Callable[[float], str]) -> str:
    """Return a mean and its interval."""
    return f"{words(found.estimate)}{_range(found, words)}"


def _range(found: Interval, words: Callable[[float], str]) -> str:
    """Return an interval in parentheses; a single split has none."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return ""
    return f" ({words(found.low)} to {words(found.high)})"


def _most(relative: Interval) -> str:
    """Return a relative ceiling in percent, rounded up."""
    text = up(100.0 * relative.estimate)
    return f"−{text[1:]} %" if text.startswith("-") else f"+{text} %"


def _exact(value: float) -> str:
    """Return what was reached with as many digits as a ceiling, so that it is not above it."""
    return readable(value, 4) if math.isfinite(value) else "∞"


def _maybe(found: Interval | None, words: Callable[[float], str]) -> str:
    return NONE if found is None else words(found.estimate)


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
