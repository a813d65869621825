"""What the page of a study of public tables says, as plain values for its template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron.lab.figures.chart import Chart
from neurotron.lab.report.content import first, of_any
from neurotron.lab.report.headline import Headline
from neurotron.lab.results.damage_summary import percent, standing, summarise_damages
from neurotron.lab.results.damages import CASE, SHIFTS

if TYPE_CHECKING:
    from neurotron.lab.claims import Judgement
    from neurotron.lab.results.damages import Damages

__all__ = ["headline", "page"]

MEANING = (
    "The damage is the error on honest test labels (root mean square) divided by that of least "
    "squares without an attack, minus one. The medians are over random splits of each table."
)


def page(results: Damages, judgements: list[Judgement], charts: list[Chart]) -> dict[str, Any]:
    """Return the content of the page, except its figures and style."""
    methods = [*results.spec["methods"]]
    return of_any(results, judgements, charts) | {
        "headline": headline(results),
        "methods": methods,
        "shifts": SHIFTS,
        "several_shifts": results.fits.filter(pl.col("shift") > 0.0)["shift"].n_unique() > 1,
        "comparison": first(_comparison(results, methods)),
    }


def _comparison(results: Damages, methods: list[str]) -> list[dict[str, Any]]:
    """Return the median damages: one row per table, attack and share, one cell per method."""
    rows = []
    for (setting, attack, shift, share), group in summarise_damages(results).group_by(
        CASE, maintain_order=True
    ):
        by_method = {row["method"]: row for row in group.to_dicts()}
        cells = [
            {
                "text": _signed(by_method[name]["damage"]),
                "kind": "lead"
                if name == results.leads[str(setting)]
                else standing(by_method[name]),
            }
            if name in by_method
            else {"text": "", "kind": ""}
            for name in methods
        ]
        rows.append(
            {
                "setting": results.titles[str(setting)],
                "attack": str(attack).replace("-", " "),
                "shift": shift,
                "share": share,
                "cells": cells,
            }
        )
    return rows


def _signed(share: float) -> str:
    """Return a damage in per cent, with a minus sign for eyes."""
    return percent(share).replace("-", "−").replace("inf", "∞")


def headline(results: Damages) -> Headline:
    """Return in one sentence what attacks cost the first method, and where it is defeated.

    It is about the largest share of attacked labels, and names the table with the largest damage.
    """
    summary = summarise_damages(results)
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
