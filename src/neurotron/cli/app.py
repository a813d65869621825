"""The `neurotron` command and what its commands share."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from neurotron._check import InputError
from neurotron._environment import package_version
from neurotron._extras import MissingExtra
from neurotron.cli import (
    audit_command,
    certify_command,
    clean_command,
    fit_command,
    list_command,
    options,
    poison_command,
    report_command,
    simulate_command,
    study_commands,
    verify_command,
)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        """Return the parameters; flags are shown without a type."""
        return _flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it refuses is said in the names of its options."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise InputError(_with_options(str(error), self.params)) from error


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> Any:
        """Return the parameters; flags are shown without a type."""
        return _flags(super().get_params(ctx))


def _flags(parameters: list[Any]) -> list[Any]:
    in_panels = any(getattr(each, "rich_help_panel", None) for each in parameters)
    for each in parameters:
        if each.name == "help" and in_panels:
            each.rich_help_panel = options.OUTPUT
        if getattr(each, "is_flag", False) or each.name.endswith("_completion"):
            each.metavar = ""
    return parameters


def _with_options(text: str, parameters: list[Any]) -> str:
    """Return a message of the library with options in the place of Python's names.

    What follows a colon stays: it may be a key of a file, as in "study.toml: `steps` must be 9".
    """
    names = {each.name: f"`{each.opts[0]}`" for each in parameters if each.opts[0][:2] == "--"}
    names |= {"X": "the table", "y": "the label"}
    return re.sub(r"(?<!: )`(\w+)`", lambda found: names.get(found[1], found[0]), text)


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Train, attack, certify, verify, audit and study models whose labels are poisoned.",
)
COMMANDS: dict[str, Callable[..., None]] = {
    "fit": fit_command.fit,
    "predict": fit_command.predict,
    "clean": clean_command.clean,
    "verify": verify_command.verify,
    "audit": audit_command.audit,
    "poison": poison_command.poison,
    "simulate": simulate_command.simulate,
    "certify": certify_command.certify,
    "plan": certify_command.plan,
    "paper": study_commands.paper,
    "run": study_commands.run,
    "report": report_command.report,
    "init": study_commands.init,
    "list": list_command.list_things,
}
for _name, _function in COMMANDS.items():
    app.command(_name, cls=_Command)(options.grouped(_function))


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
    """Run the command line. What cannot be done gets one sentence and exit code 2."""
    with outlets() as output:
        try:
            app()
        except SystemExit as end:
            if end.code or output.failure is None:
                raise
            _complain(f"everything is done, but it cannot be printed: {output.failure.strerror}")
        except (InputError, MissingExtra, OSError, OverflowError, MemoryError) as error:
            _complain(str(error) or "not enough memory for these sizes")


def _complain(text: str) -> None:
    options.console(stderr=True).print(f"error: {text}")
    sys.exit(2)


# ---- printing ------------------------------------------------------------------------------------


class Outlet:
    """A stream of text. If it cannot be written to, the text is dropped and the command continues.

    It is not an error if the reader stops early (``| head -1``). Any other reason is kept in
    `failure`, for the end of the command.
    """

    def __init__(self, stream: Any) -> None:
        self.failure: OSError | None = None
        self._stream = io.StringIO() if stream is None else stream  # None if it was closed (>&-)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without θ shows ? and goes on

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, if that is possible."""
        self._attempt(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Write what is in the buffer, if that is possible."""
        self._attempt(self._stream.flush)

    def _attempt(self, action: Callable[..., object], *given: str) -> None:
        try:
            action(*given)
        except BrokenPipeError:
            self._give_up()
        except OSError as error:
            self.failure = error
            self._give_up()

    def _give_up(self) -> None:
        """Discard everything from now on, including what Python would write when it ends."""
        with contextlib.suppress(OSError, ValueError):  # a stream of a test is no file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextlib.contextmanager
def outlets() -> Iterator[Outlet]:
    """Replace the standard streams by outlets; yield the outlet of standard output."""
    output: Any = Outlet(sys.stdout)
    errors: Any = Outlet(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield output
