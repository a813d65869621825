"""Effects: what was measured about a claim, as a phrase with numbers.

A claim has a `Phrase`, which turns findings into words, and `described` adds where they were found.
The numbers come from the fields of the findings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurotron.lab.claims.model import Finding

MOST_CASES = 4
"""How many cases are named."""


@dataclass(frozen=True)
class Notation:
    """How numbers are written."""

    sign: str = ""
    digits: int = 2
    """The significant digits."""
    power: int = 0
    """The power of ten that numbers are multiplied by: 2 for percentages."""
    limits: tuple[float, ...] = ()
    """Numbers that rounding must not reach or cross."""

    def number(self, value: float) -> str:
        """Return a number in a few digits, or in as many as keep it on its side of every limit.

        >>> [Notation(limits=limits).number(0.9996) for limits in ((), (1.0,))]
        ['1.0', '0.9996']
        """
        exact = Decimal(repr(float(value)))
        if not exact.is_finite():
            return "−∞" if exact < 0 else "∞"
        for digits in range(self.digits, 18):
            near = Context(prec=digits).plus(exact)
            if all(_side(near, limit) == _side(exact, limit) for limit in self.limits):
                break
        return _written(near, digits, self.power)

    def extent(self, values: Sequence[float]) -> str:
        """Return the smallest and the largest of some numbers, with the sign of the unit.

        >>> times().extent([1.39, 1.54]), percent().extent([1.0]), Notation().extent([1e-15, 2e-15])
        ('1.4–1.5 ×', '100 %', '1.0e-15 to 2.0e-15')
        """
        low, high = (self.number(value) for value in (min(values), max(values)))
        if low == high:
            return low + self.sign
        dash = " to " if "e" in low + high or "−" in low + high else "–"
        return f"{low}{dash}{high}{self.sign}"


def times(*limits: float) -> Notation:
    """Return the unit of ratios."""
    return Notation(" ×", limits=limits)


def percent(*limits: float) -> Notation:
    """Return the unit of shares; only all of them are 100 %, and only none are 0 %."""
    return Notation(" %", 3, 2, (0.0, 1.0, *limits))


def _side(number: Decimal, limit: float) -> int:
    bound = Decimal(repr(limit))
    return (number > bound) - (number < bound)


def _written(number: Decimal, digits: int, power: int) -> str:
    """Return a number times a power of ten, written with all of its digits."""
    if not number:
        return "0"
    whole = number.quantize(Decimal((0, (1,), number.adjusted() - digits + 1))).scaleb(power)
    near = Decimal("1e-3") <= abs(whole) < Decimal("1e6")
    text = f"{whole:,f}" if near else f"{whole:e}".replace("e+", "e")
    return f"−{text[1:]}" if text.startswith("-") else text


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
