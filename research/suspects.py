"""How often `NeuroTronRegressor` is right about suspects, for docs/poisoned-labels.md.

Tables have normal inputs in five columns, an intercept, and honest noise of scale 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from research import pages
from research.pages import markdown

import neurotron as nt
from neurotron._types import Array, Mask

COLUMNS = 5
AT_ONCE = 20
"""Tables of one unit: 200 of each kind without an attack, and 60 with one."""
ALARM, SUSPECTED = "tables with a false alarm", "honest rows suspected"
FOUND, HONEST = "attacked rows found", "suspects that are honest"
HELD = "intervals that hold the share"
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


class SuspectsCase(NamedTuple):
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


def cases() -> Iterator[SuspectsCase]:
    """Yield all kinds of tables: those without an attack first."""
    for rows in ROWS:
        yield from (SuspectsCase(noise, "none", 0.0, rows) for noise in NOISE)
    for rows in ROWS:
        for attack in ATTACKS:
            yield from (SuspectsCase("normal", attack, share, rows) for share in SHARES)


def measure(
    setting: dict[str, Any], replicate: int, seed: int, progress: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Return whether the regressor is right about each of some tables of a kind."""
    del seed
    case, rows = SuspectsCase(*(setting[name] for name in SuspectsCase._fields)), []
    for number in range(AT_ONCE):
        X, y, attacked = case.table(AT_ONCE * replicate + number)
        with warnings.catch_warnings(action="ignore"):
            model = nt.NeuroTronRegressor().fit(X, y)
        suspects = model.suspects_
        low, high = model.attacked_fraction_interval_
        wrong = suspects & ~attacked
        rows.append(
            {
                ALARM: bool(wrong.any()),
                SUSPECTED: float(suspects[~attacked].mean()),
                FOUND: float(suspects[attacked].mean()) if attacked.any() else 0.0,
                HONEST: float(wrong.sum() / max(suspects.sum(), 1)),
                HELD: bool(low <= attacked.mean() <= high),
            }
        )
        progress(number + 1, AT_ONCE)
    return rows


STUDY = nt.Study(
    "suspects",
    [
        {"name": f"case-{i}", **case._asdict(), "replicates": 3 if case.share else 10}
        for i, case in enumerate(cases())
    ],
    measure,
    {ALARM: bool, SUSPECTED: float, FOUND: float, HONEST: float, HELD: bool},
    replicates=10,
)


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """Return how often the regressor is right about tables of each kind."""
    kinds = pl.DataFrame(STUDY.settings).select(
        pl.col("name").alias("setting"), *SuspectsCase._fields
    )
    digits = {ALARM: 4, SUSPECTED: 6, FOUND: 4, HONEST: 4, HELD: 4}
    shares = [pl.col(name).mean().round(places) for name, places in digits.items()]
    found = table.group_by("setting").agg(pl.len().alias("tables"), *shares)
    return kinds.join(found, on="setting", maintain_order="left").drop("setting")


def blocks() -> dict[str, str]:
    """Return the tables of docs/poisoned-labels.md: without an attack, and with one."""
    table = pages.table("suspects")
    clean = [("honest noise", "rows", "tables with a suspect", "rows suspected")] + [
        (row["noise"], f"{row['rows']:,}", f"{100 * row[ALARM]:.1f} %",
         f"{100 * row[SUSPECTED]:.3f} %")
        for row in table.filter(attack="none").to_dicts()
    ]  # fmt: skip
    attacked = [("attack", "share β", "rows", FOUND, HONEST, "intervals that hold β")] + [
        (row["attack"], f"{row['share']:g}", f"{row['rows']:,}", f"{100 * row[FOUND]:.0f} %",
         f"{100 * row[HONEST]:.1f} %", f"{100 * row[HELD]:.0f} %")
        for row in table.filter(pl.col("attack") != "none").to_dicts()
    ]  # fmt: skip
    return {"honest": markdown(clean), "attacked": markdown(attacked)}
