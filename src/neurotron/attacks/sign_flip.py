"""Turns labels round."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.query import Query
from neurotron.attacks.unlimited import Unlimited

__all__ = ["SignFlip"]


class SignFlip(Unlimited):
    r"""Turns the sign of labels round: outside the theorem.

    .. math:: v = -y, \qquad \xi = \mathrm{clip}(-2y,\, -\theta,\, \theta)

    Without a bound Neuro-Tron learns (1 − 2β) w* on average.

    Knows: y. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    bound, probability
        θ, infinite unless given, and β in [0, 1].

    Examples
    --------
    >>> SignFlip(probability=0.2)
    SignFlip(probability=0.2)
    """

    query_fields: ClassVar[tuple[str, ...]] = ("label",)
    knowledge: ClassVar[str] = "y"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return −2y, clipped to [−θ, θ]."""
        return np.minimum(np.maximum(-2.0 * query.label, -bound), bound)
