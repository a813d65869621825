"""What the page of a study of public tables says, as plain values for its template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron.figures.chart import Chart
from neurotron.report.content import first, of_any
from neurotron.report.headline import Headline
from neurotron.results.damage_summary import percent, standing, summarise_damages
from neurotron.results.damages import CASE

if TYPE_CHECKING:
    from neurotron.claims import Judgement
    from neurotron.results.damages import Damages

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
                "attack": str(attack).replace("-", " ") + (f", {shift:g} sd" if shift else ""),
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
        prices = clean["damage"].to_numpy()
        parts.append(
            f"without an attack, {_name(results)} has a median damage of at most "
            f"{_signed(prices.max())} % on {len(clean)} table{'s' if len(clean) != 1 else ''}"
        )
    if len(attacked):
        share = max(attacked["probability"])
        most = attacked.filter(probability=share)
        worst = most.row(int(np.argmax(most["damage"].to_numpy())), named=True)
        parts.append(
            f"with {100.0 * share:g} % of the labels attacked it is "
            f"{_signed(float(np.median(most['damage'].to_numpy())))} % in the middle of "
            f"{len(most)} cases, and {_signed(worst['damage'])} % on "
            f"{results.titles[worst['setting']]} under {worst['attack'].replace('-', ' ')}"
        )
    sentence = "; ".join(parts)
    figures = tuple(f"damage-{share:g}" for share in sorted(set(attacked["probability"]))[::-1])
    return Headline(f"{sentence[:1].upper()}{sentence[1:]}.", MEANING, figures)


def _name(results: Damages) -> str:
    """Return what the first methods of the tables are called."""
    return next(iter(results.leads.values()))
