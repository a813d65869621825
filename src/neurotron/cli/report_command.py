"""`neurotron report`: the page of a folder of results, and its figures for print."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from neurotron.cli import options
from neurotron.cli.claims_command import evaluate

if TYPE_CHECKING:
    from neurotron.lab.claims import Judgement
    from neurotron.lab.results.results import Results

__all__ = ["Figures", "report", "write_report"]

Figures = Annotated[
    bool,
    options.OUTPUT(
        "Also draw every figure for print, as PNG and PDF, into the folder figures.", "--figures"
    ),
]


def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder of results that `neurotron run` has written.")
    ],
    figures: Figures = False,
    allow_code: options.AllowCode = False,
) -> None:
    """Write the report of a folder of results again.

    The page report.html has verdicts, figures, certificates and settings in one file that any
    browser shows without a network. With --figures, the folder figures gets every figure as PNG
    and PDF as well.

        neurotron report out/paper

        neurotron report out/paper --figures
    """
    from neurotron.lab.results.results import load

    results = load(folder)
    with options.code_of(results, allow_code):
        write_report(results, evaluate(results), figures)


def write_report(results: Results, judgements: list[Judgement], figures: bool) -> None:
    """Write the page and then, if they are wanted, the figures for print; say where they are."""
    from neurotron.lab.pages import pictures, write, write_figures

    console, folder = options.console(), results.folder
    console.print(f"Report: {write(results, judgements)}")
    if figures:
        with _progress() as progress:
            path = write_figures(results, progress=progress)
        console.print(f"Figures: {path}")
    elif pictures.exist(folder):
        options.console(stderr=True).print(
            f"The figures in {folder.path / pictures.FOLDER} are from an earlier report. To draw "
            f"them again: neurotron report {shlex.quote(str(folder.path))} --figures"
        )


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
