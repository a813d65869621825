"""The frozen workloads: the settings of the paper's Table 1, and its outer-weight experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import neurotron as nt

BOUNDS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
PROBABILITIES = (0.0, 0.005, 0.05, 0.1, 0.2, 0.5, 0.9)
TRAINERS: dict[str, Callable[[float], nt.Trainer]] = {
    "tron": lambda step: nt.NeuroTron(step, sensing="center"),
    "sgd": nt.SGD,
}


@dataclass(frozen=True)
class Setting:
    """One setting of the study: dimensions, law, step size and the levels of its attack."""

    name: str
    law: nt.Law
    n_inputs: int
    filter_size: int
    width: int
    batch_size: int
    step_size: float
    levels: tuple[tuple[float, float], ...]
    """Pairs (θ, β)."""
    outer_weights: float = 1.0
    trainers: tuple[str, ...] = ("tron", "sgd")

    def problem(self, seed: int = 1) -> nt.Problem:
        """Return the problem of a network seed."""
        network = nt.networks.symmetric(
            self.n_inputs, self.filter_size, self.width, seed=seed, outer_weights=self.outer_weights
        )
        return nt.Problem.draw(network, self.law, seed=seed)

    def arms(self) -> list[nt.Arm]:
        """Return every trainer at every level of the paper's attack."""
        return [
            nt.Arm(
                TRAINERS[trainer](self.step_size),
                nt.attacks.AlternatingSign(bound, probability),
                name=f"{trainer} {i}",
            )
            for trainer in self.trainers
            for i, (bound, probability) in enumerate(self.levels)
        ]

    def run(
        self, steps: int, arms: list[nt.Arm] | None = None, replicate: int = 0
    ) -> nt.Trajectories:
        """Simulate the setting, or some other arms on its stream."""
        return nt.simulate(
            self.problem(),
            self.arms() if arms is None else arms,
            steps=steps,
            batch_size=self.batch_size,
            replicate=replicate,
        )


LEVELS = tuple((bound, 0.5) for bound in BOUNDS) + tuple((0.25, beta) for beta in PROBABILITIES)
FOUR_LAWS = (
    Setting("N(0, 1)", nt.Normal(), 100, 25, 10, 16, 1e-4, LEVELS),
    Setting("t(4)", nt.StudentT(4), 100, 25, 10, 16, 1e-4, LEVELS),
    Setting("N(0, 9)", nt.Normal(scale=3.0), 50, 25, 10, 16, 5e-5, LEVELS),
    Setting("Laplace(2)", nt.Laplace(scale=2.0), 50, 25, 10, 16, 5e-5, LEVELS),
)
OUTER = tuple(
    Setting(
        f"outer weights {q:g}", nt.Normal(), 50, 20, 100, 64, step,
        ((0.0, 0.05), (0.5, 0.05), (1.0, 0.05)), q, ("tron",),
    )
    for q, step in ((1.0, 1e-4), (10.0, 2e-5))
)  # fmt: skip
STUDY = (*FOUR_LAWS, *OUTER)
