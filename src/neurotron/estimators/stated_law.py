"""Whether rows can come from a law that somebody states: a plausibility check, not a proof."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from neurotron import _check
from neurotron._types import Array
from neurotron.laws import Law

__all__ = ["refuse_another_law"]

FEWEST, PER_COLUMN = 30, 10
"""With fewer rows, or fewer for each column, nothing is checked."""
MOST_COLUMNS = 200
"""With more columns, nothing is checked."""
FARTHEST = 0.75
"""Values are cut off at this multiple of the spread of a column, so that heavy tails do no harm."""
SINGULAR = 1e10
"""The condition number of a second moment that does not show all directions."""
MOST_APART = 3.0
"""By which factor the spreads of the rows and of the law may differ, in any direction."""


def refuse_another_law(law: Law, rows: Array, *, shifted: bool) -> None:
    """Refuse rows that spread by far more or less than a law does, in some direction.

    Without this, a law in other units than those of the rows would give a radius that means
    nothing. The rows must also be where the law is, unless it may be `shifted`.
    """
    count, columns = rows.shape
    if count < max(FEWEST, PER_COLUMN * columns) or columns > MOST_COLUMNS:
        return
    drawn = _drawn(law, 1000 + 2 * PER_COLUMN * columns, columns)
    if not shifted:
        _refuse_another_place(law, rows, drawn)
    less, more = _least_ratio(rows, drawn, shifted), _least_ratio(drawn, rows, shifted)
    if min(less, more) * MOST_APART >= 1.0:
        return
    apart = f"only {less:.2g}" if less < more else f"{1.0 / max(more, 1e-99):.2g}"
    raise _check.InputError(
        f"`X` does not look drawn from {law!r}: in some direction its rows reach {apart} times as "
        "far; give the law of these inputs in their own units, or leave out `law`"
    )


def _refuse_another_place(law: Law, rows: Array, drawn: Array) -> None:
    """Refuse rows whose medians are farther from those of the law than its values spread."""
    low, middle, high = np.quantile(drawn, [0.1, 0.5, 0.9], axis=0)
    here = np.median(rows, axis=0)
    column = int((np.abs(here - middle) / np.where(high > low, high - low, 1.0)).argmax())
    if abs(here[column] - middle[column]) > max(high[column] - low[column], 0.0):
        raise _check.InputError(
            f"`X` does not look drawn from {law!r}: the median of column {column} is "
            f"{here[column]:.3g} instead of {middle[column]:.3g}; give the law of these inputs, or "
            "leave out `law`"
        )


def _drawn(law: Law, count: int, columns: int) -> Array:
    """Return inputs from the law, always the same."""
    draw = np.random.default_rng(0)
    pairs = law.pairs(count, columns)
    return law.inputs(1.0 - draw.random(pairs), draw.random(pairs), count, columns)


def _least_ratio(rows: Array, others: Array, shifted: bool) -> float:
    """Return the spread of rows in units of that of others, in the direction where it is least."""
    low, high = np.quantile(others, [0.1, 0.9], axis=0)
    unit = np.where(high > low, high - low, 1.0)
    moments = [_moment(values, unit, shifted) for values in (rows, others)]
    if np.linalg.cond(moments[1]) > SINGULAR:
        return 1.0  # whether a direction is left out is not for this check to say
    return float(np.sqrt(max(linalg.eigh(*moments, eigvals_only=True)[0], 0.0)))


def _moment(values: Array, unit: Array, shifted: bool) -> Array:
    """Return the second moment of values that are cut off; around their mean if `shifted`."""
    if shifted:
        values = values - np.quantile(values, [0.1, 0.9], axis=0).mean(axis=0)
    values = (values / unit).clip(-FARTHEST, FARTHEST)
    if shifted:
        values = values - values.mean(axis=0)
    return values.T @ values / len(values)
