"""Which step size a trainer has on the command line if none is given."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from neurotron import laws, trainers
from neurotron._registry import parse
from neurotron._streams import Stream
from neurotron.attacks import Attack
from neurotron.data.base import draw_inputs
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers import NeuroTron, Trainer
from neurotron.trainers.catalog import takes_step_size

__all__ = ["Defaults", "is_papers", "papers_step_size", "resolved_step_size"]

PAPER: dict[laws.Law, float] = {
    laws.Normal(): 1e-4,
    laws.StudentT(4.0): 1e-4,
    laws.Normal(scale=3.0): 5e-5,
    laws.Laplace(scale=2.0): 5e-5,
}
"""The step sizes of the paper's Table 1, for its network with 100 inputs and 25 weights."""

GRADIENT = 10.0
"""How much larger a gradient trainer's step may be than Neuro-Tron's, relative to the fastest."""
LARGEST = 0.5
"""The largest part of the fastest step that a gradient trainer gets: no theorem covers them."""
ROWS = 2000
"""How many inputs of a law without fourth moments are drawn to find a step size."""


@dataclass(frozen=True)
class Defaults:
    """What decides the step sizes of trainers that are given without one."""

    problem: Problem
    attack: Attack | None
    steps: int
    batch_size: int
    step_size: float | None = None
    """The one that was asked for, for all of them."""

    def build(self, text: str) -> Trainer:
        """Return the trainer that `text` describes.

        Neuro-Tron gets the step size with the best guarantee after these steps, or the fastest one
        if nothing is guaranteed. Gradient trainers get a step of about the same patience, measured
        by the fastest step with the mean gate as sensing matrix.
        """
        name, given = parse(text)
        if self.step_size is not None or "step_size" in given:
            asked_for = "fastest" if self.step_size is None else self.step_size
            return trainers.build(text, step_size=asked_for)
        if name == "neuro-tron":
            trainer = trainers.build(text, step_size="fastest")
            assert isinstance(trainer, NeuroTron)
            from neurotron.guarantees.plan import planned

            best = planned(
                trainer, self.problem, self.attack, steps=self.steps, batch_size=self.batch_size
            )
            return trainer if best is None else best.arm.trainer
        if not takes_step_size(text):
            return trainers.build(text, step_size="fastest")
        kind = cast(type[Trainer], trainers.BY_NAME.factory(name))
        return trainers.build(text, step_size=self._gradient_step(kind.direction))

    def _gradient_step(self, direction: str) -> float:
        """Return a step size for a trainer that no theorem covers.

        The direction of the first sample alone is as noisy as a batch of one.
        """
        if direction == "first_gradient":
            return _rounded(LARGEST * _fastest_with_mean_gate(self.problem, 1))
        part = min(LARGEST, GRADIENT * self._patience)
        return _rounded(part * _fastest_with_mean_gate(self.problem, self.batch_size))

    @cached_property
    def _patience(self) -> float:
        """Neuro-Tron's planned step size as a part of its fastest one."""
        found, fastest = (
            trainer.resolve(
                self.problem, batch_size=self.batch_size, steps=self.steps, attack=self.attack
            ).step_size
            for trainer in (self.build("neuro-tron"), NeuroTron())
        )
        return float(found) / float(fastest)


def papers_step_size(problem: Problem, network: str) -> float | None:
    """Return the step size of the paper's Table 1 if a problem is one of its settings."""
    return PAPER.get(problem.law) if is_papers(problem.network, network) else None


def is_papers(network: FilterNetwork, text: str) -> bool:
    """Return whether a network is that of the paper's Table 1."""
    sizes = (network.n_inputs, network.filter_size, network.width)
    return parse(text)[0] == "symmetric" and sizes == (100, 25, 10) and _is_plain(network)


def _is_plain(network: FilterNetwork) -> bool:
    return (
        network.activation is None
        and network.leak == 0.0
        and bool((np.asarray(network.outer_weights) == 1.0).all())
    )


def _fastest_with_mean_gate(problem: Problem, batch_size: int) -> float:
    if problem.even_moments(None).quartic is None:
        n = problem.network.n_inputs
        rows = draw_inputs(problem.law, Stream.of(0, 0), 0, ROWS, n)
        problem = Problem.draw(
            problem.network, laws.Empirical(rows), true_weights=problem.true_weights
        )
    return sharp_recursion(problem, problem.network.mean_gate, None, None, batch_size).fastest


def _rounded(step_size: float) -> float:
    return float(f"{step_size:.2g}")


def resolved_step_size(trainer: Trainer, problem: Problem, batch_size: int) -> str:
    """Return the step size of a trainer as text: a number, or that it finds its own."""
    if isinstance(trainer, NeuroTron) and trainer.step_size == "fastest":
        resolved = trainer.resolve(problem, batch_size=batch_size, steps=0, attack=None)
        return f"{resolved.step_size:.3g} (fastest)"
    if "step_size" not in inspect.signature(type(trainer)).parameters:
        return "its own"
    return trainer.step_size if isinstance(trainer.step_size, str) else f"{trainer.step_size:.3g}"
