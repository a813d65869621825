"""The numbers that README and docs state are those of the stored results in docs/evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from evidence import store
from evidence.defence import CONSTANT, MET, UNLIMITED, VARYING
from scipy.stats import binomtest

ROOT = Path(__file__).parent.parent
README, DEFENCE, PROOFS, ERRATA, PAGES = (
    "README.md", "docs/defence.md", "docs/theory.md", "docs/errata.md", "docs/paper.md",
)  # fmt: skip
NUMBER = r"([−-]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)"
LAWS = ("N(0, 1)", "t(4)", "N(0, 9)", "Laplace(2)")
stored = cache(store.stored)


class Headline(NamedTuple):
    """A sentence or a row of a table, with {} for every number, and what the numbers must be."""

    document: str
    words: str
    numbers: Sequence[float]


# ---- the defence ---------------------------------------------------------------------------------


@cache
def runs(trainer: str) -> list[tuple[str, float, float]]:
    """Return attack, β and final error of every stored run of a trainer."""
    return [
        (met.attack, met.beta, row[met.key])
        for row in stored("defence").values()
        for met in MET
        if met.trainer == trainer
    ]


def share(trainer: str, attacks: Sequence[str], below: float, *betas: float) -> float:
    """Return the percentage of runs that ended below an error."""
    errors = [error for attack, beta, error in runs(trainer) if attack in attacks and beta in betas]
    return 100.0 * float(np.mean(np.array(errors) < below))


def large_norm_by_law() -> list[float]:
    """Return the percentage of exact runs of the defence under large-norm, β ≤ 0.4, by law."""
    found: dict[str, list[bool]] = {}
    for case, row in stored("defence").items():
        law = case.rpartition(" ")[0]
        for met in MET:
            if met[:2] == ("RefinedTron", "large-norm") and met.beta <= 0.4:
                found.setdefault(law, []).append(row[met.key] < 1e-12)
    return [100.0 * float(np.mean(found[law])) for law in LAWS]


def worst(attacks: Sequence[str], *betas: float) -> float:
    """Return the largest final error of the defence."""
    return max(e for attack, beta, e in runs("RefinedTron") if attack in attacks and beta in betas)


def by_attack(trainer: str) -> list[float]:
    """Return a trainer's row: constant β, burst, half-space, large norm, these, not additive."""
    low = (0.2, 0.4)
    return [
        share(trainer, CONSTANT, 1e-12, *low),
        share(trainer, CONSTANT, 1e-6, 0.45),
        *(
            share(trainer, (attack,), 1e-12, *low)
            for attack in ("burst", "half-space", "large-norm")
        ),
        share(trainer, VARYING, 1e-6, 0.45),
        share(trainer, UNLIMITED, 1e-12, *low),
    ]


def of_network(name: str) -> list[float]:
    """Return a network's row: others at both β, adaptive at both β, for every batch size."""
    return [
        100.0 * stored("defence_networks")[f"{name}, b = {batch}"][f"{group}: below 1e-12"]
        for batch in (4, 16, 64)
        for group in (
            "others, β = 0.2",
            "others, β = 0.4",
            "adaptive, β = 0.2",
            "adaptive, β = 0.4",
        )
    ]


def interval(rows: Sequence[store.Row]) -> list[float]:
    """Return the percentage of runs below 1e-6, and its 95 % interval (Wilson's)."""
    counts = [(round(row["runs"] * row["below 1e-6"]), row["runs"]) for row in rows]
    found = binomtest(*map(sum, zip(*counts, strict=True)))
    low, high = found.proportion_ci(method="wilson")
    return [100.0 * found.statistic, 100.0 * low, 100.0 * high]


def defence_tables() -> Iterator[Headline]:
    """Yield every row of the tables in docs/defence.md."""
    for name in dict.fromkeys(met.trainer for met in MET):
        yield Headline(DEFENCE, f"| {name} |" + " {} % |" * 7, by_attack(name))
    for name in dict.fromkeys(row["network"] for row in stored("defence_networks").values()):
        yield Headline(DEFENCE, f"| {name} |" + " {}, {} / {}, {} |" * 3, of_network(name))
    for row in stored("defence_correlated").values():
        numbers = [
            100.0 * row["below 1e-12"], 100.0 * row["below 1e-6"], row["median"], row["worst"],
            100.0 * row["TrimmedSGD: below 1e-6"],
        ]  # fmt: skip
        words = f"| {row['ρ']} | {row['attack']} | {row['β']} |" + " {} % | {} % | {} | {} | {} % |"
        yield Headline(DEFENCE, words, numbers)
    for row in stored("defence_half_space").values():
        numbers = [*interval([row]), row["above 1e-3"], row["worst"]]
        yield Headline(DEFENCE, f"| {row['law']} | {{}} % ({{}} … {{}}) | {{}} | {{}} |", numbers)
    for row in stored("defence_noise").values():
        noise, attack, _, *numbers = row.values()
        yield Headline(DEFENCE, f"| {noise} | {attack} | {{}} |" + " {} × |" * 3, numbers)
    for case, row in stored("defence_limits").items():
        numbers = [value for name, value in row.items() if name != "nets"]
        yield Headline(DEFENCE, f"| {case} | {{}} ({{}} … {{}}) | {{}} |", numbers)
    for name, row in stored("defence_constants").items():
        _, _, exact, steps, close, _ = row.values()
        shown = name.replace("as it comes", "the defaults")
        numbers = [100.0 * exact, steps, 100.0 * close]
        yield Headline(DEFENCE, f"| {shown} | {{}} % | {{}} | {{}} % |", numbers)


def frontier_words() -> Iterator[Headline]:
    """Yield what is said of the frontier study beside the defence's own."""
    (row,) = stored("frontier_claims").values()
    shares = [
        100.0 * one["estimate"] for one in row["comparisons"] if one["claim"] == "exact-below-half"
    ]
    yield Headline(README, "at least {} % in every setting of another", [min(shares)])
    yield Headline(
        DEFENCE, "it is {} % in {} of {} settings and {} % in one",
        [max(shares), shares.count(100.0), len(shares), min(shares)],
    )  # fmt: skip


def defence_words() -> Iterator[Headline]:
    """Yield what README and docs/defence.md say of the defence in words."""
    exact = share("RefinedTron", CONSTANT, 1e-12, 0.2, 0.4)
    large, trimmed = (
        share(name, ("large-norm",), 1e-12, 0.2, 0.4) for name in ("RefinedTron", "TrimmedSGD")
    )
    correlated = stored("defence_correlated")["adaptive, β = 0.4, ρ = 0.9"]
    yield Headline(README, "to machine precision in {} % of the runs", [exact])
    yield Headline(README, "largest inputs ({} % of the runs;", [large])
    yield Headline(README, "`nt.TrimmedSGD()` does better there, {} %)", [trimmed])
    yield Headline(README, "adaptive attack ({} % at β = 0.4)", [100.0 * correlated["below 1e-12"]])
    yield Headline(DEFENCE, "on the paper's networks {} % of the runs", [exact])
    yield Headline(
        DEFENCE, "{} % for N(0, 1), {} % for t(4), {} % for N(0, 9) and {} % for Laplace(2). No",
        large_norm_by_law(),
    )  # fmt: skip
    yield Headline(
        DEFENCE,
        "{} % of the runs at β ≤ 0.4 end below 1e-12, and {} % at β = 0.45.",
        [large, share("RefinedTron", ("large-norm",), 1e-12, 0.45)],
    )
    yield Headline(DEFENCE, "`TrimmedSGD` does better there: {} %.", [trimmed])
    yield Headline(
        DEFENCE,
        "at β = 0.4: {} % end below 1e-12 and {} % below 1e-6",
        [100.0 * correlated[name] for name in ("below 1e-12", "below 1e-6")],
    )
    yield Headline(
        DEFENCE,
        "under the adaptive attack {} % of the runs end below 1e-12 and {} % below 1e-6",
        [share("RefinedTron", ("adaptive",), below, 0.45) for below in (1e-12, 1e-6)],
    )
    yield Headline(
        DEFENCE,
        "after 40 000 steps is {} % of ‖w*‖ under the constant attack and {} % under",
        [100.0 * stored("defence_limits")[f"{attack}, β = 0.48"]["RefinedTron: median error / ‖w*‖"]
         for attack in ("constant", "adaptive")],
    )  # fmt: skip
    yield Headline(
        DEFENCE, "ended above {} (β ≤ 0.4) or {} (β = 0.45)",
        [worst(CONSTANT, 0.2, 0.4), worst(CONSTANT, 0.45)],
    )  # fmt: skip
    yield Headline(
        DEFENCE, "at β = 0.4 it is {} % below 1e-12 and {} % below 1e-6",
        [share("RefinedTron", ("large-norm",), below, 0.4) for below in (1e-12, 1e-6)],
    )  # fmt: skip
    square, leaky, overlapping = (
        of_network(name)[4:8]
        for name in (
            "r = n = 40", "single leaky gate, n = 100", "convolution, n = 60, r = 8, stride 1",
        )
    )  # fmt: skip
    yield Headline(
        DEFENCE,
        "{} % with as many weights as inputs (r = n = 40), at most {} % with a single leaky gate, "
        "and {} % for a convolution of stride 1 under the adaptive attack at β = 0.4",
        [max(square), max(leaky), overlapping[-1]],
    )
    rows = list(stored("defence_half_space").values())
    yield Headline(
        DEFENCE, "{} % of the runs end below 1e-6 (95 % interval {} … {} %)", interval(rows)
    )
    yield Headline(DEFENCE, "one half-space {} % end below 1e-6", interval(rows)[:1])
    yield Headline(
        DEFENCE,
        "{} of their 200 runs end above 1e-3, and {} of the 200 runs of N(0, 9) and Laplace(2)",
        [sum(row["above 1e-3"] for row in part) for part in (rows[:2], rows[2:])],
    )
    stuck = [e for attack, beta, e in runs("RefinedTron") if (attack, beta) == ("large-norm", 0.45)]
    yield Headline(DEFENCE, "at β = 0.45 its median error is {}.", [float(np.median(stuck))])
    lost = [
        100.0 * (1.0 - row["TrimmedSGD: below 1e-6"])
        for row in stored("defence_correlated").values()
        if row["ρ"] == 0.9
    ]
    yield Headline(DEFENCE, "whatever the attack (in {} to {} % with", [min(lost), max(lost)])


# ---- the certificate -----------------------------------------------------------------------------


def certificate_words() -> Iterator[Headline]:
    """Yield how sharp the certificate is said to be."""
    nets, laws = stored("sharpness").values(), stored("sharpness_laws")
    ways = ("1e-3", "scheduled")
    normal = [row[f"{way}: ratio"] for row in nets for way in ways]
    normal += [laws["N(0, 9)"][f"{way}: most"] for way in ways]
    others = [
        row[f"{way}: most"] for name, row in laws.items() for way in ways if name != "N(0, 9)"
    ]
    above = 100.0 * (max(normal) - 1.0)
    yield Headline(README, "within {} % of the measured error for normal inputs", [above])
    yield Headline(README, "up to {} % too large for the other laws", [100.0 * (max(others) - 1.0)])
    yield Headline(README, "is {} times the RMS bound", [math.sqrt(20.0)])
    yield Headline(PROOFS, "error is at most {} % above the measured one", [above])
    yield Headline(PROOFS, "confidence is $\\sqrt{20} = {}$ times that", [math.sqrt(20.0)])
    for beta in (0.5, 0.2):
        rows = [row for row in nets if row["β"] == beta]
        names = [
            name for way in ways for name in (f"{way}: certified", f"{way}: measured", "limit")
        ]
        means = [float(np.mean([row[name] for row in rows])) for name in names]
        yield Headline(PROOFS, f"| {beta}, 1 | {{}} / {{}} / {{}} | {{}} / {{}} / {{}} |", means)
    for name, row in laws.items():
        shown = name.replace("inverse-norm", "inverse-norm weights")
        _, _, _, *numbers = row.values()
        yield Headline(PROOFS, f"| {shown} |" + " {} ({} … {}) |" * 2, numbers)
    steps = stored("comparison")["weak attack"]["data"]["steps to accuracy 1"]
    yield Headline(PROOFS, "it plans {} million steps", [steps["Theorem 1"] / 1e6])
    yield Headline(PROOFS, "the sharp certificate plans {}.", [steps["sharp"]])


# ---- errata and theory ---------------------------------------------------------------------------


def sampled(case: str, *names: str) -> list[float]:
    """Return some of the numbers that evidence/errata.py computes for a case."""
    return [stored("errata")[case][name] for name in names or ("value",)]


def errata_words() -> Iterator[Headline]:
    """Yield the sampled numbers of docs/errata.md and docs/theory.md."""
    error = "standard error"
    yield Headline(
        ERRATA, r"= {} \pm {}$). The error grows", sampled("errata 1: E‖d₂‖²", "value", error)
    )
    yield Headline(ERRATA, "recursion tends to {} and", sampled("errata 2: limit at γ = 4.80"))
    (rate,) = sampled("theory (f): rate, Theorem 1, mean M")
    yield Headline(ERRATA, r"$1 - \kappa$ is ${}\cdot 10^{-8}$ for", [rate * 1e8])
    yield Headline(ERRATA, r"$1/\log(1/\kappa) = {}\cdot 10^7$ steps", [1e-7 / rate])
    narrow, wide = (
        f"errata 5: c_trade, {law}, mean M" for law in ("N(0, 1), n = 100", "N(0, 9), n = 50")
    )
    yield Headline(ERRATA, "it is ${}$ for N(0,1), $n = 100$,", sampled(narrow))
    yield Headline(ERRATA, "and ${}$ for N(0,9), $n = 50$.", sampled(wide))
    errors, deviations = (
        [*sampled(narrow, name), *sampled(wide, name)] for name in (error, "standard deviation")
    )
    yield Headline(ERRATA, "with standard errors of {} and {};", errors)
    yield Headline(ERRATA, "have a standard deviation of {} and {} and", deviations)
    yield Headline(
        ERRATA, "lie between ${}$ and ${}$, and between ${}$ and ${}$",
        [*sampled(narrow, "least", "most"), *sampled(wide, "least", "most")],
    )  # fmt: skip
    (apart,) = sampled("errata 9: distance of the two runs")
    yield Headline(ERRATA, r"(equal to ${}\cdot 10^{-15}$ of their size", [apart * 1e15])
    batch = sampled("theory (e): E‖g‖² of a batch attacker", "value", error)
    yield Headline(PROOFS, r"(200 000 simulated batches: ${} \pm {}$)", batch)
    noisy = sampled("theory (e): E g² of one who sees the noise", "value", error)
    yield Headline(PROOFS, r"has $E g^2 = {}$ (400 000 simulated batches, ± {})", noisy)
    polar = sampled("theory (f): c_trade, N(0, 1), n = 100, polar M", "value", "least")
    yield Headline(PROOFS, "is {} in the mean even with the best $M$, and ${}$ at worst", polar)
    for shown in (r"mean ($M = \bar A$)", "polar", "optimal"):
        rates = [
            sampled(f"theory (f): rate, {certificate}, {shown.split()[0]} M")[0]
            for certificate in ("Theorem 1", "sharp, not split", "sharp")
        ]
        yield Headline(PROOFS, f"| {shown} | {{}} | {{}} | {{}} |", rates)


# ---- the paper's study ---------------------------------------------------------------------------

# ---- the paper's study, and who recovers the filter ----------------------------------------------


def estimates(study: str, claim: str, case: str) -> list[float]:
    """Return the least and the largest estimate of a claim's comparisons that a case is part of."""
    (row,) = stored(study).values()
    found = [
        float(one["estimate"])
        for one in row["comparisons"]
        if one["claim"] == claim and case in one["case"]
    ]
    return [min(found), max(found)]


def ended(trainer: str, outcome: str) -> list[int]:
    """Return on how many networks of each law a trainer had an outcome."""
    (row,) = stored("mirror_claims").values()
    return [one[outcome] for one in row["outcomes"] if one["trainer"] == trainer]


def paper_words() -> Iterator[Headline]:
    """Yield what README, docs/paper.md and errata say of the paper's study."""
    both, published = "against SGD, where both recover", "against first-sample SGD, in all runs"
    smaller, faster = (
        [estimates("claims", f"{what}-than-sgd", case) for case in (published, both)]
        for what in ("smaller-error", "faster")
    )
    slopes = estimates("claims", "grows-with-probability", "")
    yield Headline(PAGES, "to √β (slope {} … {})", slopes)
    yield Headline(
        PAGES, "ends with {} … {} of its error and needs {} … {} of its steps",
        [*smaller[0], *faster[0]],
    )  # fmt: skip
    yield Headline(
        PAGES, "the other way round: {} … {} times the error, {} … {} times the steps",
        [*smaller[1], *faster[1]],
    )  # fmt: skip
    yield Headline(
        README, "ends with {} to {} times its error and takes {} to {} times as many steps",
        [*smaller[1], *faster[1]],
    )  # fmt: skip
    yield Headline(
        PAGES, "the error with t(4) is {} … {} times that with other laws",
        estimates("claims", "heavy-tails-alike", ""),
    )  # fmt: skip
    yield Headline(
        PAGES,
        "on honest labels are {} … {} by law",
        estimates("claims", "recovers-without-attack", ""),
    )
    weights = max(estimates("claims", "outer-weights-help", "θ = 1, published step sizes"))
    yield Headline(PAGES, "so, q = 10 has {} of the error", [weights])
    yield Headline(ERRATA, "ends at {} of the error of $q = 1$", [weights])


def mirror_words() -> Iterator[Headline]:
    """Yield what is said of where Neuro-Tron and SGD end, on 100 networks of each law."""
    ours, theirs = (ended(trainer, "recovered") for trainer in ("Neuro-Tron", "SGD"))
    networks, lost = 400, 400 - sum(theirs)
    mirrored = sum(ended("SGD", "mirror"))
    share = binomtest(lost, networks).proportion_ci()
    found = binomtest(sum(theirs), networks).proportion_ci()
    yield Headline(
        README, "that happened to SGD on {} of {} (95 % interval {} to {} %)",
        [mirrored, networks, 100.0 * share.low, 100.0 * share.high],
    )  # fmt: skip
    yield Headline(
        README, "than true SGD: on {} against {} of {}", [sum(ours), sum(theirs), networks]
    )
    yield Headline(
        PAGES, "recovers the filter on all {} networks, SGD on {} of 100 for N(0, 1), {} for t(4), "
        "{} for N(0, 9) and {} for Laplace(2)", [sum(ours), *theirs],
    )  # fmt: skip
    yield Headline(PAGES, "ends near −w*, on {} of {} networks", [mirrored, lost])
    yield Headline(
        ERRATA, "finds it on {} of {} networks only (95 % interval {} to {} %)",
        [sum(theirs), networks, 100.0 * found.low, 100.0 * found.high],
    )  # fmt: skip


HEADLINES = [
    *defence_tables(), *defence_words(), *frontier_words(), *certificate_words(), *errata_words(),
    *paper_words(), *mirror_words(),
]  # fmt: skip


def stated(document: str, words: str) -> list[str]:
    """Return the numbers of a document at these words, which must be there once."""
    text = " ".join((ROOT / document).read_text().split())
    found = re.findall(re.escape(words).replace(r"\{\}", NUMBER), text)
    assert len(found) == 1, f"{document} says this {len(found)} times and not once: {words}"
    return [found[0]] if isinstance(found[0], str) else list(found[0])


def rounds_to(number: float, printed: str) -> bool:
    """Return whether a number has the digits that are printed."""
    plain = printed.replace(",", "").replace("−", "-")
    mantissa, _, exponent = plain.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(plain) - number) <= 0.5 * unit * (1.0 + 1e-9)


@pytest.mark.parametrize("headline", HEADLINES, ids=lambda h: f"{h.document}: {h.words[:40]}")
def test_stated_numbers_are_the_stored_ones(headline):
    printed = stated(headline.document, headline.words)
    for text, number in zip(printed, headline.numbers, strict=True):
        assert rounds_to(number, text), f"{headline.words}: says {text}, stored is {number:.6g}"


@pytest.mark.parametrize(
    ("number", "printed", "right"),
    [(0.608, "0.61", True), (0.608, "0.60", False), (1.74e-14, "1.7e-14", True),
     (1.76e-14, "1.7e-14", False), (-0.6026, "−0.603", True), (7079.0, "7,079", True)],
)  # fmt: skip
def test_a_number_is_right_if_all_printed_digits_are(number, printed, right):
    assert rounds_to(number, printed) is right


def test_makefile_and_readme_say_the_same_about_how_long_it_takes():
    told = re.findall(r'echo "make (\w+) .*\(([^)]*)\)', (ROOT / "Makefile").read_text())
    readme = dict(re.findall(r"^make (\w+) +# .*: (.*)$", (ROOT / "README.md").read_text(), re.M))
    assert {"paper", "test"} <= readme.keys()
    assert readme.items() <= dict(told).items()
