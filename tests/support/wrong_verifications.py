"""Theorems of verification that are wrong on purpose: trials must complain of each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from neurotron._types import Array
from neurotron.guarantees.verify import by_cells, by_parity
from neurotron.guarantees.verify.case import Case
from neurotron.theory.explained import Explained, Shares, largest

Patch = Callable[[pytest.MonkeyPatch], None]


def halve_the_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give half of the radius."""
    monkeypatch.setattr(by_parity, "largest", lambda *arguments: 0.5 * largest(*arguments))


def take_shares_for_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out ε."""
    for module in (by_parity, by_cells):
        monkeypatch.setattr(module, "deviation", lambda rows, failure: 0.0)


def ignore_attackers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take β for 0."""

    def wrong(case: Case) -> Shares:
        return Shares(0.0, case.attacker == "coin", case.bound)

    monkeypatch.setattr(Case, "shares", property(wrong))


def drop_the_factor_of_parity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take P(|e + ζ| ≤ s) ≤ C, as if the even part of the difference could not help."""
    right = Explained.probability

    def wrong(explained: Explained, level: Array, size: Array) -> Array:
        return right(dataclasses.replace(explained, pairs=False), level, size)

    monkeypatch.setattr(Explained, "probability", wrong)


def halve_attackers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take half of β in the theorem of the cells."""

    class Wrong(by_cells._Part):
        def __init__(self, case: Case, rows: int, count: int, failure: float) -> None:
            halved = dataclasses.replace(case, probability=0.5 * case.probability)
            super().__init__(halved, rows, count, failure)

    monkeypatch.setattr(by_cells, "_Part", Wrong)


OF_PARITY: tuple[Patch, ...] = (
    halve_the_radius, take_shares_for_probabilities, ignore_attackers, drop_the_factor_of_parity
)  # fmt: skip
"""Wrong versions of the theorem of parity."""
OF_CELLS: tuple[Patch, ...] = (halve_attackers, take_shares_for_probabilities)
"""Wrong versions of the theorem of the cells."""
