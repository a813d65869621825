"""Rows in general position: the test for it, and hyperplanes that hold many rows.

Two filters of a linear network give a row the same label if the row lies in the hyperplane
orthogonal to their difference. So the most rows that two filters can share are those of the fullest
hyperplane through the origin. Of rows in general position, that hyperplane has one less than there
are columns.
"""

from __future__ import annotations

from itertools import combinations, count
from math import comb, lgamma, log

import numpy as np

from neurotron._types import Array, Index, Mask

ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
"""Residuals below this part of the terms they are the difference of are rounding. Those of exact
labels were at most 3 times the precision of a double, for 1 to 100 columns of very different sizes,
so that noise of a tenth is seen on labels near 10¹²."""
SIX_DIGITS = 1e-6
"""Filters whose distance is a smaller part of their length are not told apart."""
SLACK = 8.0 * ROUNDING / SIX_DIGITS
"""So far from the hyperplane of two filters a row of length 1 can be that both explain: each may be
off by rounding in four terms of about the same size, divided by the distance of the filters."""
UNLIKELY = 1e-6
"""The largest probability that another filter shares more rows up to rounding than is counted."""
IN_PLANE = 1e-9
"""A row of length 1 lies in a hyperplane if it is at most so far from it."""
SORTED_ENTRIES = 2_000_000
ALL_HYPERPLANES = 10_000_000
"""The most distances of rows from hyperplanes that are computed to try all of them, in 0.3 s."""
SAMPLE = 800
RANDOM, STARTS, MOST_COMPLETED = 24, 3, 12
"""How many hyperplanes are tried of those through random rows, near many rows, and completed."""
MOST_STEPS = 1e8
"""A column with more steps between its smallest and largest value is not a lattice."""


def group_sizes(rows: Array) -> Index:
    """Return how many rows have each direction, x and −x counting as one, largest first.

    >>> group_sizes(np.array([[1.0, 2.0], [3.0, 0.0], [-2.0, -4.0]]))
    array([2, 1])
    """
    unit = _unit(rows)
    keys = unit @ np.random.default_rng(0).standard_normal((unit.shape[1], 2))
    keys *= np.where(keys[:, :1] < 0.0, -1.0, 1.0)
    keys = keys[np.argsort(keys[:, 0])]
    # directions that are closer than rounding can tell become one group, which is the safe side
    edges = np.concatenate([[0], np.flatnonzero(_apart(keys)) + 1, [len(keys)]])
    return np.sort(np.diff(edges))[::-1]


def most_in_groups(sizes: Index, number: int) -> int:
    """Return how many rows the `number` largest groups have."""
    return int(sizes[:number].sum())


def structure(x: Array, intercept: bool) -> str:
    """Return what says that the rows of `x` are not in general position, or an empty text.

    Inputs that have a density have no column with repeated values and full rank. One column may be
    constant if there is no intercept: it is one.
    """
    rows = x[: max(SORTED_ENTRIES // x.shape[1], 100)]
    distinct = _distinct(rows)
    if len(distinct) > 1:
        in_order = np.sort(np.ascontiguousarray(distinct.T), axis=1)
        repeats = (in_order[:, 1:] == in_order[:, :-1]).sum(axis=1)
        constant = (in_order[:, 0] == in_order[:, -1]) & (in_order[:, 0] != 0.0)
        allowed = 0 if intercept else 1
        if constant.sum() > allowed:
            return "a column is constant"
        discrete = np.flatnonzero((repeats > 0) & ~constant)
        if discrete.size:
            return f"column {discrete[0]} of the inputs has repeated values"
        rounded = np.flatnonzero([_is_lattice(column) for column in in_order] & ~constant)
        if rounded.size:
            return f"column {rounded[0]} of the inputs is rounded to a few digits"
    if (x == 0.0).any():
        return "the inputs contain zeros"
    most = min(len(distinct), x.shape[1])
    few = distinct[: 3 * x.shape[1]]
    if np.linalg.matrix_rank(few / _column_sizes(few)) < most:
        return "columns of the inputs depend on each other"
    return ""


def by_rounding(groups: int, exactly: int) -> int:
    """Return how many groups another filter may share up to rounding, beyond those shared exactly.

    This is j − 1 for the lemma of docs/theory.md, "What rounding means for the proof".
    """
    p = exactly + 1
    for j in count(1):
        m = exactly + j
        if m > groups:
            break
        subsets = lgamma(groups + 1.0) - lgamma(m + 1.0) - lgamma(groups - m + 1.0)
        ball = j * log(SLACK * (p * m / 2.0) ** 0.5) - lgamma(j / 2.0 + 1.0)
        if subsets + log(p) + ball <= log(UNLIKELY):
            break
    return j - 1


def fullest_hyperplane(rows: Array) -> tuple[int, bool]:
    """Return the most rows found in a hyperplane through 0, and whether all were tried.

    All are tried if there are few: those through p − 1 rows, with all rows that rounding could put
    there (docs/theory.md, "What rounding means for the proof").
    """
    size = _column_sizes(rows)
    unit = _unit(rows / size)
    p = unit.shape[1]
    if p == 1:
        return 0, True
    if comb(len(unit), p - 1) * len(unit) <= ALL_HYPERPLANES:
        every = np.array(list(combinations(range(len(unit)), p - 1)))
        return _largest(unit, _normals(unit[every]), p * SLACK), True
    draw = np.random.default_rng(0)
    chosen = draw.permutation(len(unit))[:SAMPLE]
    sample = unit[chosen]
    random = [draw.permutation(len(sample))[: p - 1] for _ in range(RANDOM)]
    tried = np.concatenate([np.eye(p), _normals(sample[np.array(random)])])
    starts = [*_best(sample, tried, STARTS), *draw.standard_normal((STARTS, p))]
    near = [_concentrate(sample, start) for start in starts]
    held = np.unique(np.linspace(0, p - 2, MOST_COMPLETED).astype(int))
    near += [_complete(sample, sample[draw.permutation(len(sample))[:j]]) for j in held]
    simple = _unit(_simple(rows[chosen], draw) * size)
    best = _best(sample, np.concatenate([tried, near, simple]), 40)
    tried = np.concatenate([np.eye(p), best, _climb(sample, best[0], draw)[None]])
    return _largest(unit, tried), False


def _unit(rows: Array) -> Array:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0.0)


def _column_sizes(rows: Array) -> Array:
    size = np.abs(rows).max(axis=0, initial=0.0)
    return np.asarray(np.where(size > 0.0, size, 1.0))


def _apart(keys: Array) -> Mask:
    """Whether each key differs from the next one by more than rounding."""
    return np.asarray((np.abs(np.diff(keys, axis=0)) > IN_PLANE).any(axis=1))


def _is_lattice(in_order: Array) -> bool:
    """Whether the differences of values in ascending order are multiples of the smallest one.

    Values that were rounded to a few digits, or counted, are such, in whatever units.
    """
    steps = np.diff(in_order)
    steps = steps[steps > 0.0]
    if len(steps) < 2:
        return False
    ratios = steps / steps.min()
    most = in_order[-1] - in_order[0]
    return bool(most < MOST_STEPS * steps.min() and (np.abs(ratios - ratios.round()) < 1e-3).all())


def _distinct(rows: Array) -> Array:
    """Return the rows without repetitions."""
    return rows[list({row.tobytes(): i for i, row in enumerate(rows + 0.0)}.values())]


def _normals(subsets: Array) -> Array:
    """Return a normal of the hyperplane through each subset, (B, p − 1, p) -> (B, p)."""
    return _orthogonal(subsets)[:, :, -1]


def _orthogonal(subsets: Array) -> Array:
    """Return vectors that are orthogonal to each subset, as columns: (B, m, p) -> (B, p, p − m)."""
    every = np.linalg.qr(np.swapaxes(subsets, 1, 2), mode="complete")[0]
    return np.asarray(every[:, :, subsets.shape[1] :], np.float64)


def _counts(unit: Array, normals: Array, within: float = IN_PLANE) -> Index:
    return np.count_nonzero(np.abs(unit @ normals.T) <= within, axis=0)


def _largest(unit: Array, normals: Array, within: float = IN_PLANE) -> int:
    """Return the most rows in one of the hyperplanes."""
    block = max(1, 4_000_000 // len(unit))
    parts = (normals[i : i + block] for i in range(0, len(normals), block))
    return int(max(_counts(unit, part, within).max() for part in parts))


def _best(sample: Array, normals: Array, number: int) -> Array:
    """Return the normals whose hyperplanes have the most rows."""
    return normals[np.argsort(-_counts(sample, normals), kind="stable")[:number]]


def _simple(rows: Array, draw: np.random.Generator) -> Array:
    """Return the normals of x_j = c x_k for the most frequent c, and of x_i ± x_j ± x_k = 0."""
    p = rows.shape[1]
    pairs = np.array([(j, k) for j in range(p) for k in range(p) if j != k])
    pairs = draw.permutation(pairs)[: max(400, 600_000 // len(rows))]
    above, below = np.eye(p)[pairs[:, 0]], np.eye(p)[pairs[:, 1]]
    triples = np.array(list(combinations(range(p), 3)))
    triples = np.tile(draw.permutation(triples)[:2_500], (4, 1))
    thrice = np.zeros((len(triples), p))
    factors = np.repeat([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]], len(triples) // 4, axis=0)
    np.put_along_axis(thrice, triples, factors.astype(np.float64), axis=1)
    return np.concatenate([above - _modes(rows, above, below) * below, thrice])


def _modes(rows: Array, above: Array, below: Array) -> Array:
    """Return the most frequent finite ratio for each pair of normals, as a column."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.sort(((rows @ above.T) / (rows @ below.T)).T.round(9), axis=1)
    ratios[~np.isfinite(ratios)] = np.nan
    runs = _runs(~(ratios[:, 1:] == ratios[:, :-1]))
    values = np.take_along_axis(ratios, runs.argmax(axis=1)[:, None], axis=1)
    return np.where(np.isfinite(values), values, 0.0)


def _runs(starts: Mask) -> Index:
    """Return the length so far of runs along rows, where `starts` says which entries begin one."""
    first = np.ones((len(starts), 1), np.bool_)
    place = np.arange(starts.shape[1] + 1)
    begins = np.where(np.hstack([first, starts]), place, 0)
    return np.asarray(place - np.maximum.accumulate(begins, axis=1) + 1)


def _concentrate(sample: Array, normal: Array) -> Array:
    """Return the normal of a hyperplane near many rows: least absolute distances, reweighted."""
    for floor in 0.2 * 0.6 ** np.arange(20.0):
        weighted = sample / np.maximum(np.abs(sample @ normal), floor)[:, None]
        normal = np.linalg.eigh(weighted.T @ sample)[1][:, 0]
    for _ in range(3):
        nearest = np.argsort(np.abs(sample @ normal))[: 2 * len(normal)]
        normal = np.linalg.svd(sample[nearest])[2][-1]
    return np.asarray(normal, np.float64)


def _pencils(rows: Array, subsets: Index) -> tuple[int, Array]:
    """Return the fullest of the hyperplanes through each subset of p − 2 rows, and its normal.

    Seen along the subset, the rows lie in a plane, and a hyperplane is a line through 0 there.
    """
    rest = np.swapaxes(_orthogonal(rows[subsets]), 1, 2)
    across, up = np.moveaxis(rest @ rows.T, 1, 0)
    inside = np.hypot(across, up) <= IN_PLANE
    angles = np.arctan2(up, across) % np.pi
    angles[angles > np.pi - 1e-9] = 0.0
    place = np.arange(angles.shape[1])
    angles = np.sort(np.where(inside, 10.0 + place, angles), axis=1)
    runs = _runs(np.diff(angles, axis=1) > 1e-9)
    totals = runs.max(axis=1) + inside.sum(axis=1)
    best = int(totals.argmax())
    angle = angles[best, runs[best].argmax()]
    normal = np.array([-np.sin(angle), np.cos(angle)]) @ rest[best]
    return int(totals[best]) - int(inside[best].all()), normal


def _climb(sample: Array, normal: Array, draw: np.random.Generator) -> Array:
    """Return a hyperplane with more rows: keep some of its rows, and try all others."""
    p, best = sample.shape[1], normal
    count = _counts(sample, best[None])[0]
    for turn in range(8):
        number = min(3_000 if turn % 4 == 0 else 300, 100_000 // len(sample))
        inside = np.flatnonzero(np.abs(sample @ best) <= IN_PLANE)
        subsets = np.argsort(draw.random((number, len(sample))), axis=1)[:, : p - 2]
        if turn % 4 and len(inside) >= p - 2:
            kept = max(p - 1 - turn % 4, 0)
            subsets[:, :kept] = inside[np.argsort(draw.random((number, len(inside))))[:, :kept]]
        found, other = _pencils(sample, subsets)
        if found > count:
            best, count = other, found
    return best


def _without(basis: Array, direction: Array) -> Array:
    """Return a basis of the part of a space that is orthogonal to a unit vector in its coordinates.

    This is what a Householder reflection leaves of the basis after it maps the vector to an axis.
    """
    vector = direction.copy()
    vector[0] += np.copysign(1.0, vector[0])
    reflected = basis - np.outer(basis @ vector, vector) * (2.0 / (vector @ vector))
    return np.asarray(reflected[:, 1:])


def _complete(sample: Array, inside: Array) -> Array:
    """Return the normal of a hyperplane through given rows and, one at a time, the best others.

    Seen along the space that the rows span already, rows of the same direction come together.
    """
    _, values, right = np.linalg.svd(inside, full_matrices=True)
    rest = right[int((values > IN_PLANE).sum()) :].T
    while rest.shape[1] > 1:
        seen = sample @ rest
        length = np.linalg.norm(seen, axis=1)
        outside = seen[length > IN_PLANE] / length[length > IN_PLANE, None]
        if not len(outside):
            break
        keys = outside @ np.sqrt(np.arange(2.0, 2.0 + rest.shape[1]))
        keys = np.sort(np.round(np.abs(keys), 9) + 1j * np.arange(len(keys)))
        edges = np.flatnonzero(np.diff(keys.real, prepend=-1.0, append=np.inf))
        most = int(np.diff(edges).argmax())
        chosen = outside[int(keys[edges[most]].imag)]
        rest = _without(rest, chosen)
    return np.asarray(rest[:, 0], np.float64)
