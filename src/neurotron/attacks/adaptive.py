"""Pushes every update away from w*, using the present weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class Adaptive(Attack):
    r"""Pushes every update away from w*, using the present weights.

    .. math:: \xi = \theta\, \mathrm{sign}\left((w - w^*)^\top g\right)

    Here g is the direction in which the trainer moves for this sample: Mx, or the network's
    gradient. Use it as a strong attack against any trainer.

    Knows: x, w, w* and the trainer. Budget: θ at a share β of the labels. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ("push",)
    knowledge: ClassVar[str] = "x, w, w* and the trainer"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ with the sign of the push."""
        return np.copysign(bound, query.push)
