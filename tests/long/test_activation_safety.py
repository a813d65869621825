"""Never unsafe with other activations: 100 random problems for each of them."""

from __future__ import annotations

import pytest
from tests.support.pieces import pieces
from tests.support.random_problems import COMPARISONS, excesses, limit

from neurotron.networks.activations import BUILT_IN

pytestmark = pytest.mark.long

PROBLEMS, PIECES, REPLICATES = 100, 5, 100
LIMIT = limit(PROBLEMS * len(BUILT_IN) * COMPARISONS)
"""One-sided, at 99.9 % over the comparisons of all pieces together."""


@pytest.mark.parametrize("activation", BUILT_IN)
@pytest.mark.parametrize("numbers", pieces(PROBLEMS, PIECES), ids=str)
def test_measured_errors_stay_below_the_certified_ones_but_not_below_wrong_ones(
    numbers, activation
):
    found = {
        number: excesses(number, replicates=REPLICATES, of_one_weight=500, activation=activation)
        for number in numbers
    }
    assert {number: one.right for number, one in found.items() if one.right >= LIMIT} == {}
    assert max(one.tau_halved for one in found.values()) > LIMIT
    assert max(one.l2_halved for one in found.values()) > LIMIT
