"""Tables of many rows: a few rows find the filter, and all rows refine it without being copied."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import neurotron as nt
from neurotron.solvers import linearized, robust, table
from neurotron.solvers.all_rows import LinearRows, RowsInBlocks
from neurotron.solvers.finish import finish
from neurotron.solvers.linearized import Linearized, coordinates_for
from neurotron.solvers.mixture import _looks_honest

DRAW = np.random.default_rng(0)
NETWORK = nt.networks.linear(4)
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])
X = DRAW.standard_normal((12_000, 4)) * [0.01, 1.0, 30.0, 1e3] + [0.0, 5.0, 0.0, 2e3]
EXACT = X @ WEIGHTS + 7.0
NOISE = DRAW.standard_normal(12_000)
COORDINATES = coordinates_for(NETWORK, X, np.ones(12_000), intercept=True)


def test_exact_labels_are_recovered_from_many_rows_in_any_units():
    y = EXACT.copy()
    y[:4_800] += 100.0
    solution = nt.solve(NETWORK, X, y, intercept=True)
    assert solution.weights == pytest.approx(WEIGHTS, abs=1e-9)
    assert (solution.rejected == (np.arange(12_000) < 4_800)).all()
    assert solution.proven_against >= 4_800


def test_the_inputs_are_neither_changed_nor_locked():
    inputs = X[:200].copy()
    nt.solve(NETWORK, inputs, EXACT[:200], intercept=True)
    assert inputs.flags.writeable
    assert (inputs == X[:200]).all()


@pytest.mark.parametrize("offset", [0.0, 1e5], ids=["well determined", "nearly dependent"])
def test_the_coordinates_of_many_rows_make_them_white(offset, monkeypatch):
    coordinates = coordinates_for(NETWORK, X + offset, np.ones(len(X)), intercept=True)
    seen = np.column_stack([X + offset, np.ones(len(X))]) @ coordinates
    assert seen.T @ seen / len(X) == pytest.approx(np.eye(5), abs=1e-6)
    monkeypatch.setattr(linearized, "MANY", len(X))
    few = coordinates_for(NETWORK, X + offset, np.ones(len(X)), intercept=True)
    assert few @ few.T == pytest.approx(coordinates @ coordinates.T, rel=1e-4)


def test_rows_of_a_linear_network_are_like_the_array_of_their_gradients():
    rows = LinearRows(NETWORK, X, NOISE, None, COORDINATES, intercept=True)
    array = np.column_stack([X, np.ones(len(X))]) @ COORDINATES
    point, weights = np.arange(5.0), np.abs(NOISE)
    assert rows.shape == array.shape
    assert rows[np.array([3, 1])] == pytest.approx(array[[3, 1]])
    assert rows @ point == pytest.approx(array @ point)
    vector, matrix = rows.equations(NOISE, weights)
    assert vector == pytest.approx(array.T @ NOISE, abs=1e-8)
    assert matrix == pytest.approx((array * weights[:, None]).T @ array, abs=1e-6)


@pytest.mark.parametrize("counts", [None, DRAW.integers(1, 4, 12_000) * 1.0], ids=["once", "often"])
def test_the_last_step_ends_where_it_does_with_new_equations_in_every_round(counts):
    y = np.where(np.arange(12_000) < 3_000, NOISE + 6.0, NOISE)
    rows = LinearRows(NETWORK, X, y, counts, COORDINATES, intercept=True)
    calm = np.ones(len(X))
    block = Linearized(NETWORK, X, y, counts, calm, COORDINATES, intercept=True)
    start = np.full(5, 0.05)
    point, scale = finish(rows, start)
    other, other_scale = finish(RowsInBlocks(lambda: [block], one_block=True), start)
    assert point == pytest.approx(other, abs=1e-7)
    assert scale == pytest.approx(other_scale, rel=1e-6)


@pytest.mark.parametrize("counts", [None, DRAW.integers(1, 4, 12_000) * 1.0], ids=["once", "often"])
def test_the_honest_scale_is_that_of_the_residuals_within_two_of_it(counts):
    sizes = np.abs(np.where(np.arange(12_000) < 4_000, NOISE + 9.0, 0.3 * NOISE))
    scale = robust.honest_scale(sizes, counts, 5.0, 1e-9, 5)
    inner = sizes <= 2.0 * scale
    weights = np.ones(12_000) if counts is None else counts
    square = np.average(sizes[inner] ** 2, weights=weights[inner])
    assert scale == pytest.approx(np.sqrt(square / robust.INNER_VARIANCE), rel=1e-5)


def test_a_rare_column_makes_all_rows_take_part_in_the_descents():
    rare = np.zeros((6_000, 1))
    rare[0] = 1.0
    counts = np.ones(6_000)
    for inputs, all_rows in ((X[:6_000], False), (np.hstack([X[:6_000, 1:], rare]), True)):
        coordinates = coordinates_for(NETWORK, inputs, counts, intercept=True)
        rows = Linearized(NETWORK, inputs, NOISE[:6_000], None, counts, coordinates, intercept=True)
        core = table._core(rows, np.random.default_rng(0))
        assert (core is rows) == all_rows
        assert len(core) == (6_000 if all_rows else table.CORE)


def test_descents_go_on_with_all_rows_if_few_rows_do_not_agree(monkeypatch):
    plain = nt.solve(NETWORK, X, EXACT + NOISE, intercept=True)
    monkeypatch.setattr(table, "CORE_STARTS", 2)
    longer = nt.solve(NETWORK, X, EXACT + NOISE, intercept=True)
    assert longer.converged
    assert longer.starts > max(2, plain.starts)
    assert longer.predict(X) == pytest.approx(plain.predict(X), abs=1e-6)
    assert not nt.solve(NETWORK, X, EXACT + NOISE, intercept=True, max_starts=3).converged


def test_only_honest_residuals_look_honest():
    rows = np.random.default_rng(1).standard_normal((1_000, 3))
    noise, bad = np.random.default_rng(5).standard_normal(1_000), np.arange(1_000) < 300
    far = np.where(bad, 50.0, noise)
    assert _looks_honest(rows, noise, 1.0)
    assert _looks_honest(rows, far, 1.0)
    signs = np.where(np.arange(1_000) % 2, 1.0, -1.0)
    for attack in (3.0, 3.0 * signs, 3.0 * rows[:, 0]):
        assert not _looks_honest(rows, noise + attack * bad, 1.5)


def test_a_linear_solution_needs_less_memory_than_a_copy_of_the_inputs():
    wide = np.random.default_rng(3).standard_normal((40_000, 20))
    y = wide @ np.ones(20) + np.random.default_rng(4).standard_normal(40_000)
    tracemalloc.start()
    nt.solve(nt.networks.linear(20), wide, y, intercept=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < wide.nbytes
