"""Numbers as text: short and readable, or rounded up so that a bound is never too small."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from neurotron._intervals import Interval

_CEILING = Context(prec=4, rounding=ROUND_CEILING)
_FLOOR = Context(prec=4, rounding=ROUND_FLOOR)


def up(value: float) -> str:
    """Return an upper bound as text, rounded up to four digits.

    >>> up(0.362738), up(0.12341), up(2.0), up(0.1)
    ('0.3628', '0.1235', '2', '0.1')
    """
    nearest = f"{value:.4g}"
    if not math.isfinite(value) or float(nearest) >= value:
        return nearest
    return f"{float(_CEILING.create_decimal(Decimal(value))):.4g}"


def down(value: float) -> str:
    """Return a lower bound as text, rounded down to four digits.

    >>> down(0.90049), down(0.9), down(0.99999)
    ('0.9004', '0.9', '0.9999')
    """
    nearest = f"{value:.4g}"
    if not math.isfinite(value) or float(nearest) <= value:
        return nearest
    return f"{float(_FLOOR.create_decimal(Decimal(value))):.4g}"


def readable(value: float, digits: int = 6) -> str:
    """Return a number with so many digits, without an exponent unless it is very large or small.

    >>> readable(1_128_799.5), readable(0.012345678), readable(-3.0), readable(2e-9)
    ('1,128,800', '0.0123457', '-3', '2e-09')
    >>> readable(math.inf), readable(math.nan)
    ('∞', 'not defined')
    """
    if not math.isfinite(value):
        return "not defined" if math.isnan(value) else "∞" if value > 0.0 else "-∞"
    rounded = float(f"{value:.{digits}g}")
    if not 1e-4 <= abs(rounded) < 1e15:
        return f"{rounded:.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def cell(value: object, digits: int = 3) -> str:
    """Return any value as a table shows it.

    >>> cell(12345), cell(0.00012345), cell(math.nan), cell(None), cell("a")
    ('12,345', '0.000123', '–', '–', 'a')
    """
    if isinstance(value, float):
        return "–" if math.isnan(value) else readable(value, digits).replace("-∞", "−∞")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "–" if value is None else str(value)


def percent(share: float, digits: int | None = None) -> str:
    """Return a share in percent, with two digits, or three near all; only all of them are 100 %.

    >>> percent(0.1234), percent(0.99996), percent(1.0), percent(0.0), percent(12.5)
    ('12 %', '99.996 %', '100 %', '0 %', '1,250 %')
    """
    digits = digits or (3 if abs(share) >= 0.995 else 2)
    while (text := readable(100.0 * share, digits)) == "100" and share < 1.0 and digits < 12:
        digits += 1
    return f"{text} %"


def signed(value: float, words: Callable[[float], str] = readable) -> str:
    """Return a number with its sign in front of it, whatever `words` are used for it.

    >>> signed(0.1, percent), signed(-0.1, percent), signed(-0.0)
    ('+10 %', '−10 %', '+0')
    """
    text = words(value + 0.0)
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"


def between(low: float, high: float, words: Callable[[float], str] = percent) -> str:
    """Return the ends of an interval.

    >>> between(0.1, 0.25)
    '10 % to 25 %'
    """
    return f"{words(low)} to {words(high)}"


def with_ends(found: Interval, words: Callable[[float], str]) -> str:
    """Return an estimate with its interval, if that is finite.

    >>> with_ends(Interval(1.0, 0.5, 2.0), readable), with_ends(Interval(1.0, 0, math.inf), up)
    ('1 (0.5 to 2)', '1')
    """
    known = math.isfinite(found.low) and math.isfinite(found.high)
    return words(found.estimate) + f" ({between(found.low, found.high, words)})" * known


def counted(numbers: int | Iterable[int], what: str) -> str:
    """Return how many there are of something, from the fewest to the most.

    >>> counted([20, 10], "replicate"), counted([1], "step"), counted(1_000, "row")
    ('10 to 20 replicates', '1 step', '1,000 rows')
    """
    each = [numbers] if isinstance(numbers, int) else [*numbers]
    few, many = min(each), max(each)
    shown = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    return f"{shown} {what}{'s' if many != 1 else ''}"


def part(count: int, total: int, what: str = "rows") -> str:
    """Return how many of all, with their share.

    >>> part(5, 200), part(1_200, 3_000, "labels")
    ('5 of 200 rows (2.5 %)', '1,200 of 3,000 labels (40 %)')
    """
    return f"{count:,} of {total:,} {what} ({percent(count / total, 3)})"


@dataclass(frozen=True)
class Notation:
    """How the numbers of a claim are written, which rounding must not move to another verdict."""

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

        >>> Notation(" ×").extent([1.39, 1.54]), Notation().extent([1e-15, 2e-15])
        ('1.4–1.5 ×', '1.0e-15 to 2.0e-15')
        """
        low, high = (self.number(value) for value in (min(values), max(values)))
        if low == high:
            return low + self.sign
        dash = " to " if "e" in low + high or "−" in low + high else "–"
        return f"{low}{dash}{high}{self.sign}"


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
