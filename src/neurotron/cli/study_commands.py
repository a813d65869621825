"""`neurotron run`, `paper`, `init` and `schema`: studies from the command line."""

from __future__ import annotations

import contextlib
import json
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from neurotron import _check
from neurotron.cli import options
from neurotron.cli.claims_command import evaluate, print_verdicts
from neurotron.cli.report_command import Figures, write_report

if TYPE_CHECKING:
    from neurotron.lab.results import Damages, Fits, Results
    from neurotron.lab.studies import Progress, Report
    from neurotron.lab.studies.kinds import AnyStudy

__all__ = [
    "Dask", "Mixed", "Threads", "check_workers", "executor_at", "init", "paper", "progress_bar",
    "run", "schema",
]  # fmt: skip

Out = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the results. If it has results of this study, the run continues. "
        "Default: out/NAME.",
        rich_help_panel=options.OUTPUT,
    ),
]
Replicates = Annotated[
    int | None,
    typer.Option(
        help="The total number of replicates. Default: that of the study. A larger number extends "
        "a finished run.",
        rich_help_panel=options.RUN,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="The number of threads. Default: one per processor.", rich_help_panel=options.RUN
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Compute on the Dask cluster whose scheduler has this address.",
        rich_help_panel=options.RUN,
    ),
]
Mixed = Annotated[
    bool,
    typer.Option(
        "--mixed",
        help="Continue even if the folder has results of another version or kind of processor.",
        rich_help_panel=options.RUN,
    ),
]


def run(
    study: Annotated[
        str, typer.Argument(help="The name of a study of the catalog, or a TOML file.")
    ],
    out: Out = None,
    replicates: Replicates = None,
    threads: Threads = None,
    dask: Dask = None,
    mixed: Mixed = False,
    figures: Figures = False,
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
    """
    from neurotron.lab import studies

    check_workers(threads, dask)
    chosen = studies.read(study)
    folder = Path("out") / chosen.name if out is None else out
    with executor_at(dask) as (executor, workers), progress_bar() as progress:
        report = studies.run(
            chosen, folder, replicates=replicates, executor=executor, mixed=mixed,
            workers=workers if threads is None else threads, progress=progress,
        )  # fmt: skip
    _tell(chosen, report)
    if report.interrupted:
        raise typer.Exit(130)
    from neurotron.lab.results import Fits, Results
    from neurotron.lab.results.loading import load

    results, console = load(folder), options.console()
    more = len(list(results.folder.units())) - report.present
    if more > 0:
        console.print(
            f"The folder has {more:,} more units from earlier runs. They count in what follows."
        )
    evaluated = evaluate(results)
    if not console.is_terminal:  # a log is read from its beginning, a terminal from its end
        print_verdicts(console, results, evaluated)
    if isinstance(results, Results):
        _print_outcomes(console, results)
    elif isinstance(results, Fits):
        _print_needed(console, results)
    else:
        _print_damages(console, results)
    console.print()
    write_report(results, evaluated, figures)
    if console.is_terminal:
        print_verdicts(console, results, evaluated)
    if report.failures or report.removed:
        raise typer.Exit(1)


def paper(
    out: Out = None,
    replicates: Replicates = None,
    threads: Threads = None,
    dask: Dask = None,
    mixed: Mixed = False,
    figures: Figures = False,
) -> None:
    """Recompute the paper's simulation study and report which of its claims hold.

    This is the same as `neurotron run paper`. It takes about a minute on two processors, writes
    a page to open in a browser, and prints the verdicts.
    """
    run("paper", out, replicates, threads, dask, mixed, figures)


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("my-study.toml"),
) -> None:
    """Write a study file with comments, from which you can start your own."""
    from neurotron.lab import studies

    if file.suffix != ".toml":
        raise _check.InputError(f"the name of a study must end in .toml, got {str(file)!r}")
    try:
        with open(file, "x", encoding="utf-8") as new:
            new.write(studies.template())
    except FileExistsError:
        raise _check.InputError(f"{str(file)!r} exists already: choose another name") from None
    except OSError as error:
        raise _check.InputError(
            f"{str(file)!r} cannot be written: {error.strerror}; choose another place"
        ) from None
    console = options.console()
    console.print(f"Written: {file}\nEdit it, then run it: neurotron run {file}")


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help="The kind of studies: training, rows for those of stored rows, or tables for "
            "those of public tables."
        ),
    ] = "training",
) -> None:
    """Print the JSON schema of studies: every key, its type and its range."""
    from neurotron.lab.studies import Study
    from neurotron.lab.studies.kinds import KINDS

    models: dict[str, type[AnyStudy]] = {"training": Study, **KINDS}
    if kind not in models:
        raise _check.unknown("kind of studies", kind, models)
    typer.echo(json.dumps(models[kind].model_json_schema(), indent=2, ensure_ascii=False))


def check_workers(threads: int | None, dask: str | None) -> None:
    """Refuse a wrong number of threads, and threads beside a cluster."""
    if threads is not None and dask is not None:
        raise _check.InputError("give --threads or --dask, not both: a cluster has its own")
    if threads is not None:
        _check.integer("--threads", threads, 1, 1024)


@contextlib.contextmanager
def executor_at(address: str | None) -> Iterator[tuple[Executor | None, int | None]]:
    """Connect to a Dask cluster, if one is named; also return how many workers it has."""
    if address is None:
        yield None, None
        return
    from neurotron.lab.studies import cluster

    with cluster.connected(address) as (executor, workers):
        yield executor, workers


@contextlib.contextmanager
def progress_bar(units: str = "units") -> Iterator[Callable[[Progress], None]]:
    """Show units done and the time that is left, on the standard error."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        bar.add_task("getting ready", total=None)
        (task,) = bar.tasks
        shown = 0

        def show(state: Progress) -> None:
            nonlocal shown
            done = f"{state.units_done:,} of {state.units:,} {units}"
            bar.update(task.id, completed=state.share, total=1.0, description=done)
            tenths = 10 * state.units_done // state.units
            if bar.disable and tenths > shown:
                left = task.time_remaining
                console.print(f"{done}, about {timedelta(seconds=left)} left" if left else done)
            shown = max(shown, tenths)

        yield show


def _tell(study: AnyStudy, report: Report) -> None:
    """Print what a run did."""
    console = options.console()
    for line in report.set_aside:
        console.print(f"Damaged, set aside and computed again: {line}")
    for failure in report.failures:
        setting, replicate = failure.unit
        console.print(f"Failed: setting {setting}, replicate {replicate}: {failure.error}")
    before = f" ({report.kept:,} of them from before)" if report.kept else ""
    state = "interrupted" if report.interrupted else "incomplete" if report.removed else "finished"
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


MOST_OUTCOMES = 24
"""Lines of the table of outcomes: as many as a terminal shows; beyond, one for each trainer."""


def _print_outcomes(console: Console, results: Results) -> None:
    """Print where the runs of each trainer ended, setting by setting if that is short."""
    from neurotron.lab.results.summary import OUTCOMES, outcomes_by_trainer, outcomes_in_all

    rows, titles = outcomes_by_trainer(results), results.titles
    if len(rows) + len(titles) > MOST_OUTCOMES:
        rows, titles = outcomes_in_all(results), {"": f"all {len(titles)} settings"}
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("runs that ended", header_style="dim", overflow="fold")
    for column in ("at w*", "−w*", "other", "diverged", "of", "median error"):
        table.add_column(column, header_style="dim", justify="right", overflow="fold")
    last = None
    for row in rows:
        if row["setting"] != last:
            table.add_row(titles[row["setting"]])
        last = row["setting"]
        shown = (f"{row[outcome]:,}" if row[outcome] else "–" for outcome in OUTCOMES)
        ends = sorted({f"{row['least']:.1e}", f"{row['largest']:.1e}"}, key=float)
        name = textwrap.indent(textwrap.fill(row["trainer"], 28, subsequent_indent="  "), "  ")
        table.add_row(name, *shown, f"{row['runs']:,}", "…".join(ends))
    console.print()
    console.print(table, soft_wrap=False)
    console.print(
        "\nA run ended at the true weights w* if it is within ‖w*‖/2 of them, in the direction "
        "of their mirror −w* if the cosine with −w* is above ½, and at other weights otherwise. "
        "Median errors are over replicates, from the easiest attack to the hardest."
    )


def _print_needed(console: Console, results: Fits) -> None:
    """Print how many rows were enough for the filter, setting by setting."""
    from neurotron.lab.results.needed import needed

    betas, rows = needed(results)
    if not rows:
        return
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("rows for each weight", header_style="dim", overflow="fold")
    for beta in betas:
        table.add_column(f"β={beta:g}", header_style="dim", justify="right", overflow="fold")
    last = None
    for row in rows:
        if row.setting != last:
            table.add_row(results.titles[row.setting])
        last = row.setting
        table.add_row(f"  {row.attack}", *row.cells)
    console.print()
    console.print(table, soft_wrap=False)
    console.print(
        "\nThis is the smallest N/r, the number of rows for each weight, from which on the filter "
        "was found exactly in at least 95 % of the problems. A dash says that the largest one was "
        "not enough."
    )


def _print_damages(console: Console, results: Damages) -> None:
    """Print what attacks cost the first method of each table, and the best of the others."""
    from neurotron.lab.results.damage_summary import percent, summarise_damages
    from neurotron.lab.results.damages import CASE

    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("median damage in %", header_style="dim", overflow="fold")
    for column in ("β", "first method", "best other", ""):
        table.add_column(column, header_style="dim", justify="right" if column else "left")
    last = None
    for (setting, attack, _, share), group in summarise_damages(results).group_by(
        CASE, maintain_order=True
    ):
        lead = results.leads[str(setting)]
        if setting != last:
            table.add_row(f"{results.titles[str(setting)]}: {lead}")
        last = setting
        found = dict(group.select("method", "damage").rows())
        mine = found.pop(lead)
        best = min(found, key=lambda name: found[name], default="")
        other = (percent(found[best]), best) if best else ("", "")
        table.add_row(f"  {str(attack).replace('-', ' ')}", f"{share:g}", percent(mine), *other)
    console.print()
    console.print(table, soft_wrap=False)
    console.print(
        "\nThe damage is the error on honest test labels divided by that of least squares without "
        "an attack, minus one."
    )
