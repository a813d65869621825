"""`neurotron run`, `paper` and `init`: studies from the command line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from neurotron import _check, _files
from neurotron._digits import cell
from neurotron.cli import options
from neurotron.cli.report_command import Figures, evaluate, print_verdicts, write_report

if TYPE_CHECKING:
    from neurotron.lab.results.results import Results
    from neurotron.work import Progress, Report, Study, Unit


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Who computes.

    Run
    ---
    threads
        The number of threads. Default: one per processor.
    dask
        Compute on the Dask cluster whose scheduler has this address.
    mixed
        Continue even if the folder has results of another version or kind of processor.
    """

    threads: int | None = None
    dask: str | None = None
    mixed: bool = False

    def __post_init__(self) -> None:
        """Refuse a wrong number of threads, and threads beside a cluster."""
        if self.threads is not None and self.dask is not None:
            raise _check.InputError("give --threads or --dask, not both: a cluster has its own")
        if self.threads is not None:
            _check.integer("--threads", self.threads, 1, 1024)


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """Where results are, and how many there are to be.

    Output
    ------
    out
        The folder of the results. If it has results of this study, the run continues. Default:
        out/NAME.

    Run
    ---
    replicates
        The total number of replicates. Default: that of the study. A larger number extends a
        finished run.
    """

    out: Path | None = None
    replicates: int | None = None


def run(
    study: str,
    place: FolderOptions,
    workers: WorkerOptions,
    figures: Figures = False,
    allow_code: options.AllowCode = False,
) -> None:
    """Run a study, keep its results in a folder, and write a report about them.

    Ctrl-C keeps what is finished, and the same command continues from there. The numbers are the
    same for any number of threads, on a cluster, and after any interruption.

        neurotron run smoke

        neurotron run my-study.toml --out results/my-study --replicates 50

        neurotron run paper --dask tcp://scheduler:8786

    The command `neurotron list studies` shows the catalog, and `neurotron init` writes a study to
    start from. The exit code is 1 if some results could not be computed or were removed during the
    run, 2 if the command cannot do what it was asked to do, and 130 after Ctrl-C.

    Arguments
    ---------
    study
        The name of a study of the catalog, or a TOML file.
    """
    from neurotron import lab
    from neurotron.lab.studies.reading import read

    chosen = read(study, allow_code=allow_code)
    folder = place.out or Path("out") / chosen.name
    report = compute(chosen, folder, workers, place.replicates)
    results, console = lab.load(folder), options.console()
    more = len(list(results.folder.units())) - report.present
    if more > 0:
        console.print(
            f"The folder has {more:,} more units from earlier runs. They count in what follows."
        )
    with options.code_of(results, allow_code):
        evaluated = evaluate(results)
        if not console.is_terminal:  # a log is read from its beginning, a terminal from its end
            print_verdicts(console, results, evaluated)
        _print_tables(console, results)
        console.print()
        write_report(results, evaluated, figures)
    if console.is_terminal:
        print_verdicts(console, results, evaluated)
    if report.failures or report.removed:
        raise typer.Exit(1)


def paper(place: FolderOptions, workers: WorkerOptions, figures: Figures = False) -> None:
    """Recompute the paper's simulation study and report which of its claims hold.

    This is the same as `neurotron run paper`. It takes about a minute on two processors, writes
    a page to open in a browser, and prints the verdicts.
    """
    run("paper", place, workers, figures)


def init(file: Path = Path("my-study.toml"), schema: bool = False) -> None:
    """Write a study file with comments, from which you can start your own.

    Arguments
    ---------
    file
        The file to write.

    Output
    ------
    schema
        Print the JSON schema of studies instead: every key, its type and its range.
    """
    from neurotron.lab.studies.completion import schema_of_studies
    from neurotron.lab.studies.reading import template

    if schema:
        typer.echo(json.dumps(schema_of_studies(), indent=2, ensure_ascii=False))
        return
    place = _check.path("file", file, ".toml")
    with _files.writing(place), open(place, "x", encoding="utf-8") as new:
        new.write(template())
    console = options.console()
    console.print(f"Written: {file}\nEdit it, then run it: neurotron run {file}")


def compute(
    study: Study,
    folder: Path,
    workers: WorkerOptions,
    replicates: int | None = None,
    *,
    quiet: bool = False,
) -> Report:
    """Compute what is missing in a folder, and say what was done; if `quiet`, only what was not."""
    from neurotron import lab
    from neurotron.work import cluster

    nobody = contextlib.nullcontext((None, None))
    there: Any = nobody if workers.dask is None else cluster.connected(workers.dask)
    with there as (executor, count), progress_bar() as progress:
        report = lab.run(
            study, folder, replicates=replicates, executor=executor, mixed=workers.mixed,
            workers=workers.threads or count, progress=progress,
        )  # fmt: skip
    _tell(study, report, quiet)
    if report.interrupted:
        raise typer.Exit(130)
    return report


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Show units done and the time that is left, on the standard error."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        bar.add_task("getting ready", total=None)
        (task,) = bar.tasks
        shown = 0

        def show(state: Progress) -> None:
            nonlocal shown
            done = f"{state.units_done:,} of {state.units:,} units"
            bar.update(task.id, completed=state.share, total=1.0, description=done)
            tenths = 10 * state.units_done // state.units
            if bar.disable and tenths > shown:
                left = task.time_remaining
                console.print(f"{done}, about {timedelta(seconds=left)} left" if left else done)
            shown = max(shown, tenths)

        yield show


def _tell(study: Study, report: Report, quiet: bool) -> None:
    """Print what a run did."""
    console = options.console(stderr=quiet)
    for line in report.set_aside:
        console.print(f"Damaged, set aside and computed again: {line}")
    failed: dict[str, list[Unit]] = {}
    for failure in sorted(report.failures, key=lambda one: one.unit[::-1]):
        failed.setdefault(failure.error, []).append(failure.unit)
    for error, ((setting, replicate), *others) in failed.items():
        more = f" and {len(others):,} more" if others else ""
        console.print(f"Failed: setting {setting}, replicate {replicate}{more}: {error}")
    before = f" ({report.kept:,} of them from before)" if report.kept else ""
    state = "interrupted" if report.interrupted else "incomplete" if report.removed else "finished"
    if not quiet or report.present < report.wanted:
        console.print(
            f"{study.name}: {state} with {report.present:,} of {report.wanted:,} units{before}\n"
            f"Results: {report.folder}"
        )
    if report.removed:
        console.print(
            f"Missing: {report.removed:,} units that were removed from the folder during the run."
        )
    if report.interrupted or report.removed:
        console.print("Run the same command again to go on.")


MOST_LINES = 40
"""Lines of a table: as many as a terminal shows; beyond, the page has it."""


def _print_tables(console: Console, results: Results) -> None:
    """Print the tables of a study that are meant for the terminal."""
    from neurotron.lab.pages.page import tables

    for shown in tables(results):
        if not shown.on_terminal:
            continue
        first, *others = shown.columns
        table = options.grid(first, *(f">{name}" for name in others), gap=1)
        for row in shown.rows[:MOST_LINES]:
            table.add_row(*map(cell, row))
        console.print(f"\n{shown.title}\n")
        console.print(table, soft_wrap=False)
        more = len(shown.rows) - MOST_LINES
        if more > 0:
            console.print(f"and {more:,} more rows, on the page")
        if shown.note:
            console.print(f"\n{shown.note}")
