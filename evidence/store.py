"""Evidence on disk: rows computed once per state of the code, with where they were computed."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import neurotron
from neurotron._environment import environment

FOLDER = Path(__file__).parent.parent / "docs" / "evidence"
SHOWING = ("figures", "report")
NOT_COMPUTING = (
    "__init__.py", "_extras.py", "claims", "cli", "conformance.py", *SHOWING, "results", "studies",
)  # fmt: skip

KEEPS = bool(os.environ.get("EVIDENCE_KEEPS"))
"""Whether rows of other code are kept, so that only rows that are missing are computed."""

Row = dict[str, Any]


def collect(
    name: str,
    title: str,
    units: Mapping[str, Callable[[], Row]],
    *,
    table: bool = True,
    left_out: tuple[str, ...] = NOT_COMPUTING,
) -> list[Row]:
    """Compute the units that ``docs/evidence/<name>.json`` lacks; keep JSON and a table.

    A row is on disk as soon as it is computed, so an interrupted run goes on where it stopped. It
    is computed again when the code it came from, comments and docstrings aside, has changed: the
    module of the units and all of the package, but for what is `left_out`. Only with the variable
    ``EVIDENCE_KEEPS`` set is a row of other code kept as it is; it says which code it is of, and so
    does the foot of the table.
    """
    module = _module(next(iter(units.values())))
    code = code_hash(module, left_out)
    path = FOLDER / f"{name}.json"
    kept: dict[str, Row] = json.loads(path.read_text())["rows"] if path.exists() else {}
    rows: dict[str, Row] = {}
    for i, (key, unit) in enumerate(units.items(), 1):
        row = kept.get(key)
        if row is None or not (row["code"] == code or KEEPS):
            began = time.perf_counter()
            row = {"result": unit(), "code": code, "environment": environment()}
            print(f"[{i}/{len(units)}] {name}: {key} ({time.perf_counter() - began:.1f} s)")
            write_json(path, {"title": title, "rows": kept | rows | {key: row}})
        rows[key] = row
    write_json(path, {"title": title, "rows": rows})
    results = [{"case": key, **row["result"]} for key, row in rows.items()]
    if table:
        write_table(name, title, results, origins(rows))
    return results


def origins(rows: Mapping[str, Row]) -> list[dict[str, str]]:
    """Return where stored rows were computed and by which code, with how many rows of each."""
    counts = Counter(json.dumps({"code": r["code"], **r["environment"]}) for r in rows.values())
    return [{"rows": str(count), **json.loads(text)} for text, count in counts.items()]


def rows_of(name: str) -> dict[str, Row]:
    """Return the rows in ``docs/evidence/<name>.json``, by case, with where they are from."""
    rows: dict[str, Row] = json.loads((FOLDER / f"{name}.json").read_text())["rows"]
    return rows


def stored(name: str) -> dict[str, Row]:
    """Return the results in ``docs/evidence/<name>.json``, by case."""
    return {key: row["result"] for key, row in rows_of(name).items()}


def write_table(
    name: str, title: str, rows: list[Row], machines: list[dict[str, str]], command: str = ""
) -> None:
    """Write ``docs/evidence/<name>.md``: the rows, where they were computed, and by which command.

    The command is named if a user can give it as well.
    """
    names = list(rows[0])
    lines = [" | ".join(names), " | ".join("---" for _ in names)]
    lines += [" | ".join(_text(row[column]) for column in names) for row in rows]
    table = "\n".join(f"| {line} |" for line in lines)
    origin = "\n".join(", ".join(f"{k} {v}" for k, v in one.items()) for one in machines)
    by = f"`{command}` with " if command else ""
    (FOLDER / f"{name}.md").write_text(f"# {title}\n\n{table}\n\nFrom {by}{origin}.\n")


def write_json(path: Path, content: Row) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    os.replace(fresh, path)


@cache
def code_hash(module: Path, left_out: tuple[str, ...]) -> str:
    """Return a hash of the code that computes: the package and a module of evidence, no words."""
    package = Path(neurotron.__file__).parent
    paths = [path for path in sorted(package.rglob("*.py"))
             if path.relative_to(package).parts[0] not in left_out]  # fmt: skip
    digest = hashlib.sha256()
    for path in (*paths, module, module.parent.parent / "benchmarks" / "workloads.py"):
        digest.update(ast.dump(_without_docstrings(path.read_text())).encode())
    return digest.hexdigest()[:16]


def _module(unit: Callable[[], Row]) -> Path:
    """Return the file that a unit was written in."""
    function = unit.func if isinstance(unit, partial) else unit
    return Path(inspect.getfile(function))


def _without_docstrings(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "–"
    return str(value)
