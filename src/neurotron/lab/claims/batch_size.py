"""Claims about the batch size: what it changes at the same number of steps and of samples.

The paper's Remark 1, item 3 says that a larger batch has a larger step size and a faster rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron._registry import parse
from neurotron._types import Array
from neurotron.lab.claims.certificates import CONFIDENCE
from neurotron.lab.claims.model import Finding, at_most, below, between
from neurotron.lab.claims.settings import CONDITIONS
from neurotron.lab.results.results import once
from neurotron.lab.results.summary import Interval, bootstrap
from neurotron.lab.training import building
from neurotron.lab.training.levels import divided, paired, slopes
from neurotron.lab.training.summary import distinct_runs, steps_to
from neurotron.problem import Problem
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers import NeuroTron
from neurotron.trainers.catalog import build

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

__all__ = [
    "ATTACKED", "BOUNDED", "DRIFT", "SAME_STEP", "TENTH", "BatchSizes", "as_certified",
    "batch_sizes", "fewer_steps", "honest_runs", "lower_floor", "samples_alike", "steps_of",
]  # fmt: skip

TENTH = 0.1
"""The part of the initial error whose steps are counted."""
ALIKE = 2.0
"""The factor within which numbers of samples are about the same."""
NO_DRIFT = "alternating-sign"
"""The attack that only adds noise to the updates (docs/errata.md#e7)."""

ATTACKED = pl.col("bound") * pl.col("probability") > 0.0
SAME_STEP = pl.col("step_size").is_not_null()
DRIFT = pl.col("attack") != NO_DRIFT
BOUNDED = pl.col("root_mean_square").is_not_null()


@dataclass(frozen=True)
class BatchSizes:
    """Settings that differ in nothing but their batch size."""

    title: str
    settings: dict[int, str]
    """The setting of each batch size, in increasing order."""
    results: Runs

    def runs(self, *chosen: pl.Expr, **equal: Any) -> dict[int, pl.DataFrame]:
        """Return the runs of Neuro-Tron with each batch size, in the order of replicates."""
        every = distinct_runs(self.results).join(
            steps_to(self.results, f"{TENTH}×"), on=["setting", "replicate", "arm"], how="left"
        )
        ours = every.filter(*chosen, algorithm="neuro-tron", **equal).sort("replicate")
        found = {b: ours.filter(setting=name) for b, name in self.settings.items()}
        return {b: runs for b, runs in found.items() if len(runs)}

    @property
    def problem(self) -> Problem:
        """The problem of the first replicate, which all batch sizes share if they are paired."""
        first = next(iter(self.settings.values()))
        return _problem(self.results, first, 0)

    def errors_after(self, b: int, runs: pl.DataFrame, samples: int) -> Array:
        """Return the errors of runs after so many samples, at the last step recorded until then."""
        setting, keys = self.settings[b], ["replicate", "arm"]
        at = int(np.searchsorted(self.results.steps[setting], samples // b, side="right")) - 1
        rows = self.results.runs.filter(setting=setting).select(*keys).with_row_index("row")
        places = runs.join(rows, on=keys, maintain_order="left")["row"]
        return np.asarray(self.results.errors[setting][places.to_numpy(), at])

    @property
    def steps(self) -> int:
        """The number of steps, the same with every batch size."""
        first = next(iter(self.settings.values()))
        return int(self.results.steps[first][-1])

    @property
    def samples(self) -> int:
        """The number of samples that all batch sizes have had at some time."""
        return min(self.settings) * self.steps

    def certified_steps(self, b: int, runs: pl.DataFrame) -> Array:
        """Return how many steps were certified to be enough for a tenth of the initial error."""
        pairs = runs.select("trainer", "replicate").iter_rows()
        return np.array([_certified(self.results, self.settings[b], *pair) for pair in pairs])


def _certified(results: Runs, setting: str, trainer: str, replicate: int) -> float:
    spec = results.specs[setting]
    problem = _problem(results, spec.paired_with or spec.name, replicate)
    ours = build(spec.trainers[trainer], step_size=spec.step_size).resolve(
        problem, batch_size=spec.batch_size, steps=0, attack=None
    )
    assert isinstance(ours, NeuroTron)
    sensing, step = np.asarray(ours.sensing), float(ours.step_size)
    recursion = sharp_recursion(problem, sensing, ours.weighting, None, spec.batch_size)
    found = recursion.steps_to(1.0, target=TENTH**2, step_size=step)
    return math.inf if found is None else float(found)


@once
def _problem(results: Runs, setting: str, replicate: int) -> Problem:
    """Return the problem of a replicate, drawn again; paired settings share it."""
    return building.build_problem(results.specs[setting], replicate)


@once
def batch_sizes(results: Runs) -> list[BatchSizes]:
    """Return the settings of a study that differ in nothing but their batch size."""
    alike: dict[Any, dict[int, dict[str, Any]]] = {}
    there = set(results.runs["setting"])
    for one in results.spec["settings"]:
        if one["name"] in there:
            shared = (
                *(one.get(key) for key in CONDITIONS if key != "batch_size"),
                *(repr(one[key]) for key in ("trainers", "sweeps")),
            )
            alike.setdefault(shared, {}).setdefault(one["batch_size"], one)
    return [
        BatchSizes(
            _shared_title(results, group),
            {b: group[b]["name"] for b in sorted(group)},
            results,
        )
        for group in alike.values()
        if len(group) > 1
    ]


def _shared_title(results: Runs, group: dict[int, dict[str, Any]]) -> str:
    first, one = next(iter(group.items()))
    return results.titles[one["name"]].removesuffix(f", b = {first}")


def honest_runs(results: Runs) -> Iterator[tuple[BatchSizes, dict[int, pl.DataFrame]]]:
    """Yield the runs on honest labels with the step size of the fastest certified convergence."""
    labels = [
        label
        for label, text in results.trainers.items()
        if parse(text)[1].get("step_size") == "fastest"
    ]
    for group in batch_sizes(results):
        for label in labels:
            runs = group.runs(~ATTACKED, trainer=label)
            if len(runs) > 1:
                yield group, runs


def steps_of(runs: pl.DataFrame) -> Array:
    """Return the steps to a tenth of the initial error, infinite if it was not reached."""
    return runs["steps"].cast(pl.Float64).fill_null(math.inf).to_numpy()


def _together(*tables: pl.DataFrame) -> list[pl.DataFrame]:
    """Return tables with the replicates that all of them have."""
    shared = set.intersection(*(set(table["replicate"]) for table in tables))
    return [table.filter(pl.col("replicate").is_in(shared)) for table in tables]


def fewer_steps(results: Runs) -> list[Finding]:
    """Divide the steps to a tenth of the initial error by those with the next smaller batch."""
    findings = []
    for group, runs in honest_runs(results):
        for small, large in itertools.pairwise(runs):
            fewer, more = map(steps_of, _together(runs[large], runs[small]))
            values = paired(fewer, more)
            if values.size:
                ratio = bootstrap(values)
                findings.append(
                    Finding.of(f"{group.title}, b = {large} against {small}",
                               "steps to a tenth, divided by those with the smaller batch (below "
                               "1)", ratio, len(values),
                               holds=below(1.0, ratio))
                )  # fmt: skip
    return findings


def samples_alike(results: Runs) -> list[Finding]:
    """Divide the samples to a tenth of the initial error by those with the smallest batch."""
    findings = []
    for group, runs in honest_runs(results):
        first, *others = runs
        for b in others:
            ours, least = _together(runs[b], runs[first])
            values = paired(b * steps_of(ours), first * steps_of(least))
            if values.size:
                ratio = bootstrap(values)
                findings.append(
                    Finding.of(f"{group.title}, b = {b} against {first}",
                               "samples to a tenth, divided by those with the smallest batch "
                               f"(from {1.0 / ALIKE:g} to {ALIKE:g})", ratio,
                               len(values), holds=between(1.0 / ALIKE, ALIKE, ratio))
                )  # fmt: skip
    return findings


def lower_floor(results: Runs) -> list[Finding]:
    """Find how the error under an attack without drift depends on b, for the same step size."""
    findings = []
    for group in batch_sizes(results):
        runs = group.runs(ATTACKED, SAME_STEP, ~DRIFT)
        if len(runs) < 3:
            continue
        tables = _together(*runs.values())
        errors = np.stack([table["error"].to_numpy() for table in tables])
        if len(tables[0]):
            heights = np.log(np.clip(errors, 1e-300, 1e300))
            slope = bootstrap(slopes(np.log(list(runs)), heights))
            findings.append(
                Finding.of(group.title, "slope of the error over b on a log-log scale, with the "
                           "same step size (below 0; −1/2 for pure noise)", slope,
                           errors.shape[1], holds=below(0.0, slope))
            )  # fmt: skip
    return findings


def as_certified(results: Runs) -> list[Finding]:
    """Divide what was measured at each batch size by what was certified before training."""
    findings = []
    for group, runs in honest_runs(results):
        for b, ours in runs.items():
            values = paired(steps_of(ours), group.certified_steps(b, ours))
            if values.size:
                part = bootstrap(values)
                findings.append(
                    Finding.of(f"{group.title}, b = {b}", MEASURES["steps"], part, len(values),
                               holds=at_most(1.0, part), group="steps")
                )  # fmt: skip
    compared = [
        (f"{group.title}, b = {b}, {attack}", divided(*(some[name].to_numpy() for name in PARTS)))
        for group in batch_sizes(results)
        for b, ours in group.runs(ATTACKED, SAME_STEP, BOUNDED, DRIFT).items()
        for (attack,), some in ours.group_by("attack", maintain_order=True)
    ]
    for case, parts in compared:
        square = bootstrap(parts**2, np.mean)
        found = Interval(*(math.sqrt(value) for value in square))
        # a certificate that cannot be smaller is exceeded by chance on some networks
        holds = _not_above_one(parts**2, (1.0 - CONFIDENCE) / len(compared))
        findings.append(
            Finding.of(case, MEASURES["errors"], found, len(parts), holds=holds, group="errors")
        )
    return findings


PARTS = "error", "root_mean_square"
MEASURES = {
    "steps": "steps to a tenth, divided by the certified number (at most 1)",
    "errors": "root mean square error divided by the certified one, with the same step size (at "
    f"most 1, tested with confidence {100.0 * CONFIDENCE:g} %)",
}


def _not_above_one(values: Array, level: float) -> bool | None:
    """Tell whether the mean of independent values is not above 1, unless chance explains that."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    allowed = -float(stdtrit(len(values) - 1, level))
    spread = float(values.std(ddof=1)) / math.sqrt(len(values))
    return bool(values.mean() <= 1.0 + allowed * spread)
