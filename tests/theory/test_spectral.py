"""Bounds on eigenvalues of matrices that are too large for all of them to be computed."""

from __future__ import annotations

import numpy as np
import pytest

from neurotron.theory import spectral
from neurotron.theory.spectral import largest_eigenvalue, largest_square, leading_directions

SIZE = 230
RNG = np.random.default_rng(7)
DRAWN = RNG.standard_normal((SIZE, SIZE))
SYMMETRIC = {
    "normal": DRAWN + DRAWN.T,
    "low rank": DRAWN[:, :3] @ DRAWN[:, :3].T,
    "diagonal": np.diag(RNG.random(SIZE)),
    "identity": np.eye(SIZE),
    "two entries": np.diag([1.0, *np.zeros(SIZE - 2), 1.0]),
    "hollow": np.ones((SIZE, SIZE)) - np.eye(SIZE),
    "mostly negative": np.diag([1e-3, *-np.ones(SIZE - 1)]),
    "zero": np.zeros((SIZE, SIZE)),
    "tiny": 1e-150 * (DRAWN @ DRAWN.T),
}


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_the_largest_eigenvalue_is_bounded_closely(kind):
    exact = float(np.linalg.eigvalsh(SYMMETRIC[kind])[-1])
    assert exact * (1.0 - 1e-12) <= largest_eigenvalue(SYMMETRIC[kind]) <= exact * (1.0 + 3e-5)


def test_a_negative_eigenvalue_counts_as_zero():
    assert largest_eigenvalue(-np.eye(3)) == 0.0


def test_an_estimate_that_is_too_small_is_raised(monkeypatch):
    matrix = SYMMETRIC["normal"]
    exact = float(np.linalg.eigvalsh(matrix)[-1])
    low = np.array([0.8 * exact])
    monkeypatch.setattr(spectral.scipy.sparse.linalg, "eigsh", lambda *_, **__: low)
    assert exact <= largest_eigenvalue(matrix) <= 1.02 * exact


def matrices():
    tall = DRAWN[:90, :40]
    yield tall
    yield tall.T
    yield tall * 0.7 ** np.arange(40)
    yield np.outer(tall[:, 0], np.ones(50))
    yield np.eye(60)


@pytest.mark.parametrize("large", [0, 4000], ids=["in parts", "whole"])
def test_the_largest_square_is_never_below_the_norm(large, monkeypatch):
    monkeypatch.setattr(spectral, "LARGE", large)
    monkeypatch.setattr(spectral, "DIRECTIONS", 8)
    for A in matrices():
        assert largest_square(A) >= np.linalg.norm(A, 2) ** 2 * (1.0 - 1e-12)


def test_it_is_close_if_few_directions_matter(monkeypatch):
    monkeypatch.setattr(spectral, "LARGE", 0)
    A = DRAWN[:90, :70] * 0.7 ** np.arange(70)
    assert largest_square(A) <= np.linalg.norm(A, 2) ** 2 * (1.0 + 1e-6)


def test_directions_are_orthonormal_and_the_largest_come_first():
    A = DRAWN[:30, :20] * 0.5 ** np.arange(20)
    Q = leading_directions(A, 4)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(A @ Q, axis=0), np.linalg.svd(A, compute_uv=False)[:4], rtol=1e-3
    )
