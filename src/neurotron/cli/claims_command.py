"""`neurotron claims`: which statements of its study a folder of results supports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from neurotron.cli import options

if TYPE_CHECKING:
    from neurotron.claims import Finding, Judgement
    from neurotron.results import Results

__all__ = ["claims", "evaluate", "print_verdicts"]


def claims(
    folder: Annotated[
        Path, typer.Argument(help="A folder of results, as `neurotron run` made it.")
    ],
    details: Annotated[
        bool, typer.Option("--details", help="Also print every comparison with its interval.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say which claims hold in a folder of results, and why.

    The claims are those that the study names, of all that `neurotron list claims` shows. Every
    verdict rests on comparisons with 95 % intervals over replicates. A claim "holds" if all of its
    comparisons do. It "holds only as published" if the paper's own comparison does but not what its
    words mean (its SGD was not stochastic gradient descent, its step sizes were not the same), or
    no runs test what they mean. Otherwise it "does not hold", it is "undecided" because an interval
    has values on both sides, or it is "not tested" by these results. The verdicts are also kept in
    claims.json.
    """
    from neurotron.claims.judging import departure
    from neurotron.results import load_results

    results = load_results(folder)
    evaluated, note = evaluate(results), departure(results)
    if as_json:
        if note:
            options.console(stderr=True).print(note)
        found = [judgement.to_dict() for judgement in evaluated]
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        console = options.console()
        if note:
            console.print(f"{note}\n")
        _print(console, evaluated, details)


def print_verdicts(console: Console, results: Results, evaluated: list[Judgement]) -> None:
    """Print what the results say of the claims of their study, if they do."""
    from neurotron.claims.judging import departure

    tested = [judgement for judgement in evaluated if judgement.conclusive]
    if tested:
        console.print("\nthe claims of this study, as far as these results test them:\n")
        _print(console, tested, details=False)
        if note := departure(results):
            console.print(f"\n{note}")
        console.print(f"\nevery comparison: neurotron claims {results.folder.path} --details")


def evaluate(results: Results) -> list[Judgement]:
    """Return what was found of every claim, and keep it in claims.json."""
    from neurotron import claims as judged
    from neurotron.results import StorageError

    beside = options.console(stderr=True)
    for line in results.damaged:
        beside.print(f"left out; run the study again, with enough replicates: {line}")
    evaluated = judged.evaluate(results)
    try:
        judged.write(results, evaluated)
    except StorageError as error:
        beside.print(f"claims.json is not kept: {error}")
    return evaluated


def _print(console: Console, evaluated: list[Judgement], details: bool) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("claim", "verdict", "why"):
        table.add_column(column, header_style="dim", overflow="fold")
    for judgement in evaluated:
        table.add_row(judgement.claim.statement, judgement.verdict, judgement.reason)
    console.print(table, soft_wrap=False)
    for judgement in evaluated if details else ():
        claim = judgement.claim
        console.print(f"\n{claim.name}: {claim.statement} ({claim.source})")
        for found in judgement.findings:
            console.print(f"  {_line(found)}")


def _line(found: Finding) -> str:
    mark = {True: "✓", False: "✗", None: "?"}[found.holds]
    numbers = f"{found.estimate:.3g} [{found.low:.3g}, {found.high:.3g}]"
    return f"{mark} {found.case}: {numbers}, {found.replicates} replicates; {found.measure}"
