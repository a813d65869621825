"""`runs.jsonl`: what happened when and where, one line per event."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable
from typing import Any

__all__ = ["line_of", "parse"]

MOST = 10**9
"""Of anything that is counted."""


def line_of(event: str, **details: Any) -> str:
    """Return an event of now as a line."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"time": now, "event": event, **details})


def parse(text: str) -> list[dict[str, Any]]:
    """Return the events of a text.

    Lines that were not finished, or are not as they were written, are left out: nothing rests on
    them but what is told of failures and times.
    """
    events = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict) and _is_whole(event):
                events.append(event)
    return events


def _is_whole(event: dict[str, Any]) -> bool:
    """Tell whether an event has what it needs, and everything in it is of its kind."""
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
