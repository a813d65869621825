"""The numbers that README and docs state are those of the stored results in docs/evidence."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.support.documents import (
    DEFENCE,
    ERRATA,
    PROOFS,
    ROOT,
    assert_says,
)
from tools import evidence
from tools.evidence_page import judgements

import neurotron as nt
from neurotron.guarantees.predictions import certified
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import certify_sharply
from neurotron.lab.claims.model import tally
from neurotron.solvers.rivals import least_squares

README, PAGES = ROOT / "README.md", ROOT / "docs" / "paper.md"
LAWS = ("N(0, 1)", "t(4)", "N(0, 9)", "Laplace(2)")
CONSTANT = (
    "alternating-sign", "random-sign", "uniform-noise", "constant", "odd-direction",
    "impersonation", "adaptive", "mixture",
)  # fmt: skip
VARYING = ("burst", "large-norm", "half-space")
UNLIMITED = ("multiplicative:factor=3", "replacement:scale=100", "sign-flip")
Row = dict[str, str]


@cache
def table(study: str) -> list[Row]:
    """Return the rows of docs/evidence/<study>.csv."""
    with open(evidence.STORE / f"{study}.csv", newline="") as file:
        return list(csv.DictReader(file))


def rows(study: str, *, at_most: float = 1.0, **fields: str | Sequence[str]) -> list[Row]:
    """Return the rows whose columns have one of these values, with β of at most so much."""
    wanted = {name: (it,) if isinstance(it, str) else it for name, it in fields.items()}
    return [
        row
        for row in table(study)
        if all(row[name] in values for name, values in wanted.items())
        and float(row.get("probability", 0.0)) <= at_most
    ]


def percent(found: Sequence[Row], column: str) -> float:
    """Return the percentage of all runs of these rows that a column counts."""
    runs = [int(row["runs"]) for row in found]
    counts = [round(float(row[column]) * n) for row, n in zip(found, runs, strict=True)]
    return 100.0 * sum(counts) / sum(runs)


def findings(study: str, claim: str, case: str = "") -> list[evidence.Entry]:
    """Return the stored comparisons of a claim that a case is part of."""
    every = evidence.stored()[study]["claims"][claim]["findings"]
    return [one for one in every if case in one["case"]]


class Headline(NamedTuple):
    """A sentence or a row of a table, with {} for every number, and what the numbers must be."""

    document: Path
    words: str
    numbers: Sequence[float]


# ---- the defence ---------------------------------------------------------------------------------


def share(trainer: str, attacks: Sequence[str], column: str, *betas: str) -> float:
    """Return the percentage of a trainer's runs that ended exactly or closely."""
    found = rows("defence", trainer=trainer, attack=attacks, probability=betas)
    return percent(found, column)


def large_norm_by_law() -> list[float]:
    """Return the percentage of exact runs of the defence under large-norm, β ≤ 0.4, by law."""
    claim = "exact-when-concentrated"
    return [100.0 * findings("defence", claim, f"{law}, large-norm")[0]["estimate"] for law in LAWS]


def worst(attacks: Sequence[str], *betas: str) -> float:
    """Return the largest final error of the defence."""
    found = rows("defence", trainer="RefinedTron", attack=attacks, probability=betas)
    return max(float(row["largest"]) for row in found)


def by_attack(trainer: str) -> list[float]:
    """Return a trainer's row: constant β, burst, half-space, large norm, these, not additive."""
    low = ("0.2", "0.4")
    return [
        share(trainer, CONSTANT, "exact", *low),
        share(trainer, CONSTANT, "close", "0.45"),
        *(
            share(trainer, (attack,), "exact", *low)
            for attack in ("burst", "half-space", "large-norm")
        ),
        share(trainer, VARYING, "close", "0.45"),
        share(trainer, UNLIMITED, "exact", *low),
    ]


NETWORKS = {
    "paper": "the paper's (n = 100, r = 25, k = 10)", "leaky": "leak 0.1",
    "few-weights": "r ≪ n (n = 200, r = 5)", "as-many-weights": "r = n = 40",
    "gate-25": "single gate, n = 25", "gate-100": "single gate, n = 100",
    "leaky-gate-100": "single leaky gate, n = 100",
    "convolution-4": "convolution, n = 60, r = 8, stride 4",
    "convolution-1": "convolution, n = 60, r = 8, stride 1",
    "image": "image 12 × 12, filter 3 × 3, stride 3",
}  # fmt: skip


def of_network(name: str) -> list[float]:
    """Return a network's row: others at both β, adaptive at both β, for every batch size."""
    others = ("constant", "odd-direction", "impersonation")
    return [
        percent(
            rows("networks", setting=f"{name}-b{batch}", attack=attacks, probability=beta), "exact"
        )
        for batch in (4, 16, 64)
        for attacks in (others, ("adaptive",))
        for beta in ("0.2", "0.4")
    ]


def interval(found: Sequence[Row]) -> list[float]:
    """Return the percentage of runs below 1e-6, and its 95 % interval (Wilson's)."""
    runs = sum(int(row["runs"]) for row in found)
    test = binomtest(round(percent(found, "close") * runs / 100.0), runs)
    low, high = test.proportion_ci(method="wilson")
    return [100.0 * test.statistic, 100.0 * low, 100.0 * high]


def defence_tables() -> Iterator[Headline]:
    """Yield every row of the tables in docs/defence.md."""
    for name in dict.fromkeys(row["trainer"] for row in table("defence")):
        yield Headline(DEFENCE, f"| {name} |" + " {} % |" * 7, by_attack(name))
    for name, shown in NETWORKS.items():
        yield Headline(DEFENCE, f"| {shown} |" + " {}, {} / {}, {} |" * 3, of_network(name))
    for row in rows("correlated", trainer="RefinedTron"):
        rho, attack, beta = row["setting"][4:], row["attack"], row["probability"]
        (trimmed,) = rows(
            "correlated", trainer="TrimmedSGD", setting=row["setting"], attack=attack,
            probability=beta,
        )  # fmt: skip
        numbers = [
            100.0 * float(row["exact"]), 100.0 * float(row["close"]), float(row["median"]),
            float(row["largest"]), 100.0 * float(trimmed["close"]),
        ]  # fmt: skip
        words = f"| {rho} | {attack} | {beta} |" + " {} % | {} % | {} | {} | {} % |"
        yield Headline(DEFENCE, words, numbers)
    for law, row in zip(LAWS, table("half-space"), strict=True):
        numbers = [*interval([row]), 100.0 * float(row["exact"]), float(row["largest"])]
        yield Headline(DEFENCE, f"| {law} | {{}} % ({{}} … {{}}) | {{}} % | {{}} |", numbers)
    for row in rows("limits", trainer="RefinedTron"):
        (other,) = [
            one
            for one in rows("limits", trainer="Neuro-Tron")
            if [*one.values()][2:5] == [*row.values()][2:5] and one["setting"] == row["setting"]
        ]
        words = f"| {limit_of(row)} | {{}} ({{}} … {{}}) | {{}} |"
        numbers = [float(row[name]) for name in ("median", "least", "largest")]
        yield Headline(DEFENCE, words, [*numbers, float(other["median"])])
    for name in dict.fromkeys(row["trainer"] for row in table("constants")):
        low, near = (rows("constants", trainer=name, probability=b) for b in ("0.4", "0.45"))
        steps = [float(row["steps"] or math.inf) for row in low]
        numbers = [percent(low, "exact"), float(np.median(steps)), percent(near, "close")]
        yield Headline(DEFENCE, f"| {name} | {{}} % | {{}} | {{}} % |", numbers)


def limit_of(row: Row) -> str:
    """Return what docs call a row of the study `limits`."""
    attack, bound, beta = row["attack"], row["bound"], row["probability"]
    if row["setting"] == "noisy-inputs":
        under = "no attack" if attack == "none" else f"{attack}, β = {beta}"
        return f"inputs seen with noise 0.1, {under}"
    size = f", θ = {float(bound):g}" if beta == "0.4" else ""
    return f"{attack}, β = {beta}{size}"


def frontier_words() -> Iterator[Headline]:
    """Yield what docs/defence.md says of the frontier study beside the defence's own."""
    shares = [100.0 * one["estimate"] for one in findings("frontier", "exact-below-half")]
    yield Headline(
        DEFENCE,
        "{} % of the runs ended below 1e-12 in {} of the {} combinations of a law and an attack, "
        "and {} % in the last one",
        [max(shares), shares.count(100.0), len(shares), min(shares)],
    )  # fmt: skip


def defence_words() -> Iterator[Headline]:
    """Yield what README and docs/defence.md say of the defence in words."""
    exact = share("RefinedTron", CONSTANT, "exact", "0.2", "0.4")
    large, trimmed = (
        share(name, ("large-norm",), "exact", "0.2", "0.4")
        for name in ("RefinedTron", "TrimmedSGD")
    )
    (correlated,) = rows(
        "correlated", setting="rho-0.9", trainer="RefinedTron", attack="adaptive", probability="0.4"
    )
    exactly, closely = (100.0 * float(correlated[name]) for name in ("exact", "close"))
    yield Headline(README, "to machine precision in {} % of the runs", [exact])
    yield Headline(README, "largest inputs ({} % of the runs;", [large])
    yield Headline(README, "`nt.TrimmedSGD()` does better there, {} %,", [trimmed])
    yield Headline(README, "adaptive attack ({} % at β = 0.4)", [exactly])
    yield Headline(DEFENCE, "On the paper's networks, {} % of the runs", [exact])
    yield Headline(DEFENCE, "The number {} % is from", [exact])
    yield Headline(
        DEFENCE, "{} % for N(0, 1), {} % for t(4), {} % for N(0, 9) and {} % for Laplace(2).",
        large_norm_by_law(),
    )  # fmt: skip
    yield Headline(
        DEFENCE,
        "At β ≤ 0.4, {} % of the runs end below 1e-12, and at β = 0.45, {} % do.",
        [large, share("RefinedTron", ("large-norm",), "exact", "0.45")],
    )
    yield Headline(DEFENCE, "`TrimmedSGD` does better in this case: {} % at β ≤ 0.4.", [trimmed])
    yield Headline(
        DEFENCE,
        "Under the adaptive attack at β = 0.4, {} % of the runs end below 1e-12 and {} % below",
        [exactly, closely],
    )
    yield Headline(
        DEFENCE,
        "Under the adaptive attack at β = 0.45, {} % of the runs end below 1e-12 and {} % below",
        [share("RefinedTron", ("adaptive",), column, "0.45") for column in ("exact", "close")],
    )
    yield Headline(
        DEFENCE,
        "after 40 000 steps is {} under the constant attack and {} under",
        [
            float(
                rows("limits", trainer="RefinedTron", attack=attack, probability="0.48")[0][
                    "median"
                ]
            )
            for attack in ("constant", "adaptive")
        ],
    )
    yield Headline(
        DEFENCE, "ended above {} (β ≤ 0.4) or {} (β = 0.45)",
        [worst(CONSTANT, "0.2", "0.4"), worst(CONSTANT, "0.45")],
    )  # fmt: skip
    yield Headline(
        DEFENCE, "it. At β = 0.4, {} % of the runs end below 1e-12 and {} % below 1e-6",
        [share("RefinedTron", ("large-norm",), column, "0.4") for column in ("exact", "close")],
    )  # fmt: skip
    square, leaky, overlapping = (
        of_network(name)[4:8] for name in ("as-many-weights", "leaky-gate-100", "convolution-1")
    )
    yield Headline(
        DEFENCE,
        "at most {} % of the runs end below 1e-12 with as many weights as inputs (r = n = 40), at "
        "most {} % with a single leaky gate, and {} % with a convolution of stride 1 under the "
        "adaptive attack at β = 0.4",
        [max(square), max(leaky), overlapping[-1]],
    )
    every = table("half-space")
    yield Headline(
        DEFENCE, "{} % of the runs end below 1e-6 (95 % interval {} … {} %)", interval(every)
    )
    yield Headline(DEFENCE, "one half-space, {} % end below 1e-6", interval(every)[:1])
    yield Headline(
        DEFENCE,
        "laws N(0, 1) and t(4), {} % of the runs end below 1e-6. On problems with 50 inputs, with "
        "the laws N(0, 9) and Laplace(2), {} % do",
        [percent(every[:2], "close"), percent(every[2:], "close")],
    )
    stuck = rows("defence", trainer="RefinedTron", attack="large-norm", probability="0.45")
    yield Headline(
        DEFENCE, "At β = 0.45, the median error is {} (θ = 1) or {} (θ = 4)",
        [float(row["median"]) for row in stuck],
    )  # fmt: skip
    lost = [100.0 - 100.0 * float(row["close"]) for row in rows("correlated", trainer="TrimmedSGD")]
    elsewhere = [
        100.0 - percent(rows("defence", trainer="TrimmedSGD", attack=attack), "close")
        for attack in (*CONSTANT, *VARYING, *UNLIMITED)
    ]
    yield Headline(
        DEFENCE, "in {} to {} % of the runs, depending on the attack (in {} to {} % with",
        [min(elsewhere), max(elsewhere), min(lost), max(lost)],
    )  # fmt: skip


# ---- the certificate -----------------------------------------------------------------------------

SHARP = {
    "N(0, 1)": "scheduled", "Laplace(2)": "scheduled", "Uniform(−1, 1)": "scheduled",
    "t(4)": "scheduled, inverse-norm weights", "Cauchy": "scheduled, inverse-norm weights",
}  # fmt: skip
"""The laws of the study of sharpness, and the trainers whose steps are those of certificates."""


class Sharpness(NamedTuple):
    """Numbers of one arm: the measured error, and bounds divided by it."""

    certified: float
    upper: float
    """The upper end of the 95 % interval of `certified`."""
    radius: float


def sharpness(law: str, trainer: str, beta: str) -> list[Sharpness]:
    """Return the ratios of the five networks of a law."""
    name = f", {trainer}, odd-direction θ=1 β={beta}"
    squares, radii = (
        [one for one in findings("sharpness", claim, f"{law}, net") if one["case"].endswith(name)]
        for claim in ("certified-mean-square", "radius-near-error")
    )
    radii = radii or [{"estimate": math.nan}] * len(squares)  # only those of scheduled steps
    assert len(squares) == len(radii) == 5
    return [
        Sharpness(1.0 / one["estimate"], 1.0 / one["low"], other["estimate"])
        for one, other in zip(squares, radii, strict=True)
    ]


def certified_error(beta: str) -> float:
    """Return the certified RMS error for normal inputs, the mean over five networks."""
    nets = [
        row
        for row in rows("sharpness", trainer="scheduled", probability=beta)
        if row["setting"].startswith("normal-1")
    ]
    ratios = [one.certified / one.radius for one in sharpness("N(0, 1)", "scheduled", beta)]
    return float(np.mean([float(row["radius"]) for row in nets] * np.array(ratios)))


def ratios_of(law: str, trainer: str) -> list[float]:
    """Return certified over measured errors: at both β their mean, least and most; the upper end.

    The last two numbers are the radius over the certified and over the measured error at β = 0.5.
    """
    low, high = (sharpness(law, trainer, beta) for beta in ("0.2", "0.5"))
    ratios = ([one.certified for one in found] for found in (low, high))
    return [
        *(float(f(found)) for found in ratios for f in (np.mean, min, max)),
        max(one.upper for one in low + high),
        float(np.mean([one.radius / one.certified for one in high])),
        float(np.mean([one.radius for one in high])),
    ]


def certificate_words() -> Iterator[Headline]:
    """Yield how sharp the certificate is said to be."""
    every = {law: ratios_of(law, trainer) for law, trainer in SHARP.items()}
    above = {law: 100.0 * (max(found[2], found[5]) - 1.0) for law, found in every.items()}
    others = max(above[law] for law in SHARP if law != "Cauchy")
    radius = max(one["estimate"] for one in findings("sharpness", "radius-near-error"))
    yield Headline(README, "within {} % of the measured error for normal", [above["N(0, 1)"]])
    yield Headline(PROOFS, "error was within {} % of the measured one", [above["N(0, 1)"]])
    yield Headline(PROOFS, "at most {} % above the measured one, and", [others])
    yield Headline(PROOFS, "for Cauchy inputs at most {} % above it", [above["Cauchy"]])
    yield Headline(PROOFS, "it was at most {} times the measured RMS error", [radius])
    yield Headline(README, "and up to {} % too large for the other laws", [max(above.values())])
    yield Headline(README, "confidence was at most {} times the measured error", [radius])
    yield Headline(
        PROOFS, "is {} for β = 0.5 and {} for β = 0.2, in the mean",
        [certified_error(beta) for beta in ("0.5", "0.2")],
    )  # fmt: skip
    cells = " {} ({} … {}) |" * 2 + " {} |"
    constant = ratios_of("N(0, 1)", "η = 1e-3")[:-2]
    yield Headline(PROOFS, f"| N(0, 1), η = 1e-3 |{cells}", constant)
    for law, numbers in every.items():
        weights = ", inverse-norm weights" * ("inverse" in SHARP[law])
        yield Headline(PROOFS, f"| {law}{weights} |{cells} {{}} | {{}} |", numbers)


# ---- the paper's study, and who recovers the filter ----------------------------------------------


def estimates(study: str, claim: str, case: str) -> list[float]:
    """Return the least and the largest estimate of a claim's comparisons that a case is part of."""
    found = [float(one["estimate"]) for one in findings(study, claim, case)]
    return [min(found), max(found)]


def largest(study: str, claim: str, case: str = "") -> float:
    """Return the value of the run that is worst for a claim."""
    return max(float(one["worst"]) for one in findings(study, claim, case))


def our_words() -> Iterator[Headline]:
    """Yield what docs/paper.md says of prediction errors, of what is ours, and of moved inputs."""
    risk, runs = findings("paper", "risk-below-attack"), findings("paper", "certificate-holds")
    total = sum(one["total"] for one in risk)
    part = largest("paper", "risk-below-attack")
    yield Headline(PAGES, "is at most {} of $\\theta_\\ast$ in {} runs", [part, total])
    single = largest("paper", "predictions-as-certified", "prediction risk")
    yield Headline(PAGES, "these prediction errors is {} of what the sharp", [single])
    every = largest("paper", "predictions-as-certified")
    yield Headline(PAGES, "the largest is {} of what was certified", [every])
    ours = largest("paper", "certificate-holds", "certified Neuro-Tron (ours)")
    told = [one for one in runs if one["replicates"] >= 5]
    count, certified = (sum(one[name] for one in told) for name in ("count", "total"))
    yield Headline(
        PAGES, "its largest error is {} of the certified radius; of all {} runs of the "
        "study with a certificate, {} end", [ours, certified, count],
    )  # fmt: skip
    refined = rows("paper", trainer="RefinedTron (ours)")
    plain = rows("paper", trainer="Neuro-Tron", bound="0.25", probability=("0.05", "0.1", "0.2"))
    yield Headline(
        PAGES, "the largest error of {} runs is {}; the smallest median error of Neuro-Tron at "
        "these levels is {}",
        [sum(int(row["runs"]) for row in refined), max(float(row["largest"]) for row in refined),
         min(float(row["median"]) for row in plain)],
    )  # fmt: skip
    solved = rows("paper", trainer="solver, 500 rows (ours)")
    yield Headline(
        PAGES, "the largest error of its {} runs is {} |",
        [sum(int(row["runs"]) for row in solved), max(float(row["largest"]) for row in solved)],
    )  # fmt: skip
    yield from verified_words([*refined, *solved])


def verified_words(ours: Sequence[Row]) -> Iterator[Headline]:
    """Yield what docs/paper.md says of verified runs."""
    radii = max(float(row["verified_radius"]) for row in ours)
    below = [
        row for row in rows("paper", at_most=0.49)
        if row["verified"] and float(row["diverged"]) == 0.0
    ]  # fmt: skip
    runs = sum(int(row["runs"]) for row in below)
    left = runs - sum(round(float(row["verified"]) * int(row["runs"])) for row in below)
    counts = {
        study: [
            sum(one[what] for one in findings(study, "verification-holds"))
            for what in ("count", "total")
        ]
        for study in ("paper", "verified")
    }
    yield Headline(
        PAGES, "on 2,000 fresh rows | {} of {} verified radii are smaller than the error. The "
        "largest median radius of RefinedTron and the solver at a level is {}. With β < 0.5 "
        "nothing is verified about {} of {} runs", [*counts["paper"], radii, left, runs],
    )  # fmt: skip
    yield Headline(
        PAGES, "of five replicates | {} of {} verified radii are smaller", counts["verified"]
    )


def moved_words() -> Iterator[Headline]:
    """Yield what docs/paper.md says of inputs that an adversary moves."""
    ratio, bias = (
        estimates("moved-inputs", claim, "")
        for claim in ("adversary-worse-than-noise", "moved-inputs-as-predicted")
    )
    yield Headline(PAGES, "error is {} … {} times that with noise", ratio)
    yield Headline(PAGES, "Errors are {} … {} of it", bias)
    exact = findings("moved-inputs", "defence-against-moved-inputs")
    yield Headline(PAGES, "exactly** on all {} networks", [sum(one["total"] for one in exact)])
    medians = [
        float(row["median"])
        for trainer in ("SGD", "Neuro-Tron")
        for row in rows("moved-inputs", trainer=trainer, setting=("moved-0.5", "moved-2"))
    ]
    words = "median errors of {} and {} for s = 0.5 and 2, where Neuro-Tron has {} and {}"
    yield Headline(PAGES, words, medians)


def batch_words() -> Iterator[Headline]:
    """Yield what docs/paper.md says of the batch size."""
    steps, samples = (
        estimates("batch-size", claim, "")
        for claim in ("fewer-steps-with-larger-batches", "samples-alike-for-all-batches")
    )
    yield Headline(PAGES, "four times the batch needs {} … {} of the steps", steps)
    yield Headline(PAGES, "batches of 4 to 256 need {} … {} times the samples", samples)
    certified = findings("batch-size", "batch-sizes-as-certified")
    of_steps = [one["estimate"] for one in certified if one["group"] == "steps"]
    of_errors = [one["estimate"] for one in certified if "b = 256, odd-direction" in one["case"]]
    yield Headline(
        PAGES, "Runs need {} … {} of the certified number", [min(of_steps), max(of_steps)]
    )
    yield Headline(
        PAGES, "reach {} … {} of the certified ones at b = 256", [min(of_errors), max(of_errors)]
    )
    slopes = [-one for one in estimates("batch-size", "larger-batches-lower-the-floor", "")]
    yield Headline(PAGES, "(slope on a log-log scale: −{} … −{})", slopes)


def ended(trainer: str, outcome: str) -> list[int]:
    """Return on how many networks of each law a trainer had an outcome."""
    return [
        round(int(row["runs"]) * float(row[outcome])) for row in rows("mirror", trainer=trainer)
    ]


def paper_words() -> Iterator[Headline]:
    """Yield what README, docs/paper.md and errata say of the paper's study."""
    both, published = "against SGD, where both recover", "against first-sample SGD, in all runs"
    smaller, faster = (
        [estimates("paper", f"{what}-than-sgd", case) for case in (published, both)]
        for what in ("smaller-error", "faster")
    )
    slopes = estimates("paper", "grows-with-probability", "")
    yield Headline(PAGES, "to √β (slope {} … {})", slopes)
    yield Headline(
        PAGES, "ends with {} … {} of its error and needs {} … {} of its steps",
        [*smaller[0], *faster[0]],
    )  # fmt: skip
    yield Headline(
        PAGES, "Neuro-Tron has {} … {} times the error and needs {} … {} times the steps",
        [*smaller[1], *faster[1]],
    )  # fmt: skip
    yield Headline(
        README, "ends with {} to {} times its error and takes {} to {} times as many steps",
        [*smaller[1], *faster[1]],
    )  # fmt: skip
    for place, words in (
        (PAGES, "the error with t(4) is {} … {} times that with other laws"),
        (README, "about the same ({} to {} times as large"),
    ):
        yield Headline(place, words, estimates("paper", "heavy-tails-alike", ""))
    yield Headline(
        PAGES,
        "on honest labels are {} … {} by law",
        estimates("paper", "recovers-without-attack", ""),
    )
    weights = max(estimates("paper", "outer-weights-help", "θ = 1, published step sizes"))
    yield Headline(PAGES, "q = 10 has {} of the error", [weights])
    yield Headline(ERRATA, "ends at {} of the error of $q = 1$", [weights])


def mirror_words() -> Iterator[Headline]:
    """Yield what is said of where Neuro-Tron and SGD end, on 100 networks of each law."""
    ours, theirs = (ended(trainer, "recovered") for trainer in ("Neuro-Tron", "SGD"))
    networks, lost = 400, 400 - sum(theirs)
    mirrored = sum(ended("SGD", "mirror"))
    share = binomtest(lost, networks).proportion_ci()
    found = binomtest(sum(theirs), networks).proportion_ci()
    yield Headline(
        README, "in the direction of −w\\* on {} of {} (95 % interval {} to {} %)",
        [mirrored, networks, 100.0 * share.low, 100.0 * share.high],
    )  # fmt: skip
    yield Headline(
        README, "than true SGD: on {} against {} of {}", [sum(ours), sum(theirs), networks]
    )
    yield Headline(
        PAGES, "recovers the filter on all {} networks, SGD on {} of 100 for N(0, 1), {} for t(4), "
        "{} for N(0, 9) and {} for Laplace(2)", [sum(ours), *theirs],
    )  # fmt: skip
    yield Headline(PAGES, "in the direction of −w*, on {} of {} networks", [mirrored, lost])
    yield Headline(
        ERRATA, "finds it on {} of {} networks only (95 % interval {} to {} %)",
        [sum(theirs), networks, 100.0 * found.low, 100.0 * found.high],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "beta", "theta", "noise"),
    [("β = 0.5, θ = 1, ς = 0", 0.5, 1.0, 0.0), ("β = 0.05, θ = 0.25, ς = 1", 0.05, 0.25, 1.0),
     ("no attack, ς = 1", 0.0, 0.0, 1.0)],
)  # fmt: skip
def test_radii_that_docs_compare_with_certified_errors(row, beta, theta, noise):
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=0)
    problem = nt.Problem.draw(network, nt.Normal(), noise=noise, seed=0)
    attack = nt.attacks.OddDirection(theta, beta, direction=np.eye(25)[0])
    arm = nt.Arm(nt.NeuroTron("scheduled"), attack)
    found = [nt.certify(problem, arm, steps=12_000, failure=delta) for delta in (0.05, 0.01)]
    ratios = [one.radius / one.root_mean_square for one in found]
    assert_says(PROOFS, f"| {row} |" + " {} |" * 2, *ratios)


HEADLINES = [
    *defence_tables(), *defence_words(), *frontier_words(), *certificate_words(), *paper_words(),
    *batch_words(), *our_words(), *moved_words(),
    *mirror_words(),
]  # fmt: skip


@pytest.mark.parametrize("headline", HEADLINES, ids=lambda h: f"{h.document.name}: {h.words[:40]}")
def test_stated_numbers_are_the_stored_ones(headline):
    assert_says(headline.document, headline.words, *headline.numbers)


def test_the_readme_counts_the_claims_of_the_paper_and_ours_as_stored():
    assert tally([*judgements(evidence.stored()["paper"])]) in " ".join(README.read_text().split())


def test_makefile_and_readme_say_the_same_about_how_long_it_takes():
    told = re.findall(r'echo "make (\w+) .*\(([^)]*)\)', (ROOT / "Makefile").read_text())
    readme = dict(re.findall(r"^make (\w+) +# .*: (.*)$", (ROOT / "README.md").read_text(), re.M))
    assert {"paper", "test"} <= readme.keys()
    assert readme.items() <= dict(told).items()


def test_what_the_readme_says_of_25_tables():
    ours, theirs, network = [], [], nt.networks.relu_gate(8)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, true = rng.standard_normal((500, 8)), rng.standard_normal(8)
        poisoned = rng.random(500) < 0.2
        y = np.maximum(X @ true, 0.0) + 0.1 * rng.standard_normal(500) + 5.0 * poisoned
        solution = nt.solve(network, X, y)
        assert (solution.rejected == poisoned).all()
        for found, fitted in ((ours, solution), (theirs, least_squares(network, X, y))):
            found.append(100 * np.linalg.norm(fitted.weights - true) / np.linalg.norm(true))
    readme = " ".join(README.read_text().split())
    said = re.search(r"at most (\d+) % away .*? least squares ended (\d+) to (\d+) %", readme)
    assert said is not None
    ends = (math.ceil(max(ours)), math.floor(min(theirs)), math.ceil(max(theirs)))
    assert said.groups() == tuple(map(str, ends))
    assert f"# least squares is {theirs[0]:.0f} % off" in readme


def test_what_other_coordinates_gain():
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=2)
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    planned = nt.plan(problem, nt.Budget(1.0, 0.5), accuracy=1.0).certificate
    assert_says(PROOFS, "the prediction error is {} instead", planned.prediction_error)
    law = nt.laws.Correlated(nt.Normal(), np.diag([10.0, 1.0, 0.2]))
    problem = nt.Problem.draw(nt.networks.linear(3), law, seed=1)
    request = Request(
        problem, nt.Arm(nt.NeuroTron(0.01)), 16, 3000, 0.05, None, nt.Budget(0.1, 0.5), "sharp"
    )
    before, after = certify_sharply(request), certified(request)
    assert_says(PROOFS, "the prediction error is at most {} instead", after.prediction_error)
    assert_says(PROOFS, "instead of {}, and the error", before.prediction_error)
    assert_says(PROOFS, "the error of the weights at most {} instead", after.radius)
    assert_says(PROOFS, "at most 0.28 instead of {}.", before.radius)
