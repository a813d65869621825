"""The figures for print beside the page, and which of the pictures there are ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256

from neurotron.figures import printed
from neurotron.figures.chart import Chart
from neurotron.results.folder import Folder

__all__ = ["FOLDER", "write"]

FOLDER = "figures"
LIST = f"{FOLDER}/written.json"
"""Which pictures a report wrote, each with the SHA-256 of its content: no others are removed."""
SUFFIXES = (".png", ".pdf")
PICTURE = re.compile(r"[^/\0]+\.(png|pdf)")


def write(
    folder: Folder, charts: list[Chart], progress: Callable[[int, int], None] | None = None
) -> None:
    """Write every chart as PNG and PDF, and remove what an earlier report wrote and this does not.

    A picture that somebody put there, also by the name of one of ours, is not removed.
    """
    written: dict[str, str] = {}
    for i, chart in enumerate(charts):
        if progress is not None:
            progress(i, len(charts))
        picture = printed.draw(chart)
        for suffix in SUFFIXES:
            data = printed.encode(picture, suffix)
            folder.write(f"{FOLDER}/{chart.name}{suffix}", data)
            written[f"{chart.name}{suffix}"] = sha256(data).hexdigest()
    for name, digest in _earlier(folder).items():
        if name not in written:
            folder.remove(f"{FOLDER}/{name}", digest)
    folder.write(LIST, (json.dumps(written, indent=1, ensure_ascii=False) + "\n").encode())


def _earlier(folder: Folder) -> dict[str, str]:
    """Return what the last report wrote, as far as its list tells: nothing if it is damaged."""
    try:
        listed = json.loads((folder.path / LIST).read_text("utf-8"))
        return {
            name: digest
            for name, digest in listed.items()
            if PICTURE.fullmatch(name) and isinstance(digest, str)
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
