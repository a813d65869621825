"""Claims about RefinedTron on the paper's networks: how often it recovers the filter."""

from __future__ import annotations

import numpy as np
import polars as pl
from research.frontier.frontier import CONCENTRATED, MOST, NON_ADDITIVE, POINTS

from neurotron.lab import bootstrap, rate
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Phrase, percent
from neurotron.lab.claims.model import Claim, Finding, at_least
from neurotron.lab.training.runs import CLOSE, EXACT, Runs

NEAR = 0.45
"""The β near one half."""
EXACTLY, CLOSELY = 0.99, 0.95
"""The shares of runs that must end below `EXACT` and below `CLOSE`."""


def _constant_share(results: Runs) -> pl.DataFrame:
    """Return the runs of RefinedTron under additive attacks on a constant share of the labels."""
    return results.runs.filter(
        pl.col("bound") * pl.col("probability") > 0.0,
        ~pl.col("attack").is_in([*CONCENTRATED, *NON_ADDITIVE]),
        algorithm="refined-tron",
    )


def _share(runs: pl.DataFrame, limit: float, wanted: float, words: str) -> list[Finding]:
    """Return the share of runs below a limit over all settings together, by network."""
    by_network = runs.group_by("setting", "replicate", maintain_order=True).agg(
        (pl.col("error") < limit).mean()
    )
    if not len(by_network):
        return []
    found = bootstrap(by_network["error"].to_numpy(), np.mean)
    measure = (
        f"share of {len(runs)} runs on {len(by_network)} networks with {words} that end with an "
        f"error below {limit:g} (at least {100.0 * wanted:g} %)"
    )
    replicates = by_network["replicate"].n_unique()
    return [
        Finding.of("all settings", measure, found, replicates, holds=at_least(wanted, found),
                   count=int((runs["error"] < limit).sum()), total=len(runs))
    ]  # fmt: skip


def exact_below_half(results: Runs) -> list[Finding]:
    """Count the runs that end exactly at the filter, with at most 40 % of the labels attacked."""
    runs = _constant_share(results).filter(pl.col("probability") <= MOST)
    return _share(runs, EXACT, EXACTLY, f"β ≤ {MOST:g}")


def _close_near_half(results: Runs) -> list[Finding]:
    """Count the runs that end close to the filter with 45 % of the labels attacked."""
    runs = _constant_share(results).filter(pl.col("probability") == NEAR)
    return _share(runs, CLOSE, CLOSELY, f"β = {NEAR:g}")


def _close_in_half_space(results: Runs) -> list[Finding]:
    """Count, law by law, the networks on which it ends close although one side is attacked."""
    runs = results.runs.filter(algorithm="refined-tron", attack="half-space", probability=NEAR)
    findings = []
    for (setting,), group in runs.group_by("setting", maintain_order=True):
        found = rate(int((group["error"] < CLOSE).sum()), len(group))
        measure = f"share of networks with an error below {CLOSE:g} (at least {100 * CLOSELY:g} %)"
        findings.append(
            Finding.of(results.titles[str(setting)], measure, found,
                       group["replicate"].n_unique(), holds=at_least(CLOSELY, found))
        )  # fmt: skip
    return findings


def _defaults_recover_most(results: Runs) -> list[Finding]:
    """Subtract the share of exact runs with another constant from that with the defaults."""
    runs = results.runs.filter(pl.col("probability") <= MOST, algorithm="refined-tron")
    shares = runs.group_by(
        "setting", "trainer", "trainer_text", "replicate", maintain_order=True
    ).agg((pl.col("error") < EXACT).mean().alias("share"))
    plain = pl.col("trainer_text") == "refined-tron"
    keys = ["setting", "replicate"]
    pairs = shares.filter(~plain).join(
        shares.filter(plain).select(*keys, "share"), on=keys, suffix="_plain", maintain_order="left"
    )
    findings = []
    for (trainer,), group in pairs.group_by("trainer", maintain_order=True):
        found = bootstrap((group["share_plain"] - group["share"]).to_numpy(), np.mean)
        measure = (
            f"share of runs with β ≤ {MOST:g} and an error below {EXACT:g}, minus that with the "
            "other constant (at least 0)"
        )
        findings.append(
            Finding.of(f"against {trainer}", measure, found, group["replicate"].n_unique(),
                       holds=at_least(0.0, found))
        )  # fmt: skip
    return findings


# ---- the claims

exact_while_below_half = Claim(
    "exact-while-below-half",
    "RefinedTron recovers the filter exactly in at least 99 % of the runs in which an additive "
    "attack changes a constant share of at most 40 % of the labels.",
    of_runs(exact_below_half),
    short="RefinedTron is exact in 99 % of runs, β ≤ 40 %",
    phrase=Phrase("{} of {total} runs are exact", percent(EXACTLY)),
)
close_near_half = Claim(
    "close-near-half",
    "With 45 % of the labels attacked by an additive attack on a constant share of them, at "
    "least 95 % of RefinedTron's runs come closer to the filter than 1e-6.",
    of_runs(_close_near_half),
    short="RefinedTron is close in 95 % of runs, β = 45 %",
    phrase=Phrase("{} of {total} runs end closer than 1e-6", percent(CLOSELY)),
)
close_in_half_space = Claim(
    "close-in-half-space",
    "With 45 % of the labels attacked, all on one side of a plane, RefinedTron comes closer to "
    "the filter than 1e-6 on at least 95 % of the networks.",
    of_runs(_close_in_half_space),
    short="RefinedTron is close if one side is attacked",
    phrase=Phrase("closer than 1e-6 on {} of the networks", percent(CLOSELY), noun="settings"),
)
defaults_recover_most = Claim(
    "defaults-recover-most",
    "No other value of one of RefinedTron's constants recovers the filter exactly more often.",
    of_runs(_defaults_recover_most),
    short="No constant beats RefinedTron's defaults",
    phrase=Phrase("a difference of {} in the share of exact runs", POINTS),
)
