"""The base class of attacks whose changes have no bound, so that no theorem covers them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from neurotron.attacks.base import Attack

__all__ = ["Unlimited"]


@dataclass(frozen=True, eq=False, repr=False)
class Unlimited(Attack):
    """An attack that no guarantee covers, because its changes of a label have no bound.

    With a finite `bound`, ξ is clipped to [−θ, θ]; the attack is still not covered.
    """

    bound: float = field(default=math.inf, kw_only=True)
    probability: float = field(default=1.0, kw_only=True)

    budget: ClassVar[str] = "any change of a share β of the labels"
    covered: ClassVar[tuple[str, ...]] = ()
