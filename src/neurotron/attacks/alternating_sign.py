"""The paper's attack: −θ, +θ, −θ, … by position in the batch."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query

__all__ = ["AlternatingSign"]


class AlternatingSign(Attack):
    r"""The paper's attack: −θ, +θ, −θ, … by position in the batch.

    .. math:: \xi_i = \theta\,[i \text{ even}] - \theta\,[i \text{ odd}], \quad i = 1, \dots, b

    It does not look at x, so it has no drift against Neuro-Tron: far weaker than what the theorem
    allows an attacker.

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1].
    """

    query_fields: ClassVar[tuple[str, ...]] = ("sign",)
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return −θ at the first position, +θ at the second, and so on."""
        return bound * query.sign
