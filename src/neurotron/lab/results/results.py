"""The results in a folder: one table with the declared columns of all intact units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import polars as pl

from neurotron import _check
from neurotron._references import resolve
from neurotron.lab.store.folder import Folder
from neurotron.lab.store.shard import Damaged, schema_of


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study, from `load`.

    Attributes
    ----------
    folder
        The folder of results with its manifest.
    damaged
        Damaged shards that were left out, with the reason. Run the study again to compute them.
    table
        All rows. The first columns are setting and replicate, followed by those of the study.
    """

    folder: Folder
    damaged: tuple[str, ...]
    table: pl.DataFrame
    _shared: dict[Any, Any] = field(repr=False, init=False, default_factory=dict)
    """What was computed from these results, for `once`."""

    @property
    def spec(self) -> dict[str, Any]:
        """The study as plain values, without its number of replicates."""
        spec: dict[str, Any] = self.folder.manifest["spec"]
        return spec

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings by their names."""
        return {setting["name"]: setting for setting in self.spec["settings"]}

    @property
    def titles(self) -> dict[str, str]:
        """The title of each setting, followed by its name if two settings have the same title."""
        titles = [setting.get("title") or name for name, setting in self.settings.items()]
        return {
            name: title if titles.count(title) == 1 else f"{title} ({name})"
            for name, title in zip(self.settings, titles, strict=True)
        }

    @property
    def replicates(self) -> dict[str, int]:
        """The number of replicates of each setting that have rows."""
        units = self.table.select("setting", "replicate").unique()
        return {name: int((units["setting"] == name).sum()) for name in self.settings}

    @property
    def asked(self) -> dict[str, int]:
        """The replicates of each setting that the study was last asked for, as far as is known."""
        events = (event.get("replicates", 1) for event in self.folder.events())
        most = max(1, *self.replicates.values(), *events)
        return {
            name: min(most, one.get("replicates") or most) for name, one in self.settings.items()
        }

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

    def __repr__(self) -> str:
        return (
            f"Results of {self.spec['name']!r}: {len(self.settings)} settings, "
            f"{sum(self.replicates.values())} units, {len(self.table)} rows"
        )


def load(folder: str | Path) -> Results:
    """Return the results in a folder as a table, whatever study computed them.

    Damaged shards are left out and listed in `Results.damaged`.

    Parameters
    ----------
    folder
        The folder that `neurotron run` or `nt.lab.run` has written.
    """
    held = Folder.read(_check.path("folder", folder))
    own = {"setting": pl.String, "replicate": pl.Int64}
    tables = [pl.DataFrame(schema=own | dict(schema_of(held.columns)))]
    damaged = []
    for unit in held.units():
        try:
            table = held.load(*unit)
        except Damaged as reason:
            damaged.append(f"{held.shard_path(*unit)}: {reason}")
            continue
        place = pl.lit(unit.setting), pl.lit(unit.replicate, pl.Int64)
        tables.append(table.select(*(one.alias(own) for one, own in zip(place, own, strict=True)),
                                   pl.all()))  # fmt: skip
    return Results(held, tuple(damaged), pl.concat(tables, rechunk=True))


def called(name: str, results: Results) -> Any:
    """Return what a function of the study, given by its "module:name", returns for results."""
    function: Any = resolve(name)
    _check.function(name, function, "the results")
    return function(results)


P = ParamSpec("P")
R = TypeVar("R", bound=Results)
T = TypeVar("T")


def once(function: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a function of results compute its value once for given results, which never change.

    The results keep the value, so it is shared by all callers and must not be changed by them.
    """

    @wraps(function)
    def shared(results: R, /, *given: P.args, **named: P.kwargs) -> T:
        kept, key = results._shared, (function, given, *sorted(named.items()))
        if key not in kept:
            kept[key] = function(results, *given, **named)
        value: T = kept[key]
        return value

    return shared
