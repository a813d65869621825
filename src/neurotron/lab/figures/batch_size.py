"""What the batch size changes: steps, samples, errors under attack, and Theorem 1's step size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from neurotron._digits import counted
from neurotron._types import Array
from neurotron.attacks import Budget
from neurotron.lab.claims.batch_size import (
    ATTACKED,
    BOUNDED,
    DRIFT,
    SAME_STEP,
    TENTH,
    BatchSizes,
    honest_runs,
    steps_of,
)
from neurotron.lab.figures.chart import ERROR, SMALLEST, Chart, Line, Panel
from neurotron.lab.figures.styles import OF_ALGORITHM, PLAIN, Style
from neurotron.lab.figures.view import View, select_at_most
from neurotron.lab.results.summary import bootstrap, median
from neurotron.problem import Problem
from neurotron.theory import Theorem1

__all__ = ["by_batch_size", "shown_by_batch_size"]

MOST_PANELS = 6
BATCH_SIZE = "batch size b"
MEASURED, SAMPLES = OF_ALGORITHM["neuro-tron"], Style("#009E73", "triangle-up", "dash")
DRIFTING, OWN_STEP = Style("#D55E00", "square", "dashdot"), Style("#B88200", "diamond", "solid")
CERTIFIED = PLAIN._replace(dash="dash")


class Floor(NamedTuple):
    """A line of errors under attack."""

    name: str
    style: Style
    chosen: tuple[pl.Expr, pl.Expr]
    same_samples: bool = False
    """Whether errors are after the same number of samples, instead of steps."""


FLOORS = (
    Floor("same η, noise", MEASURED, (SAME_STEP, ~DRIFT)),
    Floor("same η, drift", DRIFTING, (SAME_STEP, DRIFT)),
    Floor(
        "η of the certificate, noise, same samples", OWN_STEP, (~SAME_STEP, ~DRIFT),
        same_samples=True,
    ),
)  # fmt: skip

GAMMA = 2.0
"""The γ of Theorem 1 at which step sizes are compared; their ratios are the same for every γ."""


def by_batch_size(view: View) -> Iterator[Chart]:
    """Yield the charts of a study whose settings differ in their batch size."""
    shown, left_out = _shown(view)
    if not shown:
        return
    names = [name for group, _ in shown for name in group.settings.values()]
    over = f"medians over {view.replicates(names)}"
    yield Chart(
        "batch-size-steps", "Steps and samples by batch size",
        f"How many steps, and how many samples, Neuro-Tron needs to reach {TENTH:g} of its initial "
        "error on honest labels, with the step size of the fastest certified convergence. Points "
        f"are {over}, {view.what_is_their_own(names)}; bars are their 95 % bootstrap intervals. "
        f"The grey line is the number of steps that was certified to be enough.{left_out}",
        BATCH_SIZE, f"number until {TENTH:g} of the initial error",
        tuple(_steps_panel(group, runs) for group, runs in shown), over,
    )  # fmt: skip
    panels = [_floor_panel(group) for group, _ in shown]
    steps = counted((group.steps for group, _ in shown), "step")
    samples = counted((group.samples for group, _ in shown), "sample")
    yield Chart(
        "batch-size-floor", "Error under attack by batch size",
        f"The error of Neuro-Tron after {steps}, with the same step size for all batch sizes, "
        "under an attack that only adds noise and under one with a drift; and with the step size "
        f"of the certificate, which grows with b, after {samples} for all batch sizes. The grey "
        f"line is the certified error against every attack. Points are {over}; bars are 95 % "
        f"bootstrap intervals.{left_out}",
        BATCH_SIZE, ERROR, tuple(panel for panel in panels if panel is not None), over,
    )  # fmt: skip
    yield _step_sizes(view, [group for group, _ in shown])


def shown_by_batch_size(view: View) -> set[tuple[str, str, str]]:
    """Return which settings, attacks and trainers these charts show."""
    columns = "setting", "attack_text", "trainer"
    tables = [
        table
        for group, honest in _shown(view)[0]
        for runs in (honest, *(group.runs(ATTACKED, *floor.chosen) for floor in FLOORS))
        for table in runs.values()
    ]
    return {key for table in tables for key in table.select(columns).unique().iter_rows()}


def _shown(view: View) -> tuple[list[tuple[BatchSizes, dict[int, pl.DataFrame]]], str]:
    """Return the laws that have panels, and what to say of others."""
    return select_at_most("laws", list(honest_runs(view.results)), MOST_PANELS)


def _panel(title: str, lines: Sequence[Line]) -> Panel:
    """Return lines over batch sizes, which are evenly spaced whatever they are."""
    sizes = np.unique(np.concatenate([line.x for line in lines]))
    placed = (replace(line, x=np.searchsorted(sizes, line.x).astype(np.float64)) for line in lines)
    return Panel(title, tuple(placed), tuple(f"{size:g}" for size in sizes))


def _line(name: str, by: dict[int, Array], style: Style) -> Line:
    """Return the median at each batch size with its interval."""
    found = {b: bootstrap(values) for b, values in by.items() if len(values)}
    known = {b: one for b, one in found.items() if np.isfinite(one.estimate)}
    y, low, high = np.maximum(np.array(list(known.values())).reshape(-1, 3).T, SMALLEST)
    return Line(name, np.array(list(known), np.float64), y, style, low, high)


def _steps_panel(group: BatchSizes, runs: dict[int, pl.DataFrame]) -> Panel:
    steps = {b: steps_of(ours) for b, ours in runs.items()}
    certified = {b: float(median(group.certified_steps(b, ours))) for b, ours in runs.items()}
    lines = [
        _line("steps, measured", steps, MEASURED),
        Line("steps, certified", *_points(certified), CERTIFIED),
        _line("samples, measured", {b: b * values for b, values in steps.items()}, SAMPLES),
    ]
    return _panel(group.title, lines)


def _points(by: dict[int, float]) -> tuple[Array, Array]:
    return np.array(list(by), np.float64), np.array(list(by.values()), np.float64)


def _floor_panel(group: BatchSizes) -> Panel | None:
    lines = []
    for floor in FLOORS:
        runs = group.runs(ATTACKED, *floor.chosen)
        errors = {
            b: group.errors_after(b, ours, group.samples)
            if floor.same_samples
            else ours["error"].to_numpy()
            for b, ours in runs.items()
        }
        if errors:
            lines.append(_line(floor.name, errors, floor.style))
    bounds = {
        b: float(median(ours["root_mean_square"].to_numpy()))
        for b, ours in group.runs(ATTACKED, SAME_STEP, BOUNDED, DRIFT).items()
    }
    if bounds:
        lines.append(Line("same η, certified", *_points(bounds), CERTIFIED))
    return _panel(group.title, lines) if lines else None


def _step_sizes(view: View, groups: list[BatchSizes]) -> Chart:
    """Return how Theorem 1's step size depends on b, and where it does not grow."""
    batches = sorted({b for group in groups for b in group.settings})
    lines = []
    styles = (MEASURED, SAMPLES, DRIFTING, OWN_STEP, Style("#7A5195", "x", "dash"), PLAIN)
    for group, style in zip(groups, styles, strict=False):
        problem = group.problem
        if np.isfinite(problem.norm_moment(4)):
            sizes = {b: _of_theorem(problem, b) for b in batches}
            lines.append(Line(group.title, *_points(_relative(sizes)), style))
    exception = {b: _exception(b).step_size(GAMMA) for b in batches}
    lines.append(Line("attacker who prefers small inputs", *_points(_relative(exception)),
                      Style("#A6195A", "star", "solid")))  # fmt: skip
    return Chart(
        "batch-size-step-size", "Theorem 1's step size by batch size",
        "The step size η of Theorem 1, divided by that for the smallest batch. Without an attack "
        "it grows with b, at most to m₄/m₂². Remark 1, item 3 of the paper says that it always "
        "grows. It does for constant β, but not against every attacker: the falling line is the "
        "example of errata 13, one gate with inputs ±1/4 and ±1/2, of which only the small ones "
        "are attacked. Laws without a fourth moment have no line.",
        BATCH_SIZE, "η(b) / η(smallest b)", (_panel("Theorem 1", lines),),
        "computed, not measured", y_log=False, reference=1.0,
    )  # fmt: skip


def _relative(sizes: dict[int, float]) -> dict[int, float]:
    first = next(iter(sizes.values()))
    return {b: size / first for b, size in sizes.items()}


def _of_theorem(problem: Problem, batch_size: int) -> float:
    sensing = problem.network.mean_gate
    return Theorem1.of(problem, sensing, Budget(0.0, 0.0), batch_size).step_size(GAMMA)


def _exception(batch_size: int) -> Theorem1:
    """Return the theorem's constants in the example of docs/errata.md#e13."""
    small, large = 0.25, 0.5
    moments: Any = [0.5 * (small**i + large**i) for i in (1, 2, 3, 4)]
    attacked: Any = [0.5 * small**i for i in (1, 2, 3)]
    return Theorem1(
        pull=1.0, lipschitz=1.0, lambda1=moments[1], lambda2=1.0, lambda3=1.0, bound=1.0,
        attacked=tuple(attacked), norms=tuple(moments), batch_size=batch_size,
    )  # fmt: skip
