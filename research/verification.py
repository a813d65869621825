"""How small verified radii are.

Trainers learn the paper's network under attack. What they found is verified on fresh rows, of which
the same share has labels that are off by 10: an attack that everybody sees, which leaves the fewest
rows to explain. Verified radii stand beside the errors, and beside what was certified before
training.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from research.pages import markdown

import neurotron as nt
from neurotron._types import Array

BOUND, STEPS, BATCH_SIZE = 1.0, 40_000, 16
SEEDS = range(5)
"""Each has its own network, true filter, run and fresh rows."""
SHARES = (0.05, 0.1, 0.2, 0.24, 0.3, 0.4, 0.45)
NOISES = (0.0, 0.01)
ATTACKERS = ("coin", "any")
FAR = 10.0
"""By how much attacked labels are off on fresh rows."""
TRAINERS: dict[str, nt.Trainer] = {
    "Refined-Tron": nt.RefinedTron(),
    "Neuro-Tron": nt.NeuroTron(),
    "Neuro-Tron, scheduled": nt.NeuroTron("scheduled"),
}
SIZES = {1_000: (0.999, 0.95), 10_000: (0.999, 0.95), 100_000: (0.999,)}
"""Numbers of fresh rows, with the confidences. The largest is for exact labels."""


@cache
def problem_of(seed: int, noise: float = 0.0) -> nt.Problem:
    """Return the paper's setting with its own network and true filter."""
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=seed)
    return nt.Problem.draw(network, nt.Normal(), noise=noise, seed=seed)


def fresh_rows(
    problem: nt.Problem, attacker: str, probability: float, rows: int, key: tuple[int, ...]
) -> tuple[Array, Array]:
    """Return inputs and labels, some of which are off: by coins, or where outputs are largest."""
    draw = np.random.default_rng(key)
    assert problem.true_weights is not None
    X = draw.standard_normal((rows, problem.network.n_inputs))
    y = problem.network(problem.true_weights, X) + problem.noise * draw.standard_normal(rows)
    attacked = draw.random(rows) < probability
    if attacker == "any":
        attacked = np.argsort(np.argsort(-np.abs(y))) < math.floor(probability * rows)
    return X, y + FAR * attacked * draw.choice([-1.0, 1.0], rows)


# ---- how small radii are -------------------------------------------------------------------------


class VerificationCase(NamedTuple):
    """What is trained, and with which labels."""

    trainer: str
    noise: float
    probability: float

    @property
    def arm(self) -> nt.Arm:
        """The trainer under attack."""
        return nt.Arm(TRAINERS[self.trainer], nt.attacks.Adaptive(BOUND, self.probability))

    @property
    def given(self) -> tuple[str | float, ...]:
        """What the verifier is told about the noise."""
        if self.noise == 0.0:
            return (0.0,)
        return ("independent", self.noise) if self.trainer == "Refined-Tron" else ("independent",)


CASES = tuple(VerificationCase(*one) for one in product(TRAINERS, NOISES, SHARES))


def radii_of(cases: tuple[VerificationCase, ...], seed: int) -> Iterator[dict[str, Any]]:
    """Yield what is verified of every trained filter, its error, and what was certified."""
    for noise in NOISES:
        problem = problem_of(seed, noise)
        chosen = [case for case in cases if case.noise == noise]
        if chosen:
            run = nt.simulate(
                problem, [case.arm for case in chosen], steps=STEPS, batch_size=BATCH_SIZE,
                record=STEPS, seed=seed,
            )  # fmt: skip
            for case, weights in zip(chosen, run.weights, strict=True):
                yield from _verified(case, problem, weights, seed)


def _verified(
    case: VerificationCase, problem: nt.Problem, weights: Array, seed: int
) -> Iterator[dict[str, Any]]:
    assert problem.true_weights is not None
    error = float(np.linalg.norm(weights - problem.true_weights))
    certified = {one: _certified(case, problem, one) for one in SIZES[min(SIZES)]}
    for rows, confidences in SIZES.items():
        if rows == max(SIZES) and (case.noise > 0.0 or case.trainer != "Refined-Tron"):
            continue
        for attacker in ATTACKERS:
            key = (seed, rows, round(1000 * case.probability), ATTACKERS.index(attacker))
            X, y = fresh_rows(problem, attacker, case.probability, rows, key)
            for confidence, given in product(confidences, case.given):
                found = nt.verify(
                    problem, weights, X, y, probability=case.probability, attacker=attacker,
                    confidence=confidence, noise=given,
                )  # fmt: skip
                yield {
                    **case._asdict(), "given": str(given), "rows": rows, "attacker": attacker,
                    "confidence": confidence, "error": error, "radius": found.radius,
                    "at_least": found.at_least, "theorem": found.theorem,
                    "certified": certified[confidence],
                }  # fmt: skip


def _certified(case: VerificationCase, problem: nt.Problem, confidence: float) -> float:
    """Return the radius that is certified before training; inf if no theorem covers the trainer."""
    if case.trainer == "Refined-Tron":
        return math.inf
    arm = case.arm
    found = nt.certify(problem, arm, steps=STEPS, batch_size=BATCH_SIZE, confidence=confidence)
    return found.radius


def radii(setting: dict[str, Any], replicate: int, seed: int) -> list[dict[str, Any]]:
    """Return what is verified of all trained filters on one network."""
    del setting, seed
    return [*radii_of(CASES, replicate)]


STUDY = nt.Study(
    "verification",
    [{"name": "paper"}],
    radii,
    {"trainer": str, "noise": float, "probability": float, "given": str, "rows": int,
     "attacker": str, "confidence": float, "error": float, "radius": float, "at_least": float,
     "theorem": str, "certified": float},
    replicates=len(SEEDS),
)  # fmt: skip
KEY = (*VerificationCase._fields, "given", "rows", "attacker", "confidence")


def summary(found: pl.DataFrame) -> pl.DataFrame:
    """Return medians and ranges over the networks."""
    radius, error = pl.col("radius"), pl.col("error")
    numbers = (
        "error", "largest_error", "radius", "least_radius", "largest_radius", "at_least",
        "certified",
    )  # fmt: skip
    return (
        found.group_by(KEY, maintain_order=True)
        .agg(
            networks=pl.len(), verified=radius.is_finite().sum(),
            unsafe=(radius < error).sum() + (pl.col("at_least") > error).sum(),
            cells=(pl.col("theorem") == "cells").sum(), largest_error=error.max(),
            least_radius=radius.min(), largest_radius=radius.max(), radius=radius.median(),
            at_least=pl.col("at_least").median(), certified=pl.col("certified").median(),
            error=error.median(),
        )
        .with_columns(pl.col(numbers).round_sig_figs(3))
        .select(*KEY, "networks", "verified", "unsafe", "cells", *numbers)
    )  # fmt: skip


# ---- the page ------------------------------------------------------------------------------------


def page(found: pl.DataFrame) -> str:
    """Return the Markdown page of the radii."""
    lines = [
        "# Verified radii, errors and certificates",
        f"The paper's network (100 inputs, filter 25, 10 gates, normal inputs) is learned in "
        f"{STEPS:,} steps of {BATCH_SIZE} samples, where the adaptive attack changes labels by at "
        f"most θ = {BOUND:g} with probability β. The filter is then verified on fresh rows. There "
        f"attacked labels are off by {FAR:g}: by coins of chance β (*coin*), or on the share β of "
        "the rows with the largest outputs (*any*). Numbers are medians over "
        f"{len(SEEDS)} networks with their own runs, and ranges in parentheses; ∞ means that "
        "nothing is verified. The *certified* radius is what `nt.certify` says before training, at "
        "the same confidence. It is for this trainer and attacks of at most θ, while the verified "
        "radius is for any filter and any change of labels. Noise is told as *independent* of "
        "unknown size, or as normal of at least the number given. False were "
        f"{_false(found.filter(confidence=0.999))} with 99.9 % confidence, and "
        f"{_false(found.filter(confidence=0.95))} with 95 %.",
        *(
            f"## {trainer}, {f'noise {noise:g}' if noise else 'exact labels'}\n\n"
            + _radii_table(found.filter(trainer=trainer, noise=noise))
            for trainer, noise in product(TRAINERS, NOISES)
        ),
        "## Verified over certified radii\n\nMedians with 10,000 rows and exact labels. Below 1 "
        "the verified radius is the smaller one.",
        _ratio_table(found.filter(rows=10_000, noise=0.0)),
        "All numbers are in [verification.csv](verification.csv), and how many rows are needed in "
        "[verification-rows.md](verification-rows.md).",
    ]
    return "\n\n".join(lines)


def _false(part: pl.DataFrame) -> str:
    return f"{part['unsafe'].sum()} of {part['networks'].sum():,} verifications"


def _radii_table(part: pl.DataFrame) -> str:
    certified = math.isfinite(part["certified"].min())  # type: ignore[arg-type]
    columns = list(product(ATTACKERS, part["rows"].unique(maintain_order=True)))
    head = ["β", "noise told", "confidence", "error"]
    head += [f"{attacker}, {rows:,} rows" for attacker, rows in columns]
    lines = [[*head, "at least", *(["certified"] * certified)]]
    groups = part.group_by("probability", "given", "confidence", maintain_order=True)
    for _, group in groups:
        cells = {(row["attacker"], row["rows"]): row for row in group.iter_rows(named=True)}
        one = cells["coin", 10_000]
        lines.append(
            [
                f"{one['probability']:g}", "none" if one["given"] == "0.0" else one["given"],
                f"{one['confidence']:g}", _number(one["error"]),
                *(_radius(cells.get(column)) for column in columns),
                _number(one["at_least"]), *([_number(one["certified"])] * certified),
            ]
        )  # fmt: skip
    return markdown(lines)


def _ratio_table(radii: pl.DataFrame) -> str:
    lines = [["trainer", "attacker", "confidence", *(f"β = {share:g}" for share in SHARES)]]
    known = radii.filter(pl.col("certified").is_finite())
    for _, group in known.group_by("trainer", "attacker", "confidence", maintain_order=True):
        one = group.row(0, named=True)
        ratios = map(_number, group["radius"] / group["certified"])
        lines.append([one["trainer"], one["attacker"], f"{one['confidence']:g}", *ratios])
    return markdown(lines)


def _radius(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    least, most = (_number(row[name]) for name in ("least_radius", "largest_radius"))
    if least == most:
        return least
    return f"{_number(row['radius'])} ({least} … {most})"


def _number(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "∞"
