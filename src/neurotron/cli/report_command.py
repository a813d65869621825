"""`neurotron report`: the page of a folder of results, its figures for print, and the verdicts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from neurotron._digits import cell
from neurotron._text import wrap
from neurotron.cli import options

if TYPE_CHECKING:
    from neurotron.lab.claims import Finding, Judgement
    from neurotron.lab.results.results import Results

Figures = Annotated[
    bool,
    options.OUTPUT(
        "Also draw every figure for print, as PNG and PDF, into the folder figures.", "--figures"
    ),
]


def report(
    folder: Path,
    figures: Figures = False,
    verdicts: bool = False,
    details: bool = False,
    as_json: Annotated[bool, options.OUTPUT("Print the verdicts as JSON.", "--json")] = False,
    allow_code: options.AllowCode = False,
) -> None:
    """Write the report of a folder of results again, or print which claims of its study hold.

    The page report.html has verdicts, figures, certificates and settings in one file that any
    browser shows without a network. With --figures, the folder figures gets every figure as PNG
    and PDF as well.

        neurotron report out/paper --figures

        neurotron report out/paper --verdicts

    A study names its claims; `neurotron list claims` shows all claims. A verdict is based on
    comparisons with 95 % intervals over replicates:

    ✓ holds: every comparison agrees with the claim.

    ◐ true of the published code only: the paper's own comparison agrees with the claim, but the
    comparison that its words describe does not, or was not run. For example, the trainer that the
    paper calls SGD is not stochastic gradient descent.

    ✗ does not hold: a comparison contradicts the claim.

    ? undecided: an interval has values that agree with the claim and values that do not.

    – not tested: the study has no such comparison, or fewer than 5 replicates of it.

    The verdicts are also written to claims.json in the folder.

    Arguments
    ---------
    folder
        A folder of results that `neurotron run` has written.

    Output
    ------
    verdicts
        Print the verdicts instead of writing the page.
    details
        Print them with all that was measured and compared.
    """
    from neurotron.lab.results.results import load

    results = load(folder)
    with options.code_of(results, allow_code):
        evaluated, note = evaluate(results), results.spec["note"]
        if not (verdicts or details or as_json):
            write_report(results, evaluated, figures)
    if as_json:
        if note:
            options.console(stderr=True).print(note)
        found = [judgement.to_dict() for judgement in evaluated]
        typer.echo(options.as_json({"claims": found}))
    elif verdicts or details:
        console = options.console()
        if note:
            console.print(f"{note}\n", soft_wrap=False)
        _print(console, evaluated, details)


def write_report(results: Results, judgements: list[Judgement], figures: bool) -> None:
    """Write the page and then, if they are wanted, the figures for print; say where they are."""
    from neurotron.lab.pages import pictures, write, write_figures

    console, folder = options.console(), results.folder
    console.print(f"Report: {write(results, judgements)}")
    if figures:
        with options.progress("drawing figures") as progress:
            path = write_figures(results, progress=progress)
        console.print(f"Figures: {path}")
    elif pictures.exist(folder):
        options.console(stderr=True).print(
            f"The figures in {folder.path / pictures.FOLDER} are from an earlier report. To draw "
            f"them again: neurotron report {shlex.quote(str(folder.path))} --figures"
        )


# ---- verdicts ----------------------------------------------------------------------------------


def print_verdicts(console: Console, results: Results, evaluated: list[Judgement]) -> None:
    """Print the verdicts on the claims that the results test, if there are any."""
    tested = [judgement for judgement in evaluated if judgement.conclusive]
    if tested:
        console.print("\nclaims of this study:\n")
        _print(console, tested, details=False)
        if note := results.spec["note"]:
            console.print(f"\n{note}", soft_wrap=False)
        console.print(f"\nwhat was measured: neurotron report {results.folder.path} --details")
    elif evaluated:
        console.print(f"\n{_nothing(evaluated)}")


def evaluate(results: Results) -> list[Judgement]:
    """Judge the claims of a study, and write the verdicts to claims.json."""
    from neurotron.lab import claims as judged
    from neurotron.lab.store.files import StorageError

    notes = options.console(stderr=True)
    for line in results.damaged:
        notes.print(f"left out of the results: {line}")
    if results.damaged:
        notes.print("To compute what is left out, run the study with as many replicates as before.")
    evaluated = judged.evaluate(results)
    try:
        judged.write(results, evaluated)
    except StorageError as error:
        notes.print(f"claims.json was not written: {error}")
    return evaluated


STYLES = ("green", "yellow", "red", "yellow", "dim")
"""The colours of the verdicts, in their order."""


def _print(console: Console, evaluated: list[Judgement], details: bool) -> None:
    """Print one line for each claim, and how many there are of each verdict."""
    from neurotron.lab.claims.model import tally

    if nothing := _nothing(evaluated):
        console.print(nothing, soft_wrap=False)
        if not details:
            return
    if details:
        for judgement in evaluated:
            console.print(_lines([judgement]), soft_wrap=False)
            _print_details(console, judgement)
    else:
        console.print(_lines(evaluated), soft_wrap=False)
    if len(evaluated) > 1:
        console.print(tally(evaluated) if details else f"\n{tally(evaluated)}", soft_wrap=False)


def _nothing(evaluated: list[Judgement]) -> str:
    """Return a sentence that says why no claim is tested; empty if one is."""
    from neurotron.lab.claims.model import FEWEST

    if not evaluated:
        return "This study names no claims."
    if any(judgement.conclusive for judgement in evaluated):
        return ""
    if any(judgement.findings for judgement in evaluated):
        return f"No claim is tested: every comparison needs at least {FEWEST} replicates."
    return "These results do not test any claim of their study."


def _lines(evaluated: list[Judgement]) -> Table:
    """Return a table of the claims: mark, short statement and verdict."""
    from neurotron.lab.claims.model import MARKS, VERDICTS

    styles = dict(zip(VERDICTS, STYLES, strict=True))
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, width=1)
    table.add_column(min_width=30)
    table.add_column(no_wrap=True)
    for judgement in evaluated:
        style = styles[judgement.verdict]
        mark, verdict = (Text(it, style) for it in (MARKS[judgement.verdict], judgement.verdict))
        table.add_row(mark, Text(judgement.claim.short or judgement.claim.statement), verdict)
    return table


def _print_details(console: Console, judgement: Judgement) -> None:
    """Print the whole claim, what was measured, and every comparison under what it measures."""
    claim, measure = judgement.claim, ""
    _indented(console, 3, f"{claim.statement} ({claim.source}; {claim.name})", "dim")
    _indented(console, 3, f"Measured: {judgement.effect}.")
    for found in judgement.findings:
        if found.measure != measure:
            measure = found.measure
            _indented(console, 3, f"{measure}:", "dim")
        _indented(console, 5, _line(found))
    console.print()


def _indented(console: Console, indent: int, text: str, style: str = "") -> None:
    """Print text in lines that fit."""
    console.print(Text(wrap(" " * indent + text, console.width), style))


def _line(found: Finding) -> str:
    mark = {True: "✓", False: "✗", None: "?"}[found.holds]
    estimate, low, high = (cell(float(one)) for one in (found.estimate, found.low, found.high))
    return f"{mark} {found.case}: {estimate} [{low}, {high}], {found.replicates} replicates"
