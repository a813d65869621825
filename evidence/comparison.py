"""The picture of docs/theory.md: Theorem 1, the sharp certificate, and what is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import neurotron as nt
from evidence.store import Row, collect

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "certificate.png"
BLUE, RED, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"


def problem() -> nt.Problem:
    """Return the paper's N(0, 1) setting on network 0."""
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=0)
    return nt.Problem.draw(network, nt.Normal(), seed=0)


def strong_attack(steps: int = 40_000, runs: int = 4) -> Row:
    """Return certified and measured errors at β = 0.5, θ = 1, where Theorem 1 says nothing."""
    left, _, _ = np.linalg.svd(problem().network.mean_gate)
    attack = nt.attacks.OddDirection(1.0, 0.5, direction=left[:, -1])
    arms = [
        nt.Arm(nt.NeuroTron(1e-3), attack, name="η = 1e-3"),
        nt.Arm(nt.NeuroTron("scheduled"), attack, name="scheduled"),
    ]
    made = [
        nt.simulate(problem(), arms, steps=steps, batch_size=16, replicate=i) for i in range(runs)
    ]
    errors = np.array([run.errors for run in made])
    certificates = [nt.certify(problem(), arm, batch_size=16, steps=steps) for arm in arms]
    return {
        "steps": made[0].steps.tolist(),
        "limit": certificates[0].limit,
        "certified": {a.name: _roots(c) for a, c in zip(arms, certificates, strict=True)},
        "measured": {
            arm.name: np.sqrt((errors[:, i] ** 2).mean(axis=0)).tolist()
            for i, arm in enumerate(arms)
        },
    }


def weak_attack() -> Row:
    """Return the trajectories at β = 0.05, θ = 0.25, where Theorem 1 speaks as well.

    Its own best step size for an accuracy of 1 with polar M; what the sharp certificate says of
    that very run, and of the one it would plan itself.
    """
    budget = nt.Budget(0.25, 0.05)
    paper = nt.plan(
        problem(), budget, accuracy=1.0, batch_size=16, sensing="polar", method="theorem1"
    )
    same = nt.certify(problem(), paper.arm, batch_size=16, steps=paper.steps, budget=budget)
    ours = nt.plan(problem(), budget, accuracy=1.0, batch_size=16)
    return {
        "Theorem 1": [paper.certificate.at_steps.tolist(), _roots(paper.certificate)],
        "sharp, same run": [same.at_steps.tolist(), _roots(same)],
        "sharp, own step size": [ours.certificate.at_steps.tolist(), _roots(ours.certificate)],
        "steps to accuracy 1": {"Theorem 1": paper.steps, "sharp": ours.steps},
    }


def _roots(certificate: nt.guarantees.TrainingCertificate) -> list[float]:
    return np.sqrt(certificate.mean_square_bounds).tolist()


def draw(strong: Row, weak: Row) -> Any:
    """Return the figure."""
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (name, certified), colour in zip(strong["certified"].items(), (BLUE, RED), strict=True):
        measured = strong["measured"][name]
        left.loglog(strong["steps"], certified, color=colour, label=f"certified, {name}")
        left.loglog(strong["steps"], measured, "--", color=colour, label=f"measured, {name}")
    left.axhline(strong["limit"], color=BLACK, linestyle=":", label="limit of every step size")
    left.set(title="β = 0.5, θ = 1: Theorem 1 guarantees nothing", ylabel="RMS error ‖w − w*‖")
    names = ("Theorem 1", "sharp, same run", "sharp, own step size")
    for name, colour, style in zip(names, (GREEN, BLUE, RED), ("-.", "-", "--"), strict=True):
        right.loglog(*weak[name], style, color=colour, label=f"certified by {name}")
    right.set(title="β = 0.05, θ = 0.25: both speak", ylabel="certified RMS error")
    left.set_ylim(bottom=0.03)
    for axes in (left, right):
        axes.set(xlabel="steps")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", frameon=False, loc="lower left")
    return figure


def run() -> None:
    """Compute, store and draw; fail if the sharp certificate is not the better one."""
    title = "Theorem 1 and the sharp certificate on the paper's N(0, 1) net 0 (docs/theory.md)"
    units = {"strong attack": lambda: {"data": strong_attack()},
             "weak attack": lambda: {"data": weak_attack()}}  # fmt: skip
    strong, weak = (row["data"] for row in collect("comparison", title, units, table=False))
    draw(strong, weak).savefig(PICTURE, dpi=150)
    needed = weak["steps to accuracy 1"]
    assert needed["sharp"] < 1e-3 * needed["Theorem 1"]
