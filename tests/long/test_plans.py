"""Ten thousand random plans, each checked against its own inequality in higher precision."""

from __future__ import annotations

import pytest
from tests.support.pieces import pieces
from tests.support.random_plans import tally

from neurotron.guarantees.plan.search import MOST_EVALUATIONS

pytestmark = pytest.mark.long

PLANS, ASKED, PIECES = 10_000, 22_000, 22
"""Not all that is asked for can be had."""


@pytest.mark.parametrize("numbers", pieces(ASKED, PIECES), ids=str)
def test_random_plans_keep_their_promise_in_higher_precision(numbers):
    found = tally(numbers)
    assert found.broken == []
    assert found.made >= PLANS / PIECES
    assert 0 < found.most_evaluations <= MOST_EVALUATIONS
