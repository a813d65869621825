"""The damage that each attack of an audit does, with its interval, below the ceiling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from neurotron._digits import percent
from neurotron._types import Array
from neurotron.auditing.wording import level_name
from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.styles import Style, shades

if TYPE_CHECKING:
    from neurotron._intervals import Interval
    from neurotron.auditing.report import Audit

__all__ = ["audit_chart"]

MOST_ATTACKS = 24
"""Columns of the figure; the attacks that do most harm are shown."""
MOST_LEVELS = 4
TALLEST = 3.0
"""A ceiling that is more than so many times as high as the largest damage is not drawn."""
DAMAGE = Style("#D55E00", "circle", "solid")
CEILING = Style("#0072B2", "diamond", "dash")

Key = tuple[float, float]


def audit_chart(audit: Audit) -> Chart:
    """Return the chart of an audit: the rise of the error for every attack, and the ceilings."""
    keys, fewer_levels = _levels(audit)
    names, fewer = _attacks(audit, keys)
    damages = list(_damages(audit, keys, names))
    tolerance = None if audit.tolerance is None else 100.0 * audit.tolerance
    heights = [0.0 if tolerance is None else tolerance]
    heights += [float(end) for line in damages for end in _ends(line)]
    drawn, too_high = _ceilings(audit, keys, TALLEST * max(heights))
    ends = np.array([-0.4, len(names) - 0.6])
    ceilings = [
        Line(_name("ceiling", key, keys), ends, np.full(2, height), style, is_limit=True)
        for (key, height), style in zip(drawn.items(), shades(CEILING, len(drawn)), strict=True)
    ]
    return Chart(
        "damage",
        "What each attack does to the error",
        _caption(audit, keys, bool(drawn)) + fewer_levels + fewer + too_high,
        "",
        "rise of the error, %",
        (Panel("", (*damages, *ceilings), names),),
        f"bars: 95 % intervals over {audit.splits} splits",
        x_log=False,
        y_log=False,
        y_range=_range([0.0, *heights, *drawn.values()]),
        reference=tolerance,
        short_title="Damage by attack",
    )


def _levels(audit: Audit) -> tuple[list[Key], str]:
    """Return the budgets to draw, and what the caption says about the others."""
    every = list(dict.fromkeys((one.bound, one.share) for one in audit.damages))
    if len(every) <= MOST_LEVELS:
        return every, ""
    worst = (audit.worst.bound, audit.worst.share)
    places = np.linspace(0, len(every) - 1, MOST_LEVELS).round().astype(int)
    kept = {every[i] for i in places[:-1].tolist()} | {worst}
    shown = [key for key in every if key in kept]
    return shown, f" Of {len(every)} budgets, {len(shown)} are drawn."


def _attacks(audit: Audit, keys: Sequence[Key]) -> tuple[tuple[str, ...], str]:
    """Return the attacks to draw, the most harmful first, and what is said about the others."""
    largest: dict[str, float] = {}
    for one in audit.damages:
        if (one.bound, one.share) in keys:
            largest[one.attack] = max(largest.get(one.attack, -math.inf), one.relative.estimate)
    names = sorted(largest, key=lambda name: -largest[name])
    fewer = f" Of {len(names)} attacks, the {MOST_ATTACKS} that do most harm are drawn."
    return tuple(names[:MOST_ATTACKS]), fewer * (len(names) > MOST_ATTACKS)


def _damages(audit: Audit, keys: Sequence[Key], names: Sequence[str]) -> Iterator[Line]:
    """Yield the points of every budget, side by side, with their intervals."""
    beside = 0.14 * (np.arange(len(keys)) - 0.5 * (len(keys) - 1))
    looks = shades(DAMAGE, len(keys))
    for key, offset, style in zip(keys, beside.tolist(), looks, strict=True):
        rows = [
            (names.index(one.attack) + offset, *(100.0 * end for end in _interval(one.relative)))
            for one in audit.damages
            if (one.bound, one.share) == key
            and one.attack in names
            and math.isfinite(one.relative.estimate)
        ]
        x, y, low, high = np.array(sorted(rows), np.float64).reshape(-1, 4).T
        name = "measured" if len(keys) == 1 else level_name(*key)
        yield Line(name, x, y, style, low, high, joined=False)


def _interval(found: Interval) -> tuple[float, float, float]:
    """Return the mean and the ends of an interval; an infinite end is drawn at the mean."""
    low, high = (end if math.isfinite(end) else found.estimate for end in (found.low, found.high))
    return found.estimate, low, high


def _ends(line: Line) -> Array:
    return np.concatenate([line.y, *(line.band() or ())])


def _ceilings(audit: Audit, keys: Sequence[Key], tallest: float) -> tuple[dict[Key, float], str]:
    """Return the ceilings to draw, in percent, and what the caption says about the others."""
    every = {(one.bound, one.share): one.relative for one in audit.ceilings}
    heights = {key: 100.0 * found.estimate for key in keys if (found := every.get(key)) is not None}
    drawn = {key: height for key, height in heights.items() if height <= tallest}
    high = [
        f"{_name('the ceiling', key, keys)} is at {heights[key]:,.0f} %"
        for key in heights
        if key not in drawn
    ]
    return drawn, f" Above the figure, {'; '.join(high)}." * bool(high)


def _name(word: str, key: Key, keys: Sequence[Key]) -> str:
    return word if len(keys) == 1 else f"{word}, {level_name(*key)}"


def _caption(audit: Audit, keys: Sequence[Key], has_ceiling: bool) -> str:
    text = (
        "By how much the error (RMSE) on untouched test rows rises, in percent of the error "
        f"without an attack. Points are means over {audit.splits} splits of the table, and bars "
        "are their 95 % intervals."
    )
    if len(keys) == 1:
        text += f" The budget is {level_name(*keys[0])}: the share of labels, and their change."
    if has_ceiling:
        text += (
            " No attack within the budget exceeds the ceiling, which is a mean over the same "
            "splits: a bar may reach above it, because splits differ."
        )
    if audit.tolerance is not None:
        text += f" The dotted line is the tolerance, {percent(audit.tolerance)}."
    return text


def _range(heights: Sequence[float]) -> tuple[float, float]:
    room = 0.06 * (max(heights) - min(heights)) or 1.0
    return min(heights) - room, max(heights) + room
