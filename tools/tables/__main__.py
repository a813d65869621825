"""Compute what is missing, and store the summary and its page."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from neurotron import results, studies
from neurotron.results import files
from neurotron.studies.work import Function, fingerprint
from tools.tables import neurotron, scikit_learn
from neurotron.studies.public_tables import TABLES, table_of
from tools.tables.splits import CASES, SPLITS
from tools.tables.summary import FILE, GUIDE, ROOT, filled, summary, written

FUNCTIONS: dict[str, Function] = {
    "neurotron": neurotron.damages,
    "scikit-learn": scikit_learn.damages,
}


def run(name: str, code: str) -> Path:
    """Compute all splits of all tables with the methods of a module; return where they are."""
    spec = {"name": f"tables, {name}", "settings": [{"name": table} for table in TABLES]}
    units = [(table, number) for table in TABLES for number in range(SPLITS)]
    work = studies.Work(spec, units, FUNCTIONS[name], steps=len(CASES))
    folder = ROOT / "out" / "tables" / f"{name}-{code}"
    report = studies.run(work, folder, workers=1)  # one at a time: see `WithoutMixture`
    if report.interrupted or report.failures:
        sys.exit(f"tables: {len(report.failures)} units failed, see {folder / 'runs.jsonl'}")
    return folder


def main() -> None:
    """Compute what is missing, and store the summary and its page."""
    for table in TABLES:
        table_of(table)  # a missing package is reported before anything is computed
    codes = {name: fingerprint(function)["code"] for name, function in FUNCTIONS.items()}
    rows = [results.load_table(run(name, code)) for name, code in codes.items()]
    found = summary(pl.concat(rows))
    files.write(FILE.parent, FILE.name, written(found, codes).encode())
    files.write(GUIDE.parent, GUIDE.name, filled(GUIDE.read_text(), found).encode())


if __name__ == "__main__":
    main()
