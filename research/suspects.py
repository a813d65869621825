"""``python -m research.suspects``: how often `NeuroTronRegressor` is right about suspects.

Tables have normal inputs in five columns, an intercept, and honest noise of scale 1. The numbers go
to docs/evidence/suspects.csv, which says of which code they are, and docs/poisoned-labels.md shows
them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import neurotron as nt
from neurotron._types import Array, Mask
from neurotron.lab.store import files
from neurotron.work.workers import fingerprint

__all__ = ["ATTACKS", "FILE", "NOISE", "measure", "page_tables", "stored"]

FILE = Path(__file__).parent.parent / "docs" / "evidence" / "suspects.csv"
COLUMNS = 5
CLEAN_TABLES, ATTACKED_TABLES = 200, 60
ROWS = (100, 1_000)
SHARES = (0.02, 0.1, 0.3)

Noise = Callable[[np.random.Generator, int], Array]
NOISE: dict[str, Noise] = {
    "normal": lambda draw, rows: draw.standard_normal(rows),
    "uniform": lambda draw, rows: draw.uniform(-1.0, 1.0, rows),
    "Laplace": lambda draw, rows: draw.laplace(size=rows),
    "Student, 5 degrees of freedom": lambda draw, rows: draw.standard_t(5, rows),
    "Student, 3 degrees of freedom": lambda draw, rows: draw.standard_t(3, rows),
    "skewed (lognormal, σ = ½)": lambda draw, rows: np.exp(0.5 * draw.standard_normal(rows)) - 1.0,
    "very skewed (exponential)": lambda draw, rows: draw.exponential(size=rows),
}
Attack = Callable[[np.random.Generator, Array], Array]
ATTACKS: dict[str, Attack] = {
    "8 to one side": lambda draw, X: np.full(len(X), 8.0),
    "8 up or down": lambda draw, X: 8.0 * draw.choice([-1.0, 1.0], len(X)),
    "another model": lambda draw, X: X @ draw.standard_normal(COLUMNS) * 10.0 / np.sqrt(COLUMNS),
}
"""What is added to attacked labels, in units of the noise. The labels of the other model differ by
10 on average, so some of them are almost honest."""


class Case(NamedTuple):
    """A kind of tables."""

    noise: str
    attack: str
    share: float
    rows: int

    def table(self, seed: int) -> tuple[Array, Array, Mask]:
        """Return inputs, labels, and which labels are attacked."""
        draw = np.random.default_rng([seed, *map(ord, "".join(map(str, self)))])
        X = draw.standard_normal((self.rows, COLUMNS))
        y = X @ draw.standard_normal(COLUMNS) + 3.0 + NOISE[self.noise](draw, self.rows)
        attacked: Mask = draw.permutation(self.rows) < round(self.share * self.rows)
        if attacked.any():
            y[attacked] += ATTACKS[self.attack](draw, X[attacked])
        return X, y, attacked


def cases() -> Iterator[Case]:
    """Yield all kinds of tables: those without an attack first."""
    for rows in ROWS:
        yield from (Case(noise, "none", 0.0, rows) for noise in NOISE)
    for rows in ROWS:
        for attack in ATTACKS:
            yield from (Case("normal", attack, share, rows) for share in SHARES)


def measure(case: Case, tables: int) -> dict[str, Any]:
    """Return how often the regressor is right, over so many tables of a kind."""
    alarms, false, found, wrong, held = [], [], [], [], []
    for seed in range(tables):
        X, y, attacked = case.table(seed)
        with warnings.catch_warnings(action="ignore"):
            model = nt.NeuroTronRegressor().fit(X, y)
        suspects = model.suspects_
        low, high = model.attacked_fraction_interval_
        alarms.append(bool((suspects & ~attacked).any()))
        false.append(float(suspects[~attacked].mean()))
        found.append(float(suspects[attacked].mean()) if attacked.any() else 0.0)
        wrong.append(float((suspects & ~attacked).sum() / max(suspects.sum(), 1)))
        held.append(low <= attacked.mean() <= high)
    return {
        **case._asdict(),
        "tables": tables,
        "tables with a false alarm": round(float(np.mean(alarms)), 4),
        "honest rows suspected": round(float(np.mean(false)), 6),
        "attacked rows found": round(float(np.mean(found)), 4),
        "suspects that are honest": round(float(np.mean(wrong)), 4),
        "intervals that hold the share": round(float(np.mean(held)), 4),
    }


def page_tables(table: pl.DataFrame) -> tuple[str, str]:
    """Return the tables of the page: without an attack, and with one."""
    clean = [
        "| honest noise | rows | tables with a suspect | rows suspected |",
        "|---|---|---|---|",
    ]
    for row in table.filter(attack="none").to_dicts():
        clean.append(
            f"| {row['noise']} | {row['rows']:,} | {row['tables with a false alarm']:.1%} | "
            f"{row['honest rows suspected']:.3%} |"
        )
    attacked = [
        "| attack | share β | rows | attacked rows found | suspects that are honest | "
        "intervals that hold β |",
        "|---|---|---|---|---|---|",
    ]
    for row in table.filter(pl.col("attack") != "none").to_dicts():
        attacked.append(
            f"| {row['attack']} | {row['share']:g} | {row['rows']:,} | "
            f"{row['attacked rows found']:.0%} | {row['suspects that are honest']:.1%} | "
            f"{row['intervals that hold the share']:.0%} |"
        )
    return "\n".join(clean).replace("%", " %"), "\n".join(attacked).replace("%", " %")


def main() -> None:
    """Measure all kinds of tables, and store the numbers."""
    lines = []
    for case in cases():
        lines.append(measure(case, ATTACKED_TABLES if case.share else CLEAN_TABLES))
        print(lines[-1], flush=True)
    code = fingerprint(measure)["code"]
    table = f"# code {code}\n{pl.DataFrame(lines).write_csv()}"
    files.write(FILE.parent, FILE.name, table.encode())
    print("\n\n".join(page_tables(stored())))


def stored() -> pl.DataFrame:
    """Return the stored numbers."""
    return pl.read_csv(FILE, comment_prefix="#")


if __name__ == "__main__":
    main()
