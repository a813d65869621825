"""How well the share of attacked labels is known, if each row is attacked with some probability."""

from __future__ import annotations

from scipy.special import betaincinv

from neurotron._types import Array


def rows_in(counts: Array | None, rows: int) -> float:
    """Return to how many rows that count the same these are equivalent, by Kish's formula.

    >>> import numpy as np
    >>> rows_in(np.array([2.0, 2.0, 0.0]), 3)
    2.0
    """
    if counts is None:
        return float(rows)
    return float(counts.sum() ** 2 / (counts @ counts))


def information(beliefs: Array) -> float:
    """Return which part of the information about a share remains if each row is only believed.

    If every row were known to be attacked or not, the variance of the share π would be π(1 − π)/N.
    It is larger by the inverse of 1 − mean(b(1 − b))/(π(1 − π)), where b are the beliefs.
    """
    share = float(beliefs.mean())
    certain = max(share * (1.0 - share), 1e-12)
    return max(1.0 - float((beliefs * (1.0 - beliefs)).mean()) / certain, 1e-3)


def interval(share: float, rows: float) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson for a probability.

    >>> tuple(round(end, 4) for end in interval(0.0, 100))
    (0.0, 0.0362)
    """
    hits = min(max(share, 0.0), 1.0) * rows
    low = betaincinv(hits, rows - hits + 1.0, 0.025) if hits > 0.0 else 0.0
    high = betaincinv(hits + 1.0, rows - hits, 0.975) if hits < rows else 1.0
    return float(low), float(high)
