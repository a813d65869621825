"""Results as tables: `load_results` for training runs, `load_table` for any other work."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.manifest import DAMAGING, FITTING, TRAINING
from neurotron.lab.results.stored import Stored, Unit, damaged_lines, empty, located, tables_of
from neurotron.lab.results.summary import steps_to, summarise
from neurotron.lab.results.training import PREDICTIONS, SCHEMA, sound
from neurotron.trajectories import MIRROR, RECOVERED

__all__ = ["CLOSE", "EXACT", "Results", "load_results", "load_table"]

EXACT = 1e-12
"""A run has recovered w* exactly if its error is below this, which is the size of rounding."""

CLOSE = 1e-6
"""A run is close to w* if its error is below this."""


@dataclass(frozen=True, eq=False)
class Results(Stored):
    """The results of a study as tables, from `load_results`.

    Attributes
    ----------
    folder
        The folder of results with its manifest.
    arms
        One row per setting and arm: trainer (its label), trainer_text (as in the study, with its
        parameters), algorithm, step_size (null if the trainer finds its own), attack (its name),
        attack_text, bound, probability, law, outer_weights.
    runs
        One row per setting, replicate and arm: status, stopped_at, initial_error, error, loss,
        outcome, cosine (with −w*), distance (to the attack's vector), true_length (‖w*‖), radius
        and theorem1_radius (the guaranteed radii, null if there is no guarantee), root_mean_square
        (the guaranteed √E‖w − w*‖²), verified_radius (what fresh rows prove after the run, infinite
        if nothing, null if the study does not ask for it), prediction_error (√E(f_w − f_{w*})² over
        fresh inputs, null if inputs have no variance), certified_prediction_error and
        theorem1_prediction_error (the guaranteed ones), followed by the columns of `arms`.
    damaged
        Damaged shards that were left out, with the reason. Run the study again to compute them.
    """

    arms: pl.DataFrame
    runs: pl.DataFrame
    _shards: pl.DataFrame = field(repr=False)

    @cached_property
    def trajectories(self) -> pl.DataFrame:
        """A table of errors and losses: one row per setting, replicate, arm and recorded step."""
        return self.trajectories_at(np.concatenate([[0], *self.steps.values()]))

    def trajectories_at(self, steps: Index) -> pl.DataFrame:
        """Return the rows of `trajectories` at some of the recorded steps only.

        Use it for a study that records every step, whose full table may not fit into memory.
        """
        names = {"steps": "step", "errors": "error", "losses": "loss"}
        keys = ["setting", "replicate", "arm"]
        tables = [empty(**{name: SCHEMA[name] for name in ("arm", *names)})]
        for setting, shards in self._by_setting.items():
            places = pl.lit(np.flatnonzero(np.isin(self.steps[setting], steps))).implode()
            tables.append(
                shards.select(*keys, *(pl.col(name).list.gather(places) for name in names))
            )
        return pl.concat(tables).rename(names).explode(*names.values())

    @cached_property
    def steps(self) -> dict[str, Index]:
        """The steps at which the runs of each setting were recorded."""
        return {name: shards["steps"][0].to_numpy() for name, shards in self._by_setting.items()}

    @cached_property
    def errors(self) -> dict[str, Array]:
        """The errors ‖w − w*‖ of each setting: a row per run, as in `runs`, a column per step."""
        return {
            name: shards["errors"].explode().to_numpy().reshape(len(shards), -1)
            for name, shards in self._by_setting.items()
        }

    @cached_property
    def _by_setting(self) -> dict[str, pl.DataFrame]:
        """The rows of each setting, which follow each other, without a copy."""
        found, start = {}, 0
        for length, name in self._shards["setting"].rle().struct.unnest().iter_rows():
            found[name] = self._shards.slice(start, length)
            start += length
        return found

    @cached_property
    def replicates(self) -> dict[str, int]:
        """The number of complete replicates of each setting."""
        return self.replicates_in(self.runs)

    def summary(self) -> pl.DataFrame:
        """Return medians, quantiles and success rates of every arm, with 95 % intervals."""
        return summarise(self)

    def steps_to(self, error: float | str) -> pl.DataFrame:
        """Return the first recorded step at which each run has at most this error.

        `error` is a number, or a multiple of the initial error as in "0.1×".
        """
        return steps_to(self, error)

    def __repr__(self) -> str:
        units = self.runs.select("setting", "replicate").n_unique() if len(self.runs) else 0
        return (
            f"Results of {self.spec['name']!r}: {len(self.spec['settings'])} settings, "
            f"{len(self.arms)} arms, {units} units"
        )


def load_results(folder: str | Path) -> Results:
    """Return the results in a folder of training runs as tables.

    Damaged shards are left out and listed in `Results.damaged`.

    Parameters
    ----------
    folder
        The folder that `studies.run` or `neurotron run` has written.

    Examples
    --------
    >>> import neurotron as nt, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = nt.lab.studies.run(nt.lab.studies.read("smoke"), f"{place}/smoke", replicates=2)
    ...     results = nt.load_results(f"{place}/smoke")
    >>> results
    Results of 'smoke': 2 settings, 12 arms, 4 units
    >>> results.runs["outcome"].unique().to_list()
    ['recovered']
    """
    held = Folder.read(_check.path("folder", folder))
    if held.manifest["unit"] != TRAINING:
        readers = {FITTING: "load_fits", DAMAGING: "load_damages"}
        reader = readers.get(held.manifest["unit"], "load_table")
        raise _check.InputError(
            f"{str(held.path)!r} holds no training runs but results of {held.manifest['unit']}: "
            f"read it with neurotron.lab.results.{reader}"
        )
    rows = [
        {"setting": setting, **row}
        for setting, arms in held.manifest["arms"].items()
        for row in arms
    ]
    arms = pl.DataFrame(rows)
    tables, damaged = _comparable(*tables_of(held, partial(_runs_of, held)))
    shards = pl.concat([empty(**SCHEMA), *located(tables)], rechunk=True)
    runs = _runs(shards).join(arms, on=["setting", "arm"], how="left", maintain_order="left")
    return Results(held, damaged_lines(held, damaged), arms, runs, shards)


def load_table(folder: str | Path) -> pl.DataFrame:
    """Return all rows in a folder of results as one table, whatever function computed them.

    The first columns are setting and replicate, followed by those that the function returned. A
    damaged shard is left out, with a warning that names it. Run the work again to compute it.

    Parameters
    ----------
    folder
        The folder that `studies.run` has written.
    """
    held = Folder.read(_check.path("folder", folder))
    is_training = held.manifest["unit"] == TRAINING
    checked = partial(_runs_of, held) if is_training else lambda _, table: table
    tables, damaged = tables_of(held, checked)
    if damaged:
        first, *others = damaged_lines(held, damaged)
        more = f" and {len(others):,} more" if others else ""
        warnings.warn(
            f"damaged shards are left out: {first}{more}. Run again to compute them", stacklevel=2
        )
    _require_common_kinds(tables)
    return pl.concat([empty(), *located(tables)], how="diagonal_relaxed")


def _require_common_kinds(tables: dict[Unit, pl.DataFrame]) -> None:
    """Refuse a column that has text in one unit and numbers in another."""
    kinds: dict[str, tuple[Unit, Any]] = {}
    for unit, table in tables.items():
        for name, kind in table.schema.items():
            if kind != pl.Null:
                first, known = kinds.setdefault(name, (unit, kind))
                if WIDER.get(kind, kind) != WIDER.get(known, known):
                    raise _check.InputError(
                        f"column {_check.shown(name)} is {known} in {first} and {kind} in {unit}: "
                        "change the function so that it always returns the same kind"
                    )


WIDER: dict[Any, Any] = {pl.Int64(): pl.Float64(), pl.List(pl.Int64): pl.List(pl.Float64)}
"""The type of a column that has whole numbers in some units and floats in others."""


def _runs_of(held: Folder, setting: str, table: pl.DataFrame) -> pl.DataFrame:
    """Return the table of a unit of training runs; raise `Damaged` if it is not valid."""
    return sound(table, [arm["arm"] for arm in held.manifest["arms"][setting]])


def _comparable(
    tables: dict[Unit, pl.DataFrame], damaged: dict[Unit, str]
) -> tuple[dict[Unit, pl.DataFrame], dict[Unit, str]]:
    """Count shards as damaged if they were recorded at other steps than most of their setting."""
    recorded: dict[str, dict[Unit, bytes]] = {}
    for unit, table in tables.items():
        recorded.setdefault(unit[0], {})[unit] = table["steps"][0].to_numpy().tobytes()
    for steps in recorded.values():
        ((common, _),) = Counter(steps.values()).most_common(1)
        others = [unit for unit, found in steps.items() if found != common]
        damaged = damaged | dict.fromkeys(others, "its steps differ from those of the other shards")
    return {unit: tables[unit] for unit in tables if unit not in damaged}, damaged


def _runs(shards: pl.DataFrame) -> pl.DataFrame:
    """Return the table of runs: how each run ended."""
    column = pl.col
    weights, true, vector = column("weights"), column("true_weights"), column("attack_vector")
    length = _length(true)
    outcome = (
        pl.when(column("status") == "diverged")
        .then(pl.lit("diverged"))
        .when(column("error") < RECOVERED * length)
        .then(pl.lit("recovered"))
        .when(column("cosine").fill_nan(0.0) > MIRROR)  # zero weights have no direction
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
    "outcome", "cosine", "distance", "true_length", "radius", "root_mean_square",
    "theorem1_radius", "verified_radius", *PREDICTIONS,
]  # fmt: skip


def _length(vector: pl.Expr) -> pl.Expr:
    return (vector * vector).list.sum().sqrt()
