"""Upper bounds as text, rounded up, so that the printed number is never too small."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal

__all__ = ["up"]

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
