"""The numbers of docs/defence.md."""

from __future__ import annotations

from typing import Any

import polars as pl
from research.pages import Told, cell, ends, findings, percent, rows, table
from scipy.stats import binomtest

OURS, TRIMMED, LOW, HIGH = "RefinedTron", "TrimmedSGD", (0.2, 0.4), 0.45
CONSTANT = (
    "alternating-sign", "random-sign", "uniform-noise", "constant", "odd-direction",
    "impersonation", "adaptive", "mixture",
)  # fmt: skip
VARYING = ("burst", "half-space", "large-norm")
UNLIMITED = ("multiplicative:factor=3", "replacement:scale=100", "sign-flip")
LAWS = ("N(0, 1)", "t(4)", "N(0, 9)", "Laplace(2)")
NETWORKS = {
    "paper": "the paper's (n = 100, r = 25, k = 10)", "leaky": "leak 0.1",
    "few-weights": "r ≪ n (n = 200, r = 5)", "as-many-weights": "r = n = 40",
    "gate-25": "single gate, n = 25", "gate-100": "single gate, n = 100",
    "leaky-gate-100": "single leaky gate, n = 100",
    "convolution-4": "convolution, n = 60, r = 8, stride 4",
    "convolution-1": "convolution, n = 60, r = 8, stride 1",
    "image": "image 12 × 12, filter 3 × 3, stride 3",
}  # fmt: skip


def share(trainer: str, attack: Any, column: str, probability: Any) -> float:
    """Return the percentage of a trainer's runs that ended exactly or closely."""
    found = rows("defence", trainer=trainer, attack=attack, probability=probability)
    return percent(found, column)


def of_network(name: str, *batches: int) -> list[float]:
    """Return the exact runs with these batch sizes: other attacks at both β, adaptive at both."""
    others = ("constant", "odd-direction", "impersonation")
    return [
        percent(rows("networks", setting=f"{name}-b{b}", attack=attack, probability=beta), "exact")
        for b in batches for attack in (others, "adaptive") for beta in LOW
    ]  # fmt: skip


def interval(found: pl.DataFrame) -> list[float]:
    """Return the percentage of runs below 1e-6, and its 95 % interval (Wilson's)."""
    runs = int(found["runs"].sum())
    test = binomtest(round(percent(found, "close") * runs / 100.0), runs)
    return [100.0 * one for one in (test.statistic, *test.proportion_ci(method="wilson"))]


def defence_tables() -> Told:
    """Yield the rows of the tables of docs/defence.md."""
    for name in table("defence")["trainer"].unique(maintain_order=True):
        yield (
            f"| {name} |" + " {} % |" * 7, share(name, CONSTANT, "exact", LOW),
            share(name, CONSTANT, "close", HIGH), *(share(name, a, "exact", LOW) for a in VARYING),
            share(name, VARYING, "close", HIGH), share(name, UNLIMITED, "exact", LOW),
        )  # fmt: skip
    for name, shown in NETWORKS.items():
        yield f"| {shown} |" + " {}, {} / {}, {} |" * 3, *of_network(name, 4, 16, 64)
    keys = ["setting", "attack", "bound", "probability"]
    both = rows("correlated", trainer=OURS).join(rows("correlated", trainer=TRIMMED), on=keys)
    for one in both.rows(named=True):
        yield (
            f"| {one['setting'][4:]} | {one['attack']} | {one['probability']} |"
            " {} % | {} % | {} | {} | {} % |", 100 * one["exact"], 100 * one["close"],
            one["median"], one["largest"], 100 * one["close_right"],
        )  # fmt: skip
    for law, one in zip(LAWS, table("half-space").iter_slices(1), strict=True):
        yield (
            f"| {law} | {{}} % ({{}} … {{}}) | {{}} % | {{}} |", *interval(one),
            100 * one["exact"].item(), one["largest"].item(),
        )  # fmt: skip
    both = rows("limits", trainer=OURS).join(rows("limits", trainer="Neuro-Tron"), on=keys)
    for one in both.rows(named=True):
        what = f"{one['attack']}, β = {one['probability']}"
        if one["setting"] == "noisy-inputs":
            what = what if one["attack"] != "none" else "no attack"
            what = f"inputs seen with noise 0.1, {what}"
        elif one["probability"] == 0.4:
            what += f", θ = {one['bound']:g}"
        numbers = [one[name] for name in ("median", "least", "largest", "median_right")]
        yield f"| {what} | {{}} ({{}} … {{}}) | {{}} |", *numbers
    for name in table("constants")["trainer"].unique(maintain_order=True):
        low, near = (rows("constants", trainer=name, probability=b) for b in (0.4, HIGH))
        steps = low["steps"].fill_null(float("inf")).median()
        yield (
            f"| {name} | {{}} % | {{}} | {{}} % |",
            percent(low, "exact"), steps, percent(near, "close"),
        )  # fmt: skip


def defence() -> Told:
    """Yield the numbers of docs/defence.md."""
    yield from defence_tables()
    exact = share(OURS, CONSTANT, "exact", LOW)
    yield "On the paper's networks, {} % of the runs", exact
    yield "The number {} % is from", exact
    by_law = [
        100 * findings("defence", "exact-when-concentrated", f"{law}, large-norm")["estimate"][0]
        for law in LAWS
    ]
    yield "{} % for N(0, 1), {} % for t(4), {} % for N(0, 9) and {} % for Laplace(2).", *by_law
    large = [share(OURS, "large-norm", "exact", beta) for beta in (LOW, HIGH)]
    yield "At β ≤ 0.4, {} % of the runs end below 1e-12, and at β = 0.45, {} % do.", *large
    trimmed = share(TRIMMED, "large-norm", "exact", LOW)
    yield "`TrimmedSGD` does better in this case: {} % at β ≤ 0.4.", trimmed
    adaptive = rows("correlated", setting="rho-0.9", trainer=OURS, attack="adaptive")
    words = "Under the adaptive attack at β = {}, {{}} % of the runs end below 1e-12 and {{}} % bel"
    (low,) = adaptive.filter(probability=0.4).rows(named=True)
    yield words.format(0.4), 100 * low["exact"], 100 * low["close"]
    yield words.format(HIGH), *(share(OURS, "adaptive", it, HIGH) for it in ("exact", "close"))
    yield (
        "after 40 000 steps is {} under the constant attack and {} under",
        *(cell("limits", "median", trainer=OURS, attack=attack, probability=0.48)
          for attack in ("constant", "adaptive")),
    )  # fmt: skip
    ours = rows("defence", trainer=OURS, attack=CONSTANT)
    worst = [ours.filter(pl.col("probability").is_in(b))["largest"].max() for b in (LOW, [HIGH])]
    yield "ended above {} (β ≤ 0.4) or {} (β = 0.45)", *worst
    yield (
        "it. At β = 0.4, {} % of the runs end below 1e-12 and {} % below 1e-6",
        *(share(OURS, "large-norm", column, 0.4) for column in ("exact", "close")),
    )  # fmt: skip
    yield (
        "at most {} % of the runs end below 1e-12 with as many weights as inputs (r = n = 40), at "
        "most {} % with a single leaky gate, and {} % with a convolution of stride 1 under the "
        "adaptive attack at β = 0.4", max(of_network("as-many-weights", 16)),
        max(of_network("leaky-gate-100", 16)), of_network("convolution-1", 16)[-1],
    )  # fmt: skip
    every = table("half-space")
    yield "{} % of the runs end below 1e-6 (95 % interval {} … {} %)", *interval(every)
    yield "one half-space, {} % end below 1e-6", interval(every)[0]
    yield (
        "laws N(0, 1) and t(4), {} % of the runs end below 1e-6. On problems with 50 inputs, with "
        "the laws N(0, 9) and Laplace(2), {} % do",
        percent(every[:2], "close"), percent(every[2:], "close"),
    )  # fmt: skip
    stuck = rows("defence", trainer=OURS, attack="large-norm", probability=HIGH)
    yield "At β = 0.45, the median error is {} (θ = 1) or {} (θ = 4)", *stuck["median"]
    every_attack = (*CONSTANT, *VARYING, *UNLIMITED)
    betas = (0.0, *LOW, HIGH)
    lost = pl.Series([100.0 - share(TRIMMED, one, "close", betas) for one in every_attack])
    correlated = 100.0 - 100.0 * rows("correlated", trainer=TRIMMED)["close"]
    words = "in {} to {} % of the runs, depending on the attack (in {} to {} % with"
    yield words, *ends(lost), *ends(correlated)
    shares = 100.0 * findings("frontier", "exact-below-half")["estimate"]
    yield (
        "{} % of the runs ended below 1e-12 in {} of the {} combinations of a law and an attack, "
        "and {} % in the last one",
        shares.max(), (shares == 100.0).sum(), len(shares), shares.min(),
    )  # fmt: skip
