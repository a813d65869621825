"""Claims of the study `activations`: what holds with every activation of the networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import polars as pl

from neurotron._digits import Notation
from neurotron.lab import Interval, bootstrap, rate
from neurotron.lab.claims.catalog import of_runs
from neurotron.lab.claims.effects import Phrase, percent
from neurotron.lab.claims.model import Claim, Finding, above, at_most
from neurotron.lab.training.runs import Runs
from neurotron.lab.training.summary import certified, distinct_runs

ATTACKED = pl.col("bound") * pl.col("probability") > 0.0
BOUNDED = pl.col("root_mean_square").is_not_null()
WRITTEN = {"relu": "ReLU", "leaky-relu": "ReLU", "silu": "SiLU", "gelu": "GELU"}
"""Names of activations as readers know them."""


def shown(activation: str, leak: float) -> str:
    """Return an activation as readers know it.

    >>> shown("gelu", 0.0), shown("relu", 0.0), shown("relu", 0.3), shown("relu", 1.0)
    ('GELU', 'ReLU', 'leaky ReLU (0.3)', 'linear')
    """
    if leak == 1.0:
        return "linear"
    return f"leaky ReLU ({leak:g})" if leak else WRITTEN.get(activation, activation)


def _by_activation(results: Runs, runs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the runs of each activation, in the order of the study."""
    for (name, leak), group in runs.group_by("activation", "leak", maintain_order=True):
        yield shown(str(name), cast(float, leak)), group


def mirror_with_every(results: Runs) -> list[Finding]:
    """Count the networks on which a trainer ends in the direction of −w* with honest labels.

    It is for all laws together: SGD must end there on some networks, and Neuro-Tron on none.
    """
    findings, honest = [], distinct_runs(results).filter(~ATTACKED)
    for activation, runs in _by_activation(results, honest):
        if not {"sgd", "neuro-tron"} <= set(runs["algorithm"]):
            continue
        for algorithm, name in (("sgd", "SGD"), ("neuro-tron", "Neuro-Tron")):
            ends = runs.filter(algorithm=algorithm).unique(["setting", "replicate"])["outcome"]
            mirrored = int((ends == "mirror").sum())
            found = rate(mirrored, len(ends))
            some = above(0.0, found) if algorithm == "sgd" else not mirrored
            measure = (
                f"share of networks on which {name} ends in the direction of −w* without attack "
                f"({'above 0' if algorithm == 'sgd' else 'none'})"
            )
            findings.append(
                Finding.of(activation, measure, found, len(ends), holds=some, group=name,
                           count=mirrored, total=len(ends))
            )  # fmt: skip
    return findings


def sharp_with_every(limit: float) -> Callable[[Runs], list[Finding]]:
    """Return the check that certified errors are at most `limit` times the measured ones.

    It is for step sizes that are those of the certificate. The networks differ, so every error is
    divided by its own certified root mean square error before their mean square is taken.
    """

    def check(results: Runs) -> list[Finding]:
        scheduled = certified(results).filter(ATTACKED, BOUNDED, pl.col("step_size").is_null())
        measure = f"certified divided by measured root mean square error (at most {limit:g})"
        findings = []
        for activation, runs in _by_activation(results, scheduled):
            for (attack,), group in runs.group_by("attack", maintain_order=True):
                parts = (group["error"] / group["root_mean_square"]).to_numpy()
                square = bootstrap(parts**2, np.mean)
                ratio = Interval(*(_inverse_root(square[i]) for i in (0, 2, 1)))
                findings.append(
                    Finding.of(f"{activation}, {attack}", measure, ratio, len(parts),
                               holds=at_most(limit, ratio))
                )  # fmt: skip
        return findings

    return check


def _inverse_root(number: float) -> float:
    return 1.0 / math.sqrt(number) if number else math.inf


# ---- the claims

mirror_with_every_activation = Claim(
    "mirror-with-every-activation",
    "With every activation, SGD ends in the direction of the mirror image −w* on some networks "
    "even without attack, and Neuro-Tron on none.",
    of_runs(mirror_with_every),
    short="With every activation, only SGD goes to −w*",
    phrase=Phrase("{group} ends in the direction of −w* on {} of the networks", percent()),
    figures=("mirror-filter",),
)
sharp_with_every_activation = Claim(
    "sharp-with-every-activation",
    "With every activation, the certified root mean square error is at most 10 % above the "
    "measured one, under the worst attacks and with scheduled steps.",
    of_runs(sharp_with_every(1.1)),
    short="Certificates are within 10 %: every activation",
    phrase=Phrase("certified error {} the measured one", Notation(" ×", 3, limits=(1.0, 1.1))),
    figures=("activations",),
    section="certificates",
)
