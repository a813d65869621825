"""Switches to another attack at every step."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurotron._formula import select
from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class Mixture(Attack):
    r"""Cycles through five other attacks, one per step.

    .. math:: \xi_t = \theta,\; \pm\theta \text{ by position},\; \pm\theta \text{ by a coin},\;
              \theta(2U - 1),\; \theta\, \mathrm{sign}\left((w - w^*)^\top g\right)
              \quad \text{for } t \bmod 5 = 0, 1, 2, 3, 4

    These are `Constant`, `AlternatingSign`, `RandomSign`, `UniformNoise` and `Adaptive`. Use it to
    test defences that rely on one simple rule for the attacked labels.

    Knows: x, w, w* and the trainer. Budget: up to θ at a share β of the labels. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ("sign", "uniform", "push", "step")
    knowledge: ClassVar[str] = "x, w, w* and the trainer"
    budget: ClassVar[str] = "up to θ at a share β of the labels"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return ξ of the attack of this step."""
        turn = query.step - 5.0 * np.floor(query.step / 5.0)
        by_coin = select(query.uniform < 0.5, bound, -bound)
        noise = bound * (2.0 * query.uniform - 1.0)
        late = select(turn == 3.0, noise, np.copysign(bound, query.push))
        later = select(turn == 2.0, by_coin, late)
        return select(turn == 0.0, bound, select(turn == 1.0, bound * query.sign, later))
