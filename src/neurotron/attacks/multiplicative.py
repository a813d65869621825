"""Scales labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.query import Query
from neurotron.attacks.unlimited import Unlimited

__all__ = ["Multiplicative"]


@dataclass(frozen=True, eq=False, repr=False)
class Multiplicative(Unlimited):
    r"""Multiplies labels by a factor: outside the theorem, which is about additive changes.

    .. math:: v = c\, y, \qquad \xi = \mathrm{clip}((c - 1)\, y,\, -\theta,\, \theta)

    Knows: y. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    factor
        c, of any sign.
    bound, probability
        θ, infinite unless given, and β in [0, 1].
    """

    factor: float

    query_fields: ClassVar[tuple[str, ...]] = ("label", "parameter")
    own_number: ClassVar[tuple[str, str]] = ("factor", "[-1e70, 1e70]")
    knowledge: ClassVar[str] = "y"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return (c − 1)y, clipped to [−θ, θ]."""
        return np.minimum(np.maximum((query.parameter - 1.0) * query.label, -bound), bound)
