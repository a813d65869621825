"""Attacks the rows of a table that a fit depends on most."""

from __future__ import annotations

from typing import ClassVar, Literal

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.table import AttackedTable


class HighLeverage(Adaptive):
    r"""Attacks the stored rows with the largest leverage; no guarantee.

    .. math:: \ell(x) = \sqrt{g^\top H^{-1} g}, \qquad \xi = \theta\, \mathrm{sign}(u^\top g)

    Here ℓ is the leverage, g = ∇f(x) is the gradient of a row at the true filter, and H is the mean
    of ggᵀ over the rows. The direction u is the eigenvector of H for its smallest eigenvalue that
    is not zero. All changes push a fit along u, the direction in which the rows resist least. For a
    linear filter g is the row itself. Use it with `neurotron.poison`.

    Knows: x and w*. Budget: θ at exactly ⌊βN⌋ of N labels. Guarantees: none.

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The share β in [0, 1] of the rows that are attacked.
    """

    knowledge: ClassVar[str] = "x and w*"
    budget: ClassVar[str] = "θ at exactly ⌊βN⌋ of N labels"
    scope: ClassVar[Literal["query", "batch", "rows"]] = "rows"
    covered: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.number("bound", self.bound, "[0, inf)")

    def priority(self, table: AttackedTable) -> Array:
        """Return the leverage of each row."""
        return table.leverage
