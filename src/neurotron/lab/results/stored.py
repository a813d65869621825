"""What all results in a folder have in common, and how the tables of their shards are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from neurotron import _check
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.shard import Damaged

__all__ = [
    "Stored", "Unit", "damaged_lines", "empty", "located", "opened", "tables_of", "typed",
]  # fmt: skip

Unit = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Stored:
    """Results in a folder, and what was left out of them.

    Attributes
    ----------
    folder
        The folder of results with its manifest.
    damaged
        Damaged shards that were left out, with the reason. Run the study again to compute them.
    """

    folder: Folder
    damaged: tuple[str, ...]
    _shared: dict[Any, Any] = field(repr=False, init=False, default_factory=dict)
    """What was computed from these results, for `sharing.once`."""

    @property
    def spec(self) -> dict[str, Any]:
        """The study, without its number of replicates."""
        spec: dict[str, Any] = self.folder.manifest["spec"]
        return spec

    @property
    def titles(self) -> dict[str, str]:
        """The title of each setting, followed by its name if two settings have the same title."""
        settings = self.spec["settings"]
        titles = [setting.get("title") or setting["name"] for setting in settings]
        return {
            setting["name"]: title if titles.count(title) == 1 else f"{title} ({setting['name']})"
            for setting, title in zip(settings, titles, strict=True)
        }

    @property
    def wanted(self) -> int:
        """The number of units of the study, as far as runs.jsonl shows."""
        starts = [event for event in self.folder.events() if event.get("event") == "start"]
        pairs = [(event.get("kept"), event.get("missing")) for event in starts]
        counts = [a + b for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
        return max(counts, default=0)

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The units that failed and are still missing, with their errors."""
        there = set(self.folder.units())
        last = {
            (event["setting"], event["replicate"]): event
            for event in self.folder.events()
            if event.get("event") == "failed"
        }
        return [event for unit, event in last.items() if unit not in there]

    def replicates_in(self, table: pl.DataFrame) -> dict[str, int]:
        """Return the number of replicates of each setting that a table has rows of."""
        units = table.select("setting", "replicate").unique()
        return {name: int((units["setting"] == name).sum()) for name in self.titles}


def opened(folder: str | Path, unit: str, kind: str) -> Folder:
    """Return a folder with results of a kind of study, of which `unit` computes the units."""
    held = Folder.read(_check.path("folder", folder))
    if held.manifest["unit"] != unit:
        raise _check.InputError(
            f"{str(held.path)!r} holds no results of a study of {kind} but those of "
            f"{held.manifest['unit']}: read it with neurotron.load_results"
        )
    return held


def typed(table: pl.DataFrame, schema: dict[str, Any], kind: str) -> pl.DataFrame:
    """Return the table of a unit with the types of a schema; raise `Damaged` if it has others."""
    if table.columns != [*schema] or any(
        found not in (schema[name], pl.Null) for name, found in table.schema.items()
    ):
        raise Damaged(f"its columns are not those of fits to {kind}")
    return table.cast(pl.Schema(schema))


def tables_of(
    held: Folder, checked: Callable[[str, pl.DataFrame], pl.DataFrame]
) -> tuple[dict[Unit, pl.DataFrame], dict[Unit, str]]:
    """Return the tables of the intact shards, and what is wrong with the others.

    `checked` returns the table of a setting, or raises `Damaged`.
    """
    tables: dict[Unit, pl.DataFrame] = {}
    damaged: dict[Unit, str] = {}
    for unit in held.units():
        try:
            tables[unit] = checked(unit[0], held.load(*unit))
        except Damaged as reason:
            damaged[unit] = str(reason)
    return tables, damaged


def located(tables: dict[Unit, pl.DataFrame]) -> list[pl.DataFrame]:
    """Return the tables with their setting and replicate as first columns."""
    return [
        table.select(pl.lit(unit[0]).alias("setting"), pl.lit(unit[1], pl.Int64).alias("replicate"),
                     pl.all())
        for unit, table in tables.items() if table.width
    ]  # fmt: skip


def damaged_lines(held: Folder, damaged: dict[Unit, str]) -> tuple[str, ...]:
    """Return which shards are damaged and why, one line each."""
    return tuple(f"{held.shard_path(*unit)}: {damaged[unit]}" for unit in sorted(damaged))


def empty(**columns: Any) -> pl.DataFrame:
    """Return a table with these columns and no rows."""
    return pl.DataFrame(schema={"setting": pl.String, "replicate": pl.Int64, **columns})
