"""The limits of the defence: noise, half of the labels, skewed or correlated inputs, other nets."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from benchmarks.workloads import FOUR_LAWS

import neurotron as nt
from evidence.defence import CLOSE, EXACT, STEPS
from evidence.store import Row, collect
from neurotron._streams import Purpose, Stream

POSITIVE = np.random.default_rng(0).exponential(size=(20_000, 100))

# ---- honest noise --------------------------------------------------------------------------------


def noise(level: float, attack: str, nets: int = 3, steps: int = STEPS) -> Row:
    """Return errors of the defence over that of least squares on the unattacked rows.

    Least squares starts at w* and makes one Gauss–Newton step on the same batches without the
    attacked samples, whose coins are those of the run.
    """
    errors, squares = [], []
    for number in range(nets):
        problem = _noisy(level, number)
        adversary = nt.attacks.build(attack, problem, bound=1.0, probability=0.4, seed=number)
        arms = [
            nt.Arm(nt.RefinedTron(), adversary, name="plain"),
            nt.Arm(nt.RefinedTron(averaging=True), adversary, name="averaged"),
            nt.Arm(nt.NeuroTron("fastest", averaging=True), adversary, name="tron"),
        ]
        run = nt.simulate(problem, arms, steps=steps, batch_size=16, replicate=number, record=steps)
        errors.append(run.errors[:, -1])
        beta = 0.0 if adversary is None else adversary.probability
        squares.append(_least_squares(level, beta, number, steps))
    ratios = np.median(np.array(errors) / np.array(squares)[:, None], axis=0)
    return {
        "noise": level,
        "attack": attack,
        "nets": nets,
        "least squares": float(np.median(squares)),
        "RefinedTron / least squares": float(ratios[0]),
        "averaged": float(ratios[1]),
        "Neuro-Tron averaged": float(ratios[2]),
    }


@cache
def _least_squares(level: float, beta: float, number: int, steps: int) -> float:
    """Return the error of least squares on the samples of a run that were not attacked."""
    problem = _noisy(level, number)
    stream = Stream.of(0, number)
    w, network = problem.true_weights, problem.network
    assert w is not None
    gram, moment = np.zeros((w.size, w.size)), np.zeros(w.size)
    for step in range(steps):
        batch = problem.data.batch(network, stream, step, 16)
        honest = stream.pairs(Purpose.ATTACK, step, 16)[0] > beta
        x, y = batch.inputs[honest], batch.labels[honest]
        slope = network.gradient(w, x)
        gram += slope.T @ slope
        moment += slope.T @ (y - network(w, x))
    return float(np.linalg.norm(np.linalg.solve(gram, moment)))


def _noisy(level: float, number: int) -> nt.Problem:
    network = FOUR_LAWS[0].problem(seed=number).network
    return nt.Problem.draw(network, FOUR_LAWS[0].law, seed=number, noise=level)


def _noise() -> None:
    """Store what honest noise costs."""
    title = (
        f"Honest label noise: N(0, 1), 3 nets, {STEPS} steps, β = 0.4, θ = 1; median errors over "
        "that of least squares on the unattacked rows, started at w*"
    )
    units = {
        f"{level:g}, {attack}": partial(noise, level, attack)
        for level in (0.01, 0.1)
        for attack in ("none", "constant", "odd-direction", "adaptive")
    }
    collect("defence_noise", title, units)


# ---- limits --------------------------------------------------------------------------------------


def _paper_network(seed: int, spread: float = 0.0) -> nt.FilterNetwork:
    """Return a network of the paper's, its gates off by `spread` times Gaussian entries."""
    network = nt.networks.symmetric(100, 25, 10, seed=seed)
    off = np.random.default_rng(seed).standard_normal(network.gates.shape)
    return nt.networks.from_gates(network.gates + spread * off) if spread else network


LIMITS: dict[str, tuple[nt.Law, float, str, float, float]] = {
    f"{attack}, β = {beta}": (nt.Normal(), 0.0, attack, beta, theta)
    for attack, theta in (("impersonation", 1e6), ("constant", 4.0), ("adaptive", 4.0))
    for beta in (0.48, 0.5, 0.52, 0.6)
} | {
    f"adaptive, β = 0.4, θ = {theta:g}": (nt.Normal(), 0.0, "adaptive", 0.4, theta)
    for theta in (10.0, 100.0, 1e3, 1e4, 1e5)
} | {
    "half of the labels, one half-space": (nt.Normal(), 0.0, "half-space", 0.5, 4.0),
    "exponential inputs − 1, adaptive, β = 0.2": (
        nt.Empirical(POSITIVE - 1.0), 0.0, "adaptive", 0.2, 1.0,
    ),
    "exponential inputs, no attack": (nt.Empirical(POSITIVE), 0.0, "none", 0.0, 0.0),
    "exponential inputs, adaptive, β = 0.2": (
        nt.Empirical(POSITIVE), 0.0, "adaptive", 0.2, 1.0,
    ),
    "inputs seen with noise 0.1, no attack": (
        nt.laws.Corrupted(nt.Normal(), 0.1), 0.0, "none", 0.0, 0.0,
    ),
    "inputs seen with noise 0.1, adaptive, β = 0.2": (
        nt.laws.Corrupted(nt.Normal(), 0.1), 0.0, "adaptive", 0.2, 1.0,
    ),
    "gates off by 1 %, no attack": (nt.Normal(), 0.01, "none", 0.0, 0.0),
    "gates off by 1 %, adaptive, β = 0.2": (nt.Normal(), 0.01, "adaptive", 0.2, 1.0),
    "gates off by 10 %, adaptive, β = 0.2": (nt.Normal(), 0.1, "adaptive", 0.2, 1.0),
}  # fmt: skip


class OtherNetwork(nt.data.Simulated):
    """Simulated data whose labels another network makes, with the same true weights."""

    maker: nt.FilterNetwork

    @classmethod
    def of(cls, problem: nt.Problem, maker: nt.FilterNetwork) -> OtherNetwork:
        """Return the data of a problem with labels of `maker`."""
        data = cls(problem.law, problem.true_weights)
        object.__setattr__(data, "maker", maker)
        return data

    def batch(
        self, network: nt.FilterNetwork, stream: Stream, step: int, batch_size: int
    ) -> nt.data.Batch:
        """Return batch number `step`."""
        return super().batch(self.maker, stream, step, batch_size)


def limit(name: str, nets: int = 5, steps: int = STEPS) -> Row:
    """Return how far the defence and Neuro-Tron end from the filter where no theory helps."""
    law, off, attack, beta, theta = LIMITS[name]
    parts = []
    for number in range(nets):
        problem = nt.Problem.draw(_paper_network(number), law, seed=number)
        adversary = nt.attacks.build(attack, problem, bound=theta, probability=beta, seed=number)
        arms = [
            nt.Arm(nt.RefinedTron(), adversary, name="refined"),
            nt.Arm(nt.NeuroTron("fastest"), adversary, name="tron"),
        ]
        learned = problem
        if off:
            data = OtherNetwork.of(problem, _paper_network(number, off))
            learned = nt.Problem(problem.network, data)
        run = nt.simulate(learned, arms, steps=steps, batch_size=16, replicate=number, record=steps)
        assert problem.true_weights is not None
        parts.append(run.errors[:, -1] / np.linalg.norm(problem.true_weights))
    refined, tron = np.array(parts).T
    return {
        "nets": nets,
        "RefinedTron: median error / ‖w*‖": float(np.median(refined)),
        "best": float(refined.min()),
        "worst": float(refined.max()),
        "Neuro-Tron: median error / ‖w*‖": float(np.median(tron)),
    }


def _limits() -> None:
    """Store where it cannot work."""
    title = (
        f"Where the defence cannot work: the paper's nets with n = 100, 5 each, {STEPS} steps; "
        "N(0, 1) inputs unless said; θ = 4 above β = 0.45 (impersonation without a bound), else 1"
    )
    collect("defence_limits", title, {name: partial(limit, name) for name in LIMITS})


# ---- correlated inputs ---------------------------------------------------------------------------

CORRELATED = [("adaptive", 0.5), ("adaptive", 0.9), ("odd-direction", 0.9), ("impersonation", 0.9)]
"""Attacks and ρ."""


def autoregressive(rho: float, n: int = 100) -> nt.Law:
    """Return the normal law of a stationary AR(1) series: E[x_i x_j] = ρ^|i − j|."""
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return nt.Correlated.from_covariance(rho**lag)


def correlated(
    attack: str, beta: float, rho: float = 0.9, nets: int = 20, steps: int = STEPS
) -> Row:
    """Return how often the defence recovers the filter from inputs that are correlated, θ = 1."""
    law = autoregressive(rho)
    names = ("RefinedTron", "TrimmedSGD", "Neuro-Tron")
    errors = []
    for number in range(nets):
        problem = nt.Problem.draw(_paper_network(number), law, seed=number)
        adversary = nt.attacks.build(attack, problem, bound=1.0, probability=beta, seed=number)
        trainers = (nt.RefinedTron(), nt.TrimmedSGD(), nt.NeuroTron("fastest"))
        arms = [
            nt.Arm(trainer, adversary, name=name)
            for name, trainer in zip(names, trainers, strict=True)
        ]
        errors.append(_final(problem, arms, number, steps))
    refined, trimmed, tron = np.array(errors).T
    return {
        "attack": attack,
        "β": beta,
        "ρ": rho,
        **_shares(refined),
        "TrimmedSGD: below 1e-6": float((trimmed < CLOSE).mean()),
        "Neuro-Tron: median": float(np.median(tron)),
    }


def _final(problem: nt.Problem, arms: list[nt.Arm], replicate: int, steps: int) -> list[float]:
    """Return the final error of every arm; every replicate has data and coins of its own."""
    run = nt.simulate(problem, arms, steps=steps, batch_size=16, replicate=replicate, record=steps)
    return [float(error) for error in run.errors[:, -1]]


def _shares(errors: np.ndarray) -> Row:
    return {
        "runs": errors.size,
        "below 1e-12": float((errors < EXACT).mean()),
        "below 1e-6": float((errors < CLOSE).mean()),
        "median": float(np.median(errors)),
        "worst": float(errors.max()),
    }


def _correlated() -> None:
    """Store what correlated inputs cost."""
    title = (
        "The defence with correlated inputs: normal, E[x_i x_j] = ρ^|i − j|, 20 of the paper's "
        f"nets with n = 100, {STEPS} steps, θ = 1"
    )
    units = {
        f"{attack}, β = {beta}, ρ = {rho}": partial(correlated, attack, beta, rho)
        for attack, rho in CORRELATED
        for beta in (0.2, 0.4)
    }
    collect("defence_correlated", title, units)


# ---- one half-space, near one half of the labels -------------------------------------------------


def half_space(law: int, nets: int = 100, steps: int = STEPS) -> Row:
    """Return how often the defence recovers the filter if one half-space is attacked, β = 0.45.

    Every law has networks, true weights and data of its own, and none of those in ``defence.json``.
    """
    setting, errors = FOUR_LAWS[law], []
    for seed in range(1000 * (law + 1), 1000 * (law + 1) + nets):
        problem = setting.problem(seed=seed)
        attack = nt.attacks.build("half-space", problem, bound=1.0, probability=0.45, seed=seed)
        errors += _final(problem, [nt.Arm(nt.RefinedTron(), attack)], seed, steps)
    found = np.array(errors)
    return {"law": setting.name, **_shares(found), "above 1e-3": int((found > 1e-3).sum())}


def _half_space() -> None:
    """Store the share of runs that a half-space spoils, law by law."""
    title = (
        "RefinedTron with 45 % of the labels attacked, all in one half-space: 100 new networks of "
        f"each law, {STEPS} steps, b = 16, θ = 1"
    )
    units = {setting.name: partial(half_space, law) for law, setting in enumerate(FOUR_LAWS)}
    collect("defence_half_space", title, units)


def run() -> None:
    """Compute and store the evidence."""
    _noise()
    _limits()
    _correlated()
    _half_space()
