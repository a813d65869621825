"""The numbers in docs/errata.md and docs/theory.md that were sampled: networks, batches, runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.workloads import FOUR_LAWS

import neurotron as nt
from evidence.store import Row, collect
from neurotron.networks import sensing
from neurotron.theory import Theorem1
from neurotron.theory.sharp import sharp_constants

NETS = 600
B = 16


def summary(values: np.ndarray, of: str) -> Row:
    """Return mean, standard deviation, the mean's standard error, and the range."""
    deviation = float(values.std(ddof=1))
    return {
        "value": float(values.mean()),
        "standard deviation": deviation,
        "standard error": deviation / math.sqrt(values.size),
        "least": float(values.min()),
        "most": float(values.max()),
        "of": f"{values.size} {of}",
    }


def number(value: float) -> Row:
    """Return a number that is computed and not sampled."""
    return {
        "value": value, "standard deviation": 0.0, "standard error": 0.0, "least": value,
        "most": value, "of": "computed",
    }  # fmt: skip


# ---- networks of the paper -----------------------------------------------------------------------


def trade_off(setting: int, matrix: str, nets: int = NETS) -> Row:
    """Return c_trade of the paper's networks at β = 0.5 for a sensing matrix."""
    values = []
    for seed in range(nets):
        problem = FOUR_LAWS[setting].problem(seed=seed)
        m = sensing.sensing_matrix(matrix, problem.network, problem.covariance)
        values.append(Theorem1.of(problem, m, nt.Budget(0.25, 0.5), B).trade_off)
    return summary(np.array(values), "networks")


def rate(matrix: str, certificate: str, nets: int = NETS) -> Row:
    """Return the certified rate 1 − κ per step without attack, at the best step size."""
    values = []
    for seed in range(nets):
        problem = FOUR_LAWS[0].problem(seed=seed)
        network = problem.network
        m = sensing.sensing_matrix(matrix, network, problem.covariance)
        if certificate == "Theorem 1":
            values.append(Theorem1.of(problem, m, None, B).rate(2.0))
            continue
        constants = sharp_constants(problem, m)
        square = constants.L2**2
        if certificate == "sharp, not split":
            quartic = problem.even_moments(None).quartic
            assert quartic is not None
            fourth = quartic(m.T @ m)
            shares = network.outer_weights**2 / network.width
            parts = [
                q * gate @ fourth @ gate.T for q, gate in zip(shares, network.gates, strict=True)
            ]
            square = float(np.linalg.eigvalsh(sum(parts))[-1])
        pull = (1.0 + constants.leak) * constants.lambda1
        values.append(pull**2 / (4.0 * (square / B + (1.0 - 1.0 / B) * constants.L1**2)))
    return summary(np.array(values), "networks")


# ---- the examples of single sections -------------------------------------------------------------


def wrong_lambda(batches: int = 400_000) -> Row:
    """Return E‖d_2‖² of errata 1 from simulated batches: w* = (1, 1), d_1 = (1, −1)."""
    true, start = np.array([1.0, 1.0]), np.array([2.0, 0.0])
    m = np.array([[1.0, 0.0], [4.0, 1.0]])
    second, fourth = 2.0, 8.0
    spread = second**2 * (1.0 - 1.0 / B) + fourth / B
    eta = 1.0 / (2.0 * np.linalg.norm(m, 2) ** 2 * spread)
    rng, squares = np.random.default_rng(0), []
    for _ in range(batches // 20_000):
        x = rng.standard_normal((20_000, B, 2))
        residual = np.maximum(x @ true, 0.0) - np.maximum(x @ start, 0.0)
        moved = start - true + eta * (residual[..., None] * x).mean(axis=1) @ m.T
        squares.append((moved**2).sum(axis=1))
    return summary(np.concatenate(squares), "batches")


def printed_condition() -> Row:
    """Return where the recursion of errata 2 ends for a γ that the printed C₂ allows."""
    network = nt.networks.from_gates(np.array([[[0.1]]]))
    problem = nt.Problem.draw(network, nt.Normal(), true_weights=np.array([1.0]))
    theorem = Theorem1.of(problem, np.eye(1), nt.Budget(1.0, 0.02), 1)
    return number(theorem.floor(4.80))


def outer_weights(steps: int = 200) -> Row:
    """Return the largest distance between the two runs of errata 9 that are the same, q = 10."""
    ends = []
    for q, eta, bound in ((10.0, 1e-3, 1.0), (1.0, 1e-2, 0.1)):
        network = nt.networks.symmetric(100, 25, 10, seed=0, outer_weights=q)
        problem = nt.Problem.draw(network, nt.Normal(), seed=0)
        attack = nt.attacks.AlternatingSign(bound, 0.5)
        arm = nt.Arm(nt.NeuroTron(eta, sensing="center"), attack)
        ends.append(nt.simulate(problem, [arm], steps=steps, batch_size=B).weights[0])
    return number(float(np.abs(ends[0] - ends[1]).max() / np.abs(ends[0]).max()))


def batch_attacker(batches: int = 200_000) -> Row:
    """Return E‖g‖² of theory.md (e): two samples, the second label pushed along the first's."""
    rng, squares = np.random.default_rng(0), []
    for _ in range(batches // 20_000):
        x, z = rng.standard_normal((2, 20_000, 100))
        sign = np.sign((x * z).sum(axis=1))
        squares.append((((x + sign[:, None] * z) / 2.0) ** 2).sum(axis=1))
    return summary(np.concatenate(squares), "batches")


def noise_attacker(batches: int = 400_000) -> Row:
    """Return E g² of theory.md (e): the attacker sees the noise of the whole batch, b = 64."""
    rng, squares = np.random.default_rng(0), []
    for _ in range(batches // 20_000):
        x, noise = rng.standard_normal((2, 20_000, 64))
        pushed = np.sign((noise * x).sum(axis=1))[:, None] * np.sign(x)
        squares.append(((pushed + noise) * x).mean(axis=1) ** 2)
    return summary(np.concatenate(squares), "batches")


def run() -> None:
    """Compute and store the evidence, and fail if Theorem 1 covers the paper's runs."""
    title = (
        "Numbers of the errata and of the theory page that were sampled, recomputed: nets of the "
        "paper have seeds 0, 1, …; b = 16; c_trade at β = 0.5"
    )
    units: dict[str, Callable[[], Row]] = {
        "errata 1: E‖d₂‖²": wrong_lambda,
        "errata 2: limit at γ = 4.80": printed_condition,
        "errata 5: c_trade, N(0, 1), n = 100, mean M": partial(trade_off, 0, "mean"),
        "errata 5: c_trade, N(0, 9), n = 50, mean M": partial(trade_off, 2, "mean"),
        "theory (f): c_trade, N(0, 1), n = 100, polar M": partial(trade_off, 0, "polar"),
        "errata 9: distance of the two runs": outer_weights,
        "theory (e): E‖g‖² of a batch attacker": batch_attacker,
        "theory (e): E g² of one who sees the noise": noise_attacker,
    }
    units |= {
        f"theory (f): rate, {certificate}, {matrix} M": partial(rate, matrix, certificate)
        for certificate in ("Theorem 1", "sharp, not split", "sharp")
        for matrix in ("mean", "polar", "optimal")
    }
    for row in collect("errata", title, units):
        if "errata 5" in row["case"]:
            assert row["most"] < 0.0, row
