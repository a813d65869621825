r"""Which order statistic of the scores is far enough out, although some of them are poisoned.

Split conformal prediction (Papadopoulos et al., 2002; Lei et al., 2018) calls a label covered if
its score is at most the k-th smallest of n scores of other rows, with
:math:`k = \lceil(1 - \alpha)(n + 1)\rceil`. If m of the n rows are poisoned, k + m is the index
that is needed against every attacker. If each label falls to the attacker by a coin of its own, a
smaller index is enough. docs/theory.md, section (l), has the proofs.

An index above n stands for an infinite score: n rows are then too few.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from scipy.special import betainc, betaincc

from neurotron.guarantee import delta

ROUNDING = 1e-12
"""More than what rounding does to the coverage against coins, times 1 − β: it is subtracted. Tests
compare with 50 digits, and find 1e-14."""


def rank(confidence_level: float, rows: int, given: float | None = None) -> int:
    """Return the index of split conformal prediction, for the level as it is written.

    With a confidence that is `given`, it is the smallest index with which these very calibration
    rows are good enough with this confidence: a binomial number of n trials with this level reaches
    it with a probability of at most 1 − confidence. It is never smaller than the other one.

    >>> rank(0.9, 99), rank(0.7, 9), rank(0.9, 99, given=0.95)
    (90, 7, 95)
    """
    least = ceil(Fraction(repr(confidence_level)) * (rows + 1))
    if given is None:
        return least
    failure = delta(given)

    def enough(k: int) -> bool:  # P(Bin(n, p) ≥ k) is an incomplete beta integral
        return k > rows or float(betainc(k, rows - k + 1, confidence_level)) <= failure

    return first(enough, least, max(least, rows + 1))


def coin_coverage(index: int, rows: int, probability: float) -> float:
    r"""Return the coverage of an order statistic if labels fall by coins, rounded down.

    Each score is replaced with this probability β, whatever the row is. Then the coverage is

    .. math:: \sum_M \binom nM \beta^M (1 - \beta)^{n - M} \frac{[j - M]_+}{n - M + 1}
              = \frac{E[j - B]_+}{(n + 1)(1 - \beta)}, \qquad B \sim \mathrm{Bin}(n + 1, \beta) ,

    because :math:`\binom nM / (n - M + 1) = \binom{n + 1}M / (n + 1)`. The mean needs two values of
    the binomial distribution function, which is an incomplete beta integral. It is at least
    j − (n + 1)β, which is exact if B never exceeds j, and is computed without rounding.

    >>> round(coin_coverage(91, 99, 0.1), 9), round(coin_coverage(10, 10, 0.5), 9)
    (0.9, 0.818270597)
    """
    below = float(betaincc(index, rows + 2 - index, probability))
    before = float(betaincc(index - 1, rows + 2 - index, probability)) if index > 1 else 0.0
    mean = index * below - (rows + 1) * probability * before
    rounded = mean / ((rows + 1) * (1.0 - probability)) - ROUNDING / (1.0 - probability)
    beta = Fraction(repr(probability))
    return max(rounded, float((index - (rows + 1) * beta) / ((rows + 1) * (1 - beta))))


def coin_index(confidence_level: float, rows: int, probability: float) -> int:
    """Return the smallest index that covers with this probability if labels fall by coins.

    >>> coin_index(0.9, 99, 0.1)
    91
    """
    return first(
        lambda index: index > rows or coin_coverage(index, rows, probability) >= confidence_level,
        1, rows + 1,
    )  # fmt: skip


def rows_needed(index: Callable[[int], int]) -> int:
    """Return the smallest number of rows that is not below the index for so many rows.

    >>> rows_needed(lambda rows: rank(0.9, rows) + 20)
    209
    """

    def enough(rows: int) -> bool:
        return index(rows) <= rows

    high = 1
    while not enough(high):
        high *= 2
    return first(enough, 1, high)


def first(true: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number in [low, high] from which on a condition is true, by bisection."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if true(middle) else (middle + 1, high)
    return low
