"""Evidence on disk: rows that are computed once, with everything needed to compute them again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neurotron._environment import environment

FOLDER = Path(__file__).parent.parent / "docs" / "evidence"

Row = dict[str, Any]


def collect(name: str, title: str, units: Mapping[str, Callable[[], Row]]) -> list[Row]:
    """Compute the units that ``docs/evidence/<name>.json`` lacks; keep JSON and a table.

    A row is on disk as soon as it is computed, so an interrupted run goes on where it stopped.
    Rows of another version of the package are computed again.
    """
    path = FOLDER / f"{name}.json"
    kept: dict[str, Row] = {}
    if path.exists():
        stored = json.loads(path.read_text())
        if stored["environment"]["neurotron"] == environment()["neurotron"]:
            kept = stored["rows"]
    for i, (key, unit) in enumerate(units.items(), 1):
        if key not in kept:
            began = time.perf_counter()
            kept[key] = unit()
            print(f"[{i}/{len(units)}] {name}: {key} ({time.perf_counter() - began:.1f} s)")
            _write(path, {"title": title, "environment": environment(), "rows": kept})
    rows = [{"case": key, **kept[key]} for key in units]
    path.with_suffix(".md").write_text(_table(title, rows))
    return rows


def _write(path: Path, content: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    os.replace(fresh, path)


def _table(title: str, rows: list[Row]) -> str:
    names = list(rows[0])
    lines = [" | ".join(names), " | ".join("---" for _ in names)]
    lines += [" | ".join(_text(row[name]) for name in names) for row in rows]
    machine = ", ".join(f"{key} {value}" for key, value in environment().items())
    return (
        f"# {title}\n\n"
        + "\n".join(f"| {line} |" for line in lines)
        + f"\n\nComputed with {machine}.\n"
    )


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "–"
    return str(value)
