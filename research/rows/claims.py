"""Claims about `nt.solve`: how many rows it needs, how noise affects it, and what it proves."""

from __future__ import annotations

import numpy as np
import polars as pl

from neurotron.lab.claims.model import Finding, above, at_least, at_most, below
from neurotron.lab.results.fits import ENOUGH, WRONG, Fits
from neurotron.lab.results.summary import Interval, bootstrap, rate

__all__ = [
    "ENOUGH", "NEAR", "few_rows_suffice", "more_often_than_trim", "near_honest_least_squares",
    "picked_rows_need_more", "proof_is_never_wrong",
]  # fmt: skip

PICKED = ("picked-rows", "impostor")
"""The attacks that choose rows for the labels of another filter."""
PAPER = "symmetric"
FEW = ((0.2, 4.0), (0.4, 16.0))
"""Up to which β how many rows for each weight are enough."""
HARD = {"relu-gate": 96.0, "convolution:stride=1": 12.0}
"""How many rows for each weight are not enough on which networks if rows are picked."""
SINGLE = "relu-gate"
NEAR = 1.1
"""The largest median of the ratio of errors."""
LARGE, MANY = 10.0, 20.0
"""From which θ/ς and which N/r on the ratio is bounded."""


def _networks(results: Fits) -> dict[str, str]:
    """Return the network of each setting in which several numbers of rows are tried."""
    return {
        setting["name"]: setting["network"]
        for setting in results.spec["settings"]
        if len(setting["rows_per_weight"]) > 1
    }


def _share(exact: pl.DataFrame) -> tuple[Interval, int]:
    """Return the share of problems that were solved, by network, and how many networks."""
    by_network = exact.group_by("replicate", maintain_order=True).agg(pl.col("exact").mean())
    return bootstrap(by_network["exact"].to_numpy(), np.mean), len(by_network)


def few_rows_suffice(results: Fits) -> list[Finding]:
    """Count solved problems of the paper's network with few rows, without those of picked rows."""
    exact = results.exact.filter(~pl.col("attack").is_in(PICKED), solver="solve")
    findings, least = [], 0.0
    for most, ratio in FEW:
        chosen = exact.filter(
            pl.col("probability") <= most, pl.col("probability") > least, rows_per_weight=ratio
        )
        for name, network in _networks(results).items():
            mine = chosen.filter(setting=name)
            if network.startswith(PAPER) and len(mine):
                found, networks = _share(mine)
                measure = (
                    f"share of {len(mine)} problems with β up to {most:g} that are solved exactly "
                    f"from {ratio:g} rows for each weight (at least {100.0 * ENOUGH:g} %)"
                )
                case = f"{results.titles[name]}, β ≤ {most:g}"
                findings.append(
                    Finding.of(case, measure, found, networks, holds=at_least(ENOUGH, found),
                               count=int(mine["exact"].sum()), total=len(mine))
                )  # fmt: skip
        least = most
    return findings


def picked_rows_need_more(results: Fits) -> list[Finding]:
    """Count problems that are solved although rows are picked, with rows that are not enough."""
    exact = results.exact.filter(
        pl.col("attack").is_in(PICKED), solver="solve", probability=FEW[-1][0]
    )
    findings = []
    for name, network in _networks(results).items():
        ratio = HARD.get(network)
        here = exact.filter(setting=name, rows_per_weight=ratio or 0.0)
        for (attack,), mine in here.group_by("attack", maintain_order=True):
            found, networks = _share(mine)
            measure = (
                f"share of problems that are solved exactly from {ratio:g} rows for each weight "
                f"(below {100.0 * ENOUGH:g} %)"
            )
            findings.append(
                Finding.of(f"{results.titles[name]}, {attack}", measure, found, networks,
                           holds=below(ENOUGH, found), count=int(mine["exact"].sum()),
                           total=len(mine))
            )  # fmt: skip
    return findings


def near_honest_least_squares(results: Fits) -> list[Finding]:
    """Divide errors by those of least squares on the honest rows, for each number of rows and β.

    Each network counts with its median over the attacks and their sizes.
    """
    ratios = results.ratios.filter(
        (pl.col("size") >= LARGE) | (pl.col("probability") == 0.0),
        pl.col("rows_per_weight") >= MANY, solver="solve",
    )  # fmt: skip
    keys = ("setting", "rows_per_weight", "probability")
    findings = []
    for (setting, many, beta), group in ratios.group_by(keys, maintain_order=True):
        values = group.group_by("replicate", maintain_order=True).agg(
            pl.col("ratio").quantile(0.5, "equiprobable")
        )
        found = bootstrap(values["ratio"].to_numpy())
        attacks, largest = group["attack"].n_unique(), float(group["ratio"].to_numpy().max())
        under = f"{attacks} attacks, θ ≥ {LARGE:g} ς, β = {beta:g}" if beta else "without attack"
        measure = (
            "median error divided by that of least squares on the honest rows (at most "
            f"{NEAR:g}); the largest of {len(group)} is {largest:.2g}"
        )
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, N/r = {many:g}, {under}", measure, found,
                       len(values), holds=at_most(NEAR, found), worst=largest)
        )  # fmt: skip
    return findings


def more_often_than_trim(results: Fits) -> list[Finding]:
    """Count, among the problems that only one of the two solves, those that `solve` does.

    On a single gate the two are about equal, so the claim is about networks of several gates.
    """
    several = [one["name"] for one in results.spec["settings"] if one["network"] != SINGLE]
    keys = ["setting", "replicate", "attack", "bound", "probability", "rows_per_weight"]
    ours, theirs = (
        results.exact.filter(pl.col("setting").is_in(several), solver=name).select(*keys, "exact")
        for name in ("solve", "trim")
    )
    pairs = ours.join(theirs, on=keys, suffix="_trim", maintain_order="left")
    findings = []
    for (setting,), group in pairs.group_by("setting", maintain_order=True):
        mine, trim = group["exact"], group["exact_trim"]
        only_ours, only_theirs = int((mine & ~trim).sum()), int((trim & ~mine).sum())
        differ = only_ours + only_theirs
        found = rate(only_ours, differ) if differ else Interval(0.5, 0.0, 1.0)
        measure = (
            f"of {differ} problems that only one of them solves, the share that nt.solve does "
            f"(above 1/2); TRIM solves {int(trim.sum())} of {len(group)}, nt.solve "
            f"{int(mine.sum())}"
        )
        findings.append(
            Finding.of(results.titles[str(setting)], measure, found,
                       group["replicate"].n_unique(), holds=above(0.5, found), count=only_ours,
                       total=differ)
        )  # fmt: skip
    return findings


def proof_is_never_wrong(results: Fits) -> list[Finding]:
    """Compare the proofs of wrong filters with the number of tampered rows; labels are exact."""
    exact = [name for name, noise in results.noise.items() if noise == 0.0]
    solved = results.fits.filter(pl.col("setting").is_in(exact), solver="solve")
    wrong = solved.filter(pl.col("error") > WRONG, pl.col("proven").is_not_null())
    if not len(solved):
        return []
    unsound = int((wrong["proven"] >= wrong["tampered"]).sum())
    # a filter that is wrong although nothing was tampered with must have no proof at all
    parts = (wrong["proven"] / wrong["tampered"].clip(lower_bound=1)).to_numpy()
    measure = (
        "share of wrong filters whose proof covers as many rows as were tampered with (none); "
        f"{len(solved)} filters were found, {len(wrong)} of them are wrong"
    )
    found = rate(unsound, len(wrong)) if len(wrong) else Interval(0.0, 0.0, 1.0)
    networks = solved["replicate"].n_unique()
    return [
        Finding.of("all settings with exact labels", measure, found, networks, holds=not unsound,
                   worst=float(parts.max(initial=0.0)), count=unsound, total=len(wrong))
    ]  # fmt: skip
