"""How often `nt.solve` returns the filter of the majority if a minority agrees with another one.

There are three groups of cases:

- *near*: exact labels, and an attacker who writes the labels of a filter near w* into the rows
  where the two differ most. w* explains more than half of the rows exactly, the other filter less.
- *noise-free*: honest labels with noise, and labels of −w* or of another filter without noise in
  random rows. The minority agrees exactly, the majority up to its noise.
- *gate*: a single gate, exact labels, and the attacks that defeated it most often.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import neurotron as nt
from neurotron._types import Array, Index
from neurotron.solvers.rivals import Fitted, least_squares

NETWORKS = {
    "linear": nt.networks.linear(14),
    "paper": nt.networks.symmetric(100, 25, 10),
    "paper, GELU": nt.networks.symmetric(100, 25, 10, activation="gelu"),
    "convolution": nt.networks.convolution(40, 7, 7),
    "image": nt.networks.convolution2d((10, 10), (5, 5)),
    "gate": nt.networks.relu_gate(20),
}
SLOW = ("paper, GELU", "image")
"""Networks whose fits take seconds; they have fewer tables."""
NEAR, NOISE_FREE, GATE = "near", "noise-free", "gate"
DISTANCES = (0.03, 0.01, 0.001)
"""How far a near filter is from w*, in parts of its length."""
SOLVED = 1e-10
"""A filter is found exactly if its error is at most this part of ‖w*‖, as in the study `rows`."""
TAKEN = 1e-6
"""The other filter is returned if the distance to it is below this part of its length."""
RIGHT = 2.5
"""With noise, an error is right up to this many errors of least squares on the honest rows."""
FAR, TALL = 1e6, 3.0
"""A constant, and the mean of shifts with an exponential law, in standard deviations of labels."""


class MinorityCase(NamedTuple):
    """A kind of rows, and what is written into a share of their labels."""

    group: str
    network: str
    attack: str
    rows_per_weight: int
    share: float
    distance: float = 0.0
    noise: float = 0.0


def cases() -> Iterator[MinorityCase]:
    """Yield all cases."""
    for network in ("linear", "paper", "convolution"):
        for ratio in (20, 40):
            for share in (0.3, 0.4):
                for distance in DISTANCES:
                    yield MinorityCase(NEAR, network, "near filter", ratio, share, distance)
    for network, ratio, noises in (
        ("linear", 20, (0.1, 0.3)), ("paper", 20, (0.1, 0.3)), ("paper, GELU", 20, (0.1,)),
        ("image", 40, (0.1,)),
    ):  # fmt: skip
        for noise in noises:
            for share in (0.4, 0.45):
                for attack in ("opposite filter", "other filter"):
                    yield MinorityCase(NOISE_FREE, network, attack, ratio, share, noise=noise)
    for ratio in (20, 40):
        for attack in (
            "opposite filter", "shared rows", "shared rows, picked", "exponential", "sign flip",
            "constant", "leverage",
        ):  # fmt: skip
            yield MinorityCase(GATE, "gate", attack, ratio, 0.4)


# ---- the rows ------------------------------------------------------------------------------------


class MinorityRows(NamedTuple):
    """Rows after an attack, the filter of the honest ones, and that of the others if they have one.

    Labels count as tampered with if they differ from the honest ones.
    """

    X: Array
    y: Array
    true: Array
    other: Array | None
    tampered: Index


def rows_of(case: MinorityCase, replicate: int) -> MinorityRows:
    """Return the rows of a case."""
    draw = np.random.default_rng([replicate, *map(ord, "".join(map(str, case)))])
    network = NETWORKS[case.network]
    true = draw.standard_normal(network.filter_size)
    X = draw.standard_normal((case.rows_per_weight * network.filter_size, network.n_inputs))
    exact = network(true, X)
    y = exact + case.noise * exact.std() * draw.standard_normal(len(X))
    count = int(case.share * len(X) + 1e-9)
    other = _other_filter(case, X, true, draw)
    rows = _attacked_rows(case, X, exact, other, draw)[:count]
    changed = y.copy()
    changed[rows] = network(other, X[rows]) if other is not None else _labels(case, y, rows, draw)
    return MinorityRows(X, changed, true, other, rows[changed[rows] != y[rows]])


def _other_filter(
    case: MinorityCase, X: Array, true: Array, draw: np.random.Generator
) -> Array | None:
    """Return the filter whose labels are written, if there is one."""
    length = float(np.linalg.norm(true))
    direction = draw.standard_normal(len(true))
    if case.attack == "opposite filter":
        return -true
    if case.attack in ("other filter", "leverage"):
        return direction
    if case.attack == "near filter":
        return true + case.distance * length * direction / np.linalg.norm(direction)
    if case.attack.startswith("shared rows"):
        # orthogonal to r − 1 rows of the open gate: there both filters have equal labels
        shared = draw.choice(np.flatnonzero(X @ true > 0.0), len(true) - 1, replace=False)
        return true + length * np.linalg.svd(X[shared])[2][-1]
    return None


def _attacked_rows(
    case: MinorityCase, X: Array, exact: Array, other: Array | None, draw: np.random.Generator
) -> Index:
    """Return all rows, those first that are attacked first."""
    if case.attack in ("near filter", "shared rows, picked"):
        assert other is not None
        return np.argsort(-np.abs(NETWORKS[case.network](other, X) - exact), kind="stable")
    if case.attack == "leverage":
        return np.argsort(-np.linalg.norm(np.linalg.qr(X)[0], axis=1), kind="stable")
    return draw.permutation(len(X))


def _labels(case: MinorityCase, y: Array, rows: Index, draw: np.random.Generator) -> Array:
    """Return the labels of attacks that are no other filter."""
    if case.attack == "sign flip":
        return -y[rows]
    if case.attack == "constant":
        return y[rows] + FAR * y.std()
    return y[rows] + TALL * y.std() * draw.exponential(size=len(rows))


# ---- the fits ------------------------------------------------------------------------------------

RECOVERED, OTHER, CONVERGED = "recovered", "other filter returned", "other filter, converged"
MOST_REJECTED = "more than half rejected, converged"


def measure(setting: dict[str, Any], replicate: int, seed: int) -> dict[str, Any]:
    """Return what `nt.solve` makes of one table of a case."""
    del seed
    case = MinorityCase(*(setting[name] for name in MinorityCase._fields))
    rows, network = rows_of(case, replicate), NETWORKS[case.network]
    with warnings.catch_warnings(action="ignore"):
        found = nt.solve(network, rows.X, rows.y)
    length = float(np.linalg.norm(rows.true))
    error = float(np.linalg.norm(found.weights - rows.true)) / length
    limit = SOLVED
    if case.noise:
        honest = np.delete(np.arange(len(rows.y)), rows.tampered)
        fitted = least_squares(network, rows.X[honest], rows.y[honest], start=Fitted(rows.true))
        limit = RIGHT * float(np.linalg.norm(fitted.weights - rows.true)) / length
    taken = rows.other is not None and bool(
        np.linalg.norm(found.weights - rows.other) <= TAKEN * np.linalg.norm(rows.other)
    )
    return {
        "error": error,
        RECOVERED: error <= limit,
        OTHER: taken,
        CONVERGED: taken and bool(found.converged),
        MOST_REJECTED: bool(found.converged) and bool(found.rejected.mean() > 0.5),
    }


STUDY = nt.Study(
    "minorities",
    [
        {"name": f"case-{i}", **case._asdict(), "replicates": 5 if case.network in SLOW else 10}
        for i, case in enumerate(cases())
    ],
    measure,
    {"error": float, RECOVERED: bool, OTHER: bool, CONVERGED: bool, MOST_REJECTED: bool},
    replicates=10,
)


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """Return in how many tables of each case the filter is recovered, or the other one returned."""
    kinds = pl.DataFrame(STUDY.settings).select(
        pl.col("name").alias("setting"), *MinorityCase._fields
    )
    counts = [pl.col(name).sum() for name in (RECOVERED, OTHER, CONVERGED, MOST_REJECTED)]
    largest = pl.col("error").max().map_elements(lambda x: float(f"{x:.3g}"), pl.Float64)
    found = table.group_by("setting").agg(pl.len().alias("tables"), *counts, largest=largest)
    return kinds.join(found, on="setting", maintain_order="left").drop("setting")
