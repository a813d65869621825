"""The figures for print next to the page, and the list of those that reports have written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256

from neurotron import _check, _files
from neurotron._extras import MissingExtra
from neurotron._waiting import say
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import Chart
from neurotron.lab.store.folder import Folder

FOLDER = "figures"
LIST = f"{FOLDER}/written.json"
"""Which pictures a report wrote, each with the SHA-256 of its content: all others are not ours."""
MOST_BYTES = 10**7
"""Of this list."""
PICTURE = re.compile(r"[^/\0]+\.(png|pdf)")

Digests = dict[str, list[str]]
"""The SHA-256 that each picture may have."""


def write(
    folder: Folder, charts: list[Chart], progress: Callable[[int, int], None] | None = None
) -> None:
    """Write every chart as PNG and PDF, and remove pictures that only an earlier report wrote.

    A picture that a user has put there is not removed; if it has the name of a chart, it is
    renamed. While pictures are written, the list contains the old and the new ones. So even if a
    report is killed, the next one knows which pictures were written by a report.
    """
    tell = progress or (lambda done, total: None)
    drawn: dict[str, bytes] = {}
    tell(0, len(charts))
    for done, chart in enumerate(charts, 1):
        drawn |= _drawn(chart)
        tell(done, len(charts))
    earlier = _earlier(folder)
    new = {name: [sha256(data).hexdigest()] for name, data in drawn.items()}
    both = {name: earlier.get(name, []) + new.get(name, []) for name in earlier | new}
    _keep_list(folder, both)
    for name, data in drawn.items():
        if kept := folder.make_room(f"{FOLDER}/{name}", both[name]):
            say(f"{name} in {str(kept.parent)!r} was not made by a report: it is now {kept.name}")
        folder.write(f"{FOLDER}/{name}", data)
    for name in earlier.keys() - new.keys():
        for digest in earlier[name]:
            folder.remove(f"{FOLDER}/{name}", digest)
    _keep_list(folder, new)


def _drawn(chart: Chart) -> dict[str, bytes]:
    """Return a chart as PNG and PDF, by the names of the files."""
    try:
        picture = render_matplotlib.draw(chart)
        return {
            f"{chart.name}{end}": render_matplotlib.encode(picture, end) for end in (".png", ".pdf")
        }
    except MissingExtra:
        raise
    except Exception as error:
        text = _check.shorten(" ".join(f"{type(error).__name__}: {error}".split()))
        raise _check.InputError(f"the figure {chart.name!r} cannot be drawn ({text})") from error


def exist(folder: Folder) -> bool:
    """Return whether an earlier report has drawn figures for print."""
    return bool(_earlier(folder))


def _keep_list(folder: Folder, digests: Digests) -> None:
    folder.write(LIST, (json.dumps(digests, indent=1, ensure_ascii=False) + "\n").encode())


def _earlier(folder: Folder) -> Digests:
    """Return the pictures of the last report according to its list; none if it is damaged."""
    path = folder.path / LIST
    try:
        listed = {} if path.is_symlink() else json.loads(_files.read(path, MOST_BYTES))
        return {
            name: [digests] if isinstance(digests, str) else list(digests)
            for name, digests in listed.items()
            if PICTURE.fullmatch(name)
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
