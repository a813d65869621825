"""Spends its budget at once: all labels of some steps, none of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neurotron import _check
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.base import Query

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
    budget: ClassVar[str] = "θ at a share sβ of the labels, at once"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "share", _check.number("share", self.share, "[0, 1]"))

    @property
    def parameter(self) -> float:
        """The share of steps."""
        return self.share

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β in a burst, else 0."""
        place = query.step - PERIOD * np.floor(query.step / PERIOD)
        return probability * np.minimum(np.maximum(PERIOD * query.parameter - place, 0.0), 1.0)
