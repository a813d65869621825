"""The numbers of docs/errata.md and docs/theory.md that are sampled: networks, batches, runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from research.pages import half_a_unit, value
from research.tests import documents, paper

import neurotron as nt
from neurotron._types import Array
from neurotron.networks import sensing
from neurotron.theory import Theorem1
from neurotron.theory.sharp import SharpConstants, sharp_constants

B = 16
MATRICES = ("mean", "polar", "optimal")
CERTIFICATES = ("Theorem 1", "sharp, not split", "sharp")
BLOCK = 20_000
"""Batches that are drawn at once."""

# ---- networks of the paper -----------------------------------------------------------------------


def trade_offs(setting: str, matrix: str, nets: int) -> Array:
    """Return c_trade of networks of the paper at β = 0.5 for a sensing matrix."""
    values = []
    for seed in range(nets):
        problem = paper.problem(setting, seed)
        m = sensing.sensing_matrix(matrix, problem.network, problem.covariance)
        values.append(Theorem1.of(problem, m, nt.Budget(0.25, 0.5), B).trade_off)
    return np.array(values)


def rates(nets: int) -> dict[tuple[str, str], Array]:
    """Return certified rates 1 − κ without attack at the best step size, by certificate and M."""
    found: dict[tuple[str, str], list[float]] = {
        (certificate, matrix): [] for certificate in CERTIFICATES for matrix in MATRICES
    }
    for seed in range(nets):
        problem = paper.problem("normal-1", seed)
        for matrix in MATRICES:
            m = sensing.sensing_matrix(matrix, problem.network, problem.covariance)
            constants = sharp_constants(problem, m)
            not_split = _sharp_rate(constants, _square_that_is_not_split(problem, m))
            found["Theorem 1", matrix].append(Theorem1.of(problem, m, None, B).rate(2.0))
            found["sharp, not split", matrix].append(not_split)
            found["sharp", matrix].append(_sharp_rate(constants, constants.L2**2))
    return {case: np.array(values) for case, values in found.items()}


def _sharp_rate(constants: SharpConstants, square: float) -> float:
    pull = 2.0 * constants.gain * constants.lambda1
    return pull**2 / (4.0 * (square / B + (1.0 - 1.0 / B) * constants.L1**2))


def _square_that_is_not_split(problem: nt.Problem, m: Array) -> float:
    """Return L2² by convexity over the gates, without the odd and the even part."""
    quartic, network = problem.even_moments(None).quartic, problem.network
    assert quartic is not None
    fourth, shares = quartic(m.T @ m), network.outer_weights**2 / network.width
    parts = [q * gate @ fourth @ gate.T for q, gate in zip(shares, network.gates, strict=True)]
    return float(np.linalg.eigvalsh(sum(parts))[-1])


# ---- the examples of single sections -------------------------------------------------------------


def wrong_lambda(batches: int) -> Array:
    """Return ‖d_2‖² of errata 1 in simulated batches: w* = (1, 1), d_1 = (1, −1)."""
    true, start = np.array([1.0, 1.0]), np.array([2.0, 0.0])
    m = np.array([[1.0, 0.0], [4.0, 1.0]])
    second, fourth = 2.0, 8.0
    spread = second**2 * (1.0 - 1.0 / B) + fourth / B
    eta = 1.0 / (2.0 * np.linalg.norm(m, 2) ** 2 * spread)

    def squares(rng: np.random.Generator) -> Array:
        x = rng.standard_normal((BLOCK, B, 2))
        residual = np.maximum(x @ true, 0.0) - np.maximum(x @ start, 0.0)
        moved = start - true + eta * (residual[..., None] * x).mean(axis=1) @ m.T
        return np.asarray((moved**2).sum(axis=1))

    return _in_blocks(squares, batches)


def batch_attacker(batches: int) -> Array:
    """Return ‖g‖² of theory.md (e): two samples, the second label pushed along the first's."""

    def squares(rng: np.random.Generator) -> Array:
        x, z = rng.standard_normal((2, BLOCK, 100))
        sign = np.sign((x * z).sum(axis=1))
        return np.asarray((((x + sign[:, None] * z) / 2.0) ** 2).sum(axis=1))

    return _in_blocks(squares, batches)


def noise_attacker(batches: int) -> Array:
    """Return g² of theory.md (e): the attacker sees the noise of the whole batch, b = 64."""

    def squares(rng: np.random.Generator) -> Array:
        x, noise = rng.standard_normal((2, BLOCK, 64))
        pushed = np.sign((noise * x).sum(axis=1))[:, None] * np.sign(x)
        return np.asarray(((pushed + noise) * x).mean(axis=1) ** 2)

    return _in_blocks(squares, batches)


def _in_blocks(squares: Callable[[np.random.Generator], Array], batches: int) -> Array:
    rng = np.random.default_rng(0)
    return np.concatenate([squares(rng) for _ in range(batches // BLOCK)])


def limit_that_is_printed() -> float:
    """Return where the recursion of errata 2 ends for a γ that the printed C₂ allows."""
    network = nt.networks.from_gates(np.array([[[0.1]]]))
    problem = nt.Problem.draw(network, nt.Normal(), true_weights=np.array([1.0]))
    return Theorem1.of(problem, np.eye(1), nt.Budget(1.0, 0.02), 1).floor(4.80)


def distance_of_equal_runs(steps: int = 200) -> float:
    """Return the largest distance between the two runs of errata 9 that are the same, q = 10."""
    ends = []
    for q, eta, bound in ((10.0, 1e-3, 1.0), (1.0, 1e-2, 0.1)):
        network = nt.networks.symmetric(100, 25, 10, seed=0, outer_weights=q)
        problem = nt.Problem.draw(network, nt.Normal(), seed=0)
        attack = nt.attacks.AlternatingSign(bound, 0.5)
        arm = nt.Arm(nt.NeuroTron(eta, sensing="center"), attack)
        ends.append(nt.simulate(problem, [arm], steps=steps, batch_size=B).weights[0])
    return float(np.abs(ends[0] - ends[1]).max() / np.abs(ends[0]).max())


# ---- where they are said -------------------------------------------------------------------------

WRONG_LAMBDA = (documents.ERRATA, r"= {} \pm {}$). The error grows")
TRADE_OFFS = {
    "normal-1": (documents.ERRATA, "it is ${}$ for N(0,1), $n = 100$,"),
    "normal-9": (documents.ERRATA, "and ${}$ for N(0,9), $n = 50$."),
}
BATCH_ATTACKER = (documents.PROOFS, r"(200 000 simulated batches: ${} \pm {}$)")
NOISE_ATTACKER = (documents.PROOFS, r"has $E g^2 = {}$ (400 000 simulated batches, ± {})")
POLAR = (documents.PROOFS, "is {} in the mean even with the best $M$, and ${}$ at worst")
RATES = {
    matrix: (documents.PROOFS, f"| {shown} | {{}} | {{}} | {{}} |")
    for matrix, shown in zip(MATRICES, (r"mean ($M = \bar A$)", "polar", "optimal"), strict=True)
}
"""One row of the table for each M, one number for each of the certificates."""


def standard_error(values: Array) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def assert_near(document: Path, words: str, values: Array, place: int = 0) -> None:
    """Check a printed mean with a smaller sample: it is at most four standard errors off."""
    printed = documents.stated(document, words)[place]
    off = abs(values.mean() - value(printed))
    assert off <= half_a_unit(printed) + 4.0 * standard_error(values), printed
