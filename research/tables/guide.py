"""The tables of docs/tables.md, which ``python -m research.pages`` writes from docs/evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from research import pages
from research.pages import markdown
from research.tables.table_results import NUMBERS, standing

OURS, CONVOLUTION, HUBER, TOLD = "NeuroTron", "NeuroTron, convolution", "Huber", "TRIM, told β"
KEYS = ("setting", "attack", "shift", "probability", "splits", "mixtures")
CELL = "cell"
"""The simulated table, which has one more method and a table of its own."""


def stored() -> pl.DataFrame:
    """Return the stored summary, one row for each table, attack, share and method, in per cent."""
    wide = pages.table("tables")
    parts = []
    for method in (name.removeprefix("damage: ") for name in wide.columns if name[:7] == "damage:"):
        chosen = {f"{number}: {method}": number for number in NUMBERS}
        part = wide.select(*KEYS, pl.lit(method).alias("method"), *chosen).rename(chosen)
        parts.append(part.cast(dict.fromkeys(NUMBERS, pl.Float64)).drop_nulls())
    order = {name: i for i, name in enumerate(dict.fromkeys(wide["setting"]))}
    place = pl.col("setting").replace_strict(order)
    return (
        pl.concat(parts)
        .with_columns(pl.col("attack").str.replace("-", " "))
        .sort(place, maintain_order=True)
    )


def blocks() -> dict[str, str]:
    """Return the tables of docs/tables.md by their marks."""
    table = stored()
    return {
        "comparison": _comparison(table.filter(pl.col("setting") != CELL)),
        "cell": _comparison(table.filter(setting=CELL)),
        "behind": _behind(table),
    }


def _comparison(table: pl.DataFrame) -> str:
    """Return the medians, with a row for each table and attack."""
    methods = [*dict.fromkeys(table["method"])]
    if CONVOLUTION in methods:  # the first method of its table
        methods = [CONVOLUTION, *(name for name in methods if name != CONVOLUTION)]
    lines: list[Sequence[str]] = [("table", "attack", "β", *methods)]
    for (name, attack, share), group in table.group_by(
        "setting", "attack", "probability", maintain_order=True
    ):
        cells = {row["method"]: _cell(row, methods[0]) for row in group.to_dicts()}
        lines.append((str(name), str(attack), f"{share:g}", *(cells[m] for m in methods)))
    return markdown(lines)


def behind(table: pl.DataFrame, rival: str) -> pl.DataFrame:
    """Return the rows of a rival that has less damage than the first method beyond the interval."""
    return table.filter(pl.col("method") == rival, pl.col("more_high") < 0.0)


def _behind(table: pl.DataFrame) -> str:
    """Return where Huber's regression and TRIM told β have less damage, and how much."""
    lines: list[Sequence[str]] = [
        ("table", "attack", "β", "less damage", "of", "by how many points, 95 % interval")
    ]
    for rival in (HUBER, TOLD):
        for row in behind(table, rival).to_dicts():
            low, high = (_shown(-row[end]) for end in ("more_high", "more_low"))
            lines.append(
                (row["setting"], row["attack"], f"{row['probability']:g}", _shown(row["damage"]),
                 rival, f"{low} to {high}")
            )  # fmt: skip
    return markdown(lines)


def _cell(row: Mapping[str, Any], lead: str) -> str:
    text = _shown(row["damage"])
    if row["method"] == lead:
        return text
    return {"less": f"**{text}**", "same": f"*{text}*", "more": text}[standing(dict(row))]


def _shown(number: float) -> str:
    """Return a number as it is stored, with a minus sign for eyes."""
    return f"{number + 0.0:g}".replace("-", "−")
