"""Charts of one result: a run, a certificate, a verification, a diagnosis, an audit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._digits import percent
from neurotron._types import Array, Index
from neurotron.guarantees import Certificate, Verification
from neurotron.lab.figures.chart import (
    ERROR,
    MOST_POINTS,
    SMALLEST,
    STEPS,
    Chart,
    Line,
    Panel,
    line_of,
    shorten,
)
from neurotron.lab.figures.render_matplotlib import draw
from neurotron.lab.figures.styles import PLAIN, Style, shades, styles

if TYPE_CHECKING:
    from neurotron.auditing.report import Audit
    from neurotron.estimators import Diagnosis
    from neurotron.guarantee import Guarantee
    from neurotron.trainers import Arm, Trainer
    from neurotron.trajectories import Trajectories

MOST_LETTERS = 80
"""Of a name in the legend, so that it stays inside the picture."""
MEASURED = Style("#0072B2", "circle", "solid")
CHOSEN = Style("#000000", "diamond", "dash")
ROOT = Style("#4D4D4D", "square", "solid")
CELLS = "The two shares that are marked are among the rows in the filter's own cells only."
MOST_NEEDED = 1.5
"""A larger share that would be needed is drawn at this height: no rows reach it anyway."""
POINTS = 200
"""Of the line of honest noise."""
NEAREST = 0.05
"""The share of labels nearest to the model that is not drawn: on a log axis they would take most of
the room."""
MOST_ATTACKS = 24
"""Columns of the figure; the attacks that do most harm are shown."""
TALLEST = 3.0
"""A ceiling that is more than so many times as high as the largest damage is not drawn."""
DAMAGE = Style("#D55E00", "circle", "solid")
CEILING = Style("#0072B2", "diamond", "dash")


def run_chart(run: Trajectories) -> Chart:
    """Return the chart of a run: one line per arm, in the colour of its kind of trainer."""
    from neurotron.trajectories import Trajectories  # not to draw the charts of a study

    _check.instance("run", run, Trajectories)
    label = ERROR if run.has_errors else "batch loss"
    panel = Panel("", tuple(run_lines(run)))
    return Chart("run", _title(run.arms), "One run of every arm.", STEPS, label, (panel,))


def _title(arms: tuple[Arm, ...]) -> str:
    """Return the attack on the labels as a title, if it is the same for all arms."""
    attack = arms[0].attack
    if not all(_check.equal(arm.attack, attack) for arm in arms):
        return "Training under different attacks"
    return "Training without an attack" if attack is None else f"Training under {attack!r}"


def run_lines(run: Trajectories) -> list[Line]:
    """Return one line per arm: error, or else loss; a diverged arm's ends where it diverged."""
    values = run.errors if run.has_errors else run.losses
    looks = _looks(run.arms)
    return [
        line_of(shorten(arm.name, MOST_LETTERS), run.steps, value, look)
        for arm, value, look in zip(run.arms, values, looks, strict=True)
    ]


def _looks(arms: tuple[Arm, ...]) -> list[Any]:
    """Return the style of each arm: that of its kind of trainer, in shades if there are several."""
    kinds = [type(arm.trainer) for arm in arms]
    labels = [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds]
    by_label = styles(zip(labels, map(_algorithm, kinds), strict=True))
    left = {label: iter(shades(by_label[label], labels.count(label))) for label in by_label}
    return [next(left[label]) for label in labels]


def _algorithm(kind: type[Trainer]) -> str:
    """Return the name of the built-in trainer that a class is or derives from, else ""."""
    from neurotron.trainers import BY_NAME

    names = {factory: name for name, factory in BY_NAME.factories.items()}
    return next((names[base] for base in kind.__mro__ if base in names), "")


def plot(run: Trajectories, path: str | Path | None = None) -> Any:
    """Draw a run on log axes; return the matplotlib figure, saved to `path` if given.

    A notebook shows the figure; a `path` may end in .png, .pdf or .svg.
    """
    return draw(run_chart(run), path)


def certified_lines(
    steps: Index, roots: Array, radii: Array, limit: float, confidence: str
) -> list[Line]:
    """Return the lines of a certificate: root mean square, radius and best possible bound."""
    lines = [
        line_of("guaranteed, root mean square", steps, roots, ROOT),
        line_of(f"guaranteed with probability {confidence}", steps, radii, CHOSEN),
    ]
    if 0.0 < limit < math.inf:
        best = np.full(len(steps), limit)
        lines.append(line_of("best possible bound (step size → 0)", steps, best, PLAIN))
    return lines


def _lines(certificate: Certificate) -> list[Line]:
    """Return the lines of a certificate; one line if it was measured."""
    steps, roots = certificate.at_steps, np.sqrt(certificate.mean_square_bounds)
    if certificate.kind == "measured":
        return [line_of("measured, root mean square", steps, roots, ROOT)]
    return certified_lines(
        steps, roots, certificate.radii, certificate.limit, certificate.confidence_text
    )


def certificate_chart(certificate: Certificate, run: Trajectories | None = None) -> Chart:
    """Return the chart of a certificate, with the arms of a run if given."""
    lines = _lines(certificate)
    if run is not None and not run.has_errors:
        raise _check.InputError(
            "`run` has no errors to draw with a certificate, because its problem has no "
            "`true_weights`: leave it out, or plot the run alone"
        )
    measured = [] if run is None else run_lines(run)
    for line in measured:
        name = f"measured: {line.name}" if measured[1:] else "measured"
        lines.append(Line(name, line.x, line.y, line.style))
    caption = "The guaranteed error after each number of steps."
    return Chart("certificate", "", caption, STEPS, ERROR, (Panel("", tuple(lines)),))


def guarantee_chart(guarantee: Guarantee, run: Trajectories | None = None) -> Chart:
    """Return the chart of a certificate or a verification; other guarantees have none."""
    if isinstance(guarantee, Certificate):
        return certificate_chart(guarantee, run)
    if isinstance(guarantee, Verification) and run is None:
        return verification_chart(guarantee)
    drawn = "a Verification" if run is None else "a run beside a Certificate only"
    raise _check.InputError(
        f"a {type(guarantee).__name__} has no picture: plot a Certificate, or {drawn}"
    )


def verification_chart(verification: Verification) -> Chart:
    """Return the chart of a verification: shares of rows, the share needed, the level chosen."""
    levels = np.maximum(verification.levels, SMALLEST)
    shares, needed = verification.shares, min(verification.threshold, MOST_NEEDED)
    shown = np.isfinite(levels)
    levels, shares = levels[shown], shares[shown]
    places = np.unique(np.linspace(0, len(levels) - 1, MOST_POINTS).astype(int))
    lines = list[Line]()
    if len(levels):
        lines.append(Line("rows within the level", levels[places], shares[places], MEASURED))
        if not math.isnan(needed):
            ends, words = levels[[0, -1]], "share to exceed"
            lines.append(Line(words, ends, np.full(2, needed), PLAIN))
    if verification.holds:
        chosen = np.full(2, max(verification.level, SMALLEST))
        lines.append(
            Line("level of the radius", chosen, np.array([0.0, verification.share]), CHOSEN)
        )
    caption = (
        "The share of fresh rows whose labels are at most the level away from the filter's output. "
        "Where it exceeds the share that is marked, the filter is verified."
    )
    return Chart(
        "verification", "", caption, "level, the largest |residual| that counts as explained",
        "share of rows explained", (Panel("", tuple(lines)),), y_log=False,
        y_range=(0.0, 1.05 * max(1.0, needed)), note=CELLS * (verification.theorem == "cells"),
    )  # fmt: skip


def diagnosis_chart(diagnosis: Diagnosis) -> Chart:
    """Return the chart of a diagnosis: the share of labels that are further off than each size."""
    sizes, exact = diagnosis.sizes, diagnosis.noise.scale == 0.0
    shares = 1.0 - (np.arange(len(sizes)) + 0.5) / len(sizes)
    hidden = diagnosis.exact / diagnosis.rows if exact else NEAREST
    seen = (sizes > 0.0) & (shares < 1.0 - hidden)
    title, lines = "How far the labels are from the model", list[Line]()
    if exact:
        title = f"{diagnosis.exact:,} of {diagnosis.rows:,} labels are exact"
    if seen.any():
        ends = sizes[seen][[0, -1]]
        lines.append(line_of("labels of the table", sizes[seen], shares[seen], MEASURED))
        if not exact:
            grid = np.geomspace(ends[0], ends[1], POINTS)
            honest = diagnosis.noise.shares_beyond(grid) * (1.0 - diagnosis.attacked_fraction)
            shown = honest >= 0.1 / diagnosis.rows
            lines.append(line_of("honest noise", grid[shown], honest[shown], CHOSEN))
        if diagnosis.attacked_fraction > 0.0:
            level = np.full(2, diagnosis.attacked_fraction)
            lines.append(line_of("estimated share of attacked labels", ends, level, PLAIN))
    caption = (
        "The share of labels that are further from the model than each distance. Where the labels "
        "lie above honest noise, they are suspicious."
    )
    if exact:
        caption = f"{title}. The others are as far from the model as shown."
    return Chart(
        "diagnosis", title, caption, "distance from the model, |residual|",
        "share of labels further off", (Panel("", tuple(lines)),),
    )  # fmt: skip


def audit_chart(audit: Audit) -> Chart:
    """Return the chart of an audit: what attacks with the largest budget do, and the ceiling."""
    from neurotron.auditing.wording import level_name  # not to draw the charts of a study

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
