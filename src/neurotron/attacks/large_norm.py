"""Attacks the samples that move the weights most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from neurotron import _check, _seeds
from neurotron._formula import select
from neurotron._types import Array
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.budget import chance_within
from neurotron.attacks.query import Query
from neurotron.laws import Law
from neurotron.problem import Problem

__all__ = ["LargeNorm"]

MOST_ROWS, MOST_NUMBERS = 100_000, 2_000_000
"""Of the sample of norms by which a cutoff is found."""


@dataclass(frozen=True, eq=False, repr=False)
class LargeNorm(Adaptive):
    r"""Pushes like `Adaptive`, at samples of large norm only.

    .. math:: \beta(x) = \beta\, [\|x\| \ge c]

    An update is proportional to x, so these samples move the weights most, above all where tails
    are heavy.

    Knows: x, w, w* and the trainer. Budget: θ at a share β of the labels with ‖x‖ ≥ c. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1], the chance beyond the cutoff.
    cutoff
        c ≥ 0.
    """

    cutoff: float = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("push", "norm", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("cutoff", "[0, inf)")
    budget: ClassVar[str] = "θ at a share β of the labels with ‖x‖ ≥ c"

    @classmethod
    def settings_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack the labels with the largest ‖x‖, or with a chance where the cutoff is given."""
        norms = _norms(problem.law, problem.network.n_inputs)
        cutoff = given.get("cutoff", _cutoff(norms, share))
        cutoff = _check.number("cutoff", cutoff, "[0, inf)")
        beyond = float((norms >= cutoff).mean())
        return {"cutoff": cutoff, "probability": chance_within(beyond, share)}

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β where ‖x‖ ≥ c, else 0."""
        return select(query.norm >= query.parameter, probability, 0.0)


@lru_cache(maxsize=8)
def _norms(law: Law, n_inputs: int) -> Array:
    """Return ‖x‖ of a sample, the same whenever it is asked for, in ascending order."""
    rows = max(min(MOST_ROWS, MOST_NUMBERS // n_inputs), 1000)
    draw = _seeds.generator(0, "norms")
    u, v = 1.0 - draw.random((2, law.pairs(rows, n_inputs)))
    return np.sort(np.linalg.norm(law.inputs(u, v, rows, n_inputs), axis=1))


def _cutoff(norms: Array, share: float) -> float:
    """Return what a share of the norms is not below; 0 for all of them.

    A hair below a norm of the sample: with inputs ±1 all norms are that one, up to rounding.
    """
    count = round(share * len(norms))
    return 0.0 if count == len(norms) else (1.0 - 1e-9) * float(norms[-max(count, 1)])
