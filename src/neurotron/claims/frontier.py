"""What the study `frontier` says past the paper, as checks of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from neurotron._registry import parse
from neurotron._types import Array
from neurotron.claims.model import Finding, at_least, at_most, between
from neurotron.claims.paper import certificate_holds
from neurotron.claims.settings import published
from neurotron.results.levels import divided, over_levels, slopes
from neurotron.results.summary import bootstrap
from neurotron.results.tables import EXACT

if TYPE_CHECKING:
    from neurotron.results.tables import Results

__all__ = ["CLAIMS"]

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
"""Attacks whose effect is proportional to θ, with the power of β that it should grow with: about 1
if they push in one direction, less if they average out."""

UNLIMITED = 1e6
"""The bound from which an impersonation is one: labels differ by less."""
CLOSE = 0.1
"""Of ‖w*‖: who ends farther away has not recovered the filter."""
HEAVIER = 2.0
"""How much larger an error may be with heavier tails."""

Check = Callable[["Results"], list[Finding]]
LEVELS = ["attack", "bound", "probability"]


def _runs(results: Results, algorithm: str | None = None) -> pl.DataFrame:
    """Return the attacked runs of the study, of one algorithm or of all."""
    runs = published(results, "frontier").filter(pl.col("bound") * pl.col("probability") > 0.0)
    return runs if algorithm is None else runs.filter(algorithm=algorithm)


def _by(runs: pl.DataFrame, *keys: str) -> list[tuple[Any, pl.DataFrame]]:
    return list(runs.group_by(*keys, maintain_order=True))


def exact(only: Sequence[str] = (), but: Sequence[str] = ()) -> Check:
    """Return the check that RefinedTron recovers exactly below β = ½, under some attacks."""

    def check(results: Results) -> list[Finding]:
        runs = _runs(results, "refined-tron").filter(
            pl.col("probability") <= MOST, ~pl.col("attack").is_in(list(but))
        )
        if only:
            runs = runs.filter(pl.col("attack").is_in(list(only)))
        findings = []
        for (setting, attack), group in _by(runs, "setting", "attack"):
            shares = group.group_by("replicate").agg((pl.col("error") < EXACT).mean())["error"]
            found = bootstrap(shares.to_numpy(), np.mean)
            findings.append(
                Finding.of(f"{results.titles[str(setting)]}, {attack}",
                           f"share of runs with β ≤ {MOST:g} and an error below {EXACT:g} "
                           f"(≥ {SHARE:g})", found, len(shares), holds=at_least(SHARE, found))
            )  # fmt: skip
        return findings

    return check


def as_often_as_others(results: Results) -> list[Finding]:
    """Subtract the share of exact runs of every other trainer from RefinedTron's, below β = ½."""
    below = _runs(results).filter(pl.col("probability") <= MOST)
    shares = below.group_by(
        "setting", "trainer", "algorithm", "replicate", maintain_order=True
    ).agg((pl.col("error") < EXACT).mean().alias("share"))
    ours = shares.filter(algorithm="refined-tron").select("setting", "replicate", "share")
    rivals = shares.filter(pl.col("algorithm") != "refined-tron")
    pairs = rivals.join(ours, on=["setting", "replicate"], suffix="_ours", maintain_order="left")
    findings = []
    for (setting, rival), group in _by(pairs, "setting", "trainer"):
        found = bootstrap((group["share_ours"] - group["share"]).to_numpy(), np.mean)
        findings.append(
            Finding.of(f"{results.titles[str(setting)]} against {rival}",
                       f"share of runs below {EXACT:g} minus the other's, β ≤ {MOST:g} (≥ 0)",
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

    def check(results: Results) -> list[Finding]:
        findings = []
        for (setting, attack), group in _by(_runs(results, "neuro-tron"), "setting", "attack"):
            if str(attack) not in EXPONENTS or group[column].n_unique() < 3:
                continue
            powers = [
                np.mean([_power(line, column) for _, line in _by(replicate, other)])
                for _, replicate in _by(group, "replicate")
            ]
            found, (low, high) = bootstrap(powers), limits(str(attack))
            findings.append(
                Finding.of(f"{results.titles[str(setting)]}, {attack}",
                           f"power of {letter} in the error ({low:g} to {high:g})", found,
                           len(powers), holds=between(low, high, found))
            )  # fmt: skip
        return findings

    return check


def _power(line: pl.DataFrame, column: str) -> float:
    """Return the slope of the logarithm of the error over that of a level."""
    errors = np.clip(line["error"].to_numpy(), 1e-300, 1e300)
    return float(slopes(np.log(line[column].to_numpy()), np.log(errors)))


def nobody_recovers(results: Results) -> list[Finding]:
    """Measure how far all trainers end from w* when most labels are those of another filter."""
    runs = _runs(results).filter(
        pl.col("bound") >= UNLIMITED, pl.col("probability") > 0.5, attack="impersonation"
    )
    findings = []
    for (setting, trainer), group in _by(runs, "setting", "trainer"):
        parts = (group["error"] / group["true_length"]).to_numpy()
        findings.append(
            Finding.of(f"{results.titles[str(setting)]}, {trainer}",
                       f"error over ‖w*‖ at β > 1/2 (> {CLOSE:g} in every run)", bootstrap(parts),
                       group["replicate"].n_unique(), holds=parts.min() > CLOSE)
        )  # fmt: skip
    return findings


def heavier_tails(results: Results) -> list[Finding]:
    """Divide Neuro-Tron's errors with heavier tails by those with ν = 5, in pairs."""
    runs, findings = _runs(results, "neuro-tron"), []
    settings = {float(dof): setting for setting, dof in _degrees(results) if dof is not None}
    for dof in sorted(settings, reverse=True):
        if dof < 5.0 and 5.0 in settings:
            one, other = (runs.filter(setting=settings[value]) for value in (dof, 5.0))
            values = _ratios(one, other)
            if values.size:
                found = bootstrap(values)
                findings.append(
                    Finding.of(f"ν = {dof:g} against ν = 5",
                               f"error over that with ν = 5 (≤ {HEAVIER:g})", found, len(values),
                               holds=at_most(HEAVIER, found))
                )  # fmt: skip
    return findings


def _degrees(results: Results) -> list[tuple[str, Any]]:
    """Return the degrees of freedom of the law of each setting, None for other laws."""
    laws = ((setting["name"], *parse(setting["law"])) for setting in results.spec["settings"])
    return [
        (setting, given.get("dof") if law == "student-t" else None) for setting, law, given in laws
    ]


CLAIMS: dict[str, tuple[str, str, Check]] = {
    "exact-below-half": (
        "RefinedTron recovers the filter exactly while at most 40 % of the labels are attacked, "
        "under every additive attack with a constant β.",
        "past the paper: its floor is no law of nature",
        exact(but=(*CONCENTRATED, *NON_ADDITIVE)),
    ),
    "exact-when-concentrated": (
        "It does so too if the attack is concentrated: in time, on one side, or on large inputs.",
        "past the paper: β that varies",
        exact(only=CONCENTRATED),
    ),
    "exact-when-not-additive": (
        "It does so too if labels are multiplied, replaced, or change their sign.",
        "the paper's third open question",
        exact(only=NON_ADDITIVE),
    ),
    "as-often-as-others": (
        "It recovers the filter exactly at least as often as every other trainer on the same data.",
        "past the paper",
        as_often_as_others,
    ),
    "nobody-above-half": (
        "If more than half of the labels are those of another filter, no trainer recovers w*.",
        "section 3.5: it cannot be told which filter is the true one",
        nobody_recovers,
    ),
    "floor-grows-with-bound": (
        "Neuro-Tron's error under attack is a floor proportional to θ.",
        "the paper's second open question",
        floor_grows(0, lambda attack: (0.9, 1.1)),
    ),
    "floor-grows-with-probability": (
        "The floor is proportional to β under an attack with a direction, and grows more slowly "
        "under one that averages out.",
        "the paper's second open question",
        floor_grows(1, EXPONENTS.__getitem__),
    ),
    "heavier-tails": (
        "Heavier tails (Student t with ν = 4, 3 and 2.5) do not raise Neuro-Tron's floor to more "
        "than twice that with ν = 5.",
        "the paper's first open question",
        heavier_tails,
    ),
    "certificate-holds": (
        "No run ends outside the radius of the sharp certificate, under any attack it covers.",
        "ours, not in the paper",
        certificate_holds,
    ),
}
"""Statement, place and check of every claim."""
