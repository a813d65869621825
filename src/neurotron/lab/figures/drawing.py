"""All charts of a study for print, as PNG and PDF, drawn in one process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection

from neurotron import _check
from neurotron._extras import MissingExtra
from neurotron.lab.figures import render_matplotlib
from neurotron.lab.figures.chart import Chart

__all__ = ["draw_all"]

SUFFIXES = (".png", ".pdf")
Tell = Callable[[int, int], None]


def draw_all(
    charts: Sequence[Chart], workers: int = 1, progress: Tell | None = None
) -> dict[str, bytes]:
    """Return every chart as PNG and PDF, by the names of the files.

    With several `workers`, as many processes draw; the pictures are the same. `progress` is called
    with the number of charts drawn and their total.
    """
    tell = progress or (lambda done, total: None)
    tell(0, len(charts))
    drawn: dict[str, dict[str, bytes]] = {}
    for name, pictures in _drawn(charts, min(workers, len(charts))):
        drawn[name] = pictures
        tell(len(drawn), len(charts))
    return {file: data for chart in charts for file, data in drawn[chart.name].items()}


Drawn = tuple[str, dict[str, bytes]]
"""The name of a chart, and its pictures by the names of the files."""


def _drawn(charts: Sequence[Chart], workers: int) -> Iterator[Drawn]:
    """Yield the pictures of each chart, in any order."""
    if workers > 1:
        yield from _by_processes(charts, workers)
        return
    for chart in charts:
        with _named(chart):
            pictures = _pictures(chart)
        yield chart.name, pictures


def _pictures(chart: Chart) -> dict[str, bytes]:
    picture = render_matplotlib.draw(chart)
    return {f"{chart.name}{end}": render_matplotlib.encode(picture, end) for end in SUFFIXES}


def _by_processes(charts: Sequence[Chart], workers: int) -> Iterator[Drawn]:
    """Yield the pictures of each chart, drawn by several processes.

    A process is given one chart at a time, so that nothing is left to draw after Ctrl-C. Large
    charts are first, so that all processes end at about the same time.
    """
    waiting = deque(sorted(charts, key=lambda chart: -len(chart.panels)))
    flying: dict[Future[dict[str, bytes]], Chart] = {}
    fresh = multiprocessing.get_context("spawn")  # a copy of this process could block
    with ProcessPoolExecutor(workers, fresh, _end_with_parent) as processes:
        while waiting or flying:
            while waiting and len(flying) < workers:
                chart = waiting.popleft()
                with _without_ctrl_c():
                    flying[processes.submit(_pictures, chart)] = chart
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                chart = flying.pop(future)
                with _named(chart):
                    pictures = future.result()
                yield chart.name, pictures


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Start processes that do not see Ctrl-C: this process does, and ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _named(chart: Chart) -> Iterator[None]:
    """Say which chart cannot be drawn, and why."""
    try:
        yield
    except MissingExtra:
        raise
    except BrokenProcessPool as error:
        raise _check.InputError(
            f"the process that drew the figure {chart.name!r} has ended. If there was too little "
            "memory, run the same command again; in a script of your own, several workers need "
            "`if __name__ == '__main__':`"
        ) from error
    except Exception as error:
        from neurotron.lab.studies.workers import in_one_line

        raise _check.InputError(
            f"the figure {chart.name!r} cannot be drawn ({in_one_line(error)})"
        ) from error
