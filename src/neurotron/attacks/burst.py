"""Spends its budget at once: all labels of some steps, none of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neurotron import _check
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.budget import chance_within
from neurotron.attacks.query import Query
from neurotron.problem import Problem

__all__ = ["PERIOD", "Burst"]

PERIOD = 1000.0
"""Steps from the beginning of a burst to that of the next."""


@dataclass(frozen=True, eq=False, repr=False)
class Burst(Adaptive):
    r"""Pushes like `Adaptive`, in the first steps of every 1000 only.

    .. math:: \beta_t = \beta \min(\max(1000\, s - (t \bmod 1000),\, 0),\, 1)

    with s the share of steps; a step that is in it by a part only has that part of the chance, so
    that of every 1000 steps exactly a share sβ of the labels is attacked (of a shorter run more, as
    it begins with a burst). In between the trainer recovers.

    Knows: x, w, w* and the trainer. Budget: θ at a share sβ of the labels, at once. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1], the chance within a burst.
    share
        s in [0, 1], of all steps.
    """

    share: float = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("push", "step", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("share", "[0, 1]")
    budget: ClassVar[str] = "θ at a share sβ of the labels, at once"

    @classmethod
    def settings_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack all labels of a share of the steps, or with a chance where that share is given."""
        steps = _check.number("share", given.get("share", share), "[0, 1]")
        return {"share": steps, "probability": chance_within(steps, share)}

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β in a burst, else 0."""
        place = query.step - PERIOD * np.floor(query.step / PERIOD)
        return probability * np.minimum(np.maximum(PERIOD * query.parameter - place, 0.0), 1.0)
