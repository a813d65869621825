"""Charts of a study of rows: how many rows are enough, and what noise costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from row_results import ENOUGH, Fits
from row_solvers import NAMES, Array

from neurotron.lab import Chart, Headline, Line, Panel, Results, TextTable, median
from neurotron.lab.figures.styles import Style, styles


def charts(results: Results) -> list[Chart]:
    """Return every chart of the study."""
    fits = Fits(results)
    return [*_needed(fits), *_noise(fits)]


def needed(results: Results) -> TextTable:
    """Return how many rows are enough: one row per setting, solver and attack, by β."""
    fits = Fits(results)
    smallest = fits.smallest.filter(pl.col("setting").is_in(fits.walked()))
    betas = sorted(set(smallest["probability"]))
    found: dict[tuple[str, ...], dict[float, float | None]] = {}
    for row in smallest.iter_rows(named=True):
        key = (fits.titles[row["setting"]], NAMES[row["solver"]], row["attack"])
        found.setdefault(key, {})[row["probability"]] = row["smallest"]
    rows = [(*key, *(by.get(beta, "") for beta in betas)) for key, by in found.items()]
    return TextTable(
        "needed", "How many rows are enough",
        ("setting", "solver", "attack", *(f"β = {beta:g}" for beta in betas)), rows,
        "The smallest number of rows N for each of the r weights from which on the filter is found "
        "exactly in at least 95 % of the problems, by the share β of labels that are tampered "
        "with. A dash says that the largest number that was tried is not enough.",
    )  # fmt: skip


def compared(results: Results) -> TextTable:
    """Return in how many problems each solver finds the filter exactly, on the same rows."""
    fits = Fits(results)
    rows = [
        (fits.titles[row["setting"]], row["attack"], row["probability"], NAMES[row["solver"]],
         row["solved"], row["problems"])
        for row in fits.shares.filter(~pl.col("setting").is_in(fits.walked())).to_dicts()
    ]  # fmt: skip
    return TextTable(
        "compared", "All solvers on the same rows",
        ("setting", "attack", "β", "solver", "solved", "of"), rows, on_terminal=False,
    )  # fmt: skip


EXACTLY = (
    "The filter is found exactly if its error ‖w − w*‖ is at most 1e-10 of ‖w*‖. A problem that is "
    "solved at two successive numbers of rows counts as solved at all larger ones."
)


def headline(results: Results) -> Headline:
    """Return in one sentence how many rows were enough, and where none were."""
    fits = Fits(results)
    smallest = fits.smallest.filter(pl.col("setting").is_in(fits.walked()), solver="solve")
    found = smallest["smallest"].drop_nulls().to_list()
    if not found:
        return Headline(f"{len(fits.fits):,} fits to stored rows were computed.", EXACTLY)
    sentence = (
        f"nt.solve found the filter exactly from {min(found):g} to {max(found):g} rows for each "
        f"weight under {len(found)} of {len(smallest)} attacks on stored rows"
    )
    lost = len(smallest) - len(found)
    sentence += f"; under {lost}, no number of rows that was tried was enough" if lost else ""
    return Headline(f"{sentence}.", EXACTLY, ("rows-needed", "noise"))


def _needed(results: Fits) -> Iterator[Chart]:
    """Yield the shares of problems that are solved, over the numbers of rows, at the largest β."""
    shares = results.shares.filter(pl.col("setting").is_in(results.walked()), solver="solve")
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
    looks = styles((NAMES[name], name) for name in dict.fromkeys(ratios["solver"]))
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
        name = NAMES[str(solver)]
        yield Line(name, _places(sizes, x.tolist()), y, looks[name], low, high)


def _places(ticks: Sequence[float], values: Sequence[float]) -> Array:
    """Return the places of values among the ticks."""
    return np.array([ticks.index(value) for value in values], np.float64)
