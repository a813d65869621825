"""How sharp the certificate is: certified against measured at the end of long attacked runs."""

from __future__ import annotations

from functools import partial

import numpy as np

import neurotron as nt
from evidence.store import Row, collect

NETS = 5
RUNS = 4
STEPS = 40_000
BARS = {"1e-3": 1.10, "scheduled": 1.03}
BUDGETS = ((0.5, 1.0), (0.2, 1.0))


def net(seed: int, beta: float, theta: float, steps: int = STEPS, runs: int = RUNS) -> Row:
    """Return certified and measured RMS error on network `seed`, for both ways to step.

    The paper's N(0, 1) dimensions, optimal M, the attack along the left singular vector of the
    smallest singular value of ĀΣ.
    """
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=seed)
    problem = nt.Problem.draw(network, nt.Normal(), seed=seed)
    left, _, _ = np.linalg.svd(network.mean_gate)
    attack = nt.attacks.OddDirection(theta, beta, direction=left[:, -1])
    trainers = {"1e-3": nt.NeuroTron(1e-3), "scheduled": nt.NeuroTron("scheduled")}
    arms = [nt.Arm(trainer, attack, name=name) for name, trainer in trainers.items()]
    made = [
        nt.simulate(problem, arms, steps=steps, batch_size=16, seed=seed, replicate=number)
        for number in range(runs)
    ]
    errors = np.array([run.errors[:, -1] for run in made])
    measured = np.sqrt((errors**2).mean(axis=0))
    row: Row = {"β": beta, "θ": theta, "net": seed}
    for i, arm in enumerate(arms):
        certificate = nt.certify(problem, arm, batch_size=16, steps=steps)
        certified = float(np.sqrt(certificate.mean_square_bounds[-1]))
        row["limit"] = certificate.limit
        row[f"{arm.name}: certified"] = certified
        row[f"{arm.name}: measured"] = float(measured[i])
        row[f"{arm.name}: least … most"] = f"{errors[:, i].min():.4f} … {errors[:, i].max():.4f}"
        row[f"{arm.name}: ratio"] = certified / float(measured[i])
    return row


# ---- other laws ----------------------------------------------------------------------------------

LAWS: dict[str, tuple[nt.Law, int, str | None]] = {
    "N(0, 9)": (nt.Normal(scale=3.0), 50, None),
    "Laplace(2)": (nt.Laplace(scale=2.0), 50, None),
    "t(4), inverse-norm": (nt.StudentT(4), 100, "inverse-norm"),
    "Uniform(−1, 1)": (nt.Uniform(), 100, None),
}
"""Law, number of inputs and weighting of samples."""
LAW_STEPS = 20_000


def other_law(name: str, nets: int = 3, runs: int = RUNS, steps: int = LAW_STEPS) -> Row:
    """Return certified over measured RMS error of a law, β = 0.5, θ = 1: mean and range of nets."""
    law, n, weighting = LAWS[name]
    ratios = []
    for seed in range(nets):
        network = nt.networks.symmetric(n_inputs=n, filter_size=25, width=10, seed=seed)
        problem = nt.Problem.draw(network, law, seed=seed)
        left, _, _ = np.linalg.svd(network.mean_gate)
        attack = nt.attacks.OddDirection(1.0, 0.5, direction=left[:, -1])
        arms = [
            nt.Arm(nt.NeuroTron(step, weighting=weighting), attack) for step in (1e-3, "scheduled")
        ]
        made = [
            nt.simulate(problem, arms, steps=steps, batch_size=16, seed=seed, replicate=number)
            for number in range(runs)
        ]
        errors = np.array([run.errors[:, -1] for run in made])
        certificates = [nt.certify(problem, arm, batch_size=16, steps=steps) for arm in arms]
        certified = np.sqrt([certificate.mean_square_bounds[-1] for certificate in certificates])
        ratios.append(certified / np.sqrt((errors**2).mean(axis=0)))
    row: Row = {"law": name, "nets": nets, "runs of each": runs}
    for way, found in zip(BARS, np.array(ratios).T, strict=True):
        row[f"{way}: certified / measured"] = float(found.mean())
        row[f"{way}: least"] = float(found.min())
        row[f"{way}: most"] = float(found.max())
    return row


def _other_laws() -> None:
    """Store how sharp the certificate is where τ is bounded by Cauchy–Schwarz."""
    title = (
        f"How sharp for other laws: certified over measured RMS error after {LAW_STEPS} steps, "
        "β = 0.5, θ = 1, r = 25, k = 10, b = 16, optimal M, OddDirection along the worst direction"
    )
    units = {name: partial(other_law, name) for name in LAWS}
    for row in collect("sharpness_laws", title, units):
        for way in BARS:
            assert 0.98 <= row[f"{way}: least"] <= row[f"{way}: most"] <= 1.35, row


def run() -> None:
    """Compute and store the evidence, and fail if the certificate is not as sharp as we say."""
    _normal()
    _other_laws()


def _normal() -> None:
    """Store how sharp it is for N(0, 1), net by net."""
    title = (
        f"How sharp: RMS error certified and measured after {STEPS} steps ({RUNS} runs each), r = "
        "25, n = 100, k = 10, b = 16, N(0, 1), optimal M, OddDirection along the worst direction"
    )
    units = {
        f"β {beta}, θ {theta}, net {seed}": partial(net, seed, beta, theta)
        for beta, theta in BUDGETS
        for seed in range(NETS)
    }
    for row in collect("sharpness", title, units):
        for name, bar in BARS.items():
            assert 0.98 <= row[f"{name}: ratio"] <= bar, row
