"""Verified radii are true: 10,000 trials of the theorem of parity, and 1,200 of that of the cells.

In every trial the attacker knows everything, and mostly writes the labels of the wrong filter that
is verified. And the trials can fail: they complain of theorems that are wrong on purpose.
"""

from __future__ import annotations

import pytest
from tests.support import wrong_verifications as wrong
from tests.support.pieces import pieces
from tests.support.verified_radii import complaints, verdict_by_cells, verdict_of
from tests.support.verified_trials import cells_trial, parity_trial

pytestmark = pytest.mark.long

PARITY, PARITY_PIECES = 10_000, 20
CELLS, CELLS_PIECES = 1_200, 4
SAMPLE = range(500)
"""Trials that are enough to see that a theorem is wrong."""


@pytest.mark.parametrize("numbers", pieces(PARITY, PARITY_PIECES), ids=str)
def test_radii_by_parity_are_too_small_no_more_often_than_is_said(numbers):
    found = [verdict_of(parity_trial(number)) for number in numbers]
    assert complaints(found, PARITY_PIECES) == {}
    assert sum(one.verified and one.theorem == "parity" for one in found) > 0.9 * len(found)


@pytest.mark.parametrize("numbers", pieces(CELLS, CELLS_PIECES), ids=str)
def test_radii_by_cells_are_too_small_no_more_often_than_is_said(numbers):
    """With both theorems where both apply, and with the cells alone."""
    trials = [cells_trial(number) for number in numbers]
    alone = [one for one in map(verdict_by_cells, trials) if one is not None]
    assert complaints(alone, 2 * CELLS_PIECES) == {}
    assert complaints([verdict_of(trial) for trial in trials], 2 * CELLS_PIECES) == {}
    assert len(alone) > 0.9 * len(trials)
    assert sum(one.verified for one in alone) > 0.3 * len(trials)


@pytest.mark.parametrize("change", wrong.OF_PARITY)
def test_a_wrong_theorem_of_parity_is_noticed(change, monkeypatch):
    change(monkeypatch)
    found = [verdict_of(parity_trial(number)) for number in SAMPLE]
    assert complaints(found, PARITY_PIECES) != {}


@pytest.mark.parametrize("change", wrong.OF_CELLS)
def test_a_wrong_theorem_of_the_cells_is_noticed(change, monkeypatch):
    change(monkeypatch)
    found = [verdict_by_cells(cells_trial(number)) for number in SAMPLE]
    assert complaints([one for one in found if one is not None], 2 * CELLS_PIECES) != {}
