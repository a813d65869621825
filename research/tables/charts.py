"""Charts of a study of public tables: the errors of all methods under every attack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from neurotron.lab.figures.chart import Chart, Line, Panel
from neurotron.lab.figures.styles import Style, styles
from neurotron.lab.results.damage_summary import summarise_damages
from neurotron.lab.results.damages import Damages

__all__ = ["tables_charts"]

OWN = ("neuro-tron", "refined-tron")
"""Trainers whose colours the package's own methods have."""
BESIDE = 0.7
"""How much of the room between two ticks the methods take up, beside each other."""


def tables_charts(results: Damages) -> list[Chart]:
    """Return every chart of a study of public tables: one for each share of attacked labels."""
    summary = summarise_damages(results)
    shares = sorted(set(summary.filter(pl.col("attack") != "none")["probability"]))
    return [chart for share in shares for chart in _of_share(results, summary, share)]


def _of_share(results: Damages, summary: pl.DataFrame, share: float) -> Iterator[Chart]:
    chosen = summary.filter((pl.col("probability") == share) | (pl.col("attack") == "none"))
    chosen = chosen.filter(pl.col("damage").is_finite())
    methods = [name for name in results.spec["methods"] if name in set(chosen["method"])]
    own = iter(OWN)
    looks = styles(
        (name, next(own, name) if results.spec["methods"][name].startswith("neurotron") else name)
        for name in methods
    )
    panels = []
    for (setting,), group in chosen.group_by("setting", maintain_order=True):
        cases = [*dict.fromkeys(group.select("attack", "shift").rows())]
        several = len({attack for attack, _ in cases}) < len(cases)
        ticks = tuple(_words(*case, several=several) for case in cases)
        lines = tuple(_lines(group, cases, methods, looks))
        panels.append(Panel(results.titles[str(setting)], lines, ticks))
    chart = Chart(
        f"damage-{share:g}",
        f"Errors with β = {share:g} of the labels attacked",
        "The error on honest test labels divided by the clean error, which is that of least "
        f"squares without an attack, with the share β = {share:g} of the labels attacked. Points "
        "are medians over splits, and bars are their 95 % intervals; of fewer than six splits, "
        "they end at the largest.",
        "attack",
        "error / clean error",
        tuple(panels),
        f"β = {share:g}; bars: 95 % intervals of medians over splits",
        x_log=False,
        reference=1.0,
        short_title=f"Damage, β = {share:g}",
    )
    if not chart.is_empty:
        yield chart


def _lines(
    group: pl.DataFrame,
    cases: Sequence[tuple[str, float]],
    methods: Sequence[str],
    looks: dict[str, Style],
) -> Iterator[Line]:
    here = [name for name in methods if name in set(group["method"])]
    for place, method in enumerate(here):
        rows = group.filter(method=method)
        numbers = rows.select("damage", "damage_low", "damage_high", "largest").to_numpy()
        middle, low, high, largest = 1.0 + numbers.T
        x = np.array([cases.index(case) for case in rows.select("attack", "shift").rows()], float)
        x += BESIDE * ((place + 0.5) / len(here) - 0.5)
        # few splits have no interval
        low, high = np.where(np.isfinite(low), low, middle), np.minimum(high, largest)
        yield Line(method, x, middle, looks[method], low, high, joined=False)


def _words(attack: str, shift: float, *, several: bool) -> str:
    """Return the name of an attack, with its shift if there are several of that name."""
    words = attack.replace("-", " ")
    return f"{words}, {shift:g} sd" if several and shift else words
