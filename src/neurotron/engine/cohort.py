"""A cohort of arms that share one stream of batches, and may run on different engines."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from neurotron import _check
from neurotron._types import Index
from neurotron.engine.compiled.cohort import CompiledCohort, obstacle
from neurotron.engine.numpy_cohort import NumpyCohort
from neurotron.engine.recording import Records
from neurotron.engine.state import CohortState, Setup
from neurotron.problem import Problem
from neurotron.trainers import Arm

ENGINES = ("auto", "compiled", "numpy")


class Engine(NamedTuple):
    """Which engine runs an arm, and why."""

    name: str
    reason: str


def choose(engine: str, problem: Problem, arms: Sequence[Arm]) -> list[Engine]:
    """Return the engine of each arm: compiled if possible, unless `engine` names one."""
    _check.choice("engine", engine, ENGINES)
    chosen = []
    for arm in arms:
        reason = obstacle(problem, arm)
        if engine == "compiled" and reason:
            raise _check.InputError(
                f"engine='compiled' cannot run arm {arm.name!r}: {reason}; engine='auto' runs such "
                "arms on the NumPy engine"
            )
        if engine == "numpy":
            chosen.append(Engine("numpy", "requested"))
        elif reason:
            chosen.append(Engine("numpy", reason))
        else:
            chosen.append(Engine("compiled", "all its parts are built in"))
    return chosen


class Part(Protocol):
    """The interface of the parts of a cohort, each of which runs on one engine."""

    state: CohortState

    def compile(self) -> None:
        """Compile now, so that the first step does not wait for it."""

    def advance(self, stop: int, due: Index) -> Records:
        """Train up to step `stop`; record the steps `due`, which may include `stop`."""


KINDS: dict[str, Callable[[Setup], Part]] = {"compiled": CompiledCohort, "numpy": NumpyCohort}


class Cohort:
    """Arms that learn from one stream of batches, each on its own engine."""

    def __init__(self, setup: Setup, engines: Sequence[Engine]) -> None:
        self.state = setup.state
        self.parts: list[tuple[Index, Part]] = []
        for name, kind in KINDS.items():
            columns = np.flatnonzero([engine.name == name for engine in engines])
            if columns.size:
                self.parts.append((columns, kind(setup.part(columns))))

    def compile(self) -> None:
        """Compile now, so that the first step does not wait for it."""
        for _, part in self.parts:
            part.compile()

    def advance(self, stop: int, due: Index) -> Records:
        """Train up to step `stop`; record the steps `due`, which may include `stop`.

        After an exception the state is unchanged, and a new cohort must be created.
        """
        made = [(columns, part.advance(stop, due)) for columns, part in self.parts]
        errors, losses = (np.empty((len(due), len(self.state.memory))) for _ in range(2))
        known = True
        for columns, records in made:
            losses[:, columns] = records.losses
            known = records.errors is not None
            if records.errors is not None:
                errors[:, columns] = records.errors
        for columns, part in self.parts:
            self.state.take(columns, part.state)
        return Records(due, errors if known else None, losses)


def compile_later_stages(setup: Setup, engines: Sequence[Engine]) -> None:
    """Compile what later stages of the arms need, so that it does not hold up the training."""
    later = [
        (dataclasses.replace(arm, trainer=part), engine)
        for arm, engine in zip(setup.arms, engines, strict=True)
        for part in arm.trainer.parts[1:]
    ]
    if later:
        arms = [arm for arm, _ in later]
        begin = setup._replace(arms=arms, state=CohortState.initial(setup.problem, arms))
        Cohort(begin, [engine for _, engine in later]).compile()
