"""Everything a cohort is made of, whichever engine runs it."""

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
    """Who learns what from which batches, and where they stand."""

    problem: Problem
    arms: Sequence[Arm]
    """With their trainers resolved."""
    batch_size: int
    stream: Stream
    """The random numbers of this replicate."""
    state: CohortState
    """Where the arms stand; the cohort updates it in place."""

    def part(self, columns: Index) -> Setup:
        """Return the setup of some arms, with a state of their own."""
        arms = [self.arms[int(column)] for column in columns]
        return self._replace(arms=arms, state=self.state.part(columns))

    def with_current_trainers(self) -> Setup:
        """Return the setup with the trainer of the stage that each arm is in."""
        arms = [
            dataclasses.replace(arm, trainer=arm.trainer.parts[stage.part])
            for arm, stage in zip(self.arms, self.state.stages, strict=True)
        ]
        return self._replace(arms=arms)
