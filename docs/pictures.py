"""``python -m docs.pictures``: draw the pictures of docs that no study draws (half a minute).

These are docs/images/certificate.png (Theorem 1, the sharp certificate, and what is measured),
activations.png (their two parts), signals.png (filters that are found) and intervals.png (a band
that holds although calibration rows are poisoned, and one that does not).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from research import signals
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import neurotron as nt
from neurotron.estimators import PredictionIntervals

IMAGES = Path(__file__).parent / "images"
BLUE, RED, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"


def problem() -> nt.Problem:
    """Return the paper's N(0, 1) setting on network 0."""
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=0)
    return nt.Problem.draw(network, nt.Normal(), seed=0)


class StrongAttack(NamedTuple):
    """RMS errors at β = 0.5, θ = 1, where Theorem 1 guarantees nothing, by step size."""

    steps: np.ndarray
    certified: dict[str, np.ndarray]
    measured: dict[str, np.ndarray]
    limit: float
    """The best possible bound, for ever smaller step sizes."""


def strong_attack(steps: int = 40_000, runs: int = 4) -> StrongAttack:
    """Certify and measure runs against the attack along the worst direction."""
    left, _, _ = np.linalg.svd(problem().network.mean_gate)
    attack = nt.attacks.OddDirection(1.0, 0.5, direction=left[:, -1])
    arms = [
        nt.Arm(nt.NeuroTron(1e-3), attack, name="η = 1e-3"),
        nt.Arm(nt.NeuroTron("scheduled"), attack, name="scheduled"),
    ]
    made = [
        nt.simulate(problem(), arms, steps=steps, batch_size=16, replicate=i) for i in range(runs)
    ]
    measured = np.sqrt(np.mean([run.errors**2 for run in made], axis=0))
    certificates = [nt.certify(problem(), arm, batch_size=16, steps=steps) for arm in arms]
    names = [arm.name for arm in arms]
    certified = [np.sqrt(certificate.mean_square_bounds) for certificate in certificates]
    return StrongAttack(
        made[0].steps, dict(zip(names, certified, strict=True)),
        dict(zip(names, measured, strict=True)), certificates[0].limit,
    )  # fmt: skip


class WeakAttack(NamedTuple):
    """What is guaranteed at β = 0.05, θ = 0.25, where Theorem 1 gives a guarantee as well."""

    theorem1: nt.Plan
    """With its own best step size for a radius of 1, and polar M."""
    same_run: nt.guarantees.Certificate
    """What the sharp certificate guarantees for that very run."""
    sharp: nt.Plan
    """The plan of the sharp certificate for that radius."""


def weak_attack() -> WeakAttack:
    """Plan for a radius of 1 with either certificate."""
    budget = nt.Budget(0.25, 0.05)
    paper = nt.plan(
        problem(), budget, radius=1.0, batch_size=16, sensing="polar", method="theorem1"
    )
    same = nt.certify(problem(), paper.arm, batch_size=16, steps=paper.steps, budget=budget)
    return WeakAttack(paper, same, nt.plan(problem(), budget, radius=1.0, batch_size=16))


def draw(strong: StrongAttack, weak: WeakAttack) -> Any:
    """Return the figure."""
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, colour in zip(strong.certified, (BLUE, RED), strict=True):
        certified, measured = strong.certified[name], strong.measured[name]
        left.loglog(strong.steps, certified, color=colour, label=f"guaranteed, {name}")
        left.loglog(strong.steps, measured, "--", color=colour, label=f"measured, {name}")
    left.axhline(
        strong.limit, color=BLACK, linestyle=":", label="best possible bound (step size → 0)"
    )
    left.set(
        title="Strong attack (β = 0.5, θ = 1): Theorem 1 guarantees nothing",
        ylabel="RMS error ‖w − w*‖",
    )
    for name, certificate, colour, style in (
        ("Theorem 1", weak.theorem1.certificate, GREEN, "-."),
        ("sharp certificate, the same run", weak.same_run, BLUE, "-"),
        ("sharp certificate, its own step size", weak.sharp.certificate, RED, "--"),
    ):
        bounds = np.sqrt(certificate.mean_square_bounds)
        right.loglog(certificate.at_steps, bounds, style, color=colour, label=name)
    right.set(
        title="Weak attack (β = 0.05, θ = 0.25): both give a guarantee",
        ylabel="guaranteed RMS error",
    )
    left.set_ylim(bottom=0.03)
    for axes in (left, right):
        axes.set(xlabel="steps")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", frameon=False, loc="lower left")
    return figure


def draw_parts() -> Any:
    """Return the figure of four activations, each a line plus an even function."""
    figure = Figure(figsize=(11.0, 3.3), layout="constrained")
    every = figure.subplots(1, 4, sharex=True, sharey=True)
    z = np.linspace(-4.0, 4.0, 401)
    names = {"relu": "ReLU", "softplus": "softplus", "silu": "SiLU", "gelu": "GELU"}
    for axes, (name, title) in zip(every, names.items(), strict=True):
        network = nt.networks.relu_gate(n_inputs=1, activation=name)
        value = network(np.ones(1), z[:, None])
        line = network.odd_slope * z
        axes.plot(z, value, color=BLUE, linewidth=2.0, label="activation σ(z)")
        axes.plot(z, line, "--", color=BLACK, label="odd part: z/2")
        axes.plot(z, value - line, color=RED, label="even part ψ(z)")
        axes.set(title=f"{title}, Λ = {network.even_lipschitz:.3g}", xlabel="z")
        axes.grid(alpha=0.3)
    figure.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                  frameon=False)  # fmt: skip
    return figure


class Bands(NamedTuple):
    """New rows with clean labels, and two bands from the same poisoned calibration rows."""

    x: np.ndarray
    y: np.ndarray
    usual: PredictionIntervals
    safe: PredictionIntervals
    covered: tuple[float, float]
    """The share of 100,000 clean labels that each band covers."""


def bands(m: int = 30) -> Bands:
    """Hide the m largest of 400 calibration errors, which is the worst that can be done."""
    draw = np.random.default_rng(0)

    def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
        x = draw.uniform(-3.0, 3.0, (count, 1))
        return x, 2.0 * np.sin(x[:, 0]) + 0.6 * draw.standard_normal(count)

    model = make_pipeline(SplineTransformer(), LinearRegression()).fit(*rows(500))
    x, y = rows(400)
    worst = np.argsort(-np.abs(y - model.predict(x)))[:m]
    y[worst] = model.predict(x[worst])
    usual, safe = (nt.intervals(model, x, y, poisoned=most) for most in (0, m))
    many, labels = rows(100_000)
    shares = []
    for band in (usual, safe):
        _, ends = band.predict_interval(many)
        shares.append(float(((ends[:, 0, 0] <= labels) & (labels <= ends[:, 1, 0])).mean()))
    return Bands(many[:300], labels[:300], usual, safe, (shares[0], shares[1]))


def draw_bands(found: Bands) -> Any:
    """Return the figure of the two bands."""
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    grid = np.linspace(-3.0, 3.0, 201)[:, None]
    titles = "Usual band", f"Band with poisoned={found.safe.poisoned}"
    pairs = zip(
        figure.subplots(1, 2, sharey=True), titles, (found.usual, found.safe), found.covered,
        (RED, GREEN), strict=True,
    )  # fmt: skip
    for axes, title, band, share, colour in pairs:
        predicted, ends = band.predict_interval(grid)
        low, high = band.predict_interval(found.x)[1][:, :, 0].T
        inside = (low <= found.y) & (found.y <= high)
        axes.fill_between(grid[:, 0], *ends[:, :, 0].T, color=colour, alpha=0.2, label="interval")
        axes.plot(grid[:, 0], predicted, color=BLACK, label="prediction")
        axes.plot(found.x[inside], found.y[inside], ".", color=BLUE, label="clean label, covered")
        axes.plot(found.x[~inside], found.y[~inside], "x", color=RED, label="not covered")
        axes.set(title=f"{title}: covers {100.0 * share:.1f} % of clean labels", xlabel="x")
        axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4,
                  frameon=False)  # fmt: skip
    return figure


if __name__ == "__main__":
    draw_bands(bands()).savefig(IMAGES / "intervals.png", dpi=150)
    draw_parts().savefig(IMAGES / "activations.png", dpi=150)
    draw(strong_attack(), weak_attack()).savefig(IMAGES / "certificate.png", dpi=150)
    signals.draw(signals.picture_filters()).savefig(IMAGES / "signals.png", dpi=150)
