"""Random filters with fresh rows and attackers who write the labels of the wrong filter itself.

`parity_trial` and `cells_trial` make a trial from a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import neurotron as nt
from neurotron._types import Array, Mask
from neurotron.theory.cells import slopes_of

PILOT = 10_000
"""Inputs that tell an attacker where the filter is most wrong."""

Draw = np.random.Generator


class Trial(NamedTuple):
    """A filter that is verified on attacked rows, and the kinds of which the trial is one."""

    problem: nt.Problem
    weights: Array
    X: Array
    y: Array
    options: dict[str, Any]
    kinds: tuple[str, ...]

    @property
    def off(self) -> Array:
        """ŵ − w*."""
        assert self.problem.true_weights is not None
        return self.weights - self.problem.true_weights


# ---- networks, laws and filters ------------------------------------------------------------------


def _network(draw: Draw, name: str, leak: float) -> nt.FilterNetwork:
    seed, networks = int(draw.integers(1000)), nt.networks
    if name == "linear":
        return networks.linear(int(draw.integers(1, 5)))
    if name == "one gate":
        return networks.relu_gate(
            int(draw.integers(1, 5)), outer_weights=float(draw.choice([1.0, -2.0])), leak=leak
        )
    if name == "symmetric":
        width = 2 * int(draw.integers(1, 4))
        return networks.symmetric(int(draw.integers(6, 10)), 3, width, seed=seed, leak=leak)
    if name == "convolution":
        return networks.convolution(10, 3, stride=int(draw.integers(1, 5)), leak=leak)
    if name == "image":
        return networks.convolution2d((4, 4), (2, 2), int(draw.integers(1, 3)), leak=leak)
    gates, outer = draw.standard_normal((3, 2, 6)), draw.uniform(-1.0, 2.0, 3)
    if name == "zero sum":
        outer = np.array([1.0, -2.0, 1.0])
    if name == "duplicate gates":
        gates[1] = gates[0]
    if name == "nearly duplicate gates":
        gates[1] = gates[0] + 1e-3 * gates[1]
    if name == "opposite gates":
        gates[1] = -gates[0]
    return networks.from_gates(gates, outer_weights=outer, leak=leak)


def _law(draw: Draw, name: str, n: int) -> nt.Law:
    scale = float(draw.uniform(0.5, 3.0))
    simple: dict[str, Callable[[], nt.Law]] = {
        "normal": lambda: nt.Normal(scale=scale),
        "Laplace": lambda: nt.Laplace(scale=scale),
        "t(4)": lambda: nt.StudentT(4.0, scale=scale),
        "Cauchy": lambda: nt.StudentT(1.0, scale=scale),
        "uniform": lambda: nt.Uniform(scale=scale),
        "Rademacher": lambda: nt.Rademacher(scale=scale),
        "exponential": lambda: nt.ScipyLaw(stats.expon(scale=scale)),
    }
    if name in simple:
        return simple[name]()
    mixing = np.eye(n) + 0.4 * draw.standard_normal((n, n)) / math.sqrt(n)
    if name == "correlated":
        base = nt.Normal() if draw.random() < 0.5 else nt.Laplace()
        return nt.Correlated(base, scale * mixing)
    size = int(draw.integers(40, 200)), n
    tables = draw.standard_normal(size), draw.laplace(size=size), draw.choice([-1.0, 1.0], size)
    rows = tables[int(draw.integers(len(tables)))]
    return nt.Empirical(rows @ mixing.T, symmetrized=name == "table")


def _inputs(draw: Draw, law: nt.Law, count: int, n: int) -> Array:
    pairs = law.pairs(count, n)
    return law.inputs(draw.random(pairs), draw.random(pairs), count, n)


PLACES = ("weakest", "random", "parallel", "mirror", "zero", "exact", "crossing")


def _true_weights(
    draw: Draw, place: str, network: nt.FilterNetwork, weights: Array, size: float
) -> Array:
    """Return w* at some place relative to ŵ."""
    if place == "zero":
        return np.zeros_like(weights)
    if place in ("mirror", "exact"):
        return -weights if place == "mirror" else weights.copy()
    towards = weights
    if place == "crossing":  # almost the same outputs where the gates of w* have other slopes
        slopes = slopes_of(network)
        assert slopes is not None
        one, other = slopes[draw.choice(len(slopes), 2, replace=False)] * network.share
        target = np.tensordot(one, network.gates, axes=1).T @ weights
        found = np.linalg.lstsq(np.tensordot(other, network.gates, axes=1).T, target)[0]
        return np.asarray(found, np.float64)
    if place == "weakest":
        towards = np.linalg.svd(network.mean_gate)[0][:, -1]
    elif place == "random":
        towards = draw.standard_normal(len(weights))
    return np.asarray(weights + size * towards / np.linalg.norm(towards))


# ---- rows, noise and attackers -------------------------------------------------------------------


class Rows(NamedTuple):
    """Inputs with honest labels, and the labels of the filter that is verified."""

    X: Array
    honest: Array
    own: Array

    @property
    def apart(self) -> Array:
        """|e − ζ|: how far the filter is from each honest label."""
        return np.abs(self.own - self.honest)


def _noise(draw: Draw, name: str, rows: Rows, flipped: Array, size: float) -> Array:
    """Return noise for rows without it; `flipped` is e at −x, and `size` a typical |e|."""
    count = len(rows.honest)
    if name in ("normal", "known"):
        return size * draw.standard_normal(count)
    if name == "Cauchy":
        return 0.3 * size * draw.standard_cauchy(count)
    if name == "offset":
        return np.full(count, size)
    if name == "two points":
        return size * draw.choice([-1.0, 1.0], count) + size
    if name == "depends on |x|":
        return size * np.abs(rows.X[:, 0]) * draw.standard_normal(count)
    e = rows.own - rows.honest
    odd, even = 0.5 * (e - flipped), 0.5 * (e + flipped)
    smallest = float(draw.choice([0.0, 0.5, 2.0])) * size
    return np.asarray(even + odd * draw.choice([-1.0, 1.0], count) * (np.abs(odd) > smallest))


EVEN_NOISES = ("worst", "depends on |x|")
NOISES = ("none", "normal", "Cauchy", "offset", "two points", "known", *EVEN_NOISES)
ATTACKERS = ("coin", "fixed share", "chosen inputs", "sequential")


def _touched(draw: Draw, attacker: str, beta: float, rows: Rows, pilot: Rows) -> Mask:
    """Return which labels an attacker has."""
    count, coins = len(rows.honest), draw.random(len(rows.honest)) < beta
    if attacker == "coin" or beta == 0.0:
        return coins
    if attacker == "fixed share":
        chosen = np.zeros(count, dtype=bool)
        most = math.floor(beta * count)
        chosen[np.argsort(-rows.apart, kind="stable")[:most]] = True
        return chosen
    known = len(pilot.honest)
    share = max(beta - 2.5 * math.sqrt(beta * (1.0 - beta) / known), 0.0)  # its mean is at most β
    worst = rows.apart > np.sort(pilot.apart)[known - 1 - math.floor(share * known)]
    if attacker == "chosen inputs":
        return worst
    taken = np.empty(count, dtype=bool)  # after a label of its own it leaves the next to a coin
    before = False
    for row in range(count):
        before = bool(coins[row] if before else worst[row])
        taken[row] = before
    return taken


def _trial(
    draw: Draw, network: nt.FilterNetwork, law: nt.Law, place: str, noise: str, attacker: str,
    beta: float, rows: int, size: float, kinds: tuple[str, ...],
) -> Trial:  # fmt: skip
    """Return a trial with a filter whose distance to the true one is about `size`, or given."""
    n = network.n_inputs
    weights = draw.standard_normal(network.filter_size)
    truth = _true_weights(draw, place, network, weights, size)
    typical = 1.0
    loudness = float(draw.choice([0.03, 0.3, 1.0]))

    def made(count: int) -> Rows:
        X = _inputs(draw, law, count, n)
        plain = Rows(X, network(truth, X), network(weights, X))
        if noise == "none":
            return plain
        flipped = network(weights, -X) - network(truth, -X)
        scale = typical if noise == "worst" else loudness * typical
        return plain._replace(honest=plain.honest + _noise(draw, noise, plain, flipped, scale))

    X = _inputs(draw, law, 200, n)
    typical = float(np.median(np.abs(network(weights, X) - network(truth, X)))) or 1.0
    fresh = made(rows)
    coins = attacker in ("coin", "fixed share")
    touched = _touched(draw, attacker, beta, fresh, fresh if coins else made(PILOT))
    change = fresh.own - fresh.honest
    bound = None
    if place == "exact" or draw.random() < 0.1:  # an attack that is seen: for the lower bound
        change = 10.0 * (1.0 + np.abs(fresh.honest))
        kinds += ("seen",)
    elif draw.random() < 0.15:
        bound = float(draw.choice([0.1, 1.0, 10.0])) * typical
        change = np.clip(change, -bound, bound)
        kinds += ("bounded",)
    allowed: str | float = "even" if noise in EVEN_NOISES else "independent"
    if noise in ("none", "known"):
        known = loudness * typical / float(draw.choice([1.0, 2.0]))
        allowed = 0.0 if noise == "none" else known
    options = {
        "probability": beta, "attacker": "coin" if attacker == "coin" else "any",
        "noise": allowed, "bound": bound,
    }  # fmt: skip
    problem = nt.Problem.draw(network, law, true_weights=truth)
    y = np.where(touched, fresh.honest + change, fresh.honest)
    if bound is None and "seen" not in kinds:
        y = np.where(touched, fresh.own, fresh.honest)
    return Trial(problem, weights, fresh.X, y, options, kinds)


# ---- trials of both theorems ---------------------------------------------------------------------

PARITY_NETWORKS = (
    "linear", "one gate", "symmetric", "convolution", "image", "weighted", "zero sum",
    "duplicate gates",
)  # fmt: skip
PARITY_LAWS = (
    "normal", "correlated", "Laplace", "t(4)", "Cauchy", "uniform", "Rademacher", "table",
    "plain table",
)  # fmt: skip
LAW_CHANCES = (0.2, 0.1, 0.05, 0.05, 0.05, 0.15, 0.15, 0.15, 0.1)
"""Mixtures of normal laws take ten times as long as the others."""


def parity_trial(number: int) -> Trial:
    """Return trial `number` of the theorem of parity."""
    draw = np.random.default_rng([1, number])
    law_name = str(draw.choice(PARITY_LAWS, p=LAW_CHANCES))
    name = "linear" if law_name == "plain table" else str(draw.choice(PARITY_NETWORKS))
    leak = 1.0 if name == "linear" else float(draw.choice([0.0, 0.1, 0.5, 1.0]))
    network = _network(draw, name, leak)
    law = _law(draw, law_name, network.n_inputs)
    noise, attacker = str(draw.choice(NOISES)), str(draw.choice(ATTACKERS))
    if law_name == "plain table" and noise in EVEN_NOISES:
        noise = "normal"  # noise that does not tell x from −x says nothing about these
    place = str(draw.choice(PLACES, p=[0.3, 0.25, 0.15, 0.1, 0.15, 0.05, 0.0]))
    shares = [0.0, 0.05, 0.1, 0.2, 0.3] if attacker == "coin" else [0.0, 0.05, 0.1, 0.15, 0.2]
    if law_name in ("Rademacher", "table", "plain table"):
        shares = [0.0, 0.02, 0.05]
    beta, rows = float(draw.choice(shares)), int(draw.choice([300, 1000, 3000]))
    kinds = (
        f"network {name}", f"law {law_name}", f"noise {noise}", f"attacker {attacker}",
        f"leak {leak:g}", f"place {place}", f"{rows} rows",
    )  # fmt: skip
    size = float(10.0 ** draw.uniform(-3.0, 0.5))
    return _trial(draw, network, law, place, noise, attacker, beta, rows, size, kinds)


CELLS_NETWORKS = (
    "one gate", "symmetric", "symmetric", "convolution", "weighted", "zero sum",
    "nearly duplicate gates", "opposite gates",
)  # fmt: skip
CELLS_LAWS = ("normal", "correlated", "Laplace", "t(4)", "uniform", "exponential")


def cells_trial(number: int) -> Trial:
    """Return trial `number` of the theorem of the cells: exact labels, or a little noise."""
    draw = np.random.default_rng([2, number])
    name, law_name = str(draw.choice(CELLS_NETWORKS)), str(draw.choice(CELLS_LAWS))
    leak = 0.0 if name == "one gate" else float(draw.choice([0.0, 0.1]))
    network = _network(draw, name, leak)
    law = _law(draw, law_name, network.n_inputs)
    noise = str(draw.choice(["none", "two points"], p=[0.85, 0.15]))
    attacker = str(draw.choice(ATTACKERS, p=[0.4, 0.2, 0.2, 0.2]))
    place = str(draw.choice(PLACES, p=[0.2, 0.3, 0.15, 0.1, 0.1, 0.05, 0.1]))
    beta = float(draw.choice([0.1, 0.3, 0.4, 0.45, 0.48])) / (1.0 if attacker == "coin" else 2.0)
    rows = int(draw.choice([300, 1000, 3000]))
    kinds = (
        f"network {name}", f"law {law_name}", f"noise {noise}", f"attacker {attacker}",
        f"leak {leak:g}", f"place {place}", f"β {beta:g}", f"{rows} rows",
    )  # fmt: skip
    size = float(10.0 ** draw.choice([-11.0, -9.0, -6.0, -3.0, -1.0, 0.0, 0.3]))
    return _trial(draw, network, law, place, noise, attacker, beta, rows, size, kinds)
