"""Fills the tables of docs/performance.md from what is stored in docs/evidence.

``python -m benchmarks.page`` does so without measuring anything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks import growth, table
from benchmarks.process import ROOT
from neurotron._environment import environment

__all__ = ["PAGE", "PICTURE", "fill", "filled", "publish"]

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "growth.png"
OTHERS = {
    name: ROOT / "docs" / "evidence" / f"{name}.csv"
    for name in ("solver", "regressor", "verifying", "activation_costs", "auditing")
}
"""Tables that are measured on their own."""
PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.S)


def filled(text: str, rows: list[table.Row], foot: str, curves: growth.Curves) -> str:
    """Return the text of the page with these numbers in its tables."""
    tables = {group: _of_group(rows, group) for group in table.GROUPS}
    tables |= {"growth": list(_slopes(curves)), "origin": [foot]}
    for name, path in OTHERS.items():
        if path.exists():
            rows, foot = table.read(path)
            tables[name] = [*table.lines(rows), "", foot]

    def replaced(match: re.Match[str]) -> str:
        return "".join([match[1], *(f"{line}\n" for line in tables[match[2]]), match[3]])

    return PLACE.sub(replaced, text)


def fill(rows: list[table.Row], foot: str, curves: growth.Curves) -> None:
    """Write these numbers into the page."""
    PAGE.write_text(filled(PAGE.read_text(), rows, foot, curves))


def publish(rows: list[table.Row], what: str, name: str, title: str) -> None:
    """Keep a table that is measured on its own, show it, and fail if a bar is missed.

    `what` says what was measured, as the beginning of a sentence.
    """
    where = ", ".join(f"{part} {value}" for part, value in environment().items())
    foot = f"{what}. From {where}."
    table.keep(OTHERS[name].parent, rows, foot, name)
    main()
    print(table.render(rows, foot, title))
    if missed := [row.what for row in rows if row.met == "no"]:
        sys.exit(f"above the bar: {'; '.join(missed)}")


def _of_group(rows: list[table.Row], group: str) -> list[str]:
    """Return a table of the rows of a group; the columns of bars only if one of them has a bar."""
    chosen = [row for row in rows if row.group == group]
    if any(row.floor for row in chosen):
        return table.lines(chosen)
    cells = [(row.what, row.median, row.least, row.most) for row in chosen]
    return ["| what | median | least | most |", "|---|---|---|---|", *map(_line, cells)]


def _slopes(curves: growth.Curves) -> Iterator[str]:
    """Yield a table of how steep the curves are."""
    yield "| what grows | from … to | slope of the whole curve | slope at its large end |"
    yield "|---|---|---|---|"
    for name, curve in curves.items():
        found = growth.slopes(curve)
        values = list(curve)
        ends = f"{values[0]:,} … {values[-1]:,}"
        yield _line((name, ends, *map(_spread, found)))


def _spread(rounds: np.ndarray) -> str:
    median, least, most = (f"{f(rounds):.2f}" for f in (np.median, np.min, np.max))
    return f"{median} ({least} … {most})".replace("-", "−")


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Fill the page from the stored tables."""
    folder = ROOT / "docs" / "evidence"
    fill(*table.read(folder / "benchmarks.csv"), growth.read(folder / "growth.csv"))


if __name__ == "__main__":
    main()
