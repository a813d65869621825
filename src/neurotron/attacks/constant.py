"""Adds +θ to every attacked label."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query

__all__ = ["Constant"]


class Constant(Attack):
    r"""Adds +θ to every attacked label.

    .. math:: \xi = \theta

    One-sided, yet without drift against Neuro-Tron, which sees only the odd part of the labels.

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1].
    """

    query_fields: ClassVar[tuple[str, ...]] = ()
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ."""
        return bound
