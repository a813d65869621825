"""The damage that each attack of an audit does, with its interval, below the ceiling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from neurotron._digits import percent
from neurotron.auditing.wording import level_name
from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.styles import Style

if TYPE_CHECKING:
    from neurotron.auditing.report import Audit

__all__ = ["audit_chart"]

MOST_ATTACKS = 24
"""Columns of the figure; the attacks that do most harm are shown."""
TALLEST = 3.0
"""A ceiling that is more than so many times as high as the largest damage is not drawn."""
DAMAGE = Style("#D55E00", "circle", "solid")
CEILING = Style("#0072B2", "diamond", "dash")


def audit_chart(audit: Audit) -> Chart:
    """Return the chart of an audit: what attacks with the largest budget do, and the ceiling."""
    budget = audit.largest
    level = budget.bound, budget.share, budget.rows
    found = [one for one in audit.damages if (one.bound, one.share, one.rows) == level]
    found = sorted(found, key=lambda one: -one.relative.estimate)[:MOST_ATTACKS]
    known = [
        (place, *(end if math.isfinite(end) else rise.estimate for end in rise))
        for place, rise in enumerate(one.relative for one in found)
        if math.isfinite(rise.estimate)
    ]
    x, y, low, high = np.array(known, np.float64).reshape(-1, 4).T
    damage = Line("measured", x, 100.0 * y, DAMAGE, 100.0 * low, 100.0 * high, joined=False)
    tolerance = None if audit.tolerance is None else 100.0 * audit.tolerance
    heights = [0.0, tolerance or 0.0, *100.0 * low, *100.0 * high]
    text = (
        "By how much the error (RMSE) on untouched test rows rises, in percent of the error "
        f"without an attack. Points are means over {audit.splits} splits of the table, and bars "
        f"are their 95 % intervals. The budget is {level_name(*level[:2])}: the share of labels, "
        "and their change."
    )
    ceilings = []
    limits = [one.relative for one in audit.ceilings if (one.bound, one.share, one.rows) == level]
    if limits and limits[0] is not None:
        top = 100.0 * limits[0].estimate
        if top > TALLEST * max(heights):
            text += f" Above the figure, the ceiling is at {top:,.0f} %."
        else:
            ends = np.array([-0.4, len(found) - 0.6])
            ceilings.append(Line("ceiling", ends, np.full(2, top), CEILING, is_limit=True))
            heights.append(top)
            text += (
                " No attack within the budget exceeds the ceiling, which is a mean over the same "
                "splits: a bar may reach above it, because splits differ."
            )
    if audit.tolerance is not None:
        text += f" The dotted line is the tolerance, {percent(audit.tolerance)}."
    room = 0.06 * (max(heights) - min(heights)) or 1.0
    return Chart(
        "damage",
        "What each attack does to the error",
        text,
        "",
        "rise of the error, %",
        (Panel("", (damage, *ceilings), tuple(one.attack for one in found)),),
        f"bars: 95 % intervals over {audit.splits} splits",
        x_log=False,
        y_log=False,
        y_range=(min(heights) - room, max(heights) + room),
        reference=tolerance,
        short_title="Damage by attack",
    )
