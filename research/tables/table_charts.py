"""Charts, tables and headline of the study of public tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from table_results import CASE, Damages, percent

from neurotron.lab import Chart, Headline, Line, Panel, Results, TextTable
from neurotron.lab.figures.styles import Style, styles

OWN = ("neuro-tron", "refined-tron")
"""Trainers whose colours the package's own methods have."""
BESIDE = 0.7
"""How much of the room between two ticks the methods take up, beside each other."""


def charts(results: Results) -> list[Chart]:
    """Return every chart of the study: one for each share of attacked labels."""
    damages = Damages(results)
    summary = damages.summary
    shares = sorted(set(summary.filter(pl.col("attack") != "none")["probability"]))
    return [chart for share in shares for chart in _of_share(damages, summary, share)]


def _of_share(results: Damages, summary: pl.DataFrame, share: float) -> Iterator[Chart]:
    chosen = summary.filter((pl.col("probability") == share) | (pl.col("attack") == "none"))
    chosen = chosen.filter(pl.col("damage").is_finite())
    methods = [name for name in results.texts if name in set(chosen["method"])]
    own = iter(OWN)
    looks = styles(
        (name, next(own, name) if results.texts[name].startswith("neurotron") else name)
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


def compared(found: Results) -> TextTable:
    """Return the median damages: one row per table, attack and share, one column per method."""
    results, rows = Damages(found), []
    for (setting, attack, shift, share), group in results.summary.group_by(
        CASE, maintain_order=True
    ):
        by_method = dict(group.select("method", "damage").rows())
        cells = [_signed(by_method[one]) if one in by_method else "" for one in results.texts]
        rows.append((results.titles[str(setting)], _words(str(attack), shift, several=True), share,
                     *cells))  # fmt: skip
    return TextTable(
        "damages", "What attacks cost", ("table", "attack", "β", *results.texts), rows,
        f"Median damage in per cent. {MEANING}", on_terminal=False,
    )  # fmt: skip


MEANING = (
    "The damage is the error on honest test labels (root mean square) divided by that of least "
    "squares without an attack, minus one. The medians are over random splits of each table."
)


def _signed(share: float) -> str:
    """Return a damage in per cent, with a minus sign for eyes."""
    return percent(share).replace("-", "−").replace("inf", "∞")


def headline(found: Results) -> Headline:
    """Return in one sentence what attacks cost the first method, and where it is defeated.

    It is about the largest share of attacked labels, and names the table with the largest damage.
    """
    results = Damages(found)
    summary = results.summary
    if summary.is_empty():
        return Headline("No fits have been computed yet.")
    leads = pl.concat(
        [summary.filter(setting=setting, method=lead) for setting, lead in results.leads.items()]
    )
    attacked = leads.filter(pl.col("attack") != "none")
    clean = leads.filter(attack="none")
    parts = []
    if len(clean):
        prices = {row["setting"]: row["damage"] for row in clean.to_dicts()}
        parts.append(f"without an attack, {_name(results)} has {_price(results, prices)}")
    if len(attacked):
        share = max(attacked["probability"])
        most = attacked.filter(probability=share)
        worst = most.row(int(np.argmax(most["damage"].to_numpy())), named=True)
        parts.append(
            f"with {100.0 * share:g} % of the labels attacked, the median over {len(most)} cases "
            f"is {_signed(float(np.median(most['damage'].to_numpy())))} %, but it is "
            f"{_signed(worst['damage'])} % on {results.titles[worst['setting']]} under "
            f"{worst['attack'].replace('-', ' ')}"
        )
    sentence = "; ".join(parts)
    figures = tuple(f"damage-{share:g}" for share in sorted(set(attacked["probability"]))[::-1])
    return Headline(f"{sentence[:1].upper()}{sentence[1:]}.", MEANING, figures)


def _price(results: Damages, prices: dict[str, float]) -> str:
    """Return the largest damage without an attack, and the table that stands out, if one does."""
    *others, worst = sorted(prices, key=lambda setting: prices[setting])
    damage = f"{_signed(prices[worst])} % damage"
    if others and prices[worst] > 2.0 * max(0.0, most := prices[others[-1]]):
        return (
            f"at most {_signed(most)} % damage on {len(others)} table"
            f"{'s' if len(others) > 1 else ''} and {_signed(prices[worst])} % on "
            f"{results.titles[worst]}"
        )
    return f"at most {damage} on {len(prices)} tables" if others else damage


def _name(results: Damages) -> str:
    """Return what the first methods of the tables are called."""
    return next(iter(results.leads.values()))
