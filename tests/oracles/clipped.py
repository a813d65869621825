"""Tables for Huber regression with a fixed clip, and attacks that aim at its ceiling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from neurotron.theory.huber import ClippedEquation
from neurotron.theory.huber_ceiling import ClippedCeiling
from neurotron.theory.label_changes import Room, room_of

FAR = 1e4


def table(seed: int) -> tuple[ClippedEquation, np.ndarray, Room, int]:
    """Return an equation, labels, their room and a number of changes, each of many kinds."""
    draw = np.random.default_rng(seed)
    p, N = int(draw.integers(1, 6)), int(draw.integers(40, 120))
    X = draw.standard_normal((N, p)) if seed % 3 else draw.standard_t(3, (N, p))
    X[:, -1] = 1.0
    if seed % 5 == 0:
        X[: N // 4] = X[0]
    counts = draw.uniform(0.2, 1.8, N) if seed % 4 == 1 else np.ones(N)
    counts *= N / counts.sum()
    leak = (1.0, 1.0, 0.6, 0.3)[seed % 4]
    linear = X @ draw.standard_normal(p)
    spread = np.abs(X[:, 0]) + 0.5 if seed % 7 == 0 else np.ones(N)
    y = np.where(linear > 0.0, linear, leak * linear) + spread * draw.standard_normal(N)
    clip = float((0.7, 1.345, 2.0, 4.0, math.inf)[draw.integers(5)])
    bound = float((math.inf, math.inf, 5.0, 1.0)[draw.integers(4)])
    if math.isinf(clip):
        bound = min(bound, 5.0)
    penalty = float(draw.choice([0.0, 0.3])) * np.eye(p)
    most = int(draw.integers(1, max(N // 12, 2)))
    return equation(X, counts, clip, leak, penalty), y, room_of(y, bound), most


def equation(X, counts, clip, leak, penalty):
    """Return the equation in coordinates in which the second moment of the rows is 1."""
    values, vectors = np.linalg.eigh((X.T * counts) @ X / len(X))
    return ClippedEquation(X @ vectors / np.sqrt(values), counts, clip, leak, penalty)


def ceiling(found: ClippedEquation, labels: np.ndarray, room: Room) -> ClippedCeiling:
    return ClippedCeiling(found, labels, found.root(labels), room)


def moved(found: ClippedCeiling, most: int, directions: int = 6) -> float:
    """Return the farthest that attacks along directions moved the root, and along where it went."""
    draw, equation = np.random.default_rng(0), found.equation
    farthest = 0.0
    starts = [*np.eye(len(found.root)), *draw.standard_normal((directions, len(found.root)))]
    for start in starts:
        for sign in (1.0, -1.0):
            along = sign * start
            for _ in range(3):
                labels = pushed(found, equation.rows @ along, most)
                step = equation.root(labels) - found.root
                farthest = max(farthest, float(np.linalg.norm(step)))
                along = step
    return farthest


def pushed(found: ClippedCeiling, along: np.ndarray, most: int) -> np.ndarray:
    """Return labels of which those that can push most along a direction do so."""
    equation, labels = found.equation, found.labels
    r = equation.residuals(found.root, labels)
    ends = np.where(along > 0.0, np.minimum(found.room.up, FAR), -np.minimum(found.room.down, FAR))
    clip = equation.clip
    gain = equation.counts * (np.clip(r + ends, -clip, clip) - np.clip(r, -clip, clip)) * along
    chosen = np.argsort(-gain)[:most]
    changed = labels.copy()
    changed[chosen] += ends[chosen]
    return changed


def every_change(labels: np.ndarray, room: Room, most: int) -> Iterator[np.ndarray]:
    """Yield all labels with `most` of them at one of their ends."""
    ends = np.column_stack([-np.minimum(room.down, FAR), np.minimum(room.up, FAR)])
    for rows in itertools.combinations(range(len(labels)), most):
        for which in itertools.product((0, 1), repeat=most):
            changed = labels.copy()
            changed[list(rows)] += ends[list(rows), list(which)]
            yield changed
