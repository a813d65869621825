"""docs/evidence/verdicts.json: the findings and verdicts of every study, and who computed them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from neurotron.lab import Finding
from neurotron.lab.store import files

STORE = Path(__file__).parent.parent / "docs" / "evidence"
NAME = "verdicts.json"
NUMBERS = ("estimate", "low", "high", "worst")

Entry = dict[str, Any]


def read() -> dict[str, Entry]:
    """Return what is stored about every study; a finding is a table of its fields."""
    file = STORE / NAME
    found: dict[str, Entry] = json.loads(file.read_text()) if file.exists() else {}
    for entry in found.values():
        for claim in entry.get("claims", {}).values():
            claim["findings"] = _whole(claim["findings"])
    return found


def write(verdicts: dict[str, Entry]) -> None:
    """Store verdicts as JSON with a line for each finding."""
    short = {
        study: entry
        | {
            "claims": {
                name: claim | {"findings": _short(claim["findings"])}
                for name, claim in entry["claims"].items()
            }
        }
        for study, entry in verdicts.items()
    }
    text = json.dumps(short, ensure_ascii=False, indent=0)
    on_one_line = re.sub(
        r"[\[{][^][{}]*[\]}]", lambda one: json.dumps(json.loads(one[0]), ensure_ascii=False), text
    )
    files.write(STORE, NAME, f"{on_one_line}\n".encode())


def _short(findings: list[Entry]) -> Entry:
    """Return findings as what all have in common, and rows of the other fields."""
    names = [*dict.fromkeys(name for one in findings for name in one)]
    first = findings[0] if findings else {}
    common = {
        name: first[name]
        for name in names
        if name in first and all(name in one and one[name] == first[name] for one in findings)
    }
    columns = [name for name in names if name not in common]
    rows = [[one.get(name) for name in columns] for one in findings]
    return {"common": common, "columns": columns, "rows": rows}


def _whole(stored: Entry) -> list[Entry]:
    """Return findings with all their fields; nothing but a verdict may be None."""
    return [
        {
            name: value
            for name, value in (
                stored["common"] | dict(zip(stored["columns"], row, strict=True))
            ).items()
            if value is not None or name == "holds"
        }
        for row in stored["rows"]
    ]


def restored(stored: Entry) -> Finding:
    """Return a stored finding, whose numbers have three digits; JSON has no infinity."""
    return Finding(
        **{
            key: float(str(value).replace("∞", "inf")) if key in NUMBERS else value
            for key, value in stored.items()
        }
    )
