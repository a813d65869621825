"""Adds +θ or −θ, each with probability ½."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron._formula import select
from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class RandomSign(Attack):
    r"""Adds +θ or −θ, each with probability ½.

    .. math:: \xi = \theta\,[U < \tfrac12] - \theta\,[U \ge \tfrac12]

    On average it does not move Neuro-Tron's weights. Use it as noise of the largest size that θ
    allows.

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ("uniform",)
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return +θ or −θ, each with probability ½."""
        return select(query.uniform < 0.5, bound, -bound)
