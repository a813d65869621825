"""The paper's figures, for studies that name claims of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from neurotron.lab.claims.catalog import CLAIMS
from neurotron.lab.claims.measuring import ATTACK, levels_met, table1
from neurotron.lab.claims.paper import COMPARED as COMPARABLE
from neurotron.lab.claims.paper import PUBLISHED_STEP_SIZES, comparable
from neurotron.lab.figures.chart import SMALLEST, Chart, Line, Panel
from neurotron.lab.figures.styles import OF_ALGORITHM, PLAIN, Style
from neurotron.lab.figures.trajectories import (
    compare,
    levels_of,
    over_steps,
    panel_of_levels,
    settings_said,
)
from neurotron.lab.figures.view import LevelSweep, RunsView, with_honest
from neurotron.lab.results.summary import bootstrap
from neurotron.lab.training.summary import Level, attacked, longest

COMPARED = ("neuro-tron", "first-sample-sgd", "sgd")
"""The algorithms of figures 1 to 6."""
OTHER = 0.5, 0.25
"""The β at which θ varies, and the θ at which β does."""
OUTER_WEIGHTS = {pair: place for place, pair in enumerate(PUBLISHED_STEP_SIZES.items())}
"""Outer weights and step sizes as the paper ran them, in the order of figure 7."""
NUMBERS = {
    ("normal", 1.0, None): "2", ("student-t", 1.0, 4.0): "3", ("laplace", 2.0, None): "4",
    ("normal", 3.0, None): "5",
}  # fmt: skip
"""The number of the figure with each law, by its name, scale and degrees of freedom."""


class Column(NamedTuple):
    """A column of Table 1."""

    setting: str
    title: str
    number: str
    """Of its figure."""
    trainers: dict[str, str]
    """The label of each algorithm of the paper."""
    levels: list[Level]
    """Those that Neuro-Tron meets."""


def paper_charts(view: RunsView) -> Iterator[Chart]:
    """Yield the figures of section 4 and the appendices, as far as there are such runs."""
    if not _is_about_paper(view):
        return
    found = _columns(view)
    yield from _neuro_tron_alone(view, found)
    for column in sorted(found, key=lambda column: column.number):
        yield from _against_sgd(view, column)
    yield from _no_attack(view, found)
    yield from _outer_weights(view)
    yield from _impersonation(view)


def shown_by_paper(view: RunsView) -> set[tuple[str, str, str]]:
    """Return which settings, attacks and trainers the paper's figures show."""
    if not _is_about_paper(view):
        return set()
    columns = "setting", "attack_text", "trainer"
    runs = [_outer_weight_runs(view), _impersonated_runs(view)]
    keys = {key for table in runs for key in table.select(columns).unique().iter_rows()}
    for column in _columns(view):
        keys |= {(column.setting, ATTACK, trainer) for trainer in column.trainers.values()}
    return keys


def _is_about_paper(view: RunsView) -> bool:
    """Tell whether a study names a claim of the paper."""
    names = {*CLAIMS} & {*view.results.spec["claims"]}
    return any(CLAIMS[name].study == "paper" for name in names)


def _columns(view: RunsView) -> list[Column]:
    """Return the columns of Table 1, one per law of the paper, with its trainers and SGD."""
    found = []
    runs = table1(view.results).filter(pl.col("algorithm").is_in(COMPARED))
    for (setting, *law), group in runs.group_by("setting", *LAW, maintain_order=True):
        if (number := NUMBERS.get(tuple(law))) is not None:
            pairs = group.select("algorithm", "trainer").unique(maintain_order=True)
            levels = levels_met(group.filter(algorithm=COMPARED[0]))
            trainers = dict(pairs.iter_rows())
            found.append(Column(str(setting), group["case"][0], number, trainers, levels))
    return found


LAW = ("law_name", "law_scale", "dof")


def _figure(number: str, chart: Chart) -> Chart:
    """Return a figure of the paper, called by its number there."""
    return replace(chart, title=f"Figure {number}: {chart.title}", short_title=f"Figure {number}")


def _sweep(view: RunsView, column: Column, axis: int) -> LevelSweep | None:
    """Return the paper's sweep of a law over θ or β; if there is none, the longest sweep."""
    own = [level for level in attacked(column.levels) if level[1 - axis] == OTHER[axis]]
    chosen = own if len(own) > 1 else longest(column.levels, axis)
    if len(chosen) < 2:
        return None
    levels = with_honest(column.levels, chosen, axis)
    named = column.trainers.values()
    trainers = tuple(who for who in view.trainers(column.setting) if who in named)
    return LevelSweep(column.setting, ATTACK, axis, tuple(levels), trainers)


def _attacked(sweep: LevelSweep) -> LevelSweep:
    """Return the sweep without its honest level, because figure 6 shows attacked labels."""
    return sweep._replace(levels=tuple(attacked(sweep.levels)))


def _alone(sweep: LevelSweep, column: Column) -> LevelSweep:
    return sweep._replace(trainers=(column.trainers["neuro-tron"],))


def _neuro_tron_alone(view: RunsView, found: list[Column]) -> Iterator[Chart]:
    words = (
        ("1a", "Neuro-Tron for different bounds θ of the attack", "bound θ"),
        ("1b", "Neuro-Tron for different probabilities β", "probability β"),
    )
    for axis, (number, title, varied) in enumerate(words):
        pairs = [(_sweep(view, column, axis), column) for column in found]
        sweeps = [_alone(_attacked(sweep), column) for sweep, column in pairs if sweep is not None]
        if sweeps:
            about = (
                f"Neuro-Tron with the input laws of the paper, for several values of the {varied}."
            )
            yield _figure(number, levels_of(view, f"figure-{number}", title, sweeps, about))


def _against_sgd(view: RunsView, column: Column) -> Iterator[Chart]:
    rivals = ""
    if "first-sample-sgd" in column.trainers:
        rivals += f" The paper's SGD is '{column.trainers['first-sample-sgd']}'."
    if "sgd" in column.trainers:
        rivals += (
            f" '{column.trainers['sgd']}' is stochastic gradient descent, which the paper did not "
            "run. Where its band is wide, some of its runs went to the mirror image −w*."
        )
    for axis, letter in enumerate("ab"):
        sweep = _sweep(view, column, axis)
        if sweep is not None and len(sweep.trainers) > 1:
            what = ("bound θ", "probability β")[axis]
            number = f"{column.number}{letter}"
            chart = compare(
                view, f"figure-{number}",
                f"Neuro-Tron against SGD, {column.title} inputs, by {what}", _attacked(sweep),
                f"The trainers on the same data with {column.title} inputs, one panel per {what} "
                f"of the attack.{rivals}",
            )  # fmt: skip
            yield _figure(number, chart)


def _no_attack(view: RunsView, found: list[Column]) -> Iterator[Chart]:
    pairs = [(_sweep(view, column, 0), column) for column in found]
    sweeps = [
        _alone(sweep._replace(levels=sweep.levels[:2]), column)
        for sweep, column in pairs
        if sweep is not None and [bound for bound, _ in sweep.levels[:2]] == [0.0, 0.125]
    ]
    if sweeps:
        about = "Neuro-Tron without an attack (θ = 0) and under the smallest attack of the paper."
        chart = levels_of(view, "figure-6", "no attack, and a small one", sweeps, about)
        yield _figure("6", chart)


def _outer_weight_runs(view: RunsView) -> pl.DataFrame:
    """Return runs of the paper's step sizes in settings that differ only in their outer weights."""
    runs = comparable(view.results).filter(
        pl.col("step_size").is_in([step for _, step in OUTER_WEIGHTS]), attack=ATTACK
    )
    return runs.filter(pl.col("outer_weights").n_unique().over(COMPARABLE) > 1)


def _outer_weights(view: RunsView) -> Iterator[Chart]:
    keys = ["setting", "trainer", "outer_weights", "step_size"]
    arms = _outer_weight_runs(view).select(keys).unique(maintain_order=True).iter_rows()
    ordered = sorted(arms, key=lambda arm: (OUTER_WEIGHTS.get(arm[2:], 2), arm[2]))
    panels, sweeps = [], []
    for setting, trainer, weight, step in ordered:
        sweep = next(sweep for sweep in view.sweeps(setting) if sweep.attack == ATTACK)
        as_run = "as published" if (weight, step) in OUTER_WEIGHTS else "not in the paper"
        title = f"q = {weight:g}, η = {step:g} ({as_run})"
        sweeps.append(sweep._replace(trainers=(trainer,)))
        panels.append(panel_of_levels(view, title, sweeps[-1], OF_ALGORITHM["neuro-tron"]))
    if panels:
        about = (
            "Neuro-Tron with all outer weights q = 1 or q = 10. The paper compares q = 1 and "
            f"η = 1e-4 with q = 10 and η = 2e-5.{settings_said(view, sweeps)[0]} A line that "
            "ends early belongs to runs that diverged."
        )
        settings = [sweep.setting for sweep in sweeps]
        title = "heavier outer weights"
        yield _figure("7", over_steps(view, "figure-7", title, about, panels, settings))


def _impersonated_runs(view: RunsView) -> pl.DataFrame:
    return view.results.runs.filter(attack="impersonation")


def _impersonation(view: RunsView) -> Iterator[Chart]:
    """Yield the distances to the true filter and to the one that an attacker impersonates."""
    panels, settings = [], []
    runs = _impersonated_runs(view)
    for (setting, trainer), group in runs.group_by("setting", "trainer", maintain_order=True):
        chances = sorted(group["probability"].unique())
        look = view.styles[str(trainer)]
        lines = [
            _distances(group, chances, "distance", "to w_adv, the attacker's", PLAIN),
            _distances(group, chances, "error", f"to w*, the true one ({trainer})", look),
        ]
        ticks = tuple(f"β = {chance:g}" for chance in chances)
        panels.append(Panel(str(trainer), tuple(lines), ticks))
        settings.append(str(setting))
    if panels:
        over = view.replicates(settings)
        yield Chart(
            "section-3-5", "Section 3.5: labels of another filter",
            "With probability β, the attacker replaces a label by the label of another filter "
            "w_adv. At β = 1 all labels belong to w_adv, and no trainer can know of w*. "
            f"Points are medians of the final distances over {over}, and bars are their 95 % "
            "bootstrap intervals.",
            "probability β of the attack", "distance of the final weights", tuple(panels),
            f"medians of {over}, bars: 95 % intervals", x_log=False, short_title="Section 3.5",
        )  # fmt: skip


def _distances(
    runs: pl.DataFrame, chances: list[float], column: str, name: str, style: Style
) -> Line:
    found = [
        bootstrap(runs.filter(probability=chance)[column].fill_nan(np.inf).to_numpy())
        for chance in chances
    ]
    y, low, high = np.maximum(np.array(found, dtype=np.float64).T, SMALLEST)
    finite = np.isfinite(y)
    x = np.arange(len(y), dtype=np.float64)
    return Line(name, x[finite], y[finite], style, low[finite], high[finite])
