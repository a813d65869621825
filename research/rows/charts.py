"""Charts of a study of rows: how many rows are enough, and what noise costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from neurotron._types import Array
from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.styles import Style, styles
from neurotron.lab.results.fits import ENOUGH, Fits
from neurotron.lab.results.needed import walked
from neurotron.lab.results.summary import median
from neurotron.lab.studies.rows_spec import SOLVERS

__all__ = ["rows_charts"]


def rows_charts(results: Fits) -> list[Chart]:
    """Return every chart of a study of rows."""
    return [chart for chart in (*_needed(results), *_noise(results)) if not chart.is_empty]


def _needed(results: Fits) -> Iterator[Chart]:
    """Yield the shares of problems that are solved, over the numbers of rows, at the largest β."""
    shares = results.shares.filter(pl.col("setting").is_in(walked(results)), solver="solve")
    if not len(shares):
        return
    most = max(shares["probability"])
    chosen = shares.filter(probability=most)
    looks = styles((attack, attack) for attack in dict.fromkeys(chosen["attack"]))
    panels = []
    for (setting,), group in chosen.group_by("setting", maintain_order=True):
        ratios = sorted(set(group["rows_per_weight"]))
        lines = [
            Line(str(attack), _places(ratios, rows["rows_per_weight"].to_list()),
                 (rows["solved"] / rows["problems"]).to_numpy(), looks[str(attack)])
            for (attack,), rows in group.group_by("attack", maintain_order=True)
        ]  # fmt: skip
        ticks = tuple(f"{ratio:g}" for ratio in ratios)
        panels.append(Panel(results.titles[str(setting)], tuple(lines), ticks))
    yield Chart(
        "rows-needed",
        f"How many rows are enough with β = {most:g}",
        "The share of the problems in which nt.solve finds the filter exactly, over the number of "
        f"rows N for each of the r weights, with the share β = {most:g} of the labels tampered "
        f"with. The line is at {100.0 * ENOUGH:g} %.",
        "rows for each weight, N/r",
        "share solved exactly",
        tuple(panels),
        f"β = {most:g}; line: {100.0 * ENOUGH:g} %",
        x_log=False,
        y_log=False,
        y_range=(-0.04, 1.04),
        reference=ENOUGH,
        short_title="Rows needed",
    )


def _noise(results: Fits) -> Iterator[Chart]:
    """Yield ratios of errors over the size of the attack, for each number of rows."""
    ratios = results.ratios.filter(pl.col("probability") > 0.0)
    if not len(ratios):
        return
    most = max(ratios["probability"])
    looks = styles((SOLVERS[name], name) for name in dict.fromkeys(ratios["solver"]))
    for (many,), chosen in ratios.filter(probability=most).group_by(
        "rows_per_weight", maintain_order=True
    ):
        sizes = sorted(set(chosen["size"]))
        ticks = tuple(f"{size:g}" for size in sizes)
        panels = [
            Panel(str(attack), tuple(_ratio_lines(group, sizes, looks)), ticks)
            for (attack,), group in chosen.group_by("attack", maintain_order=True)
        ]
        yield Chart(
            f"noise-{many:g}",
            f"What noise costs with N/r = {many:g} and β = {most:g}",
            "The error divided by that of least squares on the honest rows, which starts at the "
            "true filter, over the bound θ of the attack in standard deviations ς of the honest "
            f"noise. N/r = {many:g} rows for each weight, and the share β = {most:g} of the labels "
            "is attacked. Lines are medians, and bars go from the smallest to the largest of "
            f"{chosen['replicate'].n_unique()} networks.",
            "bound of the attack, θ/ς",
            "error / error of least squares on honest rows",
            tuple(panels),
            f"N/r = {many:g}, β = {most:g}; bars: range over networks",
            interval="range over networks",
            reference=1.0,
            x_log=False,
            short_title=f"Noise, N/r = {many:g}",
        )


def _ratio_lines(
    group: pl.DataFrame, sizes: Sequence[float], looks: dict[str, Style]
) -> Iterator[Line]:
    for (solver,), rows in group.group_by("solver", maintain_order=True):
        points = [
            (size, float(median(values)), values.min(), values.max())
            for size in sizes
            if len(values := rows.filter(size=size)["ratio"].to_numpy())
        ]
        x, y, low, high = np.array(points, np.float64).T
        name = SOLVERS[str(solver)]
        yield Line(name, _places(sizes, x.tolist()), y, looks[name], low, high)


def _places(ticks: Sequence[float], values: Sequence[float]) -> Array:
    """Return the places of values among the ticks."""
    return np.array([ticks.index(value) for value in values], np.float64)
