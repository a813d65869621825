"""What an audit asks: which attacks with which budgets, how often, and how labels are limited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron.attacks import Budget
from neurotron.auditing.splits import AuditedTable

MOST_LEVELS = 50


class Level(NamedTuple):
    """A budget: how much labels are changed, and how many of them."""

    bound: float
    """θ, the largest change of a label; infinite if only the range of labels limits it."""
    share: float
    """β, the share of the labels that are changed, at most."""
    rows: int
    """How many of the labels that are fitted may be changed."""


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
    def largest(self) -> Level:
        """The largest budget, at which alternatives are compared."""
        return max(self.levels, key=lambda level: (level.bound * level.share, level.rows))

    @property
    def limited_range(self) -> tuple[float, float] | None:
        """The range of labels, or None if they may be anything."""
        return self.label_range if any(map(math.isfinite, self.label_range)) else None


def levels_of(
    budget: Budget | Sequence[Budget], table: AuditedTable, label_range: Any
) -> tuple[Level, ...]:
    """Return the levels of one or more budgets, each of which must change a label of a split."""
    budgets = [budget] if isinstance(budget, Budget) else budget
    if not isinstance(budgets, (list, tuple)) or not 0 < len(budgets) <= MOST_LEVELS:
        raise _check.InputError(
            "`budget` must be a Budget such as Budget(bound=1.0, probability=0.1), or a list of up "
            f"to {MOST_LEVELS} of them, got {_check.shown(budget)}"
        )
    return tuple(_level(each, table, label_range) for each in budgets)


def _level(budget: Budget, table: AuditedTable, label_range: Any) -> Level:
    """Return the level of a budget.

    A share is rounded down, as an attack may not change more labels. If the budget is a number of
    rows of the table, the part of them that is fitted is rounded up, so that the attacker has at
    least his share of the fitted rows.
    """
    _check.instance("budget", budget, Budget)
    bound, count = _bound(budget, label_range), table.n_training
    if budget.rows is not None:
        if budget.rows > len(table):
            raise _check.InputError(
                f"the budget has {budget.rows:,} rows, but the table has only {len(table):,}"
            )
        rows = math.ceil(budget.rows / len(table) * count - 1e-9)
        share = rows / count
    elif budget.probability is not None:
        share = budget.probability
        rows = math.floor(share * count + 1e-9)
    else:
        raise _check.InputError(
            "the budget must say how many labels can be changed, by `probability` or `rows`"
        )
    if rows < 1:
        raise _check.InputError(
            f"a share of {share:.3g} is none of the {count:,} labels that are fitted: give a "
            f"`probability` of at least {1.0 / count:.3g}, or a number of `rows`"
        )
    return Level(bound, share, rows)


def _bound(budget: Budget, label_range: Any) -> float:
    if budget.bound == 0.0:
        raise _check.InputError("`bound` must be above 0, or there is no attack")
    if budget.bound is not None:
        return budget.bound
    if label_range is None or not np.isfinite(_check.numbers("label_range", label_range)).all():
        raise _check.InputError(
            "the budget must say how far labels can be moved: give a `bound`, or a `label_range` "
            "with two ends, within which labels can become anything"
        )
    return math.inf
