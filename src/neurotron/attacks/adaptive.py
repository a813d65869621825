"""Sees the weights and pushes every update away from w*."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query

__all__ = ["Adaptive"]


class Adaptive(Attack):
    r"""Sees the weights and pushes every update away from w*.

    .. math:: \xi = \theta\, \mathrm{sign}\left((w - w^*)^\top g\right)

    where g is the direction in which the trainer in use moves for this sample (Mx, or the network's
    gradient).

    Knows: x, w, w* and the trainer. Budget: θ at a share β of the labels. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1].
    """

    query_fields: ClassVar[tuple[str, ...]] = ("push",)
    knowledge: ClassVar[str] = "x, w, w* and the trainer"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ with the sign of the push."""
        return np.copysign(bound, query.push)
