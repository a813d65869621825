"""Claims about tables on which nothing was chosen: what attacks cost, and what is said of labels.

Fits of one table are not independent, so that intervals are bootstrap intervals over tables.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from table_results import middle
from unseen_results import HURT, Unseen

from neurotron._digits import Notation
from neurotron.lab import Claim, Finding, Results, bootstrap
from neurotron.lab.claims.effects import Phrase, percent
from neurotron.lab.claims.model import above, at_least, at_most

UNTOLD = "share="
"""What stands in the text of a method that is told the share of tampered labels."""
DEFEATED = 0.2
"""The damage from which on a fit counts as defeated."""
RARELY = {0.3: 0.02, 0.4: 0.02, 0.45: 0.05}
"""The largest share of defeated fits, by the share of labels that are shifted."""
SMALL = 4.0
"""Shifts of up to this many standard deviations hide in the noise if nearly half are shifted."""
PRICE, MOST = 0.01, 0.12
"""The largest median cost of a clean table, and the largest cost of a clean split."""
WARNED, HELD, DISTRUSTED = 0.85, 0.9, 0.05
SEEN = ("shift", "other-model", "unit")
"""Attacks whose share of labels the interval should hold."""


def _better(results: Results, *, told: bool) -> list[Finding]:
    """Compare with each rival, cell by cell: a cell is a table with an attack."""
    unseen, findings = Unseen(results), []
    for rival, text in unseen.texts.items():
        if rival == unseen.lead or (UNTOLD in text) is not told:
            continue
        tables = unseen.standings(rival)
        if tables.is_empty():
            continue
        better, worse = int(tables["better"].sum()), int(tables["worse"].sum())
        margin = bootstrap((tables["better"] - tables["worse"]).to_numpy().astype(float), np.mean)
        measure = (
            "cells of a table in which the first method has at least 2 points less damage, minus "
            f"those in which it has more, mean over tables (above 0); in all {better} and {worse} "
            f"of {int(tables['cells'].sum())}"
        )
        findings.append(
            Finding.of(rival, measure, margin, len(tables), holds=above(0.0, margin), count=better,
                       total=better + worse)
        )  # fmt: skip
    return findings


def _warned(results: Results) -> list[Finding]:
    """Count how often a fit that is hurt is distrusted."""
    unseen = Unseen(results)
    hurt = unseen.mine.filter(pl.col("damage") > HURT)
    measure = f"share of fits with damage above {HURT:g} that are distrusted (at least {WARNED:g})"
    return _share(hurt, pl.col("distrusted"), "fits that are hurt", measure, at_least, WARNED)


def _held(results: Results) -> list[Finding]:
    """Count how often the 95 % interval of the fraction holds the true one, by attack."""
    truth = pl.col("tampered") / pl.col("rows")
    held = (pl.col("low") <= truth) & (truth <= pl.col("high"))
    mine = Unseen(results).mine.filter(pl.col("attack").is_in(SEEN))
    findings = []
    for (attack, size), fits in mine.group_by("attack", "shift", maintain_order=True):
        case = f"{str(attack).replace('-', ' ')}, {size:g}" if size else str(attack)
        measure = f"share of intervals that hold the true fraction (at least {HELD:g})"
        findings += _share(fits, held, case, measure, at_least, HELD)
    return findings


def _defeated(results: Results) -> list[Finding]:
    """Count the fits of large shifts that are defeated."""
    large = Unseen(results).mine.filter(pl.col("shift") > SMALL)
    findings = []
    for (size, beta), fits in large.group_by("shift", "probability", maintain_order=True):
        limit = RARELY[float(beta)]  # type: ignore[arg-type]
        measure = f"share of fits with damage above {DEFEATED:g} (at most {limit:g})"
        case = f"{size:g} standard deviations, β = {beta:g}"
        findings += _share(fits, pl.col("damage") > DEFEATED, case, measure, at_most, limit)
    return findings


def _prices(results: Results) -> list[Finding]:
    """Take the damage without an attack, table by table."""
    findings = []
    for (setting,), fits in Unseen(results).mine.group_by("setting", maintain_order=True):
        price = middle(fits["damage"].to_numpy())
        measure = f"median damage without an attack (at most {PRICE:g})"
        title = results.titles[str(setting)]
        holds = at_most(PRICE, price)
        findings.append(Finding.of(title, measure, price, len(fits), holds=holds))
    return findings


def _largest_price(results: Results) -> list[Finding]:
    """Take the largest damage without an attack, over all tables and splits."""
    largest = Unseen(results).mine.group_by("setting").agg(pl.col("damage").max())
    if largest.is_empty():
        return []
    row = largest.sort("damage").row(-1, named=True)
    found = bootstrap(largest["damage"].to_numpy(), np.max)
    measure = f"largest damage of a split without an attack (at most {MOST:g})"
    case = f"all tables; the largest is on {results.titles[row['setting']]}"
    holds = row["damage"] <= MOST
    return [Finding.of(case, measure, found, len(largest), holds=holds, worst=row["damage"])]


def _alarms(results: Results) -> list[Finding]:
    """Count the tables with suspects in at least two splits; there should be at most one."""
    tables = (
        Unseen(results)
        .mine.group_by("setting", maintain_order=True)
        .agg(alarms=(pl.col("suspects") > 0).sum())
    )
    if tables.is_empty():
        return []
    several = tables.filter(pl.col("alarms") >= 2)
    named = ", ".join(results.titles[name] for name in several["setting"]) or "none"
    share = bootstrap((tables["alarms"] >= 2).to_numpy().astype(float), np.mean)
    measure = f"share of tables with suspects in two splits or more (at most one table): {named}"
    return [
        Finding.of("all tables", measure, share, len(tables), holds=len(several) <= 1,
                   count=len(several), total=len(tables))
    ]  # fmt: skip


def _trusted(results: Results) -> list[Finding]:
    """Count the clean splits that are distrusted."""
    measure = f"share of clean splits that are distrusted (at most {DISTRUSTED:g})"
    return _share(
        Unseen(results).mine, pl.col("distrusted"), "all tables", measure, at_most, DISTRUSTED
    )


def _share(
    fits: pl.DataFrame, holds: pl.Expr, case: str, measure: str,
    asked: Callable[..., bool | None], limit: float,
) -> list[Finding]:  # fmt: skip
    """Return the share of fits in which something holds; the interval is over tables."""
    if fits.is_empty():
        return []
    tables = fits.group_by("setting", maintain_order=True).agg(holds.sum().alias("count"), pl.len())
    counts, totals = tables["count"].to_numpy(), tables["len"].to_numpy()

    def ratio(places: np.ndarray, axis: int) -> np.ndarray:
        chosen = places.astype(int)
        return counts[chosen].sum(axis=axis) / totals[chosen].sum(axis=axis)

    found = bootstrap(np.arange(len(tables), dtype=float), ratio)
    return [
        Finding.of(case, measure, found, len(tables), holds=asked(limit, found),
                   count=int(counts.sum()), total=int(totals.sum()))
    ]  # fmt: skip


# ---- the records

CELLS = Notation(" cells", 2, 0, (0.0,))
DAMAGE = Notation(" %", 2, 2, (0.0, PRICE, MOST))

more_often_better = Claim(
    "more-often-better-than-untold-rivals",
    "Over all tables and attacks, `NeuroTronRegressor` has less damage by 2 points more often than "
    "it has more, compared with each rival that is not told the share of tampered labels.",
    lambda results: _better(results, told=False),
    short="More often better than each rival not told β",
    phrase=Phrase("{} of a table", CELLS, noun="rivals"),
    figures=("damages",),
)
as_often_better_as_told = Claim(
    "more-often-better-than-trim-that-is-told",
    "Over all tables and attacks, `NeuroTronRegressor` has less damage by 2 points more often than "
    "it has more, compared with TRIM that is told the share of tampered labels.",
    lambda results: _better(results, told=True),
    short="More often better than TRIM that is told β",
    phrase=Phrase("{} of a table", CELLS, noun="rivals"),
    figures=("damages",),
)
warned_where_hurt = Claim(
    "warned-where-hurt",
    "At least 85 % of the fits with more than 10 % damage are distrusted by their diagnosis.",
    _warned,
    short="Fits that are hurt are distrusted",
    phrase=Phrase("{count} of {total} fits that are hurt are distrusted"),
)
interval_holds_the_share = Claim(
    "interval-holds-the-share",
    "At least 90 % of the 95 % intervals of the fraction of tampered labels hold it, for shifts, "
    "another model and wrong units.",
    _held,
    short="Intervals of the fraction hold it",
    phrase=Phrase("{} of the intervals", percent(HELD), noun="attacks"),
)
shifts_rarely_defeat = Claim(
    "shifts-rarely-defeat",
    "Shifts of more than four standard deviations leave more than 20 % damage in at most 2 % of "
    "the fits with 40 % of the labels shifted, and in at most 5 % with 45 %.",
    _defeated,
    short="Large shifts below one half rarely defeat it",
    phrase=Phrase("{} of the fits are defeated", percent(*RARELY.values()), noun="shifts"),
    figures=("damages",),
)
clean_tables_cost_little = Claim(
    "clean-tables-cost-little",
    "Without an attack, `NeuroTronRegressor` has an error at most 1 % above that of least squares "
    "in the median over splits, on each table.",
    _prices,
    short="Clean tables cost at most 1 %",
    phrase=Phrase("{} over least squares", DAMAGE, noun="tables"),
    figures=("damages",),
)
no_clean_split_is_costly = Claim(
    "no-clean-split-is-costly",
    "Without an attack, `NeuroTronRegressor` has an error at most 12 % above that of least squares "
    "on every split of every table.",
    _largest_price,
    short="No clean split costs more than 12 %",
    phrase=Phrase("{most} over least squares on the worst split", DAMAGE),
    figures=("damages",),
)
clean_tables_have_no_suspects = Claim(
    "clean-tables-have-no-suspects",
    "At most one of the clean tables has suspects in two splits or more.",
    _alarms,
    short="Clean tables have no suspects",
    phrase=Phrase("{count} of {total} tables have suspects"),
)
clean_tables_are_trusted = Claim(
    "clean-tables-are-trusted",
    "At most 5 % of the clean splits are distrusted.",
    _trusted,
    short="Clean tables are trusted",
    phrase=Phrase("{count} of {total} clean splits are distrusted"),
)
