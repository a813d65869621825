"""How many fresh rows verify a true filter, and how many are said to be needed."""

from __future__ import annotations

import math
from bisect import bisect
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from research.pages import markdown
from research.verification import ATTACKERS, SEEDS, SHARES, fresh_rows, problem_of

import neurotron as nt

EXACT = 1e-5
"""A true filter counts as verified if its radius is below this."""
TRIALS, WANTED = 20, 0.95
"""Trials of each network, and the share of them in which the true filter must be verified."""
GRID = tuple(round(10.0 ** (step / 16)) for step in range(16, 16 * 5))
"""Numbers of rows, in steps of 15 %."""
ROW_SHARES = {"coin": (*SHARES, 0.48), "any": SHARES}


def tried(attacker: str, probability: float, rows: int, trials: int) -> list[nt.Verification]:
    """Return verifications of true filters on exact labels, some with each network."""
    found = []
    for seed, trial in product(SEEDS, range(trials)):
        problem = problem_of(seed)
        key = (seed, rows, round(1000 * probability), ATTACKERS.index(attacker), trial)
        X, y = fresh_rows(problem, attacker, probability, rows, key)
        assert problem.true_weights is not None
        found.append(
            nt.verify(
                problem, problem.true_weights, X, y, probability=probability, attacker=attacker,
                noise=0.0,
            )
        )  # fmt: skip
    return found


def share_verified(found: list[nt.Verification]) -> float:
    """Return in which share of them the true filter is verified."""
    return sum(one.radius < EXACT for one in found) / len(found)


def rows_of(attacker: str, probability: float) -> dict[str, Any]:
    """Return the smallest number of rows of the grid that suffices, and what is said before."""

    def enough(place: int) -> bool:
        return share_verified(tried(attacker, probability, GRID[place], TRIALS)) >= WANTED

    about = tried(attacker, probability, 1_000, 1)[0].rows_needed
    low, high = -1, bisect(GRID, about or 1_000)
    while not enough(high):
        low, high = high, high + 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    found = tried(attacker, probability, GRID[high], TRIALS)
    said = [one.rows_needed or math.inf for one in found]
    return {
        "attacker": attacker, "probability": probability, "rows": GRID[high],
        "verified": share_verified(found), "rows_needed": float(np.median(said)),
        "radius": float(f"{np.median([one.radius for one in found]):.3g}"),
    }  # fmt: skip


def needed(setting: dict[str, Any], replicate: int, seed: int) -> dict[str, Any]:
    """Return how many rows are needed against an attacker of labels."""
    del replicate, seed
    return rows_of(setting["attacker"], setting["probability"])


STUDY = nt.Study(
    "verification-rows",
    [
        {"name": f"{attacker}-{share:g}", "attacker": attacker, "probability": share}
        for attacker, shares in ROW_SHARES.items()
        for share in shares
    ],
    needed,
    {"attacker": str, "probability": float, "rows": int, "verified": float, "rows_needed": float,
     "radius": float},
    replicates=1,
)  # fmt: skip


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of all attackers."""
    return table.drop("setting", "replicate")


def page(table: pl.DataFrame) -> str:
    """Return the Markdown page."""
    lines = [["attacker", "β", "rows", "verified", "`rows_needed`", "radius"]]
    lines += [
        [
            row["attacker"], f"{row['probability']:g}", f"{row['rows']:,}",
            f"{100 * row['verified']:.0f} %", f"{row['rows_needed']:,.0f}", f"{row['radius']:.2g}",
        ]
        for row in table.iter_rows(named=True)
    ]  # fmt: skip
    return (
        "# Rows needed to verify a filter\n\nThe smallest number of rows, of a grid in steps of "
        "15 %, at which the true filter is verified with confidence 99.9 % in at least "
        f"{100 * WANTED:g} % of {len(SEEDS) * TRIALS} trials with exact labels, and what "
        "`rows_needed` says beforehand. Networks and attackers are those of [verification.md]"
        f"(verification.md).\n\n{markdown(lines)}"
    )
