"""Base of the attacks outside the theorem: they change a label by as much as they like."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from neurotron.attacks.base import Attack

__all__ = ["Unlimited"]


@dataclass(frozen=True, eq=False, repr=False)
class Unlimited(Attack):
    """An attack that no guarantee covers, since nothing bounds what it does to a label.

    A finite `bound` is honoured: ξ is then clipped to [−θ, θ]. It is still not covered.
    """

    bound: float = field(default=math.inf, kw_only=True)
    probability: float = field(default=1.0, kw_only=True)

    budget: ClassVar[str] = "any change of a share β of the labels"
    covered: ClassVar[tuple[str, ...]] = ()
