"""What the batch size changes: steps, samples, errors under attack, and Theorem 1's step size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from neurotron._digits import counted
from neurotron._types import Array
from neurotron.lab.claims.batch_size import (
    BOUNDED,
    DRIFT,
    SAME_STEP,
    TENTH,
    batch_size_runs,
    honest_runs,
)
from neurotron.lab.claims.measuring import ATTACKED
from neurotron.lab.figures.chart import ERROR, SMALLEST, Chart, Line, Panel
from neurotron.lab.figures.styles import OF_ALGORITHM, PLAIN, Style
from neurotron.lab.figures.view import RunsView, select_at_most
from neurotron.lab.results.summary import bootstrap, median
from neurotron.theory import Theorem1

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
    """Of the runs under attack."""
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
"""The γ of Theorem 1 in the example of errata 13; ratios of step sizes do not depend on it."""


class Family(NamedTuple):
    """The settings that differ only in their batch size, and their runs."""

    title: str
    honest: pl.DataFrame
    """With the step size of the fastest certified convergence."""
    attacked: pl.DataFrame
    steps: int

    @property
    def samples(self) -> int:
        """The number of samples that all batch sizes have had at some time."""
        return self.steps * int(self.honest["b"].min())  # type: ignore[arg-type]


def by_batch_size(view: RunsView) -> Iterator[Chart]:
    """Yield the charts of a study whose settings differ in their batch size."""
    shown, left_out = _shown(view)
    if not shown:
        return
    names = [name for family in shown for name in family.honest["setting"].unique()]
    over = f"medians over {view.replicates(names)}"
    yield Chart(
        "batch-size-steps", "Steps and samples by batch size",
        f"How many steps, and how many samples, Neuro-Tron needs to reach {TENTH:g} of its initial "
        "error on honest labels, with the step size of the fastest certified convergence. Points "
        f"are {over}, {view.what_is_their_own(names)}; bars are their 95 % bootstrap intervals. "
        f"The grey line is the number of steps that was certified to be enough.{left_out}",
        BATCH_SIZE, f"number until {TENTH:g} of the initial error",
        tuple(map(_steps_panel, shown)), over,
    )  # fmt: skip
    panels = [_floor_panel(view, family) for family in shown]
    steps = counted((family.steps for family in shown), "step")
    samples = counted((family.samples for family in shown), "sample")
    yield Chart(
        "batch-size-floor", "Error under attack by batch size",
        f"The error of Neuro-Tron after {steps}, with the same step size for all batch sizes, "
        "under an attack that only adds noise and under one with a drift; and with the step size "
        f"of the certificate, which grows with b, after {samples} for all batch sizes. The grey "
        f"line is the certified error against every attack. Points are {over}; bars are 95 % "
        f"bootstrap intervals.{left_out}",
        BATCH_SIZE, ERROR, tuple(panel for panel in panels if panel is not None), over,
    )  # fmt: skip
    yield _step_sizes(shown)


def shown_by_batch_size(view: RunsView) -> set[tuple[str, str, str]]:
    """Return which settings, attacks and trainers these charts show."""
    columns = "setting", "attack_text", "trainer"
    tables = [
        table
        for family in _shown(view)[0]
        for table in (family.honest, *(family.attacked.filter(*one.chosen) for one in FLOORS))
    ]
    return {key for table in tables for key in table.select(columns).unique().iter_rows()}


def _shown(view: RunsView) -> tuple[list[Family], str]:
    """Return the laws that have panels, and what to say of others."""
    attacked, found = batch_size_runs(view.results).filter(ATTACKED), []
    honest = honest_runs(view.results)
    for (title, _), runs in honest.group_by("family", "trainer", maintain_order=True):
        steps = int(view.results.steps[runs["setting"][0]][-1])
        found.append(Family(str(title), runs, attacked.filter(family=title), steps))
    return select_at_most("laws", found, MOST_PANELS)


def _panel(title: str, lines: Sequence[Line]) -> Panel:
    """Return lines over batch sizes, which are evenly spaced whatever they are."""
    sizes = np.unique(np.concatenate([line.x for line in lines]))
    placed = (replace(line, x=np.searchsorted(sizes, line.x).astype(np.float64)) for line in lines)
    return Panel(title, tuple(placed), tuple(f"{size:g}" for size in sizes))


def _by_size(runs: pl.DataFrame, column: str) -> dict[int, Array]:
    """Return a column of runs by batch size, as far as it is known."""
    known = runs.filter(pl.col(column).is_not_null()).sort("b", maintain_order=True)
    every = known.partition_by("b", as_dict=True, maintain_order=True)
    return {b: some[column].to_numpy() for (b,), some in every.items()}


def _line(name: str, by: dict[int, Array], style: Style) -> Line:
    """Return the median at each batch size with its interval."""
    found = {b: bootstrap(values) for b, values in by.items()}
    known = {b: one for b, one in found.items() if np.isfinite(one.estimate)}
    y, low, high = np.maximum(np.array(list(known.values())).reshape(-1, 3).T, SMALLEST)
    return Line(name, np.array(list(known), np.float64), y, style, low, high)


def _plain_line(name: str, by: dict[int, Array], style: Style) -> Line:
    """Return the median at each batch size."""
    y = [float(median(values)) for values in by.values()]
    return Line(name, np.array(list(by), np.float64), np.array(y), style)


def _steps_panel(family: Family) -> Panel:
    runs = family.honest.with_columns(samples=pl.col("b") * pl.col("tenth"))
    lines = [
        _line("steps, measured", _by_size(runs, "tenth"), MEASURED),
        _plain_line("steps, certified", _by_size(runs, "certified_steps"), CERTIFIED),
        _line("samples, measured", _by_size(runs, "samples"), SAMPLES),
    ]
    return _panel(family.title, lines)


def _floor_panel(view: RunsView, family: Family) -> Panel | None:
    lines = []
    for floor in FLOORS:
        runs = family.attacked.filter(*floor.chosen)
        if floor.same_samples:
            runs = _after(view, runs, family.samples)
        if len(runs):
            lines.append(_line(floor.name, _by_size(runs, "error"), floor.style))
    bounded = family.attacked.filter(SAME_STEP, BOUNDED, DRIFT)
    if len(bounded):
        bounds = _by_size(bounded, "root_mean_square")
        lines.append(_plain_line("same η, certified", bounds, CERTIFIED))
    return _panel(family.title, lines) if lines else None


def _after(view: RunsView, runs: pl.DataFrame, samples: int) -> pl.DataFrame:
    """Return runs with their errors after so many samples, at the last step recorded until then."""
    found = [runs]
    for (setting, b), some in runs.group_by("setting", "b", maintain_order=True):
        recorded = view.results.steps[str(setting)]
        at = int(np.searchsorted(recorded, samples // int(str(b)), side="right")) - 1
        keys = ["setting", "replicate", "arm"]
        every = view.results.runs.filter(setting=setting).select(keys)
        errors = every.with_columns(error=pl.Series(view.results.errors[str(setting)][:, at]))
        found.append(some.drop("error").join(errors, on=keys, maintain_order="left"))
    return pl.concat([one.select(sorted(runs.columns)) for one in found[1:]] or found)


def _step_sizes(families: list[Family]) -> Chart:
    """Return how Theorem 1's step size depends on b, and where it does not grow."""
    lines = []
    styles = (MEASURED, SAMPLES, DRIFTING, OWN_STEP, Style("#7A5195", "x", "dash"), PLAIN)
    for family, style in zip(families, styles, strict=False):
        first = family.honest.filter(replicate=family.honest["replicate"].min())
        sizes = {b: float(one[0]) for b, one in _by_size(first, "theorem1_step_size").items()}
        if sizes:
            lines.append(_relative(family.title, sizes, style))
    batches = sorted({b for family in families for b in family.honest["b"]})
    exception = {b: _exception(b).step_size(GAMMA) for b in batches}
    style = Style("#A6195A", "star", "solid")
    lines.append(_relative("attacker who prefers small inputs", exception, style))
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


def _relative(name: str, sizes: dict[int, float], style: Style) -> Line:
    """Return step sizes divided by the first one."""
    y = np.array(list(sizes.values()))
    return Line(name, np.array(list(sizes), np.float64), y / y[0], style)


def _exception(batch_size: int) -> Theorem1:
    """Return the theorem's constants in the example of docs/errata.md#e13."""
    small, large = 0.25, 0.5
    moments: Any = [0.5 * (small**i + large**i) for i in (1, 2, 3, 4)]
    attacked: Any = [0.5 * small**i for i in (1, 2, 3)]
    return Theorem1(
        pull=1.0, lipschitz=1.0, lambda1=moments[1], lambda2=1.0, lambda3=1.0, bound=1.0,
        attacked=tuple(attacked), norms=tuple(moments), batch_size=batch_size,
    )  # fmt: skip
