"""Everything that an engine needs to run a cohort."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from neurotron._streams import Stream
from neurotron._types import Index
from neurotron.engine.state import CohortState
from neurotron.problem import Problem
from neurotron.trainers import Arm

__all__ = ["Setup"]


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
