"""Flips the sign of labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.base import Unlimited
from neurotron.attacks.query import Query


class SignFlip(Unlimited):
    r"""Flips the sign of labels; no guarantee covers it.

    .. math:: v = -y, \qquad \xi = \mathrm{clip}(-2y,\, -\theta,\, \theta)

    Here v is the label that the trainer receives. Without a bound, Neuro-Tron learns (1 − 2β) w* on
    average.

    Knows: y. Budget: any change of a share β of the labels. Guarantees: none.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label; infinite by default.
    probability
        The probability β in [0, 1] that a label is attacked.

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
