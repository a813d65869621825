"""Attacks the samples with the largest inputs, which move the weights most."""

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

MOST_ROWS, MOST_NUMBERS = 100_000, 2_000_000
"""Limits of the sample of norms from which a cutoff is estimated."""


@dataclass(frozen=True, eq=False, repr=False)
class LargeNorm(Adaptive):
    r"""Attacks like `Adaptive`, but only samples with large ‖x‖.

    .. math:: \beta(x) = \beta\, [\|x\| \ge c]

    An update is proportional to x, so these samples move the weights most, above all if the inputs
    have heavy tails.

    Knows: x, w, w* and the trainer. Budget: θ at a share β of the labels with ‖x‖ ≥ c. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label beyond the cutoff is attacked.
    cutoff
        The smallest norm c ≥ 0 of an input that is attacked.
    """

    cutoff: float = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("push", "norm", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("cutoff", "[0, inf)")
    budget: ClassVar[str] = "θ at a share β of the labels with ‖x‖ ≥ c"

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack all labels with the largest ‖x‖, or some of them if `cutoff` is given."""
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
    """Return ‖x‖ of a sample in ascending order; every call returns the same sample."""
    rows = max(min(MOST_ROWS, MOST_NUMBERS // n_inputs), 1000)
    draw = _seeds.generator(0, "norms")
    u, v = 1.0 - draw.random((2, law.pairs(rows, n_inputs)))
    return np.sort(np.linalg.norm(law.inputs(u, v, rows, n_inputs), axis=1))


def _cutoff(norms: Array, share: float) -> float:
    """Return the cutoff that a share of the norms reaches; 0 if all of them should.

    It is slightly below a norm of the sample, because inputs ±1 all have that norm up to rounding.
    """
    count = round(share * len(norms))
    return 0.0 if count == len(norms) else (1.0 - 1e-9) * float(norms[-max(count, 1)])
