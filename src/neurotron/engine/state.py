"""The state of a cohort, everything that an engine needs to run it, and two weights in a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._formula import select
from neurotron._pickling import Pickled
from neurotron._streams import Stream
from neurotron._types import Array, Index
from neurotron.problem import Problem
from neurotron.trainers import Arm
from neurotron.trainers.stages import Snapshot, Stage, current_stage, first_stage

LEAST = 1e-300
"""A smaller squared norm is treated as 0, as dividing by it would overflow."""


@dataclass
class CohortState:
    """The arms of a cohort after `step` updates."""

    step: int
    weights: Array
    """Shape (r, arms)."""
    memory: list[tuple[float, ...]]
    """The state of each arm's trainer (empty for trainers that do not adapt)."""
    stopped_at: Index
    """The step at which an arm diverged, −1 while it runs; shape (arms,)."""
    average: Array
    """The weights that are reported, (r, arms): averages, for trainers that average."""
    stages: list[Stage]
    """The present stage of each arm."""

    @classmethod
    def initial(cls, problem: Problem, arms: list[Arm]) -> CohortState:
        """Return the state before the first update: every arm at the initial weights."""
        weights = np.repeat(problem.initial_weights[:, None], len(arms), axis=1)
        memory = [tuple(map(float, arm.trainer.parts[0].initial_state)) for arm in arms]
        stages = [first_stage(arm.trainer) for arm in arms]
        return cls(0, weights, memory, np.full(len(arms), -1), weights.copy(), stages)

    @property
    def next_stage_at(self) -> int:
        """The first step at which a running arm begins its next stage."""
        ends = [stage.until for stage, runs in zip(self.stages, self.running, strict=True) if runs]
        return min(ends, default=self.step)

    def begin_due_stages(self, arms: Sequence[Arm]) -> None:
        """Begin the next stage of the running arms whose stage has ended.

        A stage begins at the reported weights. An arm whose stage continues keeps its average.
        """
        for column in np.flatnonzero(self.running).tolist():
            here = Snapshot(_check.freeze(self.average[:, column].copy()), self.memory[column])
            self.stages[column], begin = current_stage(
                arms[column].trainer, self.stages[column], here, self.step
            )
            if begin is not None:
                self.memory[column] = tuple(map(float, begin.memory))
                self.weights[:, column] = self.average[:, column] = begin.weights

    @property
    def running(self) -> npt.NDArray[np.bool_]:
        """Which arms have not diverged, shape (arms,)."""
        return self.stopped_at < 0

    def errors(self, true_weights: Array) -> Array:
        """Return ‖w − w*‖ of each arm, shape (arms,), infinite if it diverged."""
        away = self.average - true_weights[:, None]
        return self.or_infinite(np.linalg.norm(away, axis=0))

    def or_infinite(self, values: Array) -> Array:
        """Return the values of the arms, (arms,), infinite for those that diverged."""
        return np.where(self.running & ~np.isnan(values), values, np.inf)

    def kept(self) -> KeptState:
        """Return a copy that cannot be changed."""
        state = self.part(np.arange(len(self.memory)))
        return KeptState(
            state.step,
            _check.freeze(state.weights),
            tuple(state.memory),
            _check.freeze(state.stopped_at),
            _check.freeze(state.average),
            tuple(state.stages),
        )

    def part(self, columns: Index) -> CohortState:
        """Return a copy of the state of some arms."""
        return CohortState(
            self.step,
            self.weights[:, columns],
            [self.memory[column] for column in columns],
            self.stopped_at[columns],
            self.average[:, columns],
            [self.stages[column] for column in columns],
        )

    def take(self, columns: Index, part: CohortState) -> None:
        """Overwrite the state of some arms."""
        self.step = part.step
        self.weights[:, columns] = part.weights
        self.average[:, columns] = part.average
        self.stopped_at[columns] = part.stopped_at
        for column, memory in zip(columns, part.memory, strict=True):
            self.memory[column] = memory


@dataclass(frozen=True, eq=False, repr=False)
class KeptState(Pickled):
    """The state at the end of a run, which cannot be changed and from which `resume` continues."""

    step: int
    weights: Array
    memory: tuple[tuple[float, ...], ...]
    stopped_at: Index
    average: Array
    stages: tuple[Stage, ...]

    def __repr__(self) -> str:
        return f"KeptState({_check.shapes({'step': self.step, 'weights': self.weights})})"

    def resumed(self) -> CohortState:
        """Return a copy of the state, which the engine can change, to continue from."""
        return CohortState(
            self.step,
            self.weights.copy(),
            list(self.memory),
            self.stopped_at.copy(),
            self.average.copy(),
            list(self.stages),
        )


class Setup(NamedTuple):
    """A problem, its arms, the stream of batches, and the present state of the arms."""

    problem: Problem
    arms: Sequence[Arm]
    """The arms, with trainers whose step size and sensing matrix are numbers."""
    batch_size: int
    stream: Stream
    """The random numbers of this replicate."""
    state: CohortState
    """The state of the arms, which the cohort updates in place."""

    def part(self, columns: Index) -> Setup:
        """Return the setup of some arms, with a copy of their state."""
        arms = [self.arms[int(column)] for column in columns]
        return self._replace(arms=arms, state=self.state.part(columns))

    def with_current_trainers(self) -> Setup:
        """Return the setup with the trainer of each arm's present stage."""
        arms = [
            dataclasses.replace(arm, trainer=arm.trainer.parts[stage.part])
            for arm, stage in zip(self.arms, self.state.stages, strict=True)
        ]
        return self._replace(arms=arms)


def divergence_limit(problem: Problem) -> float:
    """Return the absolute value of a weight above which an arm counts as diverged.

    It is 10⁶ times 1 plus the largest weight at the start, or of w* if that is known and larger.
    """
    known = (problem.initial_weights, problem.true_weights)
    largest = max(float(np.abs(weights).max()) for weights in known if weights is not None)
    return min(1e6 * (1.0 + largest), 1e300)


def inverse_square(square: Any) -> Any:
    """Return ω(x) = 1/‖x‖² from the squared norm, elementwise; 0 for x = 0.

    >>> inverse_square(np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    return select(square >= LEAST, 1.0 / np.maximum(square, LEAST), 0.0)


def newest_share(count: Any) -> Any:
    r"""Return the share of the newest of `count` weight vectors in their average.

    The t-th vector then has the weight :math:`t (t+1) (t+2)`, of the order t³ (Shamir and Zhang,
    *Stochastic gradient descent for non-smooth optimization*, 2013).

    >>> newest_share(1.0)
    1.0
    """
    return 4.0 / (count + 3.0)
