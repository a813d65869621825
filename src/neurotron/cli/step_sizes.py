"""Which step size a trainer has on the command line if none is given."""

from __future__ import annotations

import numpy as np

from neurotron import laws, trainers
from neurotron._registry import kebab_case, parse
from neurotron._streams import Stream
from neurotron.data.base import draw_inputs
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers import NeuroTron, Trainer

__all__ = ["build_trainer", "is_papers", "resolved_step_size"]

PAPER: dict[laws.Law, float] = {
    laws.Normal(): 1e-4,
    laws.StudentT(4.0): 1e-4,
    laws.Normal(scale=3.0): 5e-5,
    laws.Laplace(scale=2.0): 5e-5,
}
"""The step sizes of the paper's Table 1, for its network with 100 inputs and 25 weights."""

CAUTION = 0.5
"""Gradient trainers take this part of Neuro-Tron's fastest step: no theorem covers them."""
ROWS = 2000
"""How many inputs of a law without fourth moments are drawn to find a step size."""


def build_trainer(
    text: str, problem: Problem, *, batch_size: int, papers: bool, step_size: float | None = None
) -> Trainer:
    """Return the trainer that `text` describes, with a sensible step size if it says none.

    That is `step_size` if given, and in the paper's own settings (`papers`) that of its Table 1.
    Otherwise Neuro-Tron gets its fastest step, with inverse-norm weights where the inputs have no
    fourth moments, and gradient trainers get a part of the fastest step with the mean gate.
    """
    name, given = parse(text)
    if step_size is None and papers:
        step_size = PAPER.get(problem.law)
    if step_size is not None:
        return trainers.build(text, step_size=step_size)
    if name == "neuro-tron":
        if "weighting" not in given and problem.even_moments(None).quartic is None:
            text += f"{',' if given else ':'}weighting=inverse-norm"
        return trainers.build(text, step_size="fastest")
    if name in ("sgd", "first-sample-sgd") and "step_size" not in given:
        # the direction of the first sample alone is as noisy as a batch of one
        size = batch_size if name == "sgd" else 1
        return trainers.build(text, step_size=_gradient_step(problem, size))
    return trainers.build(text, step_size=1e-4)


def is_papers(network: FilterNetwork, text: str) -> bool:
    """Return whether a network is that of the paper's Table 1."""
    sizes = (network.n_inputs, network.filter_size, network.width)
    return parse(text)[0] == "symmetric" and sizes == (100, 25, 10) and _is_plain(network)


def _is_plain(network: FilterNetwork) -> bool:
    return network.leak == 0.0 and bool((np.asarray(network.outer_weights) == 1.0).all())


def _gradient_step(problem: Problem, batch_size: int) -> float:
    if problem.even_moments(None).quartic is None:
        n = problem.network.n_inputs
        rows = draw_inputs(problem.law, Stream.of(0, 0), 0, ROWS, n)
        problem = Problem.draw(
            problem.network, laws.Empirical(rows), true_weights=problem.true_weights
        )
    gate = problem.network.mean_gate
    fastest = sharp_recursion(problem, gate, None, None, batch_size).fastest
    return float(f"{CAUTION * fastest:.2g}")


def resolved_step_size(trainer: Trainer, problem: Problem, batch_size: int) -> str:
    """Return the step size of a trainer as text: a number, or that it finds its own."""
    if isinstance(trainer, NeuroTron) and trainer.step_size == "fastest":
        resolved = trainer.resolve(problem, batch_size=batch_size, steps=0, attack=None)
        return f"{resolved.step_size:.3g} (fastest)"
    if "step_size" not in trainers.BY_NAME.parameters(kebab_case(type(trainer).__name__)):
        return "its own"
    return trainer.step_size if isinstance(trainer.step_size, str) else f"{trainer.step_size:.3g}"
