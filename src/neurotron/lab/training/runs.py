"""The results of training runs as tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from pydantic import ValidationError

from neurotron import _check
from neurotron._digits import percent
from neurotron._types import Array, Index
from neurotron.lab.results.results import Results, load, once
from neurotron.lab.store.manifest import CHANGED
from neurotron.lab.training.columns import ARM, COLUMNS, COURSES, SIZES
from neurotron.lab.training.spec import Setting
from neurotron.trajectories import MIRROR, RECOVERED
from neurotron.work.columns import checked_columns

EXACT = 1e-12
"""A run has recovered w* exactly if its error is below this, which is the size of rounding."""

CLOSE = 1e-6
"""A run is close to w* if its error is below this."""


@dataclass(frozen=True, eq=False)
class Runs(Results):
    """The results of training runs as tables, from `load_results`.

    Attributes
    ----------
    folder, damaged, table
        As those of `Results`.
    arms
        One row per setting and arm: trainer (its label), trainer_text (as in the study, with its
        parameters), algorithm, step_size (null if the trainer finds its own), step_rule (the word
        for it, as in "fastest"), attack (its name), attack_text, bound, probability, law, law_name,
        law_scale, dof, corruption (the root mean square of ‖x' − x‖ where an input is corrupted)
        and corrupted_share, architecture (the network without what follows), activation, leak,
        outer_weights.
    runs
        One row per setting, replicate and arm: the columns of `arms`, status, stopped_at,
        initial_error, error, loss, outcome, cosine (with w*), distance (to the attack's vector),
        true_length (‖w*‖), verified_radius (what fresh rows prove after the run, infinite if
        nothing, null if the study does not ask for it), and prediction_error (√E(f_w − f_{w*})²
        over fresh inputs, null if inputs have no variance). The sharp certificate gives radius,
        root_mean_square (of ‖w − w*‖), certified_limit (the least bound of any step size),
        certified_prediction_error, and certified_steps (to a tenth of the initial error, on honest
        labels); Theorem 1 gives theorem1_radius, theorem1_prediction_error, theorem1_step_size
        (for γ = 2 on honest labels), theta_star and risk_ratio (of section 3.4). They are null
        where there is no guarantee. So is predicted_bias, how far from w* corrupted inputs draw the
        mean of Neuro-Tron's weights, where it is not known.
    """

    @classmethod
    def of(cls, results: Results) -> Runs:
        """Return results of training runs; refuse those of another study."""
        if isinstance(results, Runs):
            return results
        _check.instance("results", results, Results)
        if results.folder.columns != checked_columns(COLUMNS):
            raise _check.InputError(
                f"{str(results.folder.path)!r} holds no training runs but results of "
                f"{results.spec['unit']}: read it with neurotron.lab.load"
            )
        return _runs_of(results)

    @property
    def trainers(self) -> dict[str, str]:
        """All trainers of the study: label and text, as in its file."""
        return {
            label: text for one in self.settings.values() for label, text in one["trainers"].items()
        }

    @property
    def confidence_text(self) -> str:
        """The confidence of certified radii, as in "95 %"."""
        chosen = sorted({one["confidence"] for one in self.settings.values()})
        return " or ".join(percent(one, 6) for one in chosen)

    @cached_property
    def arms(self) -> pl.DataFrame:
        """One row per setting and arm."""
        return self.table.select("setting", *ARM).unique(maintain_order=True)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per setting, replicate and arm."""
        return _runs(self.table)

    @cached_property
    def trajectories(self) -> pl.DataFrame:
        """A table of errors and losses: one row per setting, replicate, arm and recorded step."""
        names = {"steps": "step", "errors": "error", "losses": "loss"}
        chosen = self.table.select("setting", "replicate", "arm", *names)
        return chosen.rename(names).explode(*names.values())

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
        for length, name in self.table["setting"].rle().struct.unnest().iter_rows():
            found[name] = self.table.slice(start, length)
            start += length
        return found

    def __repr__(self) -> str:
        return (
            f"Runs of {self.spec['name']!r}: {len(self.settings)} settings, {len(self.arms)} arms, "
            f"{sum(self.replicates.values())} units"
        )


def load_results(folder: str | Path) -> Runs:
    """Return the results in a folder of training runs as tables.

    Damaged shards are left out and listed in `Runs.damaged`.

    Parameters
    ----------
    folder
        The folder that `neurotron run` or `nt.lab.run` has written.

    Examples
    --------
    >>> import neurotron as nt, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = nt.lab.run(nt.lab.read("smoke"), f"{place}/smoke", replicates=2)
    ...     results = nt.load_results(f"{place}/smoke")
    >>> results
    Runs of 'smoke': 2 settings, 12 arms, 4 units
    >>> results.runs["outcome"].unique().to_list()
    ['recovered']
    """
    return Runs.of(load(folder))


@once
def _runs_of(results: Results) -> Runs:
    """Return results as runs, without shards whose steps differ from most of their setting's."""
    try:
        for one in results.settings.values():
            Setting.model_validate_json(json.dumps(one))
    except ValidationError:
        raise _check.InputError(
            f"{results.folder.path / 'manifest.json'}: its settings are not those of training "
            f"runs; {CHANGED}"
        ) from None
    table, damaged = results.table, list(results.damaged)
    recorded: dict[str, dict[int, bytes]] = {}
    columns = table.select("setting", "replicate", "steps", "errors", "losses", *COURSES)
    for setting, replicate, *lists in columns.iter_rows():
        lengths = [len(one or ()) for one in lists]
        same = lists[0] is not None and len({*lengths[:3]}) == len({*lengths[3:]}) == 1
        steps = np.asarray(lists[0], np.int64).tobytes() if same else b""
        found = recorded.setdefault(setting, {})
        found[replicate] = steps if found.get(replicate, steps) == steps else b""
    for setting, found in recorded.items():
        ((common, _),) = Counter(found.values()).most_common(1)
        for replicate, steps in found.items():
            if steps != common or not steps:
                damaged.append(
                    f"{results.folder.shard_path(setting, replicate)}: its steps differ from those "
                    "of the other shards"
                )
                other = (pl.col("setting") == setting) & (pl.col("replicate") == replicate)
                table = table.filter(~other)
    return Runs(results.folder, tuple(damaged), table)


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
        .when(column("cosine").fill_nan(0.0) < -MIRROR)  # zero weights have no direction
        .then(pl.lit("mirror"))
        .otherwise(pl.lit("other"))
    )
    ends = shards.with_columns(
        initial_error=column("errors").list.first(),
        error=column("errors").list.last(),
        loss=column("losses").list.last(),
        cosine=(weights * true).list.sum() / (_length(weights) * length),
        distance=_length(weights - vector),
        true_length=length,
    )
    return ends.with_columns(outcome=outcome).select(RUN_COLUMNS)


RUN_COLUMNS = [
    "setting", "replicate", "arm", "status", "stopped_at", "initial_error", "error", "loss",
    "outcome", "cosine", "distance", "true_length", *SIZES,
    *[name for name in ARM if name != "arm"],
]  # fmt: skip


def _length(vector: pl.Expr) -> pl.Expr:
    return (vector * vector).list.sum().sqrt()
