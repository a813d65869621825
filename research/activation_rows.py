"""Filters of networks with other activations, from rows, for docs/activations.md.

The networks are the paper's, with ReLU, softplus, SiLU or GELU. A part of the labels comes from
another filter, or is shifted to one side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import neurotron as nt
from neurotron._types import Array, Mask
from neurotron.solvers import rivals

REPLICATES = 20
INPUTS, WEIGHTS, WIDTH = 100, 25, 10
NOISE = 0.1
"""Standard deviation of the honest noise, in those of the honest labels."""
SHIFT = 2.0
"""By how many standard deviations of the honest labels an attack shifts."""
EXACT, NEAR = 1e-9, 2.0
"""A filter is recovered if its relative error is below this; with noise, if it is not so many times
that of least squares on the honest rows."""
SETTINGS = {
    "relu": ("relu", 1.0),
    **{name: (name, 1.0) for name in ("softplus", "silu", "gelu")},
    **{f"{name}-10": (name, 10.0) for name in ("softplus", "silu", "gelu")},
}
"""The activation, and the root mean square of its arguments: at 1 it is curved everywhere, and at
10 it is nearly a ReLU. For the ReLU itself, this size plays no part."""


class ActivationCase(NamedTuple):
    """How many rows there are, which labels are attacked, and the noise of the honest ones."""

    rows: int
    attack: str
    share: float
    noise: float


KINDS = (
    ("none", 0.0, 0.0),
    *((attack, share, 0.0) for attack in ("other filter", "one side") for share in (0.1, 0.3, 0.4)),
    ("none", 0.0, NOISE),
    ("other filter", 0.3, NOISE),
    ("one side", 0.3, NOISE),
)
CASES = tuple(ActivationCase(rows, *kind) for rows in (200, 400, 1_000) for kind in KINDS)


class ActivationRows(NamedTuple):
    """Inputs, labels, the filter that made the honest ones, and which ones are attacked."""

    network: nt.FilterNetwork
    X: Array
    y: Array
    weights: Array
    attacked: Mask


def rows_of(setting: str, case: ActivationCase, replicate: int) -> ActivationRows:
    """Return the rows of a case; inputs, filters and attacked rows are the same in all settings."""
    activation, size = SETTINGS[setting]
    network = nt.networks.symmetric(INPUTS, WEIGHTS, WIDTH, seed=replicate, activation=activation)
    draw = np.random.default_rng([replicate, CASES.index(case)])
    moment = network.mean_congruence(np.eye(INPUTS))
    weights, other = (
        size * each / np.sqrt(each @ moment @ each) for each in draw.standard_normal((2, WEIGHTS))
    )
    X = draw.standard_normal((case.rows, INPUTS))
    y = network(weights, X)
    spread = y.std()
    attacked: Mask = draw.permutation(case.rows) < round(case.share * case.rows)
    if case.attack == "other filter":
        y[attacked] = network(other, X[attacked])
    elif case.attack == "one side":
        y[attacked] += SHIFT * spread
    y += case.noise * spread * draw.standard_normal(case.rows)
    return ActivationRows(network, X, y, weights, attacked)


def measure(setting: str, case: ActivationCase, replicate: int) -> dict[str, Any]:
    """Return the relative error of `solve`, and with noise that of the honest rows' own fit."""
    network, X, y, weights, attacked = rows_of(setting, case, replicate)
    with warnings.catch_warnings(action="ignore"):
        solution = nt.solve(network, X, y)
    least = 0.0
    if case.noise > 0.0:
        start = rivals.Fitted(weights)
        honest = rivals.least_squares(network, X[~attacked], y[~attacked], start=start)
        least = _error(honest.weights, weights)
    error = _error(solution.weights, weights)
    return {
        **case._asdict(),
        "error": error,
        "ratio": error / least if least else None,
        "recovered": error < (NEAR * least or EXACT),
        "starts": solution.starts,
    }


def _error(found: Array, weights: Array) -> float:
    return float(np.linalg.norm(found - weights) / np.linalg.norm(weights))


def errors(
    setting: dict[str, str], replicate: int, seed: int, progress: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Return the errors of all cases on one network."""
    del seed
    rows = []
    for step, case in enumerate(CASES):
        rows.append(measure(setting["name"], case, replicate))
        progress(step + 1, len(CASES))
    return rows


STUDY = nt.Study(
    "activation-rows",
    [{"name": name} for name in SETTINGS],
    errors,
    {"rows": int, "attack": str, "share": float, "noise": float, "error": float, "ratio": float,
     "recovered": bool, "starts": int},
    replicates=REPLICATES,
)  # fmt: skip


def summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Return how many filters are recovered, and the median and the largest error."""
    short = ("median", "largest", "ratio", "starts")
    return (
        rows.group_by("setting", *ActivationCase._fields, maintain_order=True)
        .agg(
            replicates=pl.len(), recovered=pl.col("recovered").sum(),
            median=pl.col("error").median(), largest=pl.col("error").max(),
            ratio=pl.col("ratio").median(), starts=pl.col("starts").mean(),
        )
        .with_columns(
            pl.col(short).map_elements(lambda x: float(f"{x:.3g}"), return_dtype=pl.Float64)
        )
    )  # fmt: skip
