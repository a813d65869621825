"""Adds a uniform number from [−θ, θ]."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query

__all__ = ["UniformNoise"]


class UniformNoise(Attack):
    r"""Adds a uniform number from [−θ, θ].

    .. math:: \xi = \theta (2U - 1)

    Knows: nothing. Budget: up to θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1].
    """

    query_fields: ClassVar[tuple[str, ...]] = ("uniform",)
    knowledge: ClassVar[str] = "nothing"
    budget: ClassVar[str] = "up to θ at a share β of the labels"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ(2U − 1)."""
        return bound * (2.0 * query.uniform - 1.0)
