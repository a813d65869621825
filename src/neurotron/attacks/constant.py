"""Adds +θ to every attacked label."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class Constant(Attack):
    r"""Adds +θ to every attacked label.

    .. math:: \xi = \theta

    It has one sign only. If inputs are symmetric, it does not move Neuro-Tron's weights on average,
    because Neuro-Tron then uses only the odd part of the labels. In a table with an intercept it
    moves the intercept. Use it as the simplest biased attack.

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ()
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ."""
        return bound
