"""A trainer made of stages: one trainer after another."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from neurotron import _check
from neurotron._types import Array
from neurotron.trainers.base import Trainer

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem

__all__ = ["FOREVER", "Stages", "Standing", "Turn"]

FOREVER = 2**62


class Standing(NamedTuple):
    """Where an arm stands: its weights (r,), and the state of the trainer in use."""

    weights: Array
    memory: tuple[float, ...]


class Turn(NamedTuple):
    """Which stage an arm is in, from step `since` until step `until`."""

    stage: int = 0
    since: int = 0
    until: int = FOREVER
    kept: Standing | None = None
    """A place worth coming back to, if the trainer has left one."""
    mark: float = 0.0
    """A number to compare with later."""
    tries: int = 0
    """How often the trainer has begun again."""


class Stages(Trainer):
    """One trainer after another, each starting where the last one ended.

    Where a stage ends is a share of the steps a run is asked for: to go on with it later, ask for
    the same steps again.

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

    step_words: ClassVar[tuple[str, ...]] = ("fastest", "scheduled")

    def __init__(self, *stages: tuple[Trainer, float]) -> None:
        for i, stage in enumerate(stages):
            if not isinstance(stage, tuple) or len(stage) != 2:
                raise _check.InputError(f"stages[{i}] must be a pair (trainer, share of the steps)")
            _check.instance(f"trainer of stages[{i}]", stage[0], Trainer)
            _check.number(f"share of stages[{i}]", stage[1], "(0, 1]")
            if isinstance(stage[0], Stages):
                raise _check.InputError(f"stages[{i}] has stages itself: write them in one row")
        shares = tuple(float(share) for _, share in stages)
        if abs(math.fsum(shares) - 1.0) > 1e-9:
            raise _check.InputError(f"the shares must add up to 1, got {math.fsum(shares):g}")
        object.__setattr__(self, "shares", shares)
        self._take(tuple(trainer for trainer, _ in stages))

    shares: tuple[float, ...]
    stages: tuple[Trainer, ...]
    ends: tuple[int, ...] = ()
    """The step at which each stage ends, once the run is known."""

    def _take(self, stages: tuple[Trainer, ...], **known: object) -> None:
        known |= {"step_size": stages[0].step_size, "averaging": stages[-1].averaging}
        for name, value in {"stages": stages, **known}.items():
            object.__setattr__(self, name, value)

    @property
    def parts(self) -> tuple[Trainer, ...]:
        """The trainer of each stage."""
        return self.stages

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> Stages:
        """Return the stages with everything filled in, and where they end."""
        stages = tuple(
            stage.resolve(problem, batch_size=batch_size, steps=steps, attack=attack)
            for stage in self.stages
        )
        shares = (math.fsum(self.shares[:count]) for count in range(1, len(self.shares)))
        resolved = copy.copy(self)
        resolved._take(stages, ends=(*(round(share * steps) for share in shares), FOREVER))
        return resolved

    def first_turn(self) -> Turn:
        """Return the turn a run begins with."""
        return Turn(until=self.ends[0])

    def next_turn(self, turn: Turn, standing: Standing) -> tuple[Turn, Standing]:
        """Return the turn after one that is over, and where it begins."""
        stage = turn.stage + 1
        after = Turn(stage, since=turn.until, until=self.ends[stage])
        return after, standing._replace(memory=self.parts[stage].initial_state)

    def __repr__(self) -> str:
        stages = zip(self.parts, self.shares, strict=True)
        return f"Stages({', '.join(f'({part!r}, {share:g})' for part, share in stages)})"
