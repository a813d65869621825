"""Verified radii are true: 10,000 trials of the theorem of parity, and 1,200 of that of the cells.

In every trial the attacker knows everything, and mostly writes the labels of the wrong filter that
is verified. And the trials can fail: they complain of theorems that are wrong on purpose.
"""

from __future__ import annotations

import pytest
from tests.oracles import verified as wrong
from tests.oracles.trials import cells_trial, parity_trial
from tests.oracles.verified import complaints, verdict_by_cells, verdict_of
from tests.support.pieces import pieces

PARITY, PARITY_PIECES = 10_000, 20
CELLS, CELLS_PIECES = 1_200, 4
SAMPLE = range(500)
"""Trials that are enough to see that a theorem is wrong."""


def by_parity(numbers):
    """Return what is said of trials of the theorem of parity."""
    return [verdict_of(parity_trial(number)) for number in numbers]


def by_cells(numbers):
    """Return what the theorem of the cells says of trials, where it applies."""
    found = [verdict_by_cells(cells_trial(number)) for number in numbers]
    return [one for one in found if one is not None]


def test_radii_of_a_sample_are_too_small_no_more_often_than_is_said():
    assert complaints(by_parity(range(80)), 2) == {}
    assert complaints(by_cells(range(100)), 2) == {}


def test_half_of_a_radius_is_too_small(monkeypatch):
    wrong.halve_the_radius(monkeypatch)
    assert complaints(by_parity(range(80)), 2) != {}


def test_half_of_the_attackers_are_too_few_for_the_cells(monkeypatch):
    wrong.halve_attackers(monkeypatch)
    assert complaints(by_cells(range(100)), 2) != {}


@pytest.mark.long
@pytest.mark.parametrize("numbers", pieces(PARITY, PARITY_PIECES), ids=str)
def test_radii_by_parity_are_too_small_no_more_often_than_is_said(numbers):
    found = by_parity(numbers)
    assert complaints(found, PARITY_PIECES) == {}
    assert sum(one.verified and one.theorem == "parity" for one in found) > 0.9 * len(found)


@pytest.mark.long
@pytest.mark.parametrize("numbers", pieces(CELLS, CELLS_PIECES), ids=str)
def test_radii_by_cells_are_too_small_no_more_often_than_is_said(numbers):
    """With both theorems where both apply, and with the cells alone."""
    alone = by_cells(numbers)
    both = [verdict_of(cells_trial(number)) for number in numbers]
    assert complaints(alone, 2 * CELLS_PIECES) == complaints(both, 2 * CELLS_PIECES) == {}
    assert len(alone) > 0.9 * len(both)
    assert sum(one.verified for one in alone) > 0.3 * len(both)


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "found"),
    [*((one, by_parity) for one in wrong.OF_PARITY), *((one, by_cells) for one in wrong.OF_CELLS)],
)
def test_a_wrong_theorem_is_noticed(change, found, monkeypatch):
    change(monkeypatch)
    assert complaints(found(SAMPLE), PARITY_PIECES) != {}
