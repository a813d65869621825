"""Trainers made of stages, one trainer after another.

`Stages` and `RefinedTron` describe what to do. Once the run is known, `resolve` turns them into
`ResolvedStages`, which know where a stage ends and what begins then. The engine only carries the
`Stage` of each arm. It asks `first_stage` and `current_stage`, and runs the part in use like any
other trainer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neurotron import _check
from neurotron._types import Array
from neurotron.trainers.base import Trainer

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem

FOREVER = 2**62
MOST_EMPTY = 1000
"""Stages without a step, one after the other, that are taken for a mistake."""


class Snapshot(NamedTuple):
    """The weights (r,) of an arm, and the state of the trainer in use."""

    weights: Array
    memory: tuple[float, ...]


class Stage(NamedTuple):
    """The stage an arm is in, from step `since` until step `until`."""

    part: int = 0
    """Which of the trainer's parts is in use."""
    since: int = 0
    until: int = FOREVER
    notes: tuple[Any, ...] = ()
    """What the trainer wants to remember in later stages; only the trainer itself reads it."""


@dataclass(frozen=True, eq=False, repr=False)
class StagedTrainer(Trainer):
    """Base of trainers made of others, its `parts`, which have step sizes of their own."""

    step_size: float | str = field(default=1.0, init=False, repr=False)
    averaging: bool = field(default=False, init=False, repr=False)

    @property
    def shown_parameters(self) -> dict[str, object]:
        """No parameters, because each part has its own."""
        return {}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Stages(StagedTrainer):
    """One trainer after another, each starting where the last one ended.

    Where a stage ends is a share of the steps of the run. So a run can only be resumed with the
    same number of steps.

    Parameters
    ----------
    stages
        Pairs (trainer, share of the steps); the shares must add up to 1.

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.Stages((nt.NeuroTron(0.01), 0.2), (nt.SGD(0.001), 0.8))
    Stages((NeuroTron(step_size=0.01, sensing='optimal'), 0.2), (SGD(step_size=0.001), 0.8))
    """

    stages: tuple[tuple[Trainer, float], ...]

    def __init__(self, *stages: tuple[Trainer, float]) -> None:
        checked = tuple(_check_stage(f"stages[{i}]", stage) for i, stage in enumerate(stages))
        total = math.fsum(share for _, share in checked)
        if abs(total - 1.0) > 1e-9:
            raise _check.InputError(f"the shares must add up to 1, got {total:g}")
        object.__setattr__(self, "stages", checked)

    @property
    def parts(self) -> tuple[Trainer, ...]:
        """The trainer of each stage."""
        return tuple(trainer for trainer, _ in self.stages)

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> ResolvedStages:
        """Return the stages with everything filled in, and where they end."""
        shares = [share for _, share in self.stages]
        parts = tuple(
            part.resolve(problem, batch_size=batch_size, steps=steps, attack=attack)
            for part in self.parts
        )
        ends = (round(math.fsum(shares[:count]) * steps) for count in range(1, len(shares)))
        return ResolvedStages(parts, (*ends, FOREVER))

    def __repr__(self) -> str:
        return f"Stages({', '.join(f'({part!r}, {share:g})' for part, share in self.stages)})"


def _check_stage(name: str, stage: object) -> tuple[Trainer, float]:
    if not isinstance(stage, tuple) or len(stage) != 2:
        raise _check.InputError(f"{name} must be a pair (trainer, share of the steps)")
    trainer = _check.instance(f"trainer of {name}", stage[0], Trainer)
    share = _check.number(f"share of {name}", stage[1], "(0, 1]")
    if isinstance(trainer, StagedTrainer):
        raise _check.InputError(f"{name} has stages itself: list them all in one Stages(…)")
    return trainer, share


@dataclass(frozen=True, eq=False)
class ResolvedStages(StagedTrainer):
    """The stages of a trainer once the problem and the steps of the run are known."""

    trainers: tuple[Trainer, ...]
    """The trainer of each stage."""
    ends: tuple[int, ...]
    """The step at which each stage ends."""

    @property
    def parts(self) -> tuple[Trainer, ...]:
        """The trainer of each stage."""
        return self.trainers

    def next_stage(self, stage: Stage, snapshot: Snapshot) -> tuple[Stage, Snapshot]:
        """Return the stage after one that is over, and where it begins; it ended at `snapshot`.

        To let a stage go on, return it with its `part` and `since`, and another `until`: then
        weights, state and average stay as they are.
        """
        part = stage.part + 1
        after = Stage(part, since=stage.until, until=self.ends[part])
        return after, snapshot._replace(memory=self.parts[part].initial_state)


def first_stage(trainer: Trainer) -> Stage:
    """Return the stage a run begins with; a trainer without stages has one that never ends."""
    return Stage(until=trainer.ends[0]) if isinstance(trainer, ResolvedStages) else Stage()


def current_stage(
    trainer: Trainer, stage: Stage, snapshot: Snapshot, step: int
) -> tuple[Stage, Snapshot | None]:
    """Return the stage of an arm at `step`, and where it begins; None if the last one goes on."""
    current = stage
    for _ in range(MOST_EMPTY):
        if current.until > step:
            break
        assert isinstance(trainer, ResolvedStages)
        current, snapshot = trainer.next_stage(current, snapshot)
    else:
        raise _check.InputError(
            f"next_stage of {type(trainer).__name__} does not come to an end: a stage must last "
            f"until after step {step}"
        )
    goes_on = (current.part, current.since) == (stage.part, stage.since)
    return current, None if goes_on else snapshot
