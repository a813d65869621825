"""Claims about the batch size: what it changes at the same number of steps and of samples.

The paper's Remark 1, item 3 says that a larger batch has a larger step size and a faster rate.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from neurotron._digits import percent
from neurotron.lab.claims.certificates import CONFIDENCE, not_above, root_mean_square
from neurotron.lab.claims.measuring import ATTACKED, OURS, finding, medians
from neurotron.lab.claims.model import Finding, at_most, below, between
from neurotron.lab.results.results import once
from neurotron.lab.training.summary import distinct_runs, slopes, steps_to

if TYPE_CHECKING:
    from neurotron.lab.training.runs import Runs

TENTH = 0.1
"""The part of the initial error whose steps are counted."""
ALIKE = 2.0
"""The factor within which numbers of samples are about the same."""
NO_DRIFT = "alternating-sign"
"""The attack that only adds noise to the updates (docs/errata.md#e7)."""
SHARED = (
    "law", "network", "n_inputs", "filter_size", "noise", "steps", "trainers", "sweeps",
)  # fmt: skip
"""What settings must share to be compared."""

SAME_STEP = pl.col("step_size").is_not_null()
DRIFT = pl.col("attack") != NO_DRIFT
BOUNDED = pl.col("root_mean_square").is_not_null()


@once
def batch_size_runs(results: Runs) -> pl.DataFrame:
    """Return the runs of Neuro-Tron in settings that differ in nothing but their batch size.

    Further columns are `family`, the title that these settings share, their batch size `b`, and
    `tenth`, the steps to a tenth of the initial error, infinite if it was not reached.
    """
    families: dict[str, dict[int, str]] = {}
    there = set(results.runs["setting"])
    for name, one in results.settings.items():
        if name in there:
            alike = json.dumps([one[key] for key in SHARED])
            families.setdefault(alike, {}).setdefault(one["batch_size"], name)
    rows = [
        (name, _title(results, family), b, place)
        for place, family in enumerate(families.values())
        for b, name in family.items()
        if len(family) > 1
    ]
    schema = {"setting": pl.String, "family": pl.String, "b": pl.Int64, "place": pl.Int64}
    of_families = pl.DataFrame(rows, schema, orient="row")
    tenth = pl.col("steps").cast(pl.Float64).fill_null(math.inf).alias("tenth")
    keys = ["setting", "replicate", "arm"]
    reached = steps_to(results, f"{TENTH}×").select(*keys, tenth)
    runs = distinct_runs(results).filter(OURS).join(of_families, on="setting")
    return runs.join(reached, on=keys).sort("place", "b", "replicate", maintain_order=True)


def _title(results: Runs, family: dict[int, str]) -> str:
    """Return the title that settings share: what their titles begin with."""
    b, name = next(iter(family.items()))
    return results.titles[name].removesuffix(f", b = {b}")


@once
def honest_runs(results: Runs) -> pl.DataFrame:
    """Return the runs on honest labels with the step size of the fastest certified convergence.

    The column `rank` numbers the batch sizes, beginning with 1.
    """
    runs = batch_size_runs(results).filter(~ATTACKED, step_rule="fastest")
    ranks = pl.col("b").rank("dense").over(FAMILY).cast(pl.Int64)
    ordered = runs.sort("place", "trainer", "b", maintain_order=True).with_columns(rank=ranks)
    return ordered.filter(pl.col("rank").max().over(FAMILY) > 1)


FAMILY = ["family", "trainer"]


def _against(runs: pl.DataFrame, other: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Return pairs of runs with two batch sizes."""
    pairs = runs.join(other, on=[*FAMILY, *on], suffix="_of_less", maintain_order="left")
    return pairs.with_columns(case=pl.format("{}, b = {} against {}", "family", "b", "b_of_less"))


def fewer_steps_with_larger_batches(results: Runs) -> list[Finding]:
    """Divide the steps to a tenth of the initial error by those with the next smaller batch."""
    runs = honest_runs(results)
    pairs = _against(runs, runs.with_columns(pl.col("rank") + 1), ["replicate", "rank"])
    return medians(
        pairs.with_columns(value=pl.col("tenth") / pl.col("tenth_of_less")),
        "steps to a tenth, divided by those with the smaller batch (below 1)",
        partial(below, 1.0),
    )


def samples_alike_for_all_batches(results: Runs) -> list[Finding]:
    """Divide the samples to a tenth of the initial error by those with the smallest batch."""
    runs = honest_runs(results).with_columns(samples=pl.col("b") * pl.col("tenth"))
    pairs = _against(runs.filter(pl.col("rank") > 1), runs.filter(rank=1), ["replicate"])
    return medians(
        pairs.with_columns(value=pl.col("samples") / pl.col("samples_of_less")),
        "samples to a tenth, divided by those with the smallest batch (from "
        f"{1.0 / ALIKE:g} to {ALIKE:g})",
        partial(between, 1.0 / ALIKE, ALIKE),
    )


def larger_batches_lower_the_floor(results: Runs) -> list[Finding]:
    """Find how the error under an attack without drift depends on b, for the same step size."""
    findings = []
    measure = (
        "slope of the error over b on a log-log scale, with the same step size (below 0; −1/2 for "
        "pure noise)"
    )
    runs = batch_size_runs(results).filter(ATTACKED, SAME_STEP, ~DRIFT)
    for (family,), group in runs.group_by("family", maintain_order=True):
        sizes = group["b"].unique().sort()
        whole = group.filter(pl.col("b").n_unique().over("replicate") == len(sizes))
        if len(sizes) >= 3 and len(whole):
            errors = np.stack([whole.filter(b=b)["error"].to_numpy() for b in sizes])
            heights = np.log(np.clip(errors, 1e-300, 1e300))
            values = slopes(np.log(sizes.to_numpy()), heights)
            findings += finding(str(family), measure, values, partial(below, 0.0))
    return findings


def batch_sizes_as_certified(results: Runs) -> list[Finding]:
    """Divide what was measured at each batch size by what was certified before training."""
    at_size = pl.format("{}, b = {}", "family", "b")
    steps = honest_runs(results).with_columns(
        case=at_size,
        value=pl.col("tenth") / pl.col("certified_steps"),
        group=pl.lit("steps"),
    )
    findings = medians(
        steps,
        "steps to a tenth, divided by the certified number (at most 1)",
        partial(at_most, 1.0),
    )
    errors = batch_size_runs(results).filter(ATTACKED, SAME_STEP, BOUNDED, DRIFT)
    part = pl.col("error") / pl.col("root_mean_square")
    cases = errors.select(case=pl.format("{}, {}", at_size, "attack"), value=part)
    every = list(cases.group_by("case", maintain_order=True))
    measure = (
        "root mean square error divided by the certified one, with the same step size (at most 1, "
        f"tested with confidence {percent(CONFIDENCE, 6)})"
    )
    for (case,), group in every:
        parts = group["value"].to_numpy()
        # a certificate that cannot be smaller is exceeded by chance on some networks
        holds = not_above(parts**2, 1.0, (1.0 - CONFIDENCE) / len(every))
        found = root_mean_square(parts)
        findings.append(
            Finding.of(str(case), measure, found, len(parts), holds=holds, group="errors")
        )
    return findings
