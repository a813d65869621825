"""`runs.jsonl`, the log of a folder of results: one line per event, with time and machine."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable
from typing import Any

__all__ = ["line_of", "parse"]

MOST = 10**9
"""Largest count in an event."""


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
        fits(event[name]) for name, fits in KINDS.items() if name in event
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_duration(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value >= 0.0


NEEDED = {"failed": ("setting", "replicate", "error")}
KINDS: dict[str, Callable[[Any], bool]] = (
    dict.fromkeys(("time", "event", "setting", "machine", "error", "reason"), _is_text)
    | dict.fromkeys(("replicate", "workers", "kept", "missing", "computed", "failed"), _is_count)
    | {"seconds": _is_duration}
)
