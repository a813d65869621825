"""``python -m benchmarks TIMINGS``: measure the rest, join everything into one table, and keep it.

TIMINGS is what pytest-benchmark wrote; ``make bench`` does both. The table and the curves of growth
go to docs/evidence, their picture to docs/images, and both into docs/performance.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import commands, growth, memory, page, table
from benchmarks.process import ROOT


def main(timings: Path) -> None:
    """Measure, join, print, keep; fail if a floor is missed."""
    seconds, origin = table.read_timings(timings)
    quick = origin.pop("quick")
    curves = growth.measure(1 if quick else growth.ROUNDS)
    peaks = memory.measure(1 if quick else memory.ROUNDS)
    rows = table.compute({**seconds, **commands.measure(quick)}, peaks)
    foot = _foot({"commit": origin["commit"], **origin["environment"]})
    if quick:
        foot = f"A rehearsal, whose numbers mean nothing. {foot}"
    place = timings.parent if quick else ROOT / "docs" / "evidence"
    table.write(place, rows, foot)
    growth.write(place / "growth.csv", curves)
    picture = place / "growth.png" if quick else page.PICTURE
    growth.draw(curves).savefig(picture, dpi=150)
    if not quick:
        page.fill(rows, foot, growth.read(place / "growth.csv"))  # the numbers as they are kept
    print(table.render(rows, foot))
    missed = [row.what for row in rows if row.met == "no"]
    if missed and not quick:
        sys.exit(f"below the floor: {'; '.join(missed)}")


def _foot(told: dict[str, str]) -> str:
    return (
        "Ratios are of CPU time in one run, those of several workers of wall time; seconds are "
        "wall time unless the row says CPU. "
        f"From {', '.join(f'{name} {value}' for name, value in told.items())}."
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the file of timings, or let `make bench` measure and name it")
    main(Path(sys.argv[1]))
