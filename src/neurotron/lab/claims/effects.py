"""Effects: what was measured about a claim, as a phrase with numbers.

A claim has a `Phrase`, which turns findings into words, and `described` adds where they were found.
The numbers come from the fields of the findings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neurotron._digits import Notation

if TYPE_CHECKING:
    from neurotron.lab.claims.model import Finding

MOST_CASES = 4
"""How many cases are named."""


def times(*limits: float) -> Notation:
    """Return the unit of ratios."""
    return Notation(" ×", limits=limits)


def percent(*limits: float) -> Notation:
    """Return the unit of shares; only all of them are 100 %, and only none are 0 %."""
    return Notation(" %", 3, 2, (0.0, 1.0, *limits))


@dataclass(frozen=True)
class Phrase:
    """How findings are put into words."""

    words: str = "{}"
    """They may have ``{}`` for the smallest and the largest estimate, ``{least}`` and ``{most}``
    for the run that is worst for the claim, ``{group}``, ``{replicates}``, and ``{count}`` and
    ``{rest}`` of ``{total}`` runs, replicates or networks."""
    notation: Notation = field(default_factory=Notation)
    noun: str = "comparisons"
    """What several findings are called."""
    diverged: str = ""
    """The words if all estimates are infinite because runs diverged."""
    failing: Phrase | None = None
    """What is added if the claim does not hold, or is undecided."""

    @property
    def has_estimates(self) -> bool:
        """Whether the words have estimates; others already say how many findings there are."""
        return "{}" in self.words

    def said(self, findings: Sequence[Finding], words: str = "") -> str:
        """Return the words with their numbers.

        If all estimates are the same number, or the findings are undecided, the interval follows.
        """
        first, extent = findings[0], self.notation.extent
        if self.diverged and all(one.estimate == one.worst == math.inf for one in findings):
            return self.diverged.format(group=first.group)
        estimates = [one.estimate for one in findings]
        extremes = [one.estimate if one.worst is None else one.worst for one in findings]
        text = (words or self.words).format(
            extent(estimates), least=extent([min(extremes)]), most=extent([max(extremes)]),
            group=first.group, **_sums(findings),
        )  # fmt: skip
        interval = extent([end for one in findings for end in (one.low, one.high)])
        is_one = self.notation.number(min(estimates)) == self.notation.number(max(estimates))
        open_ = is_one or first.holds is None
        if self.has_estimates and open_ and interval != extent(estimates):
            text += f" (95 % interval{'s' if len(findings) > 1 else ''} {interval})"
        return text + (self.failing.said(findings) if self.failing and not first.holds else "")


def _sums(findings: Sequence[Finding]) -> dict[str, str]:
    counted, total, replicates = (
        sum(getattr(one, name) or 0 for one in findings)
        for name in ("count", "total", "replicates")
    )
    numbers = {"count": counted, "total": total, "rest": total - counted, "replicates": replicates}
    return {name: f"{number:,}" for name, number in numbers.items()}


def described(findings: Sequence[Finding], phrase: Phrase) -> str:
    """Return what was measured and where, beginning with what does not hold."""
    groups: dict[str, list[Finding]] = {}
    for found in findings:
        groups.setdefault(found.group, []).append(found)
    outcomes = (False, None, True)
    parts = []
    for alike in sorted(
        groups.values(), key=lambda group: min(outcomes.index(found.holds) for found in group)
    ):
        by_outcome = ([found for found in alike if found.holds is one] for one in outcomes)
        first, *others = (some for some in by_outcome if some)
        of = f" of {len(alike)} {phrase.noun}"
        parts.append(_placed(phrase.said(first), first, alike, of, phrase))
        again = "{}" if phrase.has_estimates else ""
        parts.extend(_placed(phrase.said(some, again), some, alike, "", phrase) for some in others)
    return "; ".join(parts)


def _placed(
    text: str, some: Sequence[Finding], alike: Sequence[Finding], of: str, phrase: Phrase
) -> str:
    """Return what was measured in some of the findings of a group, and in which cases."""
    outcome, many = some[0].holds, len(some)
    if many == len(alike):
        every = "both" if many == 2 else f"all {many}"
        place = f" in {every} {phrase.noun}" if phrase.has_estimates and many > 1 else ""
    elif outcome:
        place = f" in the other {many}" if many > 1 else " in the other one"
    else:
        place = f" in {many}{of}" + (f" ({cases(some)})" if 2 * many <= len(alike) else "")
    return f"undecided{place}: {text}" if outcome is None else text + place


def cases(findings: Sequence[Finding]) -> str:
    """Return the cases of findings, the first few by name."""
    named = list(dict.fromkeys(found.case for found in findings))
    more = f" and {len(named) - MOST_CASES} more" if len(named) > MOST_CASES else ""
    return "; ".join(named[:MOST_CASES]) + more
