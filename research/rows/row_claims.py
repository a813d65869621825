"""Claims about `nt.solve`: how many rows it needs, how noise affects it, and what it proves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from row_results import ENOUGH, WRONG, Fits
from rows import listed

from neurotron._digits import Notation
from neurotron.lab import Finding, Interval, Results, bootstrap, rate
from neurotron.lab.claims.effects import Phrase, percent, times
from neurotron.lab.claims.model import Claim, above, at_least, at_most, below

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
        for setting in results.settings.values()
        if len(listed(setting["rows_per_weight"])) > 1
    }


def _share(exact: pl.DataFrame) -> tuple[Interval, int]:
    """Return the share of problems that were solved, by network, and how many networks."""
    by_network = exact.group_by("replicate", maintain_order=True).agg(pl.col("exact").mean())
    return bootstrap(by_network["exact"].to_numpy(), np.mean), len(by_network)


def _few_rows_suffice(results: Fits) -> list[Finding]:
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


def _picked_rows_need_more(results: Fits) -> list[Finding]:
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


def _near_honest_least_squares(results: Fits) -> list[Finding]:
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


def _more_often_than_trim(results: Fits) -> list[Finding]:
    """Count, among the problems that only one of the two solves, those that `solve` does.

    On a single gate the two are about equal, so the claim is about networks of several gates.
    """
    several = [one["name"] for one in results.settings.values() if one["network"] != SINGLE]
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


def _proof_is_never_wrong(results: Fits) -> list[Finding]:
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


def _on_fits(check: Callable[[Fits], list[Finding]]) -> Callable[[Results], list[Finding]]:
    return lambda results: check(Fits(results))


few_rows_suffice = Claim(
    "few-rows-suffice",
    "On the paper's network, 4 rows for each weight are enough for `nt.solve` to find the "
    "filter exactly while at most 20 % of the labels are tampered with, and 16 are enough at "
    "40 %, unless the attacker picks rows for the labels of another filter.",
    _on_fits(_few_rows_suffice),
    short="A few hundred rows are enough for the filter",
    phrase=Phrase("{} of the problems are solved exactly", percent(ENOUGH)),
    figures=("rows-needed",),
)
picked_rows_need_more = Claim(
    "picked-rows-need-more",
    "If the attacker picks 40 % of the rows for the labels of another filter, 96 rows for each "
    "weight are not enough on a single gate, and 12 are not on a convolution of stride 1.",
    _on_fits(_picked_rows_need_more),
    short="Picked rows are hard for gates and stride 1",
    phrase=Phrase("{} of the problems are solved exactly", percent(ENOUGH)),
    figures=("rows-needed",),
)
near_honest_least_squares = Claim(
    "near-honest-least-squares",
    "With honest noise, 20 rows or more for each weight, and labels that are changed by at "
    "least 10 standard deviations of the noise, the median error of `nt.solve` is at most 1.1 "
    "times that of least squares on the honest rows.",
    _on_fits(_near_honest_least_squares),
    short="With noise, almost as good as honest rows alone",
    phrase=Phrase(
        "{} the error of least squares on honest rows", Notation(" ×", 3, limits=(NEAR,))
    ),
    figures=("noise-20", "noise-80"),
)
more_often_exact_than_trim = Claim(
    "more-often-exact-than-trim",
    "On networks of several gates, `nt.solve` finds the filter exactly on more problems than "
    "TRIM, which is told how many labels are tampered with; on a single gate the two are about "
    "equal.",
    _on_fits(_more_often_than_trim),
    short="Exact more often than TRIM, which is told β",
    phrase=Phrase(
        "on {count} of the {total} problems that only one of them solves, it is nt.solve"
    ),
)
proof_is_never_wrong = Claim(
    "proof-is-never-wrong",
    "No wrong filter is proved to be right: fewer tampered rows are covered by its proof than "
    "were tampered with.",
    _on_fits(_proof_is_never_wrong),
    short="No wrong filter is proved to be right",
    phrase=Phrase(
        "{count} of {total} wrong filters have a proof that covers the tampered rows; a proof "
        "covers at most {most} of them",
        times(1.0),
    ),
)
