"""Effects: what was measured about a claim, as a phrase with numbers.

A claim has a `Phrase`, made by `spread`, `worst` or `count`. It turns findings into words, and
`described` adds where they were found. The numbers come from the fields of the findings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurotron.lab.claims.model import Finding

__all__ = [
    "Phrase", "Unit", "cases", "count", "described", "growth", "percent", "spread", "times",
    "worst",
]  # fmt: skip

MOST_CASES = 4
"""How many cases are named."""


@dataclass(frozen=True)
class Unit:
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

        >>> Unit(limits=(1.0,)).number(0.9996), Unit().number(0.9996), Unit().number(1.61e11)
        ('0.9996', '1.0', '1.6e11')
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

        >>> times().extent([1.39, 1.54]), percent().extent([1.0]), Unit().extent([1e-15, 2e-15])
        ('1.4–1.5 ×', '100 %', '1.0e-15 to 2.0e-15')
        """
        low, high = (self.number(value) for value in (min(values), max(values)))
        if low == high:
            return low + self.sign
        dash = " to " if "e" in low + high or "−" in low + high else "–"
        return f"{low}{dash}{high}{self.sign}"


def times(*limits: float) -> Unit:
    """Return the unit of ratios."""
    return Unit(" ×", limits=limits)


def percent(*limits: float) -> Unit:
    """Return the unit of shares; only all of them are 100 %, and only none are 0 %."""
    return Unit(" %", 3, 2, (0.0, 1.0, *limits))


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
    """How findings are put into words, and the noun for all of them together."""

    words: Callable[[Sequence[Finding]], str]
    again: Callable[[Sequence[Finding]], str]
    """The numbers alone, where the same words were said just before."""
    noun: str = "comparisons"
    """Empty if the words already say how many there are."""


def spread(
    words: str, unit: Unit | None = None, *, noun: str = "comparisons", diverged: str = ""
) -> Phrase:
    """Return the phrase of the smallest and the largest estimate.

    `words` has ``{}`` for these, and may have ``{group}`` and ``{total}``. If the two are the same
    number, or the findings are undecided, the interval follows. `diverged` are the words if all
    estimates are infinite because runs diverged.
    """
    chosen = unit or Unit()

    def phrase(findings: Sequence[Finding], words: str = words) -> str:
        first, estimates = findings[0], [one.estimate for one in findings]
        if diverged and all(one.estimate == one.worst == math.inf for one in findings):
            return diverged.format(group=first.group)
        extent = chosen.extent(estimates)
        text = words.format(extent, group=first.group, **_sums(findings))
        interval = chosen.extent([end for one in findings for end in (one.low, one.high)])
        is_one = chosen.number(min(estimates)) == chosen.number(max(estimates))
        if (is_one or first.holds is None) and interval != extent:
            text += f" (95 % interval{'s' if len(findings) > 1 else ''} {interval})"
        return text

    return Phrase(phrase, lambda findings: phrase(findings, "{}"), noun)


def worst(words: str, pick: Callable[[Sequence[float]], float], unit: Unit | None = None) -> Phrase:
    """Return the phrase of the run that is worst for the claim: the largest value or the smallest.

    `words` has ``{}`` for it, and may have ``{count}`` and ``{total}``.
    """
    chosen = unit or Unit()

    def phrase(findings: Sequence[Finding]) -> str:
        value = pick([one.estimate if one.worst is None else one.worst for one in findings])
        return words.format(chosen.extent([value]), **_sums(findings))

    return Phrase(phrase, phrase, noun="")


def growth(letter: str) -> Phrase:
    """Return the phrase of slopes over θ or β, and of the least growth where it is too little."""
    slope = spread("slope {} on a log-log scale", Unit("", 3, limits=(0.0,)))
    least = worst("{}", min, times(1.0))

    def phrase(findings: Sequence[Finding]) -> str:
        text = slope.words(findings)
        if findings[0].holds:
            return text
        return f"{text}, from one {letter} to the next at least {least.words(findings)} the error"

    return Phrase(phrase, phrase, noun="settings")


def count(words: str) -> Phrase:
    """Return the phrase of counts over all findings: ``{count}`` of ``{total}``.

    `words` may also have ``{rest}`` (those not counted) and ``{replicates}``.
    """

    def phrase(findings: Sequence[Finding]) -> str:
        return words.format(**_sums(findings))

    return Phrase(phrase, phrase, noun="")


def _sums(findings: Sequence[Finding]) -> dict[str, str]:
    counted, total = (sum(getattr(one, name) or 0 for one in findings) for name in COUNTS)
    replicates = sum(one.replicates for one in findings)
    numbers = {"count": counted, "total": total, "rest": total - counted, "replicates": replicates}
    return {name: f"{number:,}" for name, number in numbers.items()}


COUNTS = "count", "total"


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
        kind = phrase.noun or "comparisons"
        parts.append(_placed(phrase.words(first), first, alike, f" of {len(alike)} {kind}", phrase))
        parts.extend(_placed(phrase.again(some), some, alike, "", phrase) for some in others)
    return "; ".join(parts)


def _placed(
    text: str, some: Sequence[Finding], alike: Sequence[Finding], of: str, phrase: Phrase
) -> str:
    """Return what was measured in some of the findings of a group, and in which cases."""
    outcome, many = some[0].holds, len(some)
    if many == len(alike):
        every = "both" if many == 2 else f"all {many}"
        place = f" in {every} {phrase.noun}" if phrase.noun and many > 1 else ""
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
