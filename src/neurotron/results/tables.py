"""Results as tidy tables: `load_results`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.results import shard
from neurotron.results.folder import Folder
from neurotron.results.shard import Damaged
from neurotron.results.summary import steps_to, summarise

__all__ = ["CLOSE", "EXACT", "RECOVERED", "Results", "load_results"]

RECOVERED = 0.5
"""A run has recovered w* if its error is below this part of ‖w*‖: halfway to the origin."""

EXACT = 1e-12
"""A run has recovered w* exactly if its error is below this: what is less is rounding."""

CLOSE = 1e-6
"""A run has come close to w* if its error is below this."""

MIRROR = 0.5
"""A run ended at the mirror filter if the cosine of its weights with −w* is above this."""


@dataclass(frozen=True, eq=False)
class Results:
    """What is in a folder of results, as tables.

    Attributes
    ----------
    folder
        Where it is, and its manifest.
    arms
        One row per setting and arm: trainer (its label), trainer_text (as the study has it, with
        its settings), algorithm, step_size (null if the trainer finds its own), attack (its name),
        attack_text, bound, probability, law, outer_weights.
    runs
        One row per setting, replicate and arm: status, stopped_at, initial_error, error, loss,
        outcome, cosine (with −w*), distance (to the attack's vector), true_length (‖w*‖), radius
        and theorem1_radius (what is guaranteed, null for nothing); with the columns of `arms`.
    damaged
        Shards that were left out, and why: run the study again to compute them.
    """

    folder: Folder
    arms: pl.DataFrame
    runs: pl.DataFrame
    damaged: tuple[str, ...]
    _shards: pl.DataFrame = field(repr=False)

    @property
    def spec(self) -> dict[str, Any]:
        """The study, without its number of replicates."""
        spec: dict[str, Any] = self.folder.manifest["spec"]
        return spec

    @property
    def titles(self) -> dict[str, str]:
        """What each setting is called in tables and figures: its title, with its name if needed."""
        settings = self.spec["settings"]
        titles = [setting["title"] or setting["name"] for setting in settings]
        return {
            setting["name"]: title if titles.count(title) == 1 else f"{title} ({setting['name']})"
            for setting, title in zip(settings, titles, strict=True)
        }

    @cached_property
    def trajectories(self) -> pl.DataFrame:
        """One row per setting, replicate, arm and recorded step: error and loss."""
        return self.trajectories_at(self.steps)

    @cached_property
    def steps(self) -> Index:
        """The steps that every run recorded."""
        return np.asarray(self._shards["steps"][0] if len(self._shards) else [], dtype=np.int64)

    def trajectories_at(self, steps: Index) -> pl.DataFrame:
        """Return the rows of `trajectories` at some of the recorded steps, and make no others.

        A study that records every step has many more rows than memory holds.
        """
        places = np.flatnonzero(np.isin(self.steps, steps))
        keys = ["setting", "replicate", "arm"]
        lists = (
            pl.col(old).list.gather(pl.lit(places).implode()).alias(new)
            for old, new in (("steps", "step"), ("errors", "error"), ("losses", "loss"))
        )
        return self._shards.select(*keys, *lists).explode("step", "error", "loss")

    @cached_property
    def errors(self) -> Array:
        """The errors of every run (in the order of `runs`) at every recorded step."""
        shape = len(self._shards), len(self.steps)
        return np.asarray(self._shards["errors"].explode().to_numpy(), np.float64).reshape(shape)

    @cached_property
    def replicates(self) -> dict[str, int]:
        """How many whole replicates of each setting there are."""
        units = self.runs.select("setting", "replicate").unique()
        return {name: int((units["setting"] == name).sum()) for name in self.titles}

    @property
    def wanted(self) -> int:
        """How many units were asked for, as far as runs.jsonl tells."""
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

    def summary(self) -> pl.DataFrame:
        """Return medians, quantiles and success rates of every arm, with intervals."""
        return summarise(self)

    def steps_to(self, error: float | str) -> pl.DataFrame:
        """Return when each run first came to an error, or to a part of its initial one ("0.1×")."""
        return steps_to(self, error)

    def __repr__(self) -> str:
        units = self.runs.select("setting", "replicate").n_unique() if len(self.runs) else 0
        return (
            f"Results of {self.spec['name']!r}: {len(self.spec['settings'])} settings, "
            f"{len(self.arms)} arms, {units} units"
        )


def load_results(folder: str | Path) -> Results:
    """Return the results in a folder as tables; shards that are damaged are left out and named.

    Examples
    --------
    >>> import neurotron as nt, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = nt.studies.run(nt.studies.read("smoke"), f"{place}/smoke", replicates=2)
    ...     results = nt.load_results(f"{place}/smoke")
    >>> results
    Results of 'smoke': 2 settings, 12 arms, 4 units
    >>> results.runs["outcome"].unique().to_list()
    ['recovered']
    """
    held = Folder.read(_check.path("folder", folder))
    rows = [
        {"setting": setting, **row}
        for setting, arms in held.manifest["arms"].items()
        for row in arms
    ]
    arms = pl.DataFrame(rows)
    tables, damaged = _whole(held)
    shards = pl.concat(tables) if tables else _empty()
    runs = _runs(shards).join(arms, on=["setting", "arm"], how="left", maintain_order="left")
    return Results(held, arms, runs, tuple(damaged), shards)


def _whole(held: Folder) -> tuple[list[pl.DataFrame], list[str]]:
    """Return the tables of the shards that can be used together, and what is wrong with others."""
    tables: dict[tuple[str, int], pl.DataFrame] = {}
    damaged: dict[tuple[str, int], str] = {}
    for unit in held.units():
        try:
            tables[unit] = held.load(*unit)
        except Damaged as reason:
            damaged[unit] = str(reason)
    steps = {unit: table["steps"][0].to_numpy().tobytes() for unit, table in tables.items()}
    for common, _ in Counter(steps.values()).most_common(1):
        others = [unit for unit in tables if steps[unit] != common]
        damaged |= dict.fromkeys(others, "its steps are not those of the other shards")
    whole = [
        table.select(pl.lit(unit[0]).alias("setting"), pl.lit(unit[1]).alias("replicate"),
                     pl.all())
        for unit, table in tables.items() if unit not in damaged
    ]  # fmt: skip
    return whole, [f"{held.shard_path(*unit)}: {damaged[unit]}" for unit in sorted(damaged)]


def _runs(shards: pl.DataFrame) -> pl.DataFrame:
    """Return what each run came to."""
    column = pl.col
    weights, true, vector = column("weights"), column("true_weights"), column("attack_vector")
    length = _length(true)
    outcome = (
        pl.when(column("status") == "diverged")
        .then(pl.lit("diverged"))
        .when(column("error") < RECOVERED * length)
        .then(pl.lit("recovered"))
        .when(column("cosine").fill_nan(0.0) > MIRROR)  # zero weights look nowhere
        .then(pl.lit("mirror"))
        .otherwise(pl.lit("other"))
    )
    ends = shards.with_columns(
        initial_error=column("errors").list.first(),
        error=column("errors").list.last(),
        loss=column("losses").list.last(),
        cosine=-(weights * true).list.sum() / (_length(weights) * length),
        distance=_length(weights - vector),
        true_length=length,
    )
    return ends.with_columns(outcome=outcome).select(RUN_COLUMNS)


RUN_COLUMNS = [
    "setting", "replicate", "arm", "status", "stopped_at", "initial_error", "error", "loss",
    "outcome", "cosine", "distance", "true_length", "radius", "theorem1_radius",
]  # fmt: skip


def _length(vector: pl.Expr) -> pl.Expr:
    return (vector * vector).list.sum().sqrt()


def _empty() -> pl.DataFrame:
    """Return the table of shards when there are none yet."""
    nobody = shard.Identity("", "", 0)
    table = shard.decode(shard.encode([], nobody), nobody)
    where = pl.lit("").alias("setting"), pl.lit(0).alias("replicate")
    return table.select(*where, pl.all()).clear()
