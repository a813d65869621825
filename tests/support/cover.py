"""Few combinations of many axes, instead of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any


def pairwise(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return rows with one value of each axis such that any two values of two axes meet in one."""
    open_pairs = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(axes)), 2)
        for a, b in product(range(len(axes[i])), range(len(axes[j])))
    }
    rows = []
    while open_pairs:
        row = dict(min(open_pairs))
        for axis in range(len(axes)):
            if axis not in row:
                row[axis] = max(
                    range(len(axes[axis])),
                    key=lambda value: len(open_pairs & pairs_of(row | {axis: value})),
                )
        open_pairs -= pairs_of(row)
        rows.append(tuple(axes[axis][row[axis]] for axis in range(len(axes))))
    return rows


def pairs_of(row: dict[int, int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    return set(combinations(sorted(row.items()), 2))


def spread(
    rows: Sequence[Any], columns: Sequence[Any], *, each_row: int, each_column: int
) -> list[tuple[Any, Any]]:
    """Return few different pairs, with each row at least `each_row` times, and so each column."""
    count = max(len(rows) * each_row, len(columns) * each_column)
    if each_row > len(columns) or each_column > len(rows):
        raise ValueError("there are not that many different pairs")
    period = math.lcm(len(rows), len(columns))
    return [(rows[i % len(rows)], columns[(i + i // period) % len(columns)]) for i in range(count)]
