"""`runs.jsonl`, the log of a folder of results: one line per event, with time and machine."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

MOST = 10**9
"""Largest count in an event, and the largest number of seconds."""


def line_of(event: str, **details: Any) -> str:
    """Return an event that happens now as a line of the log."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"time": now, "event": event, **details})


def parse(text: str) -> list[dict[str, Any]]:
    """Return the events in a text.

    Lines that are incomplete or damaged are skipped. This is safe, because only reports of failures
    and times use the log.
    """
    events = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict) and _is_whole(event):
                events.append(event)
    return events


def _is_whole(event: dict[str, Any]) -> bool:
    """Return whether an event has all its fields, each of the right type."""
    needed = ("time", "event", *NEEDED.get(str(event.get("event")), ()))
    return all(name in event for name in needed) and all(
        type(event[name]) is kind and (kind is str or 0 <= event[name] <= MOST)
        for name, kind in KINDS.items()
        if name in event
    )


NEEDED = {"failed": ("setting", "replicate", "error")}
KINDS: dict[str, Any] = {
    **dict.fromkeys(("time", "event", "setting", "machine", "error", "reason"), str),
    **dict.fromkeys(("replicate", "replicates", "workers", "kept", "missing"), int),
    **dict.fromkeys(("computed", "failed"), int),
    "seconds": float,
}
