"""The frozen workloads: the paper's attack in the settings of the catalog study `paper`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import neurotron as nt
from neurotron import laws, networks, trainers
from neurotron._registry import parse
from neurotron.lab.claims.paper import PUBLISHED_STEP_SIZES
from neurotron.lab.training.spec import Setting as Spec
from neurotron.lab.training.spec import Sweep
from neurotron.trainers.catalog import step_size_of

__all__ = [
    "ATTACK", "FOUR_LAWS", "NEW_ATTACKS", "OUTER", "PAPER", "PLAIN", "QUICK", "STUDY", "TRAINERS",
    "GeneralSetting", "Workload", "fewer",
]  # fmt: skip

QUICK = bool(os.environ.get("BENCHMARKS_QUICK"))
"""Whether this is a rehearsal: everything runs, but so briefly that its numbers mean nothing."""

PAPER = {
    one["name"]: Spec.model_validate_json(json.dumps(one)) for one in nt.lab.read("paper").settings
}
"""The settings of the paper's study, by name."""
ATTACK = "alternating-sign"
TRANSCRIBED = ("neuro-tron", "sgd")
"""The algorithms that the transcription has."""


def fewer(count: int) -> int:
    """Return how many steps to run: so many, or in a rehearsal a hundredth of them."""
    return -(-count // 100) if QUICK else count


def _published(setting: Spec) -> list[Sweep]:
    """Return the sweeps of the paper's attack; those with trainers of their own are ours."""
    return [
        each
        for each in setting.sweeps
        if each.attack == ATTACK and not any("(ours)" in label for label in each.trainers or ())
    ]


@dataclass(frozen=True)
class Workload:
    """One setting of the study: dimensions, law, step size and the levels of its attack."""

    key: str
    """What the study calls it."""
    name: str
    law: nt.Law
    n_inputs: int
    filter_size: int
    width: int
    outer_weights: float
    batch_size: int
    step_size: float
    levels: tuple[tuple[float, float], ...]
    """Pairs (θ, β) of both sweeps; one that they share is there twice, as it was run twice."""
    trainers: dict[str, str]
    """By algorithm, as text."""

    @classmethod
    def of(cls, setting: Spec) -> Workload:
        """Return the setting of the catalog study, with the paper's attack and step size only."""
        numbers = parse(setting.network)[1]
        weights, step_size = numbers.get("outer_weights"), setting.step_size
        if weights is not None:  # two step sizes each, and the paper has one
            step_size = PUBLISHED_STEP_SIZES[weights]
        return cls(
            key=setting.name,
            name=setting.title or setting.name,
            law=laws.BY_NAME.build(setting.law),
            n_inputs=setting.n_inputs,
            filter_size=setting.filter_size,
            width=numbers["width"],
            outer_weights=weights or 1.0,
            batch_size=setting.batch_size,
            step_size=step_size,
            levels=tuple(level for sweep in _published(setting) for level in sweep.levels),
            trainers={
                parse(text)[0]: text
                for text in setting.trainers.values()
                if parse(text)[0] in TRANSCRIBED and step_size_of(text, step_size) == step_size
            },
        )

    def problem(self, seed: int = 1) -> nt.Problem:
        """Return the problem of a network seed."""
        network = networks.symmetric(
            self.n_inputs, self.filter_size, self.width, seed=seed, outer_weights=self.outer_weights
        )
        return nt.Problem.draw(network, self.law, seed=seed)

    def arms(self) -> list[nt.Arm]:
        """Return every trainer at every level of the paper's attack."""
        return [
            nt.Arm(
                trainers.build(text, step_size=self.step_size),
                nt.attacks.AlternatingSign(bound, probability),
                name=f"{algorithm} {i}",
            )
            for algorithm, text in self.trainers.items()
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

    def start(self, steps: int, arms: list[nt.Arm] | None = None) -> nt.simulation.Run:
        """Set up the same run, which trains while it is iterated over."""
        return nt.simulation.iterate(
            self.problem(),
            self.arms() if arms is None else arms,
            steps=steps,
            batch_size=self.batch_size,
        )


class GeneralSetting(Workload):
    """The same with gates that have nothing in common."""

    def problem(self, seed: int = 1) -> nt.Problem:
        """Return the problem of a network seed."""
        shape = (self.width, self.filter_size, self.n_inputs)
        gates = np.random.default_rng(seed).standard_normal(shape)
        return nt.Problem.draw(networks.from_gates(gates), self.law, seed=seed)


_WITH_ITS_ATTACK = (Workload.of(setting) for setting in PAPER.values() if _published(setting))
STUDY = tuple(setting for setting in _WITH_ITS_ATTACK if setting.trainers)
"""The settings in which the paper's trainers meet its attack; in others all trainers are ours."""
FOUR_LAWS = tuple(setting for setting in STUDY if len(setting.trainers) == len(TRANSCRIBED))
OUTER = tuple(setting for setting in STUDY if setting not in FOUR_LAWS)

TRAINERS: dict[str, Callable[[], nt.Trainer]] = {
    "NeuroTron": lambda: nt.NeuroTron("fastest"),
    "ClippedTron": nt.ClippedTron,
    "RefinedTron": lambda: nt.RefinedTron(100),
    "averaging": lambda: nt.NeuroTron("fastest", averaging=True),
    "SGD": lambda: nt.SGD(1e-4),
    "ClippedSGD": nt.ClippedSGD,
    "HuberSGD": nt.HuberSGD,
    "TrimmedSGD": nt.TrimmedSGD,
}
PLAIN = {
    "ClippedTron": "NeuroTron", "RefinedTron": "NeuroTron", "averaging": "NeuroTron",
    "ClippedSGD": "SGD", "HuberSGD": "SGD", "TrimmedSGD": "SGD",
}  # fmt: skip
"""The plain trainer of the same direction, by robust trainer."""
NEW_ATTACKS = (
    "burst", "large-norm", "half-space", "mixture", "multiplicative:factor=3",
    "replacement:scale=10", "sign-flip",
)  # fmt: skip
