"""Tables of rows with known true weights, for tests of solvers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import neurotron as nt
from neurotron._types import Array, Mask

NETWORKS = {
    "linear": nt.networks.linear(6),
    "gate": nt.networks.relu_gate(6),
    "leaky gate": nt.networks.relu_gate(6, leak=0.3),
    "weighted gate": nt.networks.relu_gate(6, outer_weights=-2.0),
    "symmetric": nt.networks.symmetric(24, 6, 4, seed=1),
    "weighted gates": nt.networks.from_gates(
        np.random.default_rng(3).standard_normal((3, 6, 12)), outer_weights=[1.0, -2.0, 0.5]
    ),
    "convolution": nt.networks.convolution(18, 6, 6),
    "overlapping convolution": nt.networks.convolution(12, 6, 1, leak=0.1),
    "image": nt.networks.convolution2d((5, 5), (2, 3)),
}


class Table(NamedTuple):
    """Rows whose labels are tampered with at a share of the rows."""

    network: nt.FilterNetwork
    X: Array
    y: Array
    true_weights: Array
    tampered: Mask


def table(
    network: nt.FilterNetwork,
    rows: int,
    share: float = 0.3,
    *,
    bound: float = 4.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Table:
    """Return rows of normal inputs, of which a share has labels raised by the bound."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, network.n_inputs))
    weights = draw.standard_normal(network.filter_size)
    tampered = np.zeros(rows, bool)
    tampered[draw.permutation(rows)[: round(share * rows)]] = True
    y = network(weights, X) + noise * draw.standard_normal(rows) + bound * tampered
    return Table(network, X, y, weights, tampered)


def oracle(data: Table) -> Array:
    """Return least squares on the honest rows, by Gauss–Newton from the true weights."""
    weights, honest = data.true_weights, ~data.tampered
    for _ in range(100):
        rows = data.network.gradient(weights, data.X[honest])
        change = np.linalg.lstsq(rows, data.y[honest] - rows @ weights, rcond=None)[0]
        weights = weights + change
        if np.linalg.norm(change) < 1e-12:
            break
    return weights
