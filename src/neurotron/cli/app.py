"""The `neurotron` command and what its commands share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from neurotron._check import InputError
from neurotron._environment import package_version
from neurotron.cli import list_command, simulate_command

__all__ = ["app", "run"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train, attack and study depth-2 networks whose training labels are poisoned.",
)
app.command("list")(list_command.list_things)
app.command("simulate")(simulate_command.simulate)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"neurotron {package_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line: bad input is one sentence and exit code 2."""
    try:
        app()
    except (InputError, OSError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {_escape(str(error))}", soft_wrap=True)
        sys.exit(2)


def _escape(text: str) -> str:
    return text.replace("[", "\\[")
