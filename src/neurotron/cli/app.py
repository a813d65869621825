"""The `neurotron` command and what its commands share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from neurotron._check import InputError
from neurotron._environment import package_version
from neurotron._extras import MissingExtra
from neurotron.cli import (
    certify_command,
    claims_command,
    list_command,
    options,
    report_command,
    simulate_command,
    study_commands,
)
from neurotron.cli.outlet import outlets

__all__ = ["app", "run"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Train, attack, certify and study depth-2 networks whose training labels are poisoned.",
)
app.command("paper")(study_commands.paper)
app.command("run")(study_commands.run)
app.command("report")(report_command.report)
app.command("claims")(claims_command.claims)
app.command("init")(study_commands.init)
app.command("schema")(study_commands.schema)
app.command("simulate")(simulate_command.simulate)
app.command("certify")(certify_command.certify)
app.command("plan")(certify_command.plan)
app.command("list")(list_command.list_things)


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
    """Run the command line: what cannot be done is one sentence and exit code 2."""
    with outlets() as output:
        try:
            app()
        except SystemExit as end:
            if end.code or output.failure is None:
                raise
            _complain(f"all is done, but it cannot be printed: {output.failure.strerror}")
        except (InputError, MissingExtra, OSError, OverflowError, MemoryError) as error:
            _complain(str(error) or "not enough memory for these sizes")


def _complain(text: str) -> None:
    options.console(stderr=True).print(f"error: {text}")
    sys.exit(2)
