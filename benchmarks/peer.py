"""What we are compared with: Algorithm 1 as the paper states it, in plain NumPy.

One learner with its own network and its own data. Every step draws a batch and evaluates
⟨w, A_i x⟩ gate by gate, for the label and for the answer; the gradient goes through the b × b
diagonal matrix of active gates, as the published method does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import neurotron as nt
from benchmarks.workloads import Workload

Array = np.ndarray


def sampler(law: nt.Law, generator: np.random.Generator) -> Callable[[tuple[int, int]], Array]:
    """Return how NumPy draws a batch from one of the paper's laws."""
    if isinstance(law, nt.Normal):
        return lambda shape: generator.normal(0.0, law.scale, shape)
    if isinstance(law, nt.Laplace):
        return lambda shape: generator.laplace(0.0, law.scale, shape)
    assert isinstance(law, nt.StudentT)
    return lambda shape: generator.standard_t(law.dof, shape)


class Learner:
    """One learner of a setting, at one level of the attack."""

    def __init__(self, setting: Workload, trainer: str, bound: float, probability: float) -> None:
        self.generator = generator = np.random.default_rng(0)
        self.setting, self.trainer = setting, trainer
        self.bound, self.probability = bound, probability
        shape = (setting.filter_size, setting.n_inputs)
        middle, other = generator.standard_normal(shape), generator.standard_normal(shape)
        half = setting.width // 2
        self.factors = [f for f in range(-half, half + 1) if f]
        self.gates = [middle + factor * other for factor in self.factors]
        self.sensing = middle
        self.true_weights = generator.standard_normal(setting.filter_size)
        self.weights = np.ones(setting.filter_size)
        self.draw = sampler(setting.law, generator)
        self.signs = np.where(np.arange(setting.batch_size) % 2, 1.0, -1.0)

    def net(self, weights: Array, inputs: Array) -> Array:
        """Return f_w(x) = (1/k) Σ q relu(⟨w, A_i x⟩)."""
        total = np.zeros(len(inputs))
        for gate in self.gates:
            total += self.setting.outer_weights * np.maximum(weights @ (gate @ inputs.T), 0.0)
        return total / len(self.gates)

    def gradient(self, weights: Array, inputs: Array) -> Array:
        """Return ∇f_w(x) of each sample, (r, b)."""
        total = np.zeros((len(weights), len(inputs)))
        for gate in self.gates:
            seen = gate @ inputs.T
            total += self.setting.outer_weights * seen @ np.diag((weights @ seen > 0.0) * 1.0)
        return total / len(self.gates)

    def step(self) -> float:
        """Make one update; return the error ‖w − w*‖."""
        b = self.setting.batch_size
        inputs = self.draw((b, self.setting.n_inputs))
        labels = self.net(self.true_weights, inputs)
        attacked = self.generator.random(b) <= self.probability
        labels = labels + attacked * self.bound * self.signs
        residual = labels - self.net(self.weights, inputs)
        if self.trainer == "neuro-tron":
            move = self.sensing @ (inputs.T @ residual)
        else:
            move = self.gradient(self.weights, inputs) @ residual
        self.weights = self.weights + self.setting.step_size / b * move
        return float(np.linalg.norm(self.weights - self.true_weights))


class ThriftyLearner(Learner):
    """The same, but with (wᵀA_i)x in place of wᵀ(A_i x): what a careful person would write."""

    def net(self, weights: Array, inputs: Array) -> Array:
        """Return f_w(x)."""
        total = np.zeros(len(inputs))
        for gate in self.gates:
            total += self.setting.outer_weights * np.maximum(inputs @ (weights @ gate), 0.0)
        return total / len(self.gates)
