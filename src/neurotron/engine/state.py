"""What the next step needs to know: the state of a cohort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neurotron._types import Array, Index
from neurotron.problem import Problem
from neurotron.trainers import Arm

__all__ = ["CohortState", "divergence_limit"]


@dataclass
class CohortState:
    """The learners of a cohort after `step` updates."""

    step: int
    weights: Array
    """Shape (r, arms)."""
    memory: list[tuple[float, ...]]
    """The state of each arm's trainer (empty for trainers that do not adapt)."""
    stopped_at: Index
    """The step at which an arm diverged, −1 while it runs; shape (arms,)."""

    @classmethod
    def initial(cls, problem: Problem, arms: list[Arm]) -> CohortState:
        """Return the state before the first update: every arm at the initial weights."""
        weights = np.repeat(problem.initial_weights[:, None], len(arms), axis=1)
        memory = [tuple(map(float, arm.trainer.initial_state)) for arm in arms]
        return cls(0, weights, memory, np.full(len(arms), -1))

    @property
    def running(self) -> npt.NDArray[np.bool_]:
        """Which arms have not diverged, shape (arms,)."""
        return self.stopped_at < 0

    def errors(self, true_weights: Array) -> Array:
        """Return ‖w − w*‖ of each arm, shape (arms,), infinite if it diverged."""
        away = self.weights - true_weights[:, None]
        return self.or_infinite(np.linalg.norm(away, axis=0))

    def or_infinite(self, values: Array) -> Array:
        """Return the values of the arms, (arms,), infinite for those that diverged."""
        return np.where(self.running & ~np.isnan(values), values, np.inf)

    def copy(self) -> CohortState:
        """Return an independent copy."""
        return self.part(np.arange(len(self.memory)))

    def part(self, columns: Index) -> CohortState:
        """Return a copy of the state of some arms."""
        memory = [self.memory[column] for column in columns]
        return CohortState(self.step, self.weights[:, columns], memory, self.stopped_at[columns])

    def take(self, columns: Index, part: CohortState) -> None:
        """Take over the state of some arms."""
        self.step = part.step
        self.weights[:, columns] = part.weights
        self.stopped_at[columns] = part.stopped_at
        for column, memory in zip(columns, part.memory, strict=True):
            self.memory[column] = memory


def divergence_limit(problem: Problem) -> float:
    """Return the size of a weight beyond which an arm has diverged: 10⁶ (1 + its start)."""
    return min(1e6 * (1.0 + float(np.abs(problem.initial_weights).max())), 1e300)
