"""Wrong filters that agree with the true one on as many honest rows as they can find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import neurotron as nt
from neurotron._types import Array


@dataclass(frozen=True)
class Case:
    """A poisoned table, and a wrong filter that explains much of it."""

    kind: str
    network: nt.FilterNetwork
    inputs: Array
    filter: Array
    explained: np.ndarray
    tampered: int
    intercept: bool


def old_rule(case: Case) -> bool:
    """The prototype's rule for "exact": more than half of the rows, and more than 2r, fit."""
    fits = case.explained.sum()
    return bool(fits > len(case.inputs) / 2 and fits > 2 * case.network.filter_size)


def cases(seed: int, number: int) -> Iterator[Case]:
    """Yield poisoned tables of all kinds of networks and inputs, each with its best impostor."""
    for index in range(number):
        draw = np.random.default_rng([seed, index])
        yield _case(draw, index)


def _case(draw: np.random.Generator, index: int) -> Case:
    names = list(NETWORKS)
    kind = names[index % len(names)]
    network = NETWORKS[kind](draw)
    law = LAWS[int(draw.integers(len(LAWS)))]
    p = network.filter_size
    inputs = law(draw, int(draw.integers(p + 2, 12 * p + 40)), network.n_inputs)
    intercept = network.leak == 1.0 and bool(draw.random() < 0.3)
    seen = np.hstack([inputs, np.ones((len(inputs), 1))]) if intercept else inputs
    solved = nt.networks.with_intercept(network) if intercept else network
    true = _filter(draw, solved.filter_size)
    honest = solved(true, seen)
    best, shared = None, np.zeros(len(inputs), np.bool_)
    for other in _impostors(draw, solved, seen, true):
        # equal up to rounding only: the theorem is about exact numbers
        rounding = 1e-13 * (1.0 + np.linalg.norm(other) / np.linalg.norm(true))
        level = np.abs(honest) + np.median(np.abs(honest))
        same = np.abs(solved(other, seen) - honest) <= rounding * level
        far = np.linalg.norm(other - true) > 1e-5 * np.linalg.norm(true)
        if far and np.isfinite(other).all() and (best is None or same.sum() > shared.sum()):
            best, shared = other, same
    assert best is not None
    rest = np.flatnonzero(~shared)
    share = draw.choice([0.0, 0.1, 0.3, 0.42, 0.48, 0.6, 1.0])
    tampered = draw.permutation(rest)[: int(share * len(inputs))]
    explained = shared.copy()
    explained[tampered] = True
    weights = best[: network.filter_size]
    return Case(kind, network, inputs, weights, explained, len(tampered), intercept)


def _filter(draw: np.random.Generator, r: int) -> Array:
    """A filter of any kind: most are generic, some are whole numbers or products of them."""
    which = draw.random()
    if which < 0.7:
        return draw.standard_normal(r)
    if which < 0.85 or r < 3:
        return draw.integers(1, 3, r) * draw.choice([-1.0, 1.0], r)
    return np.convolve(draw.standard_normal(r - 1), [1.0, 1.0])


def _impostors(
    draw: np.random.Generator, network: nt.FilterNetwork, x: Array, true: Array
) -> Iterator[Array]:
    r = network.filter_size
    for factor in (-1.0, 2.0, 0.5, network.leak or 3.0, 1.0 / (network.leak or 0.3)):
        yield factor * true
    yield np.roll(true, 1)
    yield np.roll(true, -1)
    gradient = network.gradient(true, x)
    for normal in _normals(draw, gradient):
        for step in (1e-3, 1.0, -3.0):
            yield true + step * normal
    labels = network(true, x)
    for _ in range(6):
        yield _through(draw, network, x, labels, r)
    yield from _relatives(draw, network, x, true)


def _normals(draw: np.random.Generator, rows: Array) -> Iterator[Array]:
    """Directions that are orthogonal to many rows."""
    r = rows.shape[1]
    yield from np.eye(r)
    for _ in range(20):
        normal = np.zeros(r)
        some = draw.choice(r, min(r, int(draw.integers(2, 4))), replace=False)
        normal[some] = draw.choice([-2.0, -1.0, 1.0, 2.0], len(some))
        yield normal
    if r > 1:
        _, which, times = np.unique(rows.round(9), axis=0, return_inverse=True, return_counts=True)
        common = np.argsort(-times[which.reshape(-1)], kind="stable")
        firsts = list({int(which.reshape(-1)[i]): int(i) for i in common[::-1]}.values())[::-1]
        yield np.linalg.svd(rows[firsts[: r - 1]])[2][-1]
        for _ in range(8):
            yield np.linalg.svd(rows[draw.permutation(len(rows))[: r - 1]])[2][-1]
        sparse = np.argsort((rows != 0.0).sum(axis=1), kind="stable")
        yield np.linalg.svd(rows[sparse[: r - 1]])[2][-1]


def _through(
    draw: np.random.Generator, network: nt.FilterNetwork, x: Array, labels: Array, r: int
) -> Array:
    """A filter with the labels of r rows, found from a random start: patterns may change."""
    chosen = draw.permutation(len(x))[:r]
    w = 2.0 * draw.standard_normal(r)
    for _ in range(30):
        gradient = network.gradient(w, x[chosen])
        gap = labels[chosen] - gradient @ w
        if np.abs(gap).max() <= 1e-13 * np.abs(labels).max():
            break
        w = w + np.linalg.lstsq(gradient, gap, rcond=None)[0]
    return w


def _relatives(
    draw: np.random.Generator, network: nt.FilterNetwork, x: Array, true: Array
) -> Iterator[Array]:
    """Filters that share a whole pattern, if some do: Ā_Sᵀŵ = Ā_Tᵀw*."""
    if network.width > 12:
        return
    for _ in range(12):
        row = x[draw.integers(len(x))]
        slopes = np.where(network.gates @ row @ true > 0.0, 1.0, network.leak)
        own = np.tensordot(slopes * network.share, network.gates, axes=1)
        other_slopes = np.where(draw.random(network.width) < 0.5, 1.0, network.leak)
        other = np.tensordot(other_slopes * network.share, network.gates, axes=1)
        if np.linalg.matrix_rank(other) == network.filter_size:
            yield np.linalg.lstsq(other.T, own.T @ true, rcond=None)[0]


def _size(draw: np.random.Generator, low: int, high: int) -> int:
    return int(draw.integers(low, high + 1))


def _symmetric(draw: np.random.Generator, extra: int, **options) -> nt.FilterNetwork:
    r = _size(draw, 1, 5)
    n = r + (int(draw.integers(0, extra + 1)) if extra else 0)
    width = 2 * _size(draw, 1, 4)
    return nt.networks.symmetric(n, r, width, seed=int(draw.integers(1000)), **options)


def _gates(draw: np.random.Generator) -> nt.FilterNetwork:
    r, k = _size(draw, 1, 4), _size(draw, 2, 4)
    gates = draw.standard_normal((k, r, r + _size(draw, 0, 3)))
    if draw.random() < 0.3:
        gates[-1] = gates[0]
    q = draw.choice([-1.0, 0.5, 1.0, 2.0], k)
    return nt.networks.from_gates(gates, outer_weights=q, leak=float(draw.choice([0.0, 0.2])))


NETWORKS = {
    "linear": lambda draw: nt.networks.linear(_size(draw, 1, 8)),
    "linear, larger": lambda draw: nt.networks.linear(_size(draw, 9, 26)),
    "mean gate": lambda draw: _symmetric(draw, 4, leak=1.0),
    "ReLU gate": lambda draw: nt.networks.relu_gate(_size(draw, 1, 6), outer_weights=-2.0),
    "leaky gate": lambda draw: nt.networks.relu_gate(_size(draw, 1, 6), leak=0.25),
    "symmetric": lambda draw: _symmetric(draw, 8),
    "symmetric, square": lambda draw: _symmetric(draw, 0),
    "symmetric, leaky": lambda draw: _symmetric(draw, 8, leak=0.2),
    "stride = window": lambda draw: nt.networks.convolution(12, *[_size(draw, 1, 4)] * 2),
    "stride 1": lambda draw: nt.networks.convolution(_size(draw, 6, 14), _size(draw, 2, 5)),
    "stride 1, leaky": lambda draw: nt.networks.convolution(9, _size(draw, 2, 4), leak=0.5),
    "circular": lambda draw: nt.networks.convolution(7, 3, _size(draw, 1, 3), circular=True),
    "image": lambda draw: nt.networks.convolution2d((4, 4), (2, 2), _size(draw, 1, 2)),
    "gates": _gates,
}


def _dummies(draw: np.random.Generator, rows: int, n: int) -> Array:
    x = draw.standard_normal((rows, n))
    sparse = draw.random(n) < 0.6
    share = draw.choice([0.05, 0.2, 0.5])
    x[:, sparse] = (draw.random((rows, n)) < share)[:, sparse]
    return x


LAWS = [
    lambda draw, rows, n: draw.standard_normal((rows, n)),
    lambda draw, rows, n: draw.standard_t(2.0, (rows, n)),
    lambda draw, rows, n: draw.exponential(1.0, (rows, n)),
    _dummies,
    lambda draw, rows, n: draw.integers(-2, 3, (rows, n)).astype(np.float64),
    lambda draw, rows, n: draw.choice([-1.0, 1.0], (rows, n)),
    lambda draw, rows, n: draw.standard_normal((rows // 3 + 1, n))[
        draw.integers(rows // 3 + 1, size=rows)
    ],
    lambda draw, rows, n: (
        draw.standard_normal((rows // 2 + 1, n))[np.arange(rows) // 2]
        * draw.choice([-1.0, 1.0, 2.0], rows)[:, None]
    ),
    lambda draw, rows, n: np.hstack([draw.standard_normal((rows, n - 1)), np.ones((rows, 1))]),
    lambda draw, rows, n: draw.standard_normal((rows, n)).round(1),
]
