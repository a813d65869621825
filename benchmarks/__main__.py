"""``python -m benchmarks TIMINGS``: join timings and peaks of memory into one table, and keep it.

TIMINGS is what pytest-benchmark wrote; ``make bench`` does both.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import memory, table
from benchmarks.process import ROOT


def main(timings: Path) -> None:
    """Join, print, keep; fail if a floor is missed."""
    seconds, origin = table.read_timings(timings)
    quick = origin.pop("quick")
    rows = table.compute(seconds, memory.measure(1 if quick else memory.ROUNDS))
    told = {"commit": origin["commit"], **origin["environment"]}
    foot = f"From {', '.join(f'{name} {value}' for name, value in told.items())}."
    if quick:
        foot = f"A rehearsal, whose numbers mean nothing. {foot}"
    table.write(timings.parent if quick else ROOT / "docs" / "evidence", rows, foot)
    print(table.render(rows, foot))
    missed = [row.what for row in rows if row.met == "no"]
    if missed and not quick:
        sys.exit(f"below the floor: {'; '.join(missed)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the file of timings, or let `make bench` measure and name it")
    main(Path(sys.argv[1]))
