"""Adds +θ or −θ by a fair coin."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron._formula import select
from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query

__all__ = ["RandomSign"]


class RandomSign(Attack):
    r"""Adds +θ or −θ by a fair coin.

    .. math:: \xi = \theta\,[U < \tfrac12] - \theta\,[U \ge \tfrac12]

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1].
    """

    query_fields: ClassVar[tuple[str, ...]] = ("uniform",)
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return ±θ with equal chance."""
        return select(query.uniform < 0.5, bound, -bound)
