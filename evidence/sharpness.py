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
    errors = np.array([run.errors[:, -1] for run in made if run.errors is not None])
    measured = np.sqrt((errors**2).mean(axis=0))
    row: Row = {"β": beta, "θ": theta, "net": seed}
    for i, arm in enumerate(arms):
        certificate = nt.certify(problem, arm, batch_size=16, steps=steps)
        certified = float(np.sqrt(certificate.trajectory[-1]))
        row["limit"] = certificate.limit
        row[f"{arm.name}: certified"] = certified
        row[f"{arm.name}: measured"] = float(measured[i])
        row[f"{arm.name}: least … most"] = f"{errors[:, i].min():.4f} … {errors[:, i].max():.4f}"
        row[f"{arm.name}: ratio"] = certified / float(measured[i])
    return row


def run() -> None:
    """Compute and store the evidence, and fail if the certificate is not as sharp as we say."""
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
