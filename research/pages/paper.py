"""The numbers of README, docs/paper.md, docs/errata.md and docs/activations.md."""

from __future__ import annotations

import polars as pl
from research.pages import Told, cell, ends, estimates, findings, rows
from research.pages.defence import CONSTANT, LOW, OURS, TRIMMED, share
from research.pages.theory import above, radius
from scipy.stats import binomtest

KINDS = ("sharp", "mirror")
BOTH, ALL = "against SGD, where both recover", "against first-sample SGD, in all runs"


def readme() -> Told:
    """Yield the numbers of README.md."""
    yield "to machine precision in {} % of the runs", share(OURS, CONSTANT, "exact", LOW)
    yield "largest inputs ({} % of the runs;", share(OURS, "large-norm", "exact", LOW)
    yield "does better there, {} %, or", share(TRIMMED, "large-norm", "exact", LOW)
    correlated = cell(
        "correlated", "exact", setting="rho-0.9", trainer=OURS, attack="adaptive", probability=0.4
    )
    yield "adaptive attack ({} % at β = 0.4)", 100 * correlated
    yield "within {} % of the measured error for normal", above()["N(0, 1)"]
    yield "and up to {} % too large for the other laws", max(above().values())
    yield "confidence was at most {} times the measured error", radius()
    words = "ends with {} to {} times its error and takes {} to {} times as many steps"
    yield words, *against_sgd(BOTH)
    yield "about the same ({} to {} times as large", *estimates("paper", "heavy-tails-alike")
    theirs, lost, (low, high) = of_sgd()
    yield "in the direction of −w\\* on {} of 400 (95 % interval {} to {} %)", lost, low, high
    yield "than true SGD: on {} against {} of 400", sum(ended("Neuro-Tron")), sum(theirs)


def against_sgd(case: str) -> tuple[float, ...]:
    """Return the errors of Neuro-Tron over those of SGD, and its steps, at least and at most."""
    claims = ("smaller-error-than-sgd", "faster-than-sgd")
    return tuple(end for claim in claims for end in estimates("paper", claim, case))


def ended(trainer: str, outcome: str = "recovered") -> list[int]:
    """Return on how many of 100 networks of each law a trainer had an outcome."""
    found = rows("mirror", trainer=trainer)
    return [round(one) for one in found["runs"] * found[outcome]]


def of_sgd() -> tuple[list[int], int, list[float]]:
    """Return how often SGD recovers, how often it ends mirrored, and its rate of failures."""
    theirs = ended("SGD")
    ends = binomtest(400 - sum(theirs), 400).proportion_ci()
    return theirs, sum(ended("SGD", "mirror")), [100.0 * ends.low, 100.0 * ends.high]


def errata() -> Told:
    """Yield the numbers of docs/errata.md."""
    yield "ends at {} of the error of $q = 1$", outer_weights()
    theirs, _, (low, high) = of_sgd()
    words = "finds it on {} of 400 networks only (95 % interval {} to {} %)"
    yield words, sum(theirs), 100.0 - high, 100.0 - low


def outer_weights() -> float:
    """Return the largest error with heavy outer weights over that with light ones."""
    return estimates("paper", "outer-weights-help", "θ = 1, published step sizes")[1]


def paper() -> Told:
    """Yield the numbers of docs/paper.md."""
    yield "to √β (slope {} … {})", *estimates("paper", "grows-with-probability")
    yield "ends with {} … {} of its error and needs {} … {} of its steps", *against_sgd(ALL)
    words = "Neuro-Tron has {} … {} times the error and needs {} … {} times the steps"
    yield words, *against_sgd(BOTH)
    words = "the error with t(4) is {} … {} times that with other laws"
    yield words, *estimates("paper", "heavy-tails-alike")
    yield "on honest labels are {} … {} by law", *estimates("paper", "recovers-without-attack")
    yield "q = 10 has {} of the error", outer_weights()
    theirs, mirrored, _ = of_sgd()
    yield (
        "recovers the filter on all {} networks, SGD on {} of 100 for N(0, 1), {} for t(4), "
        "{} for N(0, 9) and {} for Laplace(2)", sum(ended("Neuro-Tron")), *theirs,
    )  # fmt: skip
    words = "in the direction of −w*, on {} of {} networks"
    yield words, mirrored, 400 - sum(theirs)
    yield from batches()
    yield from ours()
    yield from moved()


def batches() -> Told:
    """Yield what docs/paper.md says of the batch size."""
    for words, claim in (
        ("four times the batch needs {} … {} of the steps", "fewer-steps-with-larger-batches"),
        ("batches of 4 to 256 need {} … {} times the samples", "samples-alike-for-all-batches"),
    ):
        yield words, *estimates("batch-size", claim)
    certified = findings("batch-size", "batch-sizes-as-certified")
    steps = certified.filter(group="steps")["estimate"]
    errors = certified.filter(pl.col("case").str.contains("b = 256, odd-direction"))["estimate"]
    yield "Runs need {} … {} of the certified number", *ends(steps)
    yield "reach {} … {} of the certified ones at b = 256", *ends(errors)
    slopes = estimates("batch-size", "larger-batches-lower-the-floor")
    yield "(slope on a log-log scale: −{} … −{})", *(-one for one in slopes)


def ours() -> Told:
    """Yield what docs/paper.md says of prediction errors, of what is ours, and what is verified."""
    risk, told = findings("paper", "risk-below-attack"), "predictions-as-certified"
    words = "is at most {} of $\\theta_\\ast$ in {} runs"
    yield words, risk["worst"].max(), risk["total"].sum()
    single = findings("paper", told, "prediction risk")["worst"].max()
    yield "these prediction errors is {} of what the sharp", single
    yield "the largest is {} of what was certified", findings("paper", told)["worst"].max()
    claim = "certificate-holds"
    runs = findings("paper", claim).filter(pl.col("replicates") >= 5)
    largest = findings("paper", claim, "certified Neuro-Tron (ours)")["worst"].max()
    yield (
        "its largest error is {} of the certified radius; of all {} runs of the study with a "
        "certificate, {} end", largest, runs["total"].sum(), runs["count"].sum(),
    )  # fmt: skip
    refined = rows("paper", trainer="RefinedTron (ours)")
    plain = rows("paper", trainer="Neuro-Tron", bound=0.25, probability=(0.05, 0.1, 0.2))
    yield (
        "the largest error of {} runs is {}; the smallest median error of Neuro-Tron at these "
        "levels is {}", refined["runs"].sum(), refined["largest"].max(), plain["median"].min(),
    )  # fmt: skip
    solved = rows("paper", trainer="solver, 500 rows (ours)")
    words = "the largest error of its {} runs is {} |"
    yield words, solved["runs"].sum(), solved["largest"].max()
    below = rows("paper").filter(
        pl.col("verified").is_not_null(), pl.col("probability") <= 0.49, diverged=0.0
    )
    runs, verified = below["runs"].sum(), (below["verified"] * below["runs"]).round().sum()
    wrong, others = (
        [found["count"].sum(), found["total"].sum()]
        for found in (findings(name, "verification-holds") for name in ("paper", "verified"))
    )
    yield (
        "on 2,000 fresh rows | {} of {} verified radii are smaller than the error. The largest "
        "median radius of RefinedTron and the solver at a level is {}. With β < 0.5 nothing is "
        "verified about {} of {} runs", *wrong,
        pl.concat([refined, solved])["verified_radius"].max(), runs - verified, runs,
    )  # fmt: skip
    yield "of five replicates | {} of {} verified radii are smaller", *others


def moved() -> Told:
    """Yield what docs/paper.md says of inputs that an adversary moves."""
    study = "moved-inputs"
    yield "error is {} … {} times that with noise", *estimates(study, "adversary-worse-than-noise")
    yield "Errors are {} … {} of it", *estimates(study, "moved-inputs-as-predicted")
    exact = findings(study, "defence-against-moved-inputs")
    yield "exactly** on all {} networks", exact["total"].sum()
    words = "median errors of {} and {} for s = 0.5 and 2, where Neuro-Tron has {} and {}"
    chosen = ("moved-0.5", "moved-2")
    yield words, *(
        one for name in ("SGD", "Neuro-Tron")
        for one in rows(study, trainer=name, setting=chosen)["median"]
    )  # fmt: skip


def activations() -> Told:
    """Yield the numbers of docs/activations.md."""
    for name in ("ReLU", "softplus", "SiLU", "GELU"):
        recovered, sharp, mirrored = (
            findings("activations", claim).filter(pl.col("case").str.split(",").list[0] == name)
            for claim in ("recovers-to-rounding", *map("{}-with-every-activation".format, KINDS))
        )
        sgd = mirrored.row(0, named=True)
        yield (
            f"| {name} | {{}} | {{}} | {{}} | {{}} of {{}} networks ({{}} to {{}} %) |",
            recovered["worst"].max(), *sharp["estimate"], sgd["count"], sgd["total"],
            100 * sgd["low"], 100 * sgd["high"],
        )  # fmt: skip
    held = findings("activations", "certificate-holds")
    yield "no error of {} runs is above its", held["total"].sum()
    yield (
        "medians of {} and {} against {} and {})",
        *(
            cell("activations", "median", setting="gelu-normal", trainer=trainer, attack=attack)
            for trainer in ("SGD", "Neuro-Tron")
            for attack in ("odd-direction", "adaptive")
        ),
    )
