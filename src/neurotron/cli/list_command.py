"""`neurotron list`: what there is, with one line each."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from neurotron import _check, attacks, laws, networks, trainers
from neurotron._registry import Registry

__all__ = ["REGISTRIES", "list_things"]

REGISTRIES: dict[str, Registry[object]] = {
    "networks": networks.BY_NAME,
    "laws": laws.BY_NAME,
    "attacks": attacks.BY_NAME,
    "trainers": trainers.BY_NAME,
}
KINDS = (*REGISTRIES, "studies", "claims")


def list_things(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}; all if left out.")] = "",
) -> None:
    """List networks, laws, attacks and trainers with their settings and defaults, studies, claims.

    Use the first four in other commands as name:setting=value, for example student-t:dof=4. A study
    names the claims that its results are judged by.
    """
    if kind and kind not in KINDS:
        raise _check.unknown("kind", kind, KINDS)
    console = Console()
    for title, registry in REGISTRIES.items():
        if kind in ("", title):
            console.print(_table(title, registry))
    if kind in ("", "studies"):
        console.print(_studies())
    if kind in ("", "claims"):
        console.print(_claims())


def _empty(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2))
    for column in columns:
        table.add_column(column, header_style="dim", no_wrap=column == "name")
    return table


def _table(title: str, registry: Registry[object]) -> Table:
    table = _empty(title, "name", "settings", "what it is")
    for name in registry:
        settings = [
            f"{setting}={default}" if default else setting
            for setting, default in registry.text_settings(name).items()
        ]
        summary, kind = registry.summary(name), registry.factories[name]
        if isinstance(kind, type) and issubclass(kind, attacks.Attack):
            summary += f"\n[dim]{_character(kind)}[/]"
        table.add_row(f"[cyan]{name}[/]", ", ".join(settings), summary)
    return table


def _character(kind: type[attacks.Attack]) -> str:
    """Return what an attack knows, what it spends, and which guarantees hold against it."""
    return f"knows {kind.knowledge}; {kind.budget}; guarantees: {', '.join(kind.covered) or 'none'}"


def _studies() -> Table:
    from neurotron import studies

    table = _empty("studies", "name", "what it is")
    for name, title in studies.catalog().items():
        table.add_row(f"[cyan]{name}[/]", title)
    return table


def _claims() -> Table:
    from neurotron import studies
    from neurotron.claims import CLAIMS

    named = {name: studies.read(name).claims for name in studies.catalog()}
    table = _empty("claims", "name", "what is claimed", "studies")
    for claim in CLAIMS.values():
        where = ", ".join(study for study, claims in named.items() if claim.name in claims)
        said = f"{claim.statement}\n[dim]{claim.source}[/]"
        table.add_row(f"[cyan]{claim.name}[/]", said, where)
    return table
