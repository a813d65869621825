"""The chart of a study of unseen tables: damages of all methods under all attacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from unseen_results import Unseen

from neurotron.lab import Chart, Line, Panel, Results
from neurotron.lab.figures.styles import styles

LEAST = 1e-3
"""Damages are drawn on a logarithmic scale from here on."""


def charts(results: Results) -> Iterator[Chart]:
    """Yield the medians over tables of the median damages, with a panel for each share."""
    unseen = Unseen(results)
    keys = ("attack", "shift", "probability")
    medians = unseen.cells.group_by(*keys, "method", maintain_order=True).agg(
        pl.col("damage").median()
    )
    looks = styles((name, name) for name in unseen.texts)
    panels = []
    for (share,), group in medians.group_by("probability", maintain_order=True):
        cases = [*dict.fromkeys(group.select("attack", "shift").rows())]
        lines = []
        for (method,), rows in group.group_by("method", maintain_order=True):
            x = [cases.index(case) for case in rows.select("attack", "shift").rows()]
            y = np.maximum(rows["damage"].to_numpy(), LEAST)
            lines.append(Line(str(method), np.array(x, float), y, looks[str(method)], joined=False))
        ticks = tuple(f"{name.replace('-', ' ')} {size:g}" if size else name.replace("-", " ")
                      for name, size in cases)  # fmt: skip
        panels.append(Panel(f"β = {share:g}", tuple(lines), ticks))
    chart = Chart(
        "damages",
        "Damages on unseen tables",
        "The error on honest test labels divided by that of least squares without an attack, minus "
        f"one; smaller damages are drawn at {LEAST:g}. Points are medians over tables of the "
        "medians over splits.",
        "attack",
        "damage",
        tuple(panels),
        "medians over tables",
        x_log=False,
        short_title="Damages",
    )
    if not chart.is_empty:
        yield chart
