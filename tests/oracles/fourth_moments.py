"""The fourth moment of deviations again, with polynomials and with any number of digits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from neurotron.theory.fourth_moment import FourthMoment


def times(*factors: list[Any]) -> list[Any]:
    """Return the coefficients of the product of polynomials in z."""
    product = [1]
    for factor in factors:
        longer = [0] * (len(product) + len(factor) - 1)
        for (i, one), (j, other) in itertools.product(enumerate(product), enumerate(factor)):
            longer[i + j] = longer[i + j] + one * other
        product = longer
    return product


def plus(*terms: list[Any]) -> list[Any]:
    """Return the coefficients of the sum of polynomials in z."""
    longest = max(map(len, terms))
    return [sum(term[i] for term in terms if i < len(term)) for i in range(longest)]


def fourth_moments(
    fourth: FourthMoment, lengths: Any, spreads: Any, etas: Any, number: Any = np.longdouble
) -> list[Any]:
    """Return U after 0, 1, … steps, from B and V before each step, as docs/theory.md states it."""
    path = fourth.path
    v2, v1, v0, low, high = map(
        number, (path.square, path.linear, path.constant, path.low, path.high)
    )
    a1, a0, k1, k0 = map(
        number, (fourth.along, fourth.along_disturbed, fourth.single, fourth.single_disturbed)
    )
    found, z = [number(0)], [0, 1]
    for length, spread, eta in zip(lengths, spreads, etas, strict=False):
        length, spread, eta = number(length), number(spread), number(eta)
        f = max(abs(1 - eta * low), abs(1 - eta * high))
        far = [length, 1]
        v = plus(times([v2], far, far), times([v1], far), [v0])
        a, k = plus(times([a1], far), [a0]), plus(times([k1], far), [k0])
        r = plus(times(k, k), times([number(3) ** (number(1) / 2)], v))
        after = plus(
            times([f**4], z, z, z, z),
            times([2 * eta**2 * f**2], z, z, plus(v, times([2], a, a))),
            times([4 * eta**3 * f], z, a, r),
            times([eta**4], plus(times(k, k, k, k), times([3], v, v))),
        )
        u, half = found[-1], number(1) / 2
        means = [1, spread**half, spread, (spread * u) ** half, u]
        found.append(sum(c * mean for c, mean in zip(after, means, strict=True)))
    return found


def fourth_powers(parts: Any, chances: Any, count: int) -> float:
    """Return E(m₁ + … + m_n)⁴ of independent numbers m that are `parts` with these `chances`."""
    mean = float(np.dot(parts, chances))
    second, fourth = (float(np.dot((np.asarray(parts) - mean) ** p, chances)) for p in (2, 4))
    return count * fourth + 6.0 * math.comb(count, 2) * second**2
