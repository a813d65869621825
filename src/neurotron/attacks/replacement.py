"""Replaces labels by noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.base import Unlimited
from neurotron.attacks.query import Query


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Unlimited):
    r"""Replaces labels by uniform noise; no guarantee covers it.

    .. math:: v = s (2U - 1), \qquad \xi = \mathrm{clip}(v - y,\, -\theta,\, \theta)

    Unless θ clips it, the received label v is independent of y, and the change is as large as y is.
    Use it for labels that are missing or lost.

    Knows: nothing. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    scale
        The largest new label s, in [0, 1e70]; 0 sets labels to zero.
    bound
        The bound θ ≥ 0, the largest change of a label; infinite by default.
    probability
        The probability β in [0, 1] that a label is attacked.
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
