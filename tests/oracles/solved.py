"""Random tables that are poisoned and solved, and whether what is claimed about them is true."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from tests.solvers.tables import NETWORKS

import neurotron as nt
from neurotron._types import Array

INPUTS = ("normal", "heavy", "lattice", "sparse dummies", "duplicated rows", "a constant column")
ATTACKS = ("impostor", "picked-rows", "high-leverage", "impersonation", "constant", "random-sign")


class Solved(NamedTuple):
    """What became of a table."""

    what: str
    solution: nt.Solution
    right: bool
    tampered: int
    largest: float
    """The largest output of the filter found over the largest label or honest output."""


def inputs(kind: str, rows: int, columns: int, draw: np.random.Generator) -> Array:
    """Return rows of inputs of a kind."""
    X = draw.standard_normal((rows, columns))
    if kind == "heavy":
        X = draw.standard_t(2.0, (rows, columns))
    elif kind == "lattice":
        X = draw.integers(-1, 2, (rows, columns)) * 1.0
    elif kind == "sparse dummies":
        X[:, columns // 2 :] = draw.random((rows, columns - columns // 2)) < 0.15
    elif kind == "duplicated rows":
        X = X[draw.integers(0, max(rows // 3, 1), rows)]
    elif kind == "a constant column":
        X[:, -1] = 1.0
    return X


def solved(seed: int) -> Solved | None:
    """Return a random table after poisoning and solving it; None if it has too few rows."""
    draw = np.random.default_rng(seed)
    name, kind, attack = (str(draw.choice(which)) for which in ([*NETWORKS], INPUTS, ATTACKS))
    network, share = NETWORKS[name], float(draw.uniform(0.0, 0.6))
    X = inputs(kind, int(draw.integers(8, 100)), network.n_inputs, draw)
    truth = draw.standard_normal(network.filter_size)
    honest = network(truth, X)
    problem = nt.Problem.draw(network, nt.Normal(), true_weights=truth)
    chosen = nt.attacks.build(attack, problem, bound=4.0, probability=share, seed=seed)
    assert chosen is not None
    if attack in ("impostor", "picked-rows"):
        chosen = nt.attacks.build(attack, problem, bound=np.inf, probability=share, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            y, mask = nt.poison(X, honest, chosen, seed=seed, model=(network, truth))
            solution = nt.solve(network, X, y)
        except nt.InputError:  # too few rows, or no impostor on these rows
            return None
    outputs = solution.predict(X)
    scale = np.abs(np.concatenate([y, honest])).max() or 1.0  # all labels of dead gates are 0
    right = bool(np.abs(solution.weights - truth).max() <= 1e-6 * np.abs(truth).max())
    what = f"{name}, {kind}, {attack}, {len(X)} rows, seed {seed}"
    return Solved(what, solution, right, int(mask.sum()), float(np.abs(outputs).max() / scale))
