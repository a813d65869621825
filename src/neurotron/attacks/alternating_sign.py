"""The paper's attack: adds −θ, +θ, −θ, … along the batch."""

from __future__ import annotations

from typing import Any, ClassVar

from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query


class AlternatingSign(Attack):
    r"""The paper's attack: adds −θ, +θ, −θ, … along the batch.

    .. math:: \xi_i = \theta\,[i \text{ even}] - \theta\,[i \text{ odd}], \quad i = 1, \dots, b

    It does not look at x, so on average it does not move Neuro-Tron's weights. It is far weaker
    than the attackers that the theorem allows. Use it to reproduce the paper.

    Knows: nothing. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    query_fields: ClassVar[tuple[str, ...]] = ("sign",)
    knowledge: ClassVar[str] = "nothing"

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return −θ at the first position, +θ at the second, and so on."""
        return bound * query.sign
