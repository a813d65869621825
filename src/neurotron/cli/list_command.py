"""`neurotron list`: everything that has a name, from networks to studies and claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from neurotron import _check
from neurotron._text import wrap
from neurotron.cli import options

KINDS = (*options.NAMED, "sensing", "studies", "claims")

BY_OPTIONS = {
    "networks": ("n_inputs", "filter_size", "seed"),
    "laws": ("n_inputs",),
    "attacks": ("bound", "probability"),
}
"""Parameters that commands have options for."""


def list_things(
    kind: Annotated[
        str,
        typer.Argument(
            help=f"One of {', '.join(KINDS)}. Without it, all names are shown.",
            autocompletion=lambda incomplete: [k for k in KINDS if k.startswith(incomplete)],
        ),
    ] = "",
) -> None:
    """Show all networks, laws, attacks, trainers, estimators, sensing, studies and claims.

    The first five are written as name:parameter=value in other commands and in study files, for
    example student-t:dof=4 or symmetric:width=4,leak=0.1.

        neurotron list attacks

    networks
    --------
    The sizes are given by --n-inputs and --filter-size. An activation is softplus, silu or gelu;
    without it, a network has the leaky ReLU with slope `leak` below zero.

    laws
    ----
    A law is the probability distribution of the inputs. A law inside another one has semicolons for
    commas: law=student-t:dof=4;scale=2.

    attacks
    -------
    The bound θ and the probability β are given by --bound and --probability. A guarantee of
    `certify` and `plan` holds against all attacks that do not say otherwise. Attacks on stored rows
    are for the function nt.poison in Python.

    trainers
    --------
    A study gives all its trainers one step_size. In the place of a trainer, it may also have
    solve:rows=N, which is nt.solve on N rows of the stream.

    estimators
    ----------
    An estimator fits a model to the rows of a table. Names that other libraries use are known as
    well, such as linear, knn, rf and gbm.

    sensing
    -------
    Write --trainer neuro-tron:sensing=center, or --sensing of `neurotron plan`. The paper's
    Gaussian and Wishart matrices M (its Remark 1) are the centers of symmetric networks:
    --network symmetric:center=wishart with sensing=center.
    """
    if kind and kind not in KINDS:
        raise _check.unknown("kind", kind, KINDS)
    out = options.console()
    if not kind:
        _overview(out)
        return
    named = kind in options.NAMED
    columns = ("what is claimed", "studies") if kind == "claims" else ("what it is",)
    table = options.grid("name", *["parameters"] * named, *columns)
    rows = list(_rows(kind))
    for row in rows:
        table.add_row(*row)
    table.columns[0].min_width = min(max(len(name) for name, *_ in rows), out.width // 2)
    out.print(table)
    syntax = "Write name:parameter=value. A value that is shown here is the default. " * named
    note = options.sections(list_things).get(kind)
    if note:
        out.print(f"\n{syntax}{' '.join(note.split())}")


def _overview(out: Console) -> None:
    """Print the names of everything on one page."""
    indent = " " * (12 if out.width >= 60 else 2)
    for kind in KINDS:
        names = ", ".join(name for name, *_ in _rows(kind))
        out.print(wrap(f"{kind:<12}{names}", out.width, hang=indent))
    out.print(
        "\nEach kind has a table with parameters and explanations, for example:\n"
        "neurotron list attacks"
    )


def _rows(kind: str) -> Iterator[tuple[str, ...]]:
    """Yield the name of each thing of a kind, and what the table says about it."""
    from neurotron import lab

    if kind == "sensing":
        from neurotron.networks import sensing

        for name in sensing.SENSING:
            line = (getattr(sensing, name).__doc__ or "").partition("\n")[0].removeprefix("Return ")
            yield name, line[:1].upper() + line[1:]
    elif kind == "studies":
        yield from lab.catalog().items()
    elif kind == "claims":
        from neurotron.lab.claims import CLAIMS

        named = {name: lab.read(name).claims for name in lab.catalog()}
        for claim in CLAIMS.values():
            where = ", ".join(study for study, claims in named.items() if claim.name in claims)
            yield claim.name, f"{claim.short or claim.statement}\n({claim.source})", where
    else:
        registry = options.registry(kind)
        for name in registry:
            knowledge = getattr(registry.factory(name), "knowledge", "")
            knows = f" It knows {knowledge}." if knowledge else ""
            parameters = "\n".join(_parameters(kind, name))
            yield name, parameters, f"{registry.summary(name)}{knows}"


def _parameters(kind: str, name: str) -> Iterator[str]:
    """Yield the parameters of a name that commands have no option for, with their defaults."""
    for parameter, default in options.registry(kind).text_parameters(name).items():
        if parameter not in BY_OPTIONS.get(kind, ()):
            open_ = default == "None" or (kind == "attacks" and not default)  # `spending` fills it
            mark = " (optional)" if open_ else f"={default}" if default else " (required)"
            yield f"{parameter}{mark}"
