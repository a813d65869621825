"""Elementwise loops of a step that are part of the engine, not of a formula.

`clock` contains the present step as its only number. All other arrays are flat: number
8 i + a belongs to sample (or weight) i and lane a.
"""

from __future__ import annotations

import numpy as np

from neurotron._jit import inline, jit
from neurotron._philox import fill_pairs
from neurotron._types import Array, Index
from neurotron.engine import state
from neurotron.engine.compiled import elementary  # noqa: F401  (compiles what formulas call)
from neurotron.engine.compiled.lanes import LANES, add_scaled, put, take, zeros

_inverse_square = inline(state.inverse_square)
_newest_share = inline(state.newest_share)


@jit
def fill(values: Array, number: float) -> None:
    """Set every number."""
    for e in range(values.size):
        values[e] = number


@jit
def fill_uniforms(key: np.uint64, purpose: np.uint64, clock: Index, u: Array, v: Array) -> None:
    """Fill u and v with the pairs of uniforms of the present step."""
    fill_pairs(key, purpose, np.uint64(clock[0]), u, v)


@jit
def fill_with_step(clock: Index, values: Array) -> None:
    """Set every number to the present step."""
    fill(values, float(clock[0]))


@jit
def take_row(rows: Array, first: Index, clock: Index, out: Array) -> None:
    """Set out = the row of the present step, where the first row belongs to step ``first[0]``."""
    copy(rows[clock[0] - first[0]], out)


@jit
def show_divergence(stopped_at: Index, shown: Array) -> None:
    """Set what is shown of diverged lanes to infinity, and also what is not a number."""
    for e in range(shown.size):
        if stopped_at[e % LANES] >= 0 or np.isnan(shown[e]):
            shown[e] = np.inf


@jit
def copy(values: Array, out: Array) -> None:
    """Set out = values."""
    for e in range(out.size):
        out[e] = values[e]


@jit
def multiply(values: Array, out: Array) -> None:
    """Set out *= values."""
    for e in range(out.size):
        out[e] *= values[e]


@jit
def add_products(values: Array, factors: Array, out: Array) -> None:
    """Set out += values · factors."""
    for e in range(out.size):
        out[e] += values[e] * factors[e]


@jit
def spread(values: Array, stride: int, out: Array) -> None:
    """Set the eight lanes of each sample to ``values[stride · sample]``."""
    for i in range(out.size // LANES):
        for lane in range(LANES):
            out[i * LANES + lane] = values[i * stride]


@jit
def add_each(values: Array, out: Array) -> None:
    """Add a sample's value to its eight lanes."""
    for i in range(out.size // LANES):
        for lane in range(LANES):
            out[i * LANES + lane] += values[i]


@jit
def subtract_each(values: Array, vector: Array, out: Array) -> None:
    """Set out = values − vector, where a number of `vector` is for eight lanes."""
    for j in range(vector.size):
        for lane in range(LANES):
            out[j * LANES + lane] = values[j * LANES + lane] - vector[j]


@jit
def gather_lanes(values: Array, which: Index, out: Array) -> None:
    """Set lane a of each sample to lane ``which[a]`` of `values`, counted over all blocks."""
    for e in range(out.size):
        lane = which[e % LANES]
        out[e] = values[lane // LANES, e - e % LANES + lane % LANES]


@jit
def norms(inputs: Array, size: int, out: Array) -> None:
    """Set the Euclidean norm of each row's first `size` numbers."""
    for i in range(len(inputs)):
        norm = np.sqrt(_square(inputs[i], size))
        for lane in range(LANES):
            out[i * LANES + lane] = norm


@jit
def times_inverse_square(inputs: Array, size: int, counts: Array, out: Array) -> None:
    """Set out = counts · ω(x), with x the first `size` numbers of each row."""
    for i in range(len(inputs)):
        omega = _inverse_square(_square(inputs[i], size))
        for lane in range(LANES):
            out[i * LANES + lane] = counts[i * LANES + lane] * omega


@jit
def _square(row: Array, size: int) -> float:
    total = 0.0
    for j in range(size):
        total += row[j] ** 2
    return total


@jit
def squared_lengths(
    seen: Array, columns: Index, coefficients: Array, vector: Array, out: Array
) -> None:
    """Set ‖Σ_l coefficients[l] · seen[columns[l]]‖² of each sample and lane.

    `vector` is working memory.
    """
    for i in range(len(seen)):
        first = i * LANES
        for j in range(columns.shape[1]):
            total = zeros()
            for matrix in range(len(columns)):
                factors = take(coefficients[matrix], first)
                total = add_scaled(total, seen[i, columns[matrix, j]], factors)
            put(vector, j * LANES, total)
        for lane in range(LANES):
            out[first + lane] = 0.0
        for j in range(columns.shape[1]):
            for lane in range(LANES):
                out[first + lane] += vector[j * LANES + lane] ** 2


@jit
def repeat_first(values: Array) -> None:
    """Set the values of every sample to those of the first."""
    for e in range(LANES, values.size):
        values[e] = values[e % LANES]


@jit
def sum_into_first(values: Array) -> None:
    """Set the first sample to the sum over all samples, and the others to zero."""
    for e in range(LANES, values.size):
        values[e % LANES] += values[e]
        values[e] = 0.0


@jit
def distances(weights: Array, point: Array, out: Array) -> None:
    """Set the distance of each lane's weights from a point."""
    for lane in range(LANES):
        total = 0.0
        for j in range(point.size):
            total += (weights[j * LANES + lane] - point[j]) ** 2
        out[lane] = np.sqrt(total)


@jit
def mean_squares(values: Array, counts: Array, out: Array) -> None:
    """Set the weighted mean over samples of values²."""
    for lane in range(LANES):
        total = 0.0
        for i in range(values.size // LANES):
            total += values[i * LANES + lane] ** 2 * counts[i * LANES + lane]
        out[lane] = total / (values.size // LANES)


@jit
def take_move(weights: Array, move: Array, stopped_at: Index, clock: Index, limit: float) -> None:
    """Add the move to the weights of every running lane; stop lanes that exceed the limit."""
    troubles = 0
    for e in range(move.size):
        move[e] += weights[e]
        troubles += 0 if abs(move[e]) <= limit else 1
    for lane in range(LANES):
        troubles += 1 if stopped_at[lane] >= 0 else 0
    if troubles == 0:
        copy(move, weights)
    else:
        _take_each(weights, move, stopped_at, clock[0], limit)


@jit
def _take_each(weights: Array, moved: Array, stopped_at: Index, step: int, limit: float) -> None:
    for lane in range(LANES):
        if stopped_at[lane] >= 0:
            continue
        for e in range(lane, moved.size, LANES):
            if not abs(moved[e]) <= limit:
                stopped_at[lane] = step + 1
        if stopped_at[lane] < 0:
            for e in range(lane, moved.size, LANES):
                weights[e] = moved[e]


@jit
def add_to_average(
    weights: Array, average: Array, since: Index, stopped_at: Index, clock: Index
) -> None:
    """Add the weights after this step's update to the average of every running lane."""
    for lane in range(LANES):
        if stopped_at[lane] >= 0:
            continue
        share = _newest_share(clock[0] + 1.0 - since[lane])
        for e in range(lane, weights.size, LANES):
            average[e] += share * (weights[e] - average[e])
