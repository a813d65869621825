"""Gives the labels that another filter would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query
from neurotron.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Impersonation(Attack):
    r"""Gives the labels of another filter w_adv, as far as θ allows.

    .. math:: \xi = \mathrm{clip}(f_{w_{adv}}(x) - y,\, -\theta,\, \theta)

    With β = 1 and θ at least the largest difference of the labels, the training data are exactly
    those of w_adv, and no algorithm can resist. This is the paper's proof of near-optimality
    (section 3.5).

    Knows: x, y and the network. Budget: up to θ at a share β of the labels. Guarantees:
    theorem1, sharp.

    Parameters
    ----------
    weights
        The filter w_adv to impersonate, shape (r,).
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    weights: Array = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("label", "probe_output")
    knowledge: ClassVar[str] = "x, y and the network"
    budget: ClassVar[str] = "up to θ at a share β of the labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", _check.array("weights", self.weights, ("r",)))

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Impersonate a filter drawn from `seed`."""
        draw = _seeds.generator(seed, "impersonation")
        return {"weights": draw.standard_normal(problem.network.filter_size)}

    @property
    def probe_vector(self) -> Array:
        """The filter w_adv."""
        return self.weights

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return the difference of the labels, clipped to [−θ, θ]."""
        return np.minimum(np.maximum(query.probe_output - query.label, -bound), bound)
