"""Whether what `verify` says of trials is true, and theorems that are wrong on purpose.

The trials must complain of each of the wrong ones, and of no other.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from tests.oracles.trials import Trial

import neurotron as nt
from neurotron._types import Array
from neurotron.guarantees.verify import by_cells, by_parity
from neurotron.guarantees.verify.case import Case, Inputs
from neurotron.theory.explained import Explained, Shares, largest

DELTA = 0.05
"""δ of every trial: large enough to be tested."""
DOUBT = 1e-3
"""The probability with which a correct theorem may be complained of."""


class Verdict(NamedTuple):
    """What a verification says, compared with the truth."""

    kinds: tuple[str, ...]
    theorem: str
    verified: bool
    too_small: bool
    """Whether the radius, or that of a coefficient, is smaller than the distance."""
    too_large: bool
    """Whether the lower bound is larger than the distance."""


def verdict_of(trial: Trial) -> Verdict:
    """Verify a trial."""
    found = nt.verify(
        trial.problem, trial.weights, trial.X, trial.y, confidence=1.0 - DELTA, **trial.options
    )
    distance = float(np.linalg.norm(trial.off))
    too_small = found.radius < distance
    if found.coefficient_radii is not None:
        too_small |= bool((found.coefficient_radii < np.abs(trial.off)).any())
    return Verdict(
        trial.kinds, found.theorem, math.isfinite(found.radius), too_small,
        found.at_least > distance,
    )  # fmt: skip


def verdict_by_cells(trial: Trial) -> Verdict | None:
    """Verify a trial by the theorem of the cells alone; None if it does not apply."""
    options = {"confidence": 1.0 - DELTA, **trial.options}
    case = Case.of(Inputs.of(trial.problem, trial.X), trial.weights, trial.y, **options)
    theorem = by_cells.cells_theorem(case)
    if theorem is None:
        return None
    radius, distance = theorem.verify(DELTA).radius, float(np.linalg.norm(trial.off))
    return Verdict(trial.kinds, "cells", math.isfinite(radius), radius < distance, False)


def complaints(verdicts: list[Verdict], pieces: int = 1) -> dict[str, str]:
    """Return in which kinds of trials statements are false more often than δ allows.

    All together and every kind are tested, one-sided, with `DOUBT` over all tests of all pieces.
    """
    count = Counter(kind for one in verdicts for kind in ("all", *one.kinds))
    wrong = {
        "radius": _counted(one for one in verdicts if one.too_small),
        "at least": _counted(one for one in verdicts if one.too_large),
    }
    limit = DOUBT / (2 * len(count) * pieces)
    return {
        f"{kind}: {what}": f"{seen[kind]} of {rows}"
        for kind, rows in count.items()
        for what, seen in wrong.items()
        if stats.binom.sf(seen[kind] - 1, rows, DELTA) < limit
    }


def _counted(verdicts: Iterable[Verdict]) -> Counter[str]:
    return Counter(kind for one in verdicts for kind in ("all", *one.kinds))


# ---- wrong on purpose ----------------------------------------------------------------------------

Patch = Callable[[pytest.MonkeyPatch], None]


def halve_the_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give half of the radius."""
    monkeypatch.setattr(by_parity, "largest", lambda *arguments: 0.5 * largest(*arguments))


def take_shares_for_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out ε."""
    for module in (by_parity, by_cells):
        monkeypatch.setattr(module, "deviation", lambda rows, delta: 0.0)


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
        def __init__(self, case: Case, rows: int, count: int, delta: float) -> None:
            halved = dataclasses.replace(case, probability=0.5 * case.probability)
            super().__init__(halved, rows, count, delta)

    monkeypatch.setattr(by_cells, "_Part", Wrong)


OF_PARITY: tuple[Patch, ...] = (
    halve_the_radius, take_shares_for_probabilities, ignore_attackers, drop_the_factor_of_parity
)  # fmt: skip
"""Wrong versions of the theorem of parity."""
OF_CELLS: tuple[Patch, ...] = (halve_attackers, take_shares_for_probabilities)
"""Wrong versions of the theorem of the cells."""
