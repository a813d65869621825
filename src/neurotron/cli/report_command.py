"""`neurotron report`: the page of a folder of results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from neurotron.cli import options
from neurotron.cli.claims_command import evaluate

if TYPE_CHECKING:
    from neurotron.claims import Judgement
    from neurotron.results import Results

__all__ = ["report", "write_report"]


def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder of results that `neurotron run` has written.")
    ],
) -> None:
    """Write the report of a folder of results again: one page, and its figures for print.

    The page report.html has verdicts, figures, certificates and settings in one file that any
    browser shows without a network. The folder figures has every figure as PNG and PDF.
    """
    from neurotron.results import load_results

    results = load_results(folder)
    write_report(results, evaluate(results))


def write_report(results: Results, judgements: list[Judgement]) -> None:
    """Write the page, and say where it is."""
    from neurotron.report import write

    with _progress() as progress:
        path = write(results, judgements, progress)
    options.console().print(f"Report: {path}")


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many figures are drawn, on the standard error."""
    console = Console(stderr=True)
    columns = TextColumn("drawing figures"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("figures", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
