"""Rows in general position: the test for it, and hyperplanes that hold many rows.

Two filters of a linear network give a row the same label if the row lies in the hyperplane
orthogonal to their difference. So the most rows that two filters can share are those of the fullest
hyperplane through the origin. Of rows in general position, that hyperplane has one less than there
are columns.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from neurotron._types import Array, Index, Mask

__all__ = ["fullest_hyperplane", "group_sizes", "most_in_groups", "structure"]

IN_PLANE = 1e-9
"""A row of length 1 lies in a hyperplane if it is at most so far from it."""
SORTED_ENTRIES = 2_000_000
ALL_HYPERPLANES = 4_000
SAMPLE = 800


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
        rounded = np.flatnonzero((in_order.round(4) == in_order).all(axis=1) & ~constant)
        if rounded.size:
            return f"column {rounded[0]} of the inputs is rounded to a few digits"
    if (x == 0.0).any():
        return "the inputs contain zeros"
    most = min(len(distinct), x.shape[1])
    if np.linalg.matrix_rank(_scaled(distinct[: 3 * x.shape[1]])) < most:
        return "columns of the inputs depend on each other"
    return ""


def fullest_hyperplane(rows: Array, effort: int) -> tuple[int, bool]:
    """Return the most rows found in a hyperplane through 0, and whether all were tried.

    `effort` is the number of starts of the search. All hyperplanes are tried if there are few.
    """
    unit = _unit(_scaled(rows))
    p = unit.shape[1]
    if p == 1:
        return 0, True
    if p == 2:
        return most_in_groups(group_sizes(unit), 1), True
    if comb(len(unit), p - 1) <= ALL_HYPERPLANES:
        every = np.array(list(combinations(range(len(unit)), p - 1)))
        return _largest(unit, _normals(unit[every])), True
    draw = np.random.default_rng(0)
    sample = unit if len(unit) <= SAMPLE else unit[draw.choice(len(unit), SAMPLE, replace=False)]
    random = [draw.choice(len(sample), p - 1, replace=False) for _ in range(4 * effort)]
    tried = [np.eye(p), _normals(sample[np.array(random)]), _ratios(sample, draw)]
    starts = np.concatenate(tried)
    counts = _counts(sample, starts)
    promising = starts[np.argsort(-counts, kind="stable")[: effort // 2 + 1]]
    fresh = draw.standard_normal((effort - effort // 2, p))
    tried.append(np.array([_concentrate(sample, start) for start in (*promising, *fresh)]))
    best = np.concatenate(tried)
    best = best[np.argsort(-_counts(sample, best), kind="stable")[:40]]
    grown = np.array([_grow(sample, normal, draw) for normal in best[:effort]])
    return _largest(unit, np.concatenate([np.eye(p), best, grown])), False


def _unit(rows: Array) -> Array:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0.0)


def _scaled(rows: Array) -> Array:
    """Return the rows with columns of one size, which does not move them out of a hyperplane."""
    size = np.abs(rows).max(axis=0, initial=0.0)
    return np.asarray(rows / np.where(size > 0.0, size, 1.0), np.float64)


def _apart(keys: Array) -> Mask:
    """Whether each key differs from the next one by more than rounding."""
    return np.asarray((np.abs(np.diff(keys, axis=0)) > 1e-12).any(axis=1))


def _distinct(rows: Array) -> Array:
    """Return the rows without repetitions."""
    return rows[list({row.tobytes(): i for i, row in enumerate(rows + 0.0)}.values())]


def _normals(subsets: Array) -> Array:
    """Return a normal of the hyperplane through each subset, (B, p − 1, p) -> (B, p)."""
    return np.asarray(np.linalg.svd(subsets)[2][:, -1, :], np.float64)


def _counts(unit: Array, normals: Array) -> Index:
    return np.count_nonzero(np.abs(unit @ normals.T) <= IN_PLANE, axis=0)


def _largest(unit: Array, normals: Array) -> int:
    """Return the most rows in one of the hyperplanes; the whole space is none."""
    block = max(1, 20_000_000 // len(unit))
    parts = (normals[i : i + block] for i in range(0, len(normals), block))
    return int(max(_counts(unit, part).max() for part in parts))


def _ratios(sample: Array, draw: np.random.Generator) -> Array:
    """Return the normals of x_j = c x_k for the most frequent c, of many pairs of columns."""
    p = sample.shape[1]
    pairs = np.array([(j, k) for j in range(p) for k in range(p) if j != k])
    pairs = pairs if len(pairs) <= 400 else draw.permutation(pairs)[:400]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = (sample[:, pairs[:, 0]] / sample[:, pairs[:, 1]]).round(9)
    normals = np.zeros((len(pairs), p))
    for normal, (j, k), column in zip(normals, pairs, ratio.T, strict=True):
        values, times = np.unique(column[np.isfinite(column)], return_counts=True)
        if times.size:
            normal[j], normal[k] = 1.0, -values[times.argmax()]
            normal /= np.linalg.norm(normal)
        else:
            normal[k] = 1.0
    return normals


def _concentrate(sample: Array, normal: Array) -> Array:
    """Return the normal of a hyperplane near many rows: least absolute distances, reweighted."""
    floor = 0.1
    for _ in range(12):
        distance = np.abs(sample @ normal)
        weighted = sample / np.maximum(distance, floor)[:, None]
        normal = np.linalg.eigh(weighted.T @ sample)[1][:, 0]
        floor = max(floor / 5.0, 1e-10)
    return np.asarray(normal, np.float64)


def _grow(sample: Array, normal: Array, draw: np.random.Generator) -> Array:
    """Return a normal whose hyperplane has the same rows, and others if there is room for them."""
    inside = sample[np.abs(sample @ normal) <= IN_PLANE]
    p = sample.shape[1]
    for _ in range(p):
        _, values, right = np.linalg.svd(inside, full_matrices=True)
        rank = int((values > 1e-9).sum()) if values.size else 0
        if rank >= p - 1:
            return np.asarray(right[-1], np.float64)
        outside = sample[np.abs(sample @ right[rank:].T).max(axis=1) > IN_PLANE]
        if not len(outside):
            return normal
        inside = np.vstack([inside, outside[draw.integers(len(outside))]])
    return normal
