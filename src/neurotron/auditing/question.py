"""What an audit asks: which attacks with which budgets, how often, and how labels are limited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from neurotron import _check
from neurotron.attacks import Budget
from neurotron.auditing.splits import AuditedTable

__all__ = ["Level", "Question", "levels_of"]

MOST_LEVELS = 50


class Level(NamedTuple):
    """How much labels are changed, and how many of them."""

    bound: float
    """θ, the largest change of a label; infinite if only the range of labels limits it."""
    share: float
    """β, the share of the labels that are changed, at most."""
    of_rows: int | None = None
    """The number of rows of the whole table, if that is how the budget was given."""

    @property
    def key(self) -> tuple[float, float]:
        """θ and β, which rows of measurements have."""
        return self.bound, self.share

    def rows(self, count: int) -> int:
        """Return how many of `count` labels may be changed.

        A share is rounded down, as the attack may not change more. If the budget was given as k
        rows of the whole table, the part of a split is rounded up, so that the attacker is not
        weaker than k rows allow.
        """
        if self.of_rows is None:
            return min(math.floor(self.share * count + 1e-9), count)
        return min(math.ceil(self.share * count - 1e-9), count)


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked about every split of a table."""

    levels: tuple[Level, ...]
    attacks: tuple[Any, ...]
    """Names of attacks, or attacks of the user's own."""
    replicates: int
    seed: int
    label_range: tuple[float, float] = (-math.inf, math.inf)
    tolerance: float | None = None
    """The largest rise of the error, in units of that without an attack, that is acceptable. If it
    is given, smaller and larger numbers of rows are tried, too."""

    @property
    def limited_range(self) -> tuple[float, float] | None:
        """The range of labels, or None if they may be anything."""
        return self.label_range if any(map(math.isfinite, self.label_range)) else None


def levels_of(
    budget: Budget | Sequence[Budget], table: AuditedTable, label_range: Any
) -> tuple[Level, ...]:
    """Return the levels of one or more budgets, each of which must change a label of a split."""
    budgets = [budget] if isinstance(budget, Budget) else budget
    if not isinstance(budgets, (list, tuple)) or not budgets:
        raise _check.InputError(
            "`budget` must be a Budget such as Budget(bound=1.0, probability=0.1), or a list of "
            f"them, got {_check.shown(budget)}"
        )
    if len(budgets) > MOST_LEVELS:
        raise _check.InputError(
            f"`budget` must be at most {MOST_LEVELS} budgets, got {len(budgets)}"
        )
    return tuple(_level(each, table, label_range) for each in budgets)


def _level(budget: Budget, table: AuditedTable, label_range: Any) -> Level:
    _check.instance("budget", budget, Budget)
    if budget.bound is None and label_range is None:
        raise _check.InputError(
            "`budget` must say how far labels can be moved: give it a `bound`, or give a "
            "`label_range` within which labels can become anything"
        )
    bound = math.inf if budget.bound is None else budget.bound
    if bound == 0.0:
        raise _check.InputError("`budget` must have a bound above 0, or there is no attack")
    if budget.rows is None:
        if budget.probability is None:
            raise _check.InputError(
                "`budget` must say how many labels can be changed: give it a `probability` or a "
                "number of `rows`"
            )
        level = Level(bound, budget.probability)
    else:
        if budget.rows > len(table):
            raise _check.InputError(
                f"`budget` has {budget.rows:,} rows, but the table has only {len(table):,}"
            )
        level = Level(bound, budget.rows / len(table), budget.rows)
    if level.rows(table.n_training) < 1:
        raise _check.InputError(
            f"`budget` {budget!r} changes none of the {table.n_training:,} rows that are fitted: "
            f"give a probability of at least {1.0 / table.n_training:.3g}, or a number of rows"
        )
    return level
