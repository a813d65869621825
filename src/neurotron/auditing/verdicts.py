"""Tolerances, what was found against them, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from neurotron import _check
from neurotron._intervals import Interval, of_mean
from neurotron._types import Array
from neurotron.auditing import finding
from neurotron.auditing.finding import Splits
from neurotron.auditing.question import Level

__all__ = ["ATTACKED", "EXIT_CODES", "NO_GATE", "Check", "Gate", "Verdict", "checks", "worse"]

Verdict = Literal["within", "exceeded", "undecided", "not asked"]
EXIT_CODES: dict[Verdict, int] = {"not asked": 0, "within": 0, "undecided": 3, "exceeded": 3}
"""What a gate does with each verdict, from the best one to the worst."""
ATTACKED = 0.01
"""If certainly more than this share of the labels is attacked, a tolerance says nothing: damage is
then compared with an error that the attack has raised already, on test rows, too."""


class Gate(NamedTuple):
    """What decides, besides the tolerance, and changes nothing that is measured."""

    max_change: float | None = None
    """The largest acceptable change of a prediction, in units of the label."""
    accept_suspects: int | None = None
    """Up to so many suspects were looked at by a person, who accepts them."""

    @classmethod
    def of(cls, max_change: float | None = None, accept_suspects: int | None = None) -> Self:
        """Return the gate after checking what was given."""
        if max_change is not None:
            max_change = _check.number("max_change", max_change, "[0, inf)")
        if accept_suspects is not None:
            accept_suspects = _check.integer("accept_suspects", accept_suspects, 0)
        return cls(max_change, accept_suspects)


NO_GATE = Gate()


@dataclass(frozen=True)
class Check:
    """A tolerance beside what was found, for every budget."""

    what: Literal["error", "change"]
    """The rise of the error in units of that without an attack, or the change of a prediction."""
    tolerance: float
    without_suspects: bool
    """Whether the suspects were left out of the table."""
    found: tuple[Interval, ...]
    """What the strongest attack reached. For the error this is the mean over splits; for a change
    it is the largest one on any split, and the upper end of the interval of their mean if that is
    more, because no prediction may change by more."""
    most: tuple[float | None, ...]
    """What no attack exceeds on any split, if there is a ceiling."""

    @property
    def is_proved(self) -> bool:
        """Whether the ceilings are within the tolerance."""
        return all(most is not None and most <= self.tolerance for most in self.most)

    @property
    def verdict(self) -> Verdict:
        """Whether the tolerance holds: "undecided" if an interval reaches beyond it."""
        if any(found.low > self.tolerance for found in self.found):
            return "exceeded"
        within = all(
            found.high <= self.tolerance or (most is not None and most <= self.tolerance)
            for found, most in zip(self.found, self.most, strict=True)
        )
        return "within" if within else "undecided"


def worse(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts."""
    return max(verdicts, key=[*EXIT_CODES].index, default="not asked")


def checks(
    splits: Splits,
    levels: Sequence[Level],
    tolerance: float | None,
    max_change: float | None,
    *,
    without_suspects: bool,
) -> Iterator[Check]:
    """Yield each tolerance that was given, with what was found on these splits."""
    if tolerance is not None:
        rises = tuple(finding.strongest(splits, level).relative for level in levels)
        units = finding.units(splits)
        most = tuple(_most(splits, level, "error", 1.0 / units) for level in levels)
        yield Check("error", tolerance, without_suspects, rises, most)
    if max_change is not None:
        changes = tuple(_largest(finding.largest(splits, level, "worst")) for level in levels)
        most = tuple(_most(splits, level, "worst", np.ones(len(splits))) for level in levels)
        yield Check("change", max_change, without_suspects, changes, most)


def _largest(values: Array) -> Interval:
    """Return the largest of some values, and how large their mean may be if that is more."""
    top = float(values.max())
    return Interval(top, top, max(top, of_mean(values).high))


def _most(splits: Splits, level: Level, name: str, factors: Array) -> float | None:
    """Return the largest ceiling of a column, or None if a split has none."""
    values = [row[name] for row in finding.ceiling_rows(splits, level)]
    return None if None in values else float((np.array(values) * factors).max())
