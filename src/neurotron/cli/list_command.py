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


def list_things(
    kind: Annotated[
        str, typer.Argument(help=f"One of {', '.join(REGISTRIES)}, studies; all if left out.")
    ] = "",
) -> None:
    """List networks, laws, attacks and trainers with their settings and defaults, and studies.

    Use them in other commands as name:setting=value, for example student-t:dof=4.
    """
    if kind and kind not in (*REGISTRIES, "studies"):
        raise _check.unknown("kind", kind, (*REGISTRIES, "studies"))
    console = Console()
    for title, registry in REGISTRIES.items():
        if kind in ("", title):
            console.print(_table(title, registry))
    if kind in ("", "studies"):
        console.print(_studies())


def _table(title: str, registry: Registry[object]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2))
    for column in ("name", "settings", "what it is"):
        table.add_column(column, header_style="dim")
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

    table = Table(
        title="studies", title_justify="left", title_style="bold", box=None, padding=(0, 2)
    )
    for column in ("name", "what it is"):
        table.add_column(column, header_style="dim")
    for name, title in studies.catalog().items():
        table.add_row(f"[cyan]{name}[/]", title)
    return table
