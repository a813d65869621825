"""Numbers as text: short and readable, or rounded up so that a bound is never too small."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal

__all__ = ["counted", "percent", "readable", "up"]

_CEILING = Context(prec=4, rounding=ROUND_CEILING)


def up(value: float) -> str:
    """Return an upper bound as text, rounded up to four digits.

    >>> up(0.362738), up(0.12341), up(2.0), up(0.1)
    ('0.3628', '0.1235', '2', '0.1')
    """
    nearest = f"{value:.4g}"
    if not math.isfinite(value) or float(nearest) >= value:
        return nearest
    return f"{float(_CEILING.create_decimal(Decimal(value))):.4g}"


def readable(value: float, digits: int = 6) -> str:
    """Return a number with so many digits, without an exponent unless it is very large or small.

    >>> readable(1_128_799.5), readable(0.012345678), readable(-3.0), readable(2e-9)
    ('1,128,800', '0.0123457', '-3', '2e-09')
    """
    rounded = float(f"{value:.{digits}g}")
    if not 1e-4 <= abs(rounded) < 1e15:
        return f"{rounded:g}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Return a share in percent, with two digits, or three near all.

    >>> percent(0.1234), percent(0.9961), percent(1.0), percent(0.0), percent(12.5)
    ('12 %', '99.6 %', '100 %', '0 %', '1,250 %')
    """
    return f"{readable(100.0 * share, 3 if share >= 0.995 else 2)} %"


def counted(numbers: Iterable[int], what: str) -> str:
    """Return how many there are of something, from the fewest to the most.

    >>> counted([20, 10], "replicate"), counted([1], "step")
    ('10 to 20 replicates', '1 step')
    """
    each = [*numbers]
    few, many = min(each), max(each)
    shown = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    return f"{shown} {what}{'s' if many != 1 else ''}"
