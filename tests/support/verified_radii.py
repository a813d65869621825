"""Whether what `verify` says of trials is true, and whether it is false more often than is said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import stats
from tests.support.verified_trials import Trial

import neurotron as nt
from neurotron.guarantees.verify.by_cells import cells_theorem
from neurotron.guarantees.verify.case import Case, Inputs

FAILURE = 0.05
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
        trial.problem, trial.weights, trial.X, trial.y, failure=FAILURE, **trial.options
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
    options = {"failure": FAILURE, **trial.options}
    case = Case.of(Inputs.of(trial.problem, trial.X), trial.weights, trial.y, **options)
    theorem = cells_theorem(case)
    if theorem is None:
        return None
    radius, distance = theorem.verify(FAILURE).radius, float(np.linalg.norm(trial.off))
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
        if stats.binom.sf(seen[kind] - 1, rows, FAILURE) < limit
    }


def _counted(verdicts: Iterable[Verdict]) -> Counter[str]:
    return Counter(kind for one in verdicts for kind in ("all", *one.kinds))
