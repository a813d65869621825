"""Attacks all labels of some steps in a row, and none of the others."""

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

PERIOD = 1000.0
"""Steps from the beginning of a burst to the beginning of the next."""


@dataclass(frozen=True, eq=False, repr=False)
class Burst(Adaptive):
    r"""Attacks like `Adaptive`, but only at the start of every 1000 steps.

    .. math:: \beta_t = \beta \min(\max(1000\, s - (t \bmod 1000),\, 0),\, 1)

    Here s is the share of steps in bursts. If 1000 s is not a whole number, the last step of a
    burst is attacked with a smaller probability, so that a share sβ of the labels of every 1000
    steps is attacked on average. A shorter run has a larger share, as it begins with a burst. Use
    it to see whether a trainer recovers between bursts.

    Knows: x, w, w* and the trainer. Budget: θ at a share sβ of the labels, at once. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label within a burst is attacked.
    share
        The share s in [0, 1] of all steps that are in bursts.
    """

    share: float = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("push", "step", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("share", "[0, 1]")
    budget: ClassVar[str] = "θ at a share sβ of the labels, at once"

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack all labels of a share of the steps, or some of them if `share` is given."""
        steps = _check.number("share", given.get("share", share), "[0, 1]")
        return {"share": steps, "probability": chance_within(steps, share)}

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β within a burst, else 0."""
        place = query.step - PERIOD * np.floor(query.step / PERIOD)
        return probability * np.minimum(np.maximum(PERIOD * query.parameter - place, 0.0), 1.0)
