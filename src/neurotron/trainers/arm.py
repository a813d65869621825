"""An arm of a simulation: one trainer under one attack."""

from __future__ import annotations

from dataclasses import dataclass, field

from neurotron import _check
from neurotron.attacks import Attack
from neurotron.trainers.base import Trainer

__all__ = ["Arm"]


@dataclass(frozen=True, eq=False)
class Arm:
    """One learner of a cohort.

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
