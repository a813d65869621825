"""What an audit found: numbers with intervals, and the verdict on each tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from neurotron._intervals import Interval
from neurotron.guarantee import Assumption, Guarantee, stated
from neurotron.solvers.proof import EXACT

STRONGEST = "strongest"
"""What tables call the strongest attack on each split."""
WORSE = 0.05
"""A model whose error is by more than this part above that of least squares fits badly."""
Verdict = Literal["within", "exceeded", "undecided", "not asked"]
EXIT_CODES: dict[Verdict, int] = {"not asked": 0, "within": 0, "undecided": 3, "exceeded": 3}
"""What a gate does with each verdict, from the best one to the worst."""
ATTACKED = 0.01
"""If certainly more than this share of the labels is attacked, a tolerance says nothing: damage is
then compared with an error that the attack has raised already, on test rows, too."""


@dataclass(frozen=True)
class Damage:
    """What one attack does, as means over splits with their 95 % intervals."""

    attack: str
    bound: float
    """θ, the largest change of a label."""
    share: float
    """β, the share of labels that were changed, at most."""
    rows: int
    """How many of the fitted labels were changed, at most."""
    error: Interval
    """The rise of the root mean squared error on test rows, in units of the label; at least 0."""
    relative: Interval
    """The same, in units of the error without an attack."""
    mean: Interval
    """The absolute change of the mean prediction."""
    worst: Interval
    """The largest absolute change of a prediction."""
    drift: Interval | None
    """The change of the parameters, relative to their length, if there are any."""


@dataclass(frozen=True, kw_only=True)
class Ceiling(Guarantee):
    """What no attack within a budget can exceed, beside what our attacks reached.

    Its radius is the ceiling of the error's rise, as a mean over the splits.
    """

    bound: float
    share: float
    rows: int
    reason: str
    """Why there is no ceiling; empty if there is one."""
    needs: int | None
    """It is about fits that are proved against so many rows; None if about all fits."""
    theorem: str = ""
    """What it says, if it is a theorem about this estimator that assumes nothing."""
    error: Interval | None = None
    """At most so much can the error rise."""
    relative: Interval | None = None
    mean: Interval | None = None
    worst: Interval | None = None
    reached_error: Interval | None = None
    """So much did it rise in the strongest attack on each split."""
    reached_mean: Interval | None = None
    reached_worst: Interval | None = None

    @property
    def quantity(self) -> str:
        """What the radius is a bound on."""
        return "rise of the root mean squared error on test rows, in label units"

    @property
    def statement(self) -> str:
        """What the ceiling rests on, or why there is none."""
        if self.reason:
            return f"There is no ceiling, because {self.reason}."
        if self.theorem:
            return self.theorem
        if self.needs is None:
            return (
                "The ceilings hold if predictions are linear in the labels, which was tested. "
                "Those of single predictions and of their mean are exact: an attack reaches them."
            )
        return (
            "The ceilings hold if clean labels are exact, for fits whose certificate_.proved is "
            f"{self.needs:,} or more. Other fits may be off by more, and say so by a smaller one."
        )


def assumptions_of(needs: int | None) -> tuple[Assumption, ...]:
    """Return what a ceiling assumes that is about such fits."""
    if needs is None:
        text = "Predictions are linear in the labels."
        return (Assumption("linear", text, "tested", "linear", True),)
    return EXACT, stated(
        "proof", f"The fit reports a proof, `certificate_.proved`, of at least {needs:,}."
    )


@dataclass(frozen=True)
class Breaking:
    """The smallest number of labels whose change breaks the tolerance."""

    bound: float
    of: int
    """The number of fitted labels."""
    rows: int | None
    """The smallest number that was found to break it, or None if none of those tried does."""
    attack: str
    """The attack that raised the error most with so few rows, on any split."""
    unbroken: int
    """The largest number below, for which no attack that was tried breaks it."""
    proven: int | None
    """Up to so many, the ceiling proves that no attack can break it; None without a ceiling."""

    @property
    def share(self) -> float | None:
        """The share of the fitted labels that breaks the tolerance."""
        return None if self.rows is None else self.rows / self.of


@dataclass(frozen=True)
class InfluentialRow:
    """A row whose label matters much."""

    row: int
    """The number of the row in the table, from 0."""
    shift: float
    """The root mean square of the changes of predictions if this label moves as far as it can."""
    splits: int
    """In how many splits it was fitted."""


@dataclass(frozen=True)
class Remedy:
    """Another estimator, with what it costs and what attacks do to it."""

    name: str
    error: Interval
    """The error under the strongest attack on each split, in units of the label."""
    price: Interval
    """The rise of the error without an attack, in units of that of the audited estimator."""
    total: Interval
    """The rise of the error under the strongest attack on each split, in the same units; the price
    is included."""
    damage: Damage
    """The attack that raises its error most, in units of its own error without an attack."""
    at_most: Interval | None
    """What no attack can raise its error beyond, like `total`; None without a ceiling."""
    saved: Interval
    """How much less the error rises than that of the audited estimator, in the same units."""
    verdict: Verdict
    """Whether it holds the tolerances of the audit with the largest budget."""
    transfers_only: bool
    """Whether no attack was worked out for it, so that all are transferred from other models."""
    versus_least_squares: Interval
    """By which part its error without an attack is above that of least squares."""

    @property
    def fits_badly(self) -> bool:
        """Whether a small rise of its error means little, because that is large anyway."""
        return self.versus_least_squares.estimate > WORSE


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
