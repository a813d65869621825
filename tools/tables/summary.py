"""The medians over the splits with their intervals, and the page that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from neurotron.studies.public_tables import TABLES
from tools.tables.neurotron import OURS, WITHOUT_MIXTURE
from tools.tables.splits import CASES

__all__ = [
    "FILE", "GUIDE", "METHODS", "ROOT", "behind", "filled", "stored", "summary",
    "written",
]  # fmt: skip

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "evidence" / "tables.csv"
GUIDE = ROOT / "docs" / "tables.md"
METHODS = (
    "least squares", "Huber", "quantile", "RANSAC", "Theil–Sen", "TRIM, told β", "TRIM, half",
    WITHOUT_MIXTURE, OURS,
)  # fmt: skip
"""In the order of the page."""
KEYS = ("table", "attack", "probability", "splits", "mixtures")
RANK = 6
"""The 6th smallest and the 6th largest of 20 values enclose the median with confidence 95.9 %."""


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Return medians over the splits, with intervals.

    `damage` is in per cent. `more` is how many points of damage a method has more than
    `NeuroTronRegressor` on the same split. `mixtures` is the number of splits in which that fits a
    mixture.
    """
    split = ["table", "replicate", "attack", "probability"]
    rows = rows.rename({"setting": "table"})
    ours = rows.filter(method=OURS).select(*split, ours="damage")
    used = (pl.col("method") == WITHOUT_MIXTURE) & (pl.col("more") != 0.0)
    return (
        rows.join(ours, on=split)
        .with_columns(more=pl.col("damage") - pl.col("ours"))
        .with_columns(mixtures=used.sum().over("table", "attack", "probability"))
        .group_by("table", "attack", "probability", "mixtures", "method")
        .agg(
            pl.len().alias("splits"),
            pl.col("damage").median(),
            *_interval("damage"),
            pl.col("damage").max().alias("largest"),
            *_interval("more"),
        )
        .with_columns(
            pl.selectors.starts_with("damage", "largest").round_sig_figs(3).round(2) + 0.0,
            pl.selectors.starts_with("more").round_sig_figs(3).round(3) + 0.0,
        )
        .pipe(_sorted)
    )


def _interval(column: str) -> list[pl.Expr]:
    """Return the bounds of the interval of the median of a column."""
    ordered = pl.col(column).sort()
    return [
        ordered.get(RANK - 1).alias(f"{column}_low"),
        ordered.get(-RANK).alias(f"{column}_high"),
    ]


def _sorted(table: pl.DataFrame) -> pl.DataFrame:
    attacks = [case.attack for case in CASES]
    return table.sort(
        _place("table", TABLES), _place("attack", attacks), "probability", _place("method", METHODS)
    )


def _place(column: str, values: Iterable[str]) -> pl.Expr:
    """Return the place of a value in a list."""
    order = [*dict.fromkeys(values)]
    return pl.col(column).replace_strict(order, [*range(len(order))])


# ---- the files -----------------------------------------------------------------------------------


def written(table: pl.DataFrame, codes: Mapping[str, str]) -> str:
    """Return the content of the file of a summary: the code it is of, and a CSV.

    The CSV has one line for each table and attack, with the columns of all methods.
    """
    code = ", ".join(f"{name} {code}" for name, code in codes.items())
    numbers = [name for name in table.columns if name not in (*KEYS, "method")]
    wide = table.pivot("method", index=KEYS, values=numbers, separator=": ")
    return f"# code: {code}\n{wide.write_csv()}"


def stored() -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the stored summary, and the code that computed it."""
    comment, _, text = FILE.read_text().partition("\n")
    wide = pl.read_csv(text.encode())
    parts = []
    for method in METHODS:
        names = {name: name.partition(": ")[0] for name in wide.columns if f": {method}" in name}
        chosen = {name: new for name, new in names.items() if name == f"{new}: {method}"}
        parts.append(wide.select(*KEYS, pl.lit(method).alias("method"), *chosen).rename(chosen))
    codes = comment.removeprefix("# code: ").split(", ")
    return _sorted(pl.concat(parts)), dict(code.split(" ") for code in codes)


def filled(text: str, table: pl.DataFrame) -> str:
    """Return docs/tables.md with the tables that are written from a summary."""
    for name, block in BLOCKS.items():
        before, mark, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        text = f"{before}{mark}\n{block(table)}\n\n{end}{after}"
    return text


def _comparison(table: pl.DataFrame) -> str:
    """Return the medians, with a row for each table and attack."""
    methods = [method for method in METHODS if method != WITHOUT_MIXTURE]
    lines: list[Sequence[str]] = [("table", "attack", "β", *methods)]
    for (name, attack, probability, *_), group in table.group_by(KEYS, maintain_order=True):
        cells = {row["method"]: _cell(row) for row in group.to_dicts()}
        lines.append((str(name), str(attack), f"{probability:g}", *(cells[m] for m in methods)))
    return _markdown(lines)


def behind(table: pl.DataFrame, rival: str) -> pl.DataFrame:
    """Return the rows of a rival that has less damage than ours beyond the interval."""
    return table.filter(pl.col("method") == rival, pl.col("more_high") < 0.0)


def _behind(table: pl.DataFrame) -> str:
    """Return where Huber's regression and TRIM told β have less damage, and how much."""
    lines: list[Sequence[str]] = [
        ("table", "attack", "β", "less damage", "of", "by how many points, 95 % interval")
    ]
    for rival in ("Huber", "TRIM, told β"):
        for row in behind(table, rival).to_dicts():
            low, high = (_shown_number(-row[end]) for end in ("more_high", "more_low"))
            lines.append(
                (row["table"], row["attack"], f"{row['probability']:g}",
                 _shown_number(row["damage"]), rival, f"{low} to {high}")
            )  # fmt: skip
    return _markdown(lines)


def _gains(table: pl.DataFrame) -> str:
    """Return the damage with and without the mixture, where it was used."""
    told, plain = "TRIM, told β", WITHOUT_MIXTURE
    lines: list[Sequence[str]] = [("table", "attack", told, plain, OURS, "splits with a mixture")]
    attacked = table.filter(pl.col("probability") == 0.3)
    for (name, attack), group in attacked.group_by("table", "attack", maintain_order=True):
        rows = {row["method"]: row for row in group.to_dicts()}
        if rows[OURS]["mixtures"] > 0:
            numbers = (_shown_number(rows[method]["damage"]) for method in (told, plain, OURS))
            used = f"{rows[OURS]['mixtures']} of {rows[OURS]['splits']}"
            lines.append((str(name), str(attack), *numbers, used))
    return _markdown(lines)


BLOCKS = {"comparison": _comparison, "behind": _behind, "gains": _gains}
"""The tables of docs/tables.md, each between a comment with its name and one that ends it."""


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    header, *rows = lines
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)
    )


def _cell(row: dict[str, Any]) -> str:
    text = _shown_number(row["damage"])
    if row["method"] == OURS or row["more_low"] > 0.0:
        return text
    return f"**{text}**" if row["more_high"] < 0.0 else f"*{text}*"


def _shown_number(number: float) -> str:
    """Return three digits, and not more than two decimals."""
    return f"{round(float(f'{number:.3g}'), 2) + 0.0:g}".replace("-", "−")
