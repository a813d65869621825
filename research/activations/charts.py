"""Measured errors as parts of the certified ones, activation by activation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from research.activations.activations import ATTACKED, BOUNDED, shown
from research.conditions import conditions_but

from neurotron.lab import Results, bootstrap
from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.styles import Style, styles
from neurotron.lab.figures.view import RunsView, select_at_most
from neurotron.lab.training.runs import Runs
from neurotron.lab.training.summary import certified

MOST_PANELS = 6


def by_activation(results: Results) -> Iterator[Chart]:
    """Yield the chart of a study that certifies attacked runs with several activations."""
    view = RunsView(Runs.of(results))
    runs = certified(view.results).filter(ATTACKED, BOUNDED)
    alike: dict[Any, dict[str, Any]] = {}
    of_network = runs.select("setting", "architecture", "outer_weights", "activation", "leak")
    for name, *network, activation, leak in of_network.unique(maintain_order=True).iter_rows():
        one = view.results.settings[name]
        same = *network, *conditions_but(one, "network")
        alike.setdefault(same, {})[shown(activation, leak)] = one
    several = [group for group in alike.values() if len(group) > 1]
    chosen, left_out = select_at_most("laws", several, MOST_PANELS)
    if chosen:
        looks = styles((attack, "") for attack in runs["attack"].unique(maintain_order=True))
        names = [one["name"] for group in chosen for one in group.values()]
        over = view.replicates(names)
        yield Chart(
            "activations", "Measured and certified errors by activation",
            "The measured error under attack divided by the root mean square error that was "
            "certified before training, with several activations of the same networks. Points are "
            f"root mean squares over {over}, {view.what_is_their_own(names)}; bars are their 95 % "
            "bootstrap intervals. At 1 the certificate could not be smaller, and above 1 it would "
            f"be wrong.{left_out}",
            "", "measured / certified error", tuple(_panel(runs, it, looks) for it in chosen),
            f"root mean squares over {over}, bars: 95 % intervals", x_log=False, y_log=False,
            reference=1.0,
        )  # fmt: skip


def _panel(runs: pl.DataFrame, group: dict[str, Any], looks: dict[str, Style]) -> Panel:
    """Return the points of every attack."""
    beside = 0.14 * (np.arange(len(looks)) - 0.5 * (len(looks) - 1))  # not on each other
    parts = runs.with_columns(part=pl.col("error") / pl.col("root_mean_square"))
    lines = []
    for (attack, look), offset in zip(looks.items(), beside, strict=True):
        points = []
        for i, one in enumerate(group.values()):
            part = parts.filter(setting=one["name"], attack=attack)["part"].to_numpy()
            if part.size:
                points.append((i + offset, *np.sqrt(bootstrap(part**2, np.mean))))
        if points:
            x, y, low, high = np.array(points).T
            lines.append(Line(attack, x, y, look, low, high, joined=False))
    law = next(iter(group.values()))["law"]
    return Panel(law, tuple(lines), tuple(group))
