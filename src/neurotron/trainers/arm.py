"""An arm of a simulation: one trainer under one attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from neurotron import _check
from neurotron.attacks import Attack, Query
from neurotron.problem import Problem
from neurotron.trainers.base import Trainer
from neurotron.trainers.neuro_tron import NeuroTron

__all__ = ["Arm", "check_arms"]


@dataclass(frozen=True, eq=False)
class Arm:
    """A trainer under an attack.

    Parameters
    ----------
    trainer
        How it moves.
    attack
        Who tampers with its labels; None for honest labels.
    name
        What to call it in tables and figures; by default its trainer and attack.

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.Arm(nt.SGD(step_size=1e-4)).name
    'SGD(step_size=0.0001)'
    """

    trainer: Trainer
    attack: Attack | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _check.instance("trainer", self.trainer, Trainer)
        if self.attack is not None:
            _check.instance("attack", self.attack, Attack)
        _check.instance("name", self.name, str)
        if not self.name:
            under = "" if self.attack is None else f" under {self.attack!r}"
            object.__setattr__(self, "name", f"{self.trainer!r}{under}")


def check_arms(arms: Sequence[Arm], problem: Problem) -> list[Arm]:
    """Return the arms of a run, if they have distinct names and fit the problem."""
    if not isinstance(arms, Sequence):
        raise _check.InputError("`arms` must be a list of Arm: write [arm]")
    checked = [_check.instance(f"arms[{i}]", arm, Arm) for i, arm in enumerate(arms)]
    if not checked:
        raise _check.InputError("`arms` must hold at least one Arm")
    seen: set[str] = set()
    for arm in checked:
        if arm.name in seen:
            raise _check.InputError(
                f"two arms are called {_check.shown(arm.name)}: tell them apart with name=…"
            )
        seen.add(arm.name)
    for arm in checked:
        _check_fit(arm, problem)
    return checked


def _check_fit(arm: Arm, problem: Problem) -> None:
    """Refuse pieces that do not fit together, naming both, before any work."""
    size = problem.network.filter_size
    for trainer in arm.trainer.parts:
        if trainer.direction != "sensing" or isinstance(trainer, NeuroTron):
            continue
        raise _check.InputError(
            f"trainer {trainer!r} has direction 'sensing' but no sensing matrix: derive it "
            "from NeuroTron"
        )
    if arm.attack is None:
        return
    attack, vector = arm.attack, arm.attack.probe_vector
    if vector is not None and np.shape(vector) != (size,):
        raise _check.InputError(
            f"attack {attack!r} has a vector of shape {np.shape(vector)}, but the network has "
            f"{size} weights"
        )
    if (
        vector is None
        and attack.query_fields != Query._fields
        and {"probe", "probe_output"} & {*attack.query_fields}
    ):
        raise _check.InputError(
            f"attack {attack!r} uses a probe, but has no `probe_vector` to probe with"
        )
    if problem.true_weights is None and "push" in attack.query_fields:
        raise _check.InputError(
            f"attack {attack!r} uses `push`, which needs the problem's true_weights (if it does "
            "not look at it, its `query_fields` should say so)"
        )
