"""The budget of an attacker: how much and how often it changes labels, and what it sees."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from neurotron import _check
from neurotron.attacks.base import Attack


@dataclass(frozen=True)
class Budget:
    """What an attacker may do: how much it changes labels, and how often.

    Use it in place of an attack to get a guarantee against every attacker within the budget. Give
    either the `probability` with which labels are attacked during training, or the number of `rows`
    of a table whose labels were changed before it.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label. Leave it out if `plan` is to find it.
    probability
        The probability β in [0, 1] that a label is attacked, at most. Leave it out if `plan` is to
        find it.
    scope
        "query" if the change of a label depends only on its own sample and on the past; "batch" if
        it may depend on the whole batch.
    rows
        How many stored labels were changed before training, at most. This is for rows of data that
        are drawn with replacement; the changed labels are drawn like all others.

    Examples
    --------
    >>> Budget(bound=1.0, probability=0.5)
    Budget(bound=1, probability=0.5)
    >>> Budget(bound=1.0, rows=3)
    Budget(bound=1, rows=3)
    """

    bound: float | None = None
    probability: float | None = None
    scope: Literal["query", "batch"] = "query"
    rows: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, interval in (("bound", "[0, 1e70]"), ("probability", "[0, 1]")):
            if getattr(self, name) is not None:
                number = _check.number(name, getattr(self, name), interval)
                object.__setattr__(self, name, number)
        _check.choice("scope", self.scope, ("query", "batch"))
        if self.rows is not None:
            self._check_rows()

    def _check_rows(self) -> None:
        object.__setattr__(self, "rows", _check.integer("rows", self.rows, 0))
        if self.probability or self.scope == "batch":
            raise _check.InputError(
                "`rows` is the number of labels that were changed before training, so there is no "
                "`probability` or `scope` of an attack during training: leave it out"
            )
        object.__setattr__(self, "probability", 0.0)

    def __repr__(self) -> str:
        numbers = {"bound": self.bound, "probability": self.probability}
        if self.rows is not None:
            numbers = {"bound": self.bound, "rows": self.rows}
        parts = [f"{name}={value:.12g}" for name, value in numbers.items() if value is not None]
        return f"Budget({', '.join(parts + ['scope=batch'] * (self.scope == 'batch'))})"


NO_ATTACK = Budget(bound=0.0, probability=0.0)


def budget_of(attack: Attack | Budget | None) -> Budget:
    """Return the budget of an attack; its `probability` is the largest one at any sample."""
    if attack is None:
        return NO_ATTACK
    if isinstance(attack, Budget):
        return attack
    _check.instance("attack", attack, Attack)
    bound = attack.bound if math.isfinite(attack.bound) else None
    return Budget(bound, attack.probability, "query" if attack.scope == "query" else "batch")


def chance_within(part: float, share: float) -> float:
    """Return the probability with which to attack a part of the labels to hit a share of all.

    The probability is at most 1, so a part that is too small is attacked entirely.

    >>> chance_within(0.5, share=0.2), chance_within(0.1, share=0.2), chance_within(0.0, share=0.0)
    (0.4, 1.0, 0.0)
    """
    return share / part if share < part else float(share > 0.0)
