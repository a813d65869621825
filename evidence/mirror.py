"""Where trainers end: at the filter w* or at its mirror image (docs/errata.md#e6)."""

from __future__ import annotations

from functools import partial

import numpy as np

import neurotron as nt
from evidence.store import Row, collect, write_table

NETS = 20
STEPS = 40_000
TRAINERS = {
    "NeuroTron": nt.NeuroTron(1e-4, sensing="mean"),
    "FirstSampleSGD": nt.FirstSampleSGD(1e-4),
    "SGD": nt.SGD(1e-4),
}


def net(seed: int, steps: int = STEPS) -> Row:
    """Return final error and cosine with −w* of each trainer on network `seed`.

    The paper's N(0, 1) setting with θ = 0.25, β = 0.5 and its alternating attack.
    """
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=seed)
    problem = nt.Problem.draw(network, nt.Normal(), seed=seed)
    attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    arms = [nt.Arm(trainer, attack, name=name) for name, trainer in TRAINERS.items()]
    run = nt.simulate(problem, arms, steps=steps, batch_size=16, seed=seed)
    assert problem.true_weights is not None
    assert run.errors is not None
    row: Row = {}
    for i, arm in enumerate(arms):
        row[f"{arm.name} error"] = float(run.errors[i, -1])
        row[f"{arm.name} cos −w*"] = -_cosine(run.weights[i], problem.true_weights)
    return row


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def share_above_one(rows: list[Row]) -> dict[str, Row]:
    """Return, per trainer, the share of nets that end above error 1 and their cosines with −w*."""
    shares = {}
    for name in TRAINERS:
        lost = [row for row in rows if row[f"{name} error"] > 1.0]
        shares[name] = {
            "nets": len(rows),
            "ended above error 1": len(lost),
            "share": len(lost) / len(rows),
            "cos −w* there": [row[f"{name} cos −w*"] for row in lost],
        }
    return shares


def run() -> None:
    """Compute and store the evidence, and fail if Neuro-Tron ever ends in the mirror basin."""
    title = (
        f"Where trainers end: paper's N(0, 1) setting, θ = 0.25, β = 0.5, {STEPS} steps, 20 nets"
    )
    units = {f"net {seed}": partial(net, seed) for seed in range(NETS)}
    rows = collect("mirror_nets", title, units)
    shares = share_above_one(rows)
    title = "Nets on which a trainer ends above error 1, and the cosine of its weights with −w*"
    summary = [{"trainer": name, **row} for name, row in shares.items()]
    write_table("mirror", title, summary, [{"summary of": "mirror_nets.md"}])
    assert shares["NeuroTron"]["ended above error 1"] == 0
    assert shares["SGD"]["ended above error 1"] > 0
