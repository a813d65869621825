"""What the solver says of 5 000 poisoned tables of all kinds is true."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.solved import solved

pytestmark = pytest.mark.long

PARTS, EACH = 10, 500


@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_filter_is_proved_and_none_is_nonsense(part):
    seeds = range(part * EACH, (part + 1) * EACH)
    found = [one for one in map(solved, seeds) if one is not None]
    wrong = [one for one in found if not one.right]
    assert [one.what for one in wrong if one.solution.proven_against >= one.tampered] == []
    assert [one.what for one in found if not one.largest < 20.0] == []
    majority = [one for one in wrong if _old_rule(one.solution)]
    assert len(majority) >= EACH // 20  # the old rule calls all of these exact
    assert len(found) - len(wrong) >= EACH // 2


def _old_rule(solution):
    fits = np.count_nonzero(solution.explained)
    return 2 * fits > len(solution.explained) and fits > 2 * len(solution.weights)
