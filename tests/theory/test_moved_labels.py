"""Changed labels move training by no more than is bounded, and hardly less."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.support.messages import says

import neurotron as nt
from neurotron.theory.moved_labels import moved_mean, moved_spread, quartic

STEPS, RUNS, ETA, BATCH = 400, 2_000, 0.02, 4


def white(count: int, size: int, seed: int = 0) -> np.ndarray:
    """Return skewed rows whose second moment is the identity; the first column is constant."""
    draw = np.random.default_rng(seed)
    rows = np.column_stack([np.ones(count), np.exp(0.7 * draw.standard_normal((count, size - 1)))])
    values, vectors = np.linalg.eigh(rows.T @ rows / count)
    return rows @ (vectors / np.sqrt(values)) @ vectors.T


def ends(rows: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the weights of many runs on the labels `change`, which start at their mean."""
    draw = np.random.default_rng(1)
    constant = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
    d = np.tile(change.mean() * constant, (RUNS, 1))
    for _ in range(STEPS):
        batch = draw.integers(0, len(rows), (RUNS, BATCH))
        z = rows[batch]
        left = change[batch] - np.einsum("nbr,nr->nb", z, d)
        d += ETA * np.einsum("nb,nbr->nr", left, z) / BATCH
    return d


CASES = {
    "constant": (np.ones((200, 1)), 2),
    "one column": (white(200, 2), 4),
    "three columns": (white(100, 4), 20),
}


@pytest.mark.parametrize("name", CASES)
def test_the_weights_deviate_from_their_mean_by_at_most_what_is_bounded(name):
    rows, most = CASES[name]
    change = np.zeros(len(rows))
    change[np.argsort(-np.linalg.norm(rows, axis=1))[:most]] = 3.0
    found = ends(rows, change)
    spread = math.sqrt(((found - found.mean(axis=0)) ** 2).sum(axis=1).mean())
    bound = moved_spread(rows, bound=3.0, most=most, step_size=ETA, batch_size=BATCH)
    assert spread <= bound
    if name != "three columns":  # so that half of the bound would be exceeded; there, one by one
        assert spread > 0.5 * bound  # bounds of terms that are not aligned are far too large
    assert np.linalg.norm(found.mean(axis=0)) <= moved_mean(rows, bound=3.0, most=most) + 0.02


def test_the_mean_moves_by_at_most_what_is_bounded_for_all_changes_of_few_rows():
    rows = white(8, 2)
    for most in (1, 2, 4, 8):
        largest = max(
            np.linalg.norm(np.array(signs) @ rows[list(chosen)]) / 8.0
            for chosen in itertools.combinations(range(8), most)
            for signs in itertools.product([-2.0, 2.0], repeat=most)
        )
        bound = moved_mean(rows, bound=2.0, most=most)
        assert 0.6 * bound < largest <= bound
        assert most > 1 or largest == pytest.approx(bound)


def test_steps_that_are_too_large_have_no_bound_and_wrong_ones_are_refused():
    rows = white(50, 4)
    assert quartic(rows) > 4.0
    far = {"bound": 1.0, "most": 3, "batch_size": 1}
    assert moved_spread(rows, step_size=1.0, **far) == math.inf
    assert moved_spread(rows, step_size=1.0, bound=0.0, most=3, batch_size=100) == 0.0
    with pytest.raises(nt.InputError) as caught:
        moved_spread(rows, step_size=2.0, **far)
    assert says(caught.value, "`step_size`", "2")
