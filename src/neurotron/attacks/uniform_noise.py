"""Adds uniform noise between −θ and θ."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class UniformNoise(Attack):
    r"""Adds uniform noise between −θ and θ.

    .. math:: \xi = \theta (2U - 1)

    On average it does not move Neuro-Tron's weights. Use it for bounded label noise.

    Knows: nothing. Budget: up to θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ("uniform",)
    knowledge: ClassVar[str] = "nothing"
    budget: ClassVar[str] = "up to θ at a share β of the labels"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ(2U − 1)."""
        return bound * (2.0 * query.uniform - 1.0)
