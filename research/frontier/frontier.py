"""Claims of the study `frontier`, which goes beyond the paper, as checks of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from research.conditions import conditions_but

from neurotron._digits import Notation
from neurotron._types import Array
from neurotron.lab import bootstrap
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Phrase, percent, times
from neurotron.lab.claims.model import Claim, Finding, at_least, at_most, between
from neurotron.lab.training.runs import EXACT, Runs
from neurotron.lab.training.summary import divided, over_levels, slopes

SHARE = 0.99
"""Of the runs that must recover exactly."""
MOST = 0.4
"""The largest β of claims on fewer than half of the labels."""

CONCENTRATED = ("burst", "large-norm", "half-space")
NON_ADDITIVE = ("multiplicative", "replacement", "sign-flip")
EXPONENTS = {
    "odd-direction": (0.8, 1.2), "adaptive": (0.8, 1.2),
    "alternating-sign": (0.0, 1.0), "constant": (0.0, 1.0),
}  # fmt: skip
"""Attacks whose effect is proportional to θ, and the range of the power of β with which it grows:
about 1 if they push in one direction, less if they average out."""
DIRECTED = "attacks with a direction"
AVERAGED = "attacks that average out"

UNLIMITED = 1e6
"""The bound from which an impersonation is complete: labels differ by less."""
FAR = 0.1
"""Of ‖w*‖: a run that ends farther away has not recovered the filter."""
HEAVIER = 2.0
"""How much larger an error may be with heavier tails."""

Check = Callable[[Runs], list[Finding]]
LEVELS = ["attack_text", "bound", "probability"]


def _runs(results: Runs, algorithm: str | None = None) -> pl.DataFrame:
    """Return the attacked runs of all trainers, or of each setting's first with an `algorithm`."""
    runs = results.runs.filter(pl.col("bound") * pl.col("probability") > 0.0)
    if algorithm is None:
        return runs
    first = pl.col("trainer") == pl.col("trainer").first().over("setting")
    return runs.filter(algorithm=algorithm).filter(first)


def _by(runs: pl.DataFrame, *keys: str) -> list[tuple[Any, pl.DataFrame]]:
    return list(runs.group_by(*keys, maintain_order=True))


def _by_attack(results: Runs, runs: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield each attack in each setting: its name, a label for its runs, and the runs.

    The label has the name of the attack, or its whole text if two attacks have the same name.
    """
    for (setting, attack), group in _by(runs, "setting", "attack"):
        several = group["attack_text"].n_unique() > 1
        for (text,), same in _by(group, "attack_text"):
            yield (
                str(attack),
                f"{results.titles[str(setting)]}, {text if several else attack}",
                same,
            )


def exact(only: Sequence[str] = (), but: Sequence[str] = ()) -> Check:
    """Return the check that RefinedTron recovers exactly below β = ½, under some attacks."""

    def check(results: Runs) -> list[Finding]:
        runs = _runs(results, "refined-tron").filter(
            pl.col("probability") <= MOST, ~pl.col("attack").is_in(list(but))
        )
        if only:
            runs = runs.filter(pl.col("attack").is_in(list(only)))
        findings = []
        for _, case, group in _by_attack(results, runs):
            is_exact = (pl.col("error") < EXACT).mean()
            shares = group.group_by("replicate", maintain_order=True).agg(is_exact)["error"]
            found = bootstrap(shares.to_numpy(), np.mean)
            findings.append(
                Finding.of(case,
                           f"share of runs with β ≤ {MOST:g} that end with an error below {EXACT:g}"
                           f" (at least {100.0 * SHARE:g} %)", found, len(shares),
                           holds=at_least(SHARE, found))
            )  # fmt: skip
        return findings

    return check


def _as_often_as_others(results: Runs) -> list[Finding]:
    """Subtract the share of exact runs of every other trainer from RefinedTron's, below β = ½."""
    below = _runs(results).filter(pl.col("probability") <= MOST)
    shares = below.group_by(
        "setting", "trainer", "algorithm", "replicate", maintain_order=True
    ).agg((pl.col("error") < EXACT).mean().alias("share"))
    own = _runs(results, "refined-tron").select("setting", "trainer").unique()
    ours = shares.join(own, on=["setting", "trainer"]).select("setting", "replicate", "share")
    rivals = shares.filter(pl.col("algorithm") != "refined-tron")
    pairs = rivals.join(ours, on=["setting", "replicate"], suffix="_ours", maintain_order="left")
    findings = []
    for (setting, rival), group in _by(pairs, "setting", "trainer"):
        found = bootstrap((group["share_ours"] - group["share"]).to_numpy(), np.mean)
        findings.append(
            Finding.of(f"{results.titles[str(setting)]} against {rival}",
                       f"share of runs with β ≤ {MOST:g} and an error below {EXACT:g}, minus that "
                       "of the other trainer (at least 0)",
                       found, len(group), holds=at_least(0.0, found))
        )  # fmt: skip
    return findings


def _ratios(ours: pl.DataFrame, theirs: pl.DataFrame) -> Array:
    """Return the ratio of errors by replicate: the median over all levels that both meet."""
    columns = ["replicate", *LEVELS, "error"]
    pairs = ours.select(columns).join(theirs.select(columns), on=columns[:-1])
    if not len(pairs):
        return np.empty(0)
    ratios = divided(pairs["error"].to_numpy(), pairs["error_right"].to_numpy())
    by = pairs["replicate"].to_numpy()
    return np.concatenate([over_levels(ratios[by == one][:, np.newaxis]) for one in np.unique(by)])


def floor_grows(axis: int, limits: Callable[[str], tuple[float, float]]) -> Check:
    """Return the check of the power with which Neuro-Tron's floor grows with θ (0) or β (1)."""
    letter, column, other = "θβ"[axis], LEVELS[1 + axis], LEVELS[2 - axis]

    def check(results: Runs) -> list[Finding]:
        findings = []
        for attack, case, group in _by_attack(results, _runs(results, "neuro-tron")):
            if attack not in EXPONENTS:
                continue
            powers = [_powers(replicate, column, other) for _, replicate in _by(group, "replicate")]
            if all(powers):
                found, (low, high) = bootstrap([np.mean(each) for each in powers]), limits(attack)
                measure = f"power of {letter} with which the error grows ({low:g} to {high:g})"
                holds, kind = between(low, high, found), DIRECTED if high > 1.0 else AVERAGED
                findings.append(
                    Finding.of(case, measure, found, len(powers), holds=holds,
                               group=kind if axis else "")
                )  # fmt: skip
        return findings

    return check


def _powers(runs: pl.DataFrame, column: str, other: str) -> list[float]:
    """Return the slopes of the log of the error over that of a level, of three values or more."""
    found = []
    for _, line in _by(runs, other):
        if line[column].n_unique() >= 3:
            errors = np.clip(line["error"].to_numpy(), 1e-300, 1e300)
            found.append(float(slopes(np.log(line[column].to_numpy()), np.log(errors))))
    return found


def no_trainer_recovers(results: Runs) -> list[Finding]:
    """Measure how far all trainers end from w* when most labels are those of another filter."""
    runs = _runs(results).filter(
        pl.col("bound") >= UNLIMITED, pl.col("probability") > 0.5, attack="impersonation"
    )
    findings = []
    for (setting, trainer), group in _by(runs, "setting", "trainer"):
        parts = (group["error"] / group["true_length"]).to_numpy()
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       f"median error divided by ‖w*‖ at β > 1/2 (above {FAR:g} in every run; the "
                       f"smallest of {len(parts)} is {parts.min():.2g})", bootstrap(parts),
                       group["replicate"].n_unique(), holds=parts.min() > FAR, worst=parts.min(),
                       count=int((parts <= FAR).sum()), total=len(parts))
        )  # fmt: skip
    return findings


def _heavier_tails(results: Runs) -> list[Finding]:
    """Divide Neuro-Tron's errors with heavier tails by those with ν = 5, in pairs."""
    runs, findings = _runs(results, "neuro-tron"), []
    for dof, heavier, five in _tails(results):
        values = _ratios(runs.filter(setting=heavier), runs.filter(setting=five))
        if values.size:
            found = bootstrap(values)
            findings.append(
                Finding.of(f"ν = {dof:g} against ν = 5",
                           f"error divided by that with ν = 5 (at most {HEAVIER:g})", found,
                           len(values), holds=at_most(HEAVIER, found))
            )  # fmt: skip
    return findings


def _tails(results: Runs) -> list[tuple[float, str, str]]:
    """Return every ν below 5, its setting, and the setting that differs in nothing but ν = 5."""
    alike: dict[Any, dict[float, str]] = {}
    laws = results.arms.filter(law_name="student-t").unique("setting", maintain_order=True)
    for name, dof, scale in laws.select("setting", "dof", "law_scale").iter_rows():
        others = scale, *conditions_but(results.settings[name], "law")
        alike.setdefault(others, {}).setdefault(dof, name)
    pairs = (
        (dof, name, by_dof[5.0])
        for by_dof in alike.values()
        for dof, name in by_dof.items()
        if dof < 5.0 and 5.0 in by_dof
    )
    return sorted(pairs, reverse=True)


# ---- the claims

EXACT_RUNS = Phrase("{} of the runs are exact", percent(SHARE))
POINTS = Notation(" points", 2, 2, (0.0,))

exact_below_half = Claim(
    "exact-below-half",
    "RefinedTron recovers the filter exactly while at most 40 % of the labels are attacked, "
    "under every additive attack with a constant β.",
    of_runs(exact(but=(*CONCENTRATED, *NON_ADDITIVE))),
    short="RefinedTron is exact up to β = 40 %",
    phrase=EXACT_RUNS,
    figures=("phase-adaptive", "phase-odd-direction", "steps"),
)
exact_when_concentrated = Claim(
    "exact-when-concentrated",
    "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly even if "
    "the attack is concentrated: in time, on one side, or on large inputs.",
    of_runs(exact(only=CONCENTRATED)),
    short="RefinedTron is exact under concentrated attacks",
    phrase=EXACT_RUNS,
    figures=("phase-burst", "phase-half-space", "phase-large-norm"),
)
exact_when_not_additive = Claim(
    "exact-when-not-additive",
    "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly even if "
    "labels are multiplied, replaced or sign-flipped.",
    of_runs(exact(only=NON_ADDITIVE)),
    source="added by this package, about the paper's third open question",
    short="RefinedTron is exact if attacks are not additive",
    phrase=EXACT_RUNS,
    figures=("final-errors-sign-flip-probability",),
)
as_often_as_others = Claim(
    "as-often-as-others",
    "With at most 40 % of the labels attacked, RefinedTron recovers the filter exactly at "
    "least as often as every other trainer on the same data.",
    of_runs(_as_often_as_others),
    short="RefinedTron is exact as often as any other",
    phrase=Phrase("a difference of {} in the share of exact runs", POINTS),
    figures=("exact", "paired-errors"),
)
nobody_above_half = Claim(
    "nobody-above-half",
    "If more than half of the labels come from another filter, no trainer recovers w*.",
    of_runs(no_trainer_recovers),
    source="added by this package, about section 3.5",
    short="Above 50 %, no trainer recovers the filter",
    phrase=Phrase(
        "{count} of {total} runs end near w*, the closest at {least} ‖w*‖",
        Notation(limits=(FAR,)),
    ),
)
floor_grows_with_bound = Claim(
    "floor-grows-with-bound",
    "Under attack, Neuro-Tron's error settles at a floor that is proportional to θ.",
    of_runs(floor_grows(0, lambda attack: (0.9, 1.1))),
    source="added by this package, about the paper's second open question",
    short="Neuro-Tron's error is proportional to θ",
    phrase=Phrase("error like θ to the power {}", Notation("", 3, limits=(0.9, 1.1))),
    figures=("final-errors-odd-direction-bound",),
)
floor_grows_with_probability = Claim(
    "floor-grows-with-probability",
    "The floor is proportional to β under an attack with a direction, and grows more slowly "
    "under one that averages out.",
    of_runs(floor_grows(1, EXPONENTS.__getitem__)),
    source="added by this package, about the paper's second open question",
    short="Growth with β depends on the kind of attack",
    phrase=Phrase(
        "error like β to the power {} for {group}", Notation("", 3, limits=(0.0, 0.8, 1.0, 1.2))
    ),
    figures=tuple(
        f"final-errors-{attack}-probability" for attack in ("odd-direction", "alternating-sign")
    ),
)
heavier_tails = Claim(
    "heavier-tails",
    "Heavier tails (Student t with ν = 4, 3 and 2.5) at most double Neuro-Tron's floor, "
    "compared with ν = 5.",
    of_runs(_heavier_tails),
    source="added by this package, about the paper's first open question",
    short="Heavier tails at most double Neuro-Tron's error",
    phrase=Phrase("{} the error with ν = 5", times(HEAVIER)),
    figures=("final-errors-odd-direction-probability",),
)
