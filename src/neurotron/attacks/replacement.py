"""Puts noise in place of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.query import Query
from neurotron.attacks.unlimited import Unlimited

__all__ = ["Replacement"]


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Unlimited):
    r"""Puts a uniform number in place of the label: outside the theorem.

    .. math:: v = s (2U - 1), \qquad \xi = \mathrm{clip}(v - y,\, -\theta,\, \theta)

    What the trainer receives has nothing to do with y. The change is as large as y is.

    Knows: nothing. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    scale
        s ≥ 0, the largest new label; 0 erases labels.
    bound, probability
        θ, infinite unless given, and β in [0, 1].
    """

    scale: float

    query_fields: ClassVar[tuple[str, ...]] = ("label", "uniform", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("scale", "[0, 1e70]")
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return s(2U − 1) − y, clipped to [−θ, θ]."""
        change = query.parameter * (2.0 * query.uniform - 1.0) - query.label
        return np.minimum(np.maximum(change, -bound), bound)
