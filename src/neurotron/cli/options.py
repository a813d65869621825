"""What the commands share: options that describe a problem, and how text is printed.

Every command imports this module, also to print its help. So here, as in all modules of commands,
what a command needs for its work is imported by the function that does the work.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.table import Table

from neurotron import _check
from neurotron._digits import counted
from neurotron._environment import package_version
from neurotron._json import plain
from neurotron._references import code_allowed
from neurotron._text import wrap

if TYPE_CHECKING:
    from neurotron._registry import Registry
    from neurotron.lab.results.results import Results
    from neurotron.problem import Problem

FORMAT = 1
"""The version of what commands print as JSON. It grows if a name or its meaning changes."""
NAMED = ("networks", "laws", "attacks", "trainers", "estimators")
"""The kinds of things that are written as a name with parameters."""
N_INPUTS, MOST_WEIGHTS = 100, 25
NARROW = 60
"""Columns below which a table is printed as blocks."""
WIDEST = 100
"""Longer lines of text are hard to read, however wide the terminal is."""


class HelpPanel(str):
    """A panel of the help. Called with the help of an option, it returns that option."""

    def __call__(self, help: str, *names: str, **more: Any) -> Any:
        """Return an option in this panel; without names, it is called after its parameter."""
        return typer.Option(*names, help=help, rich_help_panel=self, **more)


RUN, OUTPUT = HelpPanel("Run"), HelpPanel("Output")


def registry(kind: str) -> Registry[object]:
    """Return the networks, laws, attacks, trainers or estimators by name."""
    home = {"estimators": "estimators.catalog", "laws": "data"}.get(kind, kind)
    found: Registry[object] = import_module(f"neurotron.{home}").BY_NAME
    return found


def code_of(results: Results, allowed: bool) -> contextlib.AbstractContextManager[None]:
    """Return a context in which claims and charts of a folder may be imported, if allowed."""
    folder = results.spec["code"]
    return code_allowed(folder) if allowed and folder else contextlib.nullcontext()


def _allow_code(context: typer.Context, allowed: bool) -> bool:
    """Allow code by name until the command ends; modules are found in the current folder, too."""
    if allowed:
        context.with_resource(code_allowed(Path.cwd()))
    return allowed


def _checked_picture(path: Path | None) -> Path | None:
    """Refuse a picture that could not be saved, before any work."""
    if path is not None:
        from neurotron.lab.figures import check_picture

        check_picture("--plot", path)
    return path


Picture = Annotated[
    Path | None,
    OUTPUT("Save a picture to this file (PNG, PDF or SVG).", "--plot", callback=_checked_picture),
]
AllowCode = Annotated[
    bool,
    RUN(
        "Allow names of your own code: mine:MyAttack is the class MyAttack in mine.py. It is "
        "imported, so allow only code that you trust.",
        "--allow-code",
        callback=_allow_code,
        is_eager=True,
    ),
]
AsJson = Annotated[bool, OUTPUT("Print the result as JSON.", "--json")]


@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """The options that describe a problem.

    Problem
    -------
    law : laws
        The law (probability distribution) of the inputs.
    network : networks
        The network whose weights are learned.
    n_inputs
        The number of inputs. Default: 100.
    filter_size
        The number of weights, if the network leaves it open. Default: a quarter of the inputs, at
        most 25.
    noise
        The standard deviation of the noise of honest labels.

    Run
    ---
    seed
        The seed of the network, the true weights and the random numbers.
    """

    law: str = "normal"
    network: str = "symmetric"
    n_inputs: int | None = None
    filter_size: int | None = None
    noise: float = 0.0
    seed: int = 0

    def build(self) -> Problem:
        """Return the problem; refuse a size that the network cannot have."""
        from neurotron import data, networks
        from neurotron.problem import Problem

        name, given = networks.BY_NAME.read(self.network)
        inputs = given.get("n_inputs", N_INPUTS if self.n_inputs is None else self.n_inputs)
        drawn = data.BY_NAME.build(self.law, n_inputs=inputs)
        if self.n_inputs is None and "n_inputs" not in given and drawn.n_inputs is not None:
            inputs = drawn.n_inputs  # rows of a file
        size = self.filter_size
        if "filter_size" not in networks.BY_NAME.parameters(name):
            if size is not None and size != inputs:
                raise _check.InputError(
                    f"the network {name!r} has one weight per input, here {inputs}: leave out "
                    "--filter-size"
                )
        elif size is None and isinstance(inputs, int):
            size = max(1, min(MOST_WEIGHTS, inputs // 4))
        built = networks.BY_NAME.build(
            self.network, n_inputs=inputs, filter_size=size, seed=self.seed
        )
        return Problem.draw(built, drawn, seed=self.seed, noise=self.noise)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its groups, which are data classes, as options.

    What an option means stands in the documentation of the command or group. Only an option that
    several commands share has its help in its type.
    """
    known = _documented(command)
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, one in signature(command).parameters.items():
        if name in groups:
            group = groups[name]
            for each in group.__mro__:
                known |= _documented(each)
            hints |= get_type_hints(group, include_extras=True)
            whole = signature(group).parameters.values()
            parameters += sorted(whole, key=lambda one: one.default is not Parameter.empty)
        else:
            parameters.append(one.replace(kind=Parameter.KEYWORD_ONLY))
    parameters = [
        one.replace(annotation=_option(one, hints[one.name], known.get(one.name)))
        for one in parameters
    ]

    @wraps(command)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    call.__doc__ = sections(command)[""].rstrip()
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


TITLE = re.compile(r"^(\w+)\n-+$", re.MULTILINE)


def sections(thing: object) -> dict[str, str]:
    """Return the documentation of a command or group by its titles, "" for what is above them."""
    parts = ["", *TITLE.split(getdoc(thing) or "")]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _documented(thing: object) -> dict[str, tuple[str, str, str]]:
    """Return the panel of each option of a command or group, a word for its value, and its help.

    A section is a panel of the help, and lists options as parameters are documented. Behind the
    name of an option may stand a word for its value, or the kind of thing that it names.
    """
    found = {}
    for panel, body in sections(thing).items():
        for entry in re.split(r"\n(?=\S)", body.strip()) if panel else ():
            head, _, words = entry.partition("\n")
            name, _, word = head.partition(" : ")
            found[name] = panel, word, " ".join(words.split())
    return found


def _option(one: Parameter, hint: Any, known: tuple[str, str, str] | None) -> Any:
    """Return the type of a parameter with its option, or its argument, as it is documented."""
    if known is None:
        return hint
    panel, word, words = known
    more: dict[str, Any] = {"metavar": word or None}
    if word in NAMED:
        more |= {"metavar": "NAME", "autocompletion": lambda incomplete: _names(word, incomplete)}
    if panel == "Arguments":
        return Annotated[hint, typer.Argument(help=words, **more)]
    flag = f"--{one.name.replace('_', '-')}"
    switch = f"{flag}/--no-{flag[2:]}" if one.default is True else flag
    return Annotated[hint, HelpPanel(panel)(words, switch, **more)]


def _names(kind: str, incomplete: str) -> list[str]:
    return [name for name in registry(kind) if name.startswith(incomplete)]


@contextlib.contextmanager
def progress(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much of some work is done, in a terminal on the standard error."""
    from rich import progress as rich

    parts = rich.TextColumn(words), rich.BarColumn(), rich.MofNCompleteColumn()
    out = Console(stderr=True)
    with rich.Progress(
        *parts, rich.TimeRemainingColumn(), console=out, transient=True,
        disable=not out.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class Page(Console):
    """A console whose text wraps at blanks; a longer word, such as a path, is left whole."""

    wraps = True

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text, or what rich can render."""
        texts = [each for each in objects if isinstance(each, str)]
        if texts and len(texts) == len(objects):
            text = " ".join(texts)
            super().print(wrap(text, self.width) if self.wraps else text, soft_wrap=True)
        elif self.width < NARROW and len(objects) == 1 and isinstance(objects[0], Table):
            super().print(wrap(in_blocks(objects[0]), self.width), soft_wrap=True)
        else:
            super().print(*objects, **options)


def grid(*columns: str, gap: int = 2) -> Table:
    """Return an empty table with these columns; those after a > are aligned to the right."""
    table = Table(box=None, padding=(0, gap, 0, 0))
    for name in columns:
        side: Any = "right" if name.startswith(">") else "left"
        table.add_column(name.lstrip(">"), header_style="dim", justify=side, overflow="fold")
    return table


def in_blocks(table: Table) -> str:
    """Return a table for a narrow terminal: a line for every cell below the first of its row."""
    first, *others = table.columns
    lines = []
    for i, title in enumerate(first.cells):
        lines.append(str(title).rstrip())
        indent = " " * (2 + len(lines[-1]) - len(lines[-1].lstrip()))
        for column in others:
            cell = " ".join(str([*column.cells][i]).split())
            name = f"{column.header} " if column.header else ""
            lines += [f"{indent}{name}{cell}"] if cell else []
    return "\n".join(lines)


def console(stderr: bool = False) -> Console:
    """Return where results and messages are printed.

    Text wraps at blanks to the width of the terminal, or to 80 columns without one. A message on
    the standard error that no terminal shows stays in one line, for logs and for scripts.
    """
    page = Page(stderr=stderr, highlight=False, markup=False)
    page.wraps = page.is_terminal or not stderr
    return page


def readable_width(out: Console) -> int:
    """Return how wide paragraphs are to be."""
    return min(out.width, WIDEST)


def describe(out: Console, problem: Problem) -> None:
    """Print what is learned, and from which inputs."""
    from neurotron.data import Corrupted

    network = problem.network
    out.print(f"network   {counted(network.width, 'gate')}, {network.filter_size} weights")
    source = problem.data if isinstance(problem.data, Corrupted) else problem.law
    out.print(f"inputs    {network.n_inputs} from {source!r}")


def as_json(content: Mapping[str, Any], exit_code: int = 0) -> str:
    """Return a result as JSON, with its format, the software and the exit code of the command.

    JSON has no infinite numbers: they become null.
    """
    software = {"name": "neurotron", "version": package_version()}
    whole = {"format": FORMAT, "software": software, "exit_code": exit_code, **content}
    return json.dumps(plain(whole), indent=2, ensure_ascii=False, allow_nan=False)
