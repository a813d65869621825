"""Multiplies labels by a factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.base import Unlimited
from neurotron.attacks.query import Query


@dataclass(frozen=True, eq=False, repr=False)
class Multiplicative(Unlimited):
    r"""Multiplies labels by a factor c; no guarantee covers it.

    .. math:: v = c\, y, \qquad \xi = \mathrm{clip}((c - 1)\, y,\, -\theta,\, \theta)

    Here v is the label that the trainer receives. Large labels change most.

    Knows: y. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    factor
        The factor c, of either sign, up to 1e70 in size.
    bound
        The bound θ ≥ 0, the largest change of a label; infinite by default.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    factor: float

    query_fields: ClassVar[tuple[str, ...]] = ("label", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("factor", "[-1e70, 1e70]")
    knowledge: ClassVar[str] = "y"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return (c − 1)y, clipped to [−θ, θ]."""
        return np.minimum(np.maximum((query.parameter - 1.0) * query.label, -bound), bound)
