"""The streams are as random as we say: right in law, independent along every axis."""

from __future__ import annotations

import pytest
from tests.support.randomness import AXES, LAWS, independence, uniformity

pytestmark = [pytest.mark.long, pytest.mark.quick]

DRAWS = 12_000_000


@pytest.mark.parametrize(("seed", "law"), list(enumerate(LAWS, 1)))
def test_draws_have_their_law(seed, law):
    """Kolmogorov–Smirnov, and χ² on 4096 cells."""
    assert min(uniformity(law, draws=DRAWS, seed=seed)) > 1e-4


@pytest.mark.parametrize("axis", AXES)
def test_neighbouring_draws_are_uncorrelated(axis):
    assert independence(axis, draws=DRAWS, seed=1) < 5.0
