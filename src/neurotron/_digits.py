"""Bounds as text: rounded up, so that what is printed is never below what holds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal

__all__ = ["up"]

_CEILING = Context(prec=4, rounding=ROUND_CEILING)


def up(value: float) -> str:
    """Return an upper bound as text of four digits, the least that is not below it.

    >>> up(0.362738), up(0.12341), up(2.0), up(0.1)
    ('0.3628', '0.1235', '2', '0.1')
    """
    nearest = f"{value:.4g}"
    if not math.isfinite(value) or float(nearest) >= value:
        return nearest
    return f"{float(_CEILING.create_decimal(Decimal(value))):.4g}"
