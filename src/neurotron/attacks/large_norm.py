"""Attacks the samples that move the weights most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from neurotron import _check
from neurotron._formula import select
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.base import Query

__all__ = ["LargeNorm"]


@dataclass(frozen=True, eq=False, repr=False)
class LargeNorm(Adaptive):
    r"""Pushes like `Adaptive`, at samples of large norm only.

    .. math:: \beta(x) = \beta\, [\|x\| \ge c]

    An update is proportional to x, so these samples move the weights most, above all where tails
    are heavy.

    Knows: x, w, w* and the trainer. Budget: θ at a share β of the labels with ‖x‖ ≥ c. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    bound, probability
        θ ≥ 0 and β in [0, 1], the chance beyond the cutoff.
    cutoff
        c ≥ 0.
    """

    cutoff: float = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("push", "norm", "parameter")
    budget: ClassVar[str] = "θ at a share β of the labels with ‖x‖ ≥ c"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cutoff", _check.number("cutoff", self.cutoff, "[0, inf)"))

    @property
    def parameter(self) -> float:
        """The cutoff."""
        return self.cutoff

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β where ‖x‖ ≥ c, else 0."""
        return select(query.norm >= query.parameter, probability, 0.0)
