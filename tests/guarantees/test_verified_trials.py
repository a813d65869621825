"""A sample of tests/long/test_verification.py: radii are true, and wrong ones are noticed."""

from __future__ import annotations

from tests.support import wrong_verifications as wrong
from tests.support.verified_radii import complaints, verdict_by_cells, verdict_of
from tests.support.verified_trials import cells_trial, parity_trial

PARITY, CELLS = range(80), range(100)


def by_parity():
    """Return what is said of some trials of the theorem of parity."""
    return [verdict_of(parity_trial(number)) for number in PARITY]


def by_cells():
    """Return what the theorem of the cells says of some trials."""
    found = [verdict_by_cells(cells_trial(number)) for number in CELLS]
    return [one for one in found if one is not None]


def test_radii_are_too_small_no_more_often_than_is_said():
    assert complaints(by_parity(), 2) == {}
    assert complaints(by_cells(), 2) == {}


def test_half_of_a_radius_is_too_small(monkeypatch):
    wrong.halve_the_radius(monkeypatch)
    assert complaints(by_parity(), 2) != {}


def test_half_of_the_attackers_are_too_few_for_the_cells(monkeypatch):
    wrong.halve_attackers(monkeypatch)
    assert complaints(by_cells(), 2) != {}
