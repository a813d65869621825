"""Gives the labels of another filter to the rows where the two filters differ most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks.base import Unlimited
from neurotron.attacks.impersonation import Impersonation
from neurotron.attacks.query import Query
from neurotron.attacks.table import AttackedTable
from neurotron.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class PickedRows(Unlimited):
    r"""Gives another filter's labels to the stored rows that differ most; no guarantee.

    .. math:: \xi = \mathrm{clip}(f_{w_{adv}}(x) - y,\, -\theta,\, \theta)

    The rows are those with the largest |f_{w_adv}(x) − y|. The honest rows that remain are the ones
    that w_adv explains best, which makes the attack hard to withstand. Use it with
    `neurotron.poison`.

    Knows: x, y and the network. Budget: any change of exactly ⌊βN⌋ of N labels. Guarantees: none.

    Parameters
    ----------
    weights
        The other filter w_adv, shape (r,). If it is left out, the labels are those that the `model`
        of `neurotron.poison` predicts.
    bound
        The bound θ ≥ 0, the largest change of a label; infinite by default.
    probability
        The share β in [0, 1] of the rows that are attacked.
    """

    weights: npt.ArrayLike | None = field(default=None, kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("label", "probe_output")
    knowledge: ClassVar[str] = "x, y and the network"
    budget: ClassVar[str] = "any change of exactly ⌊βN⌋ of N labels"
    scope: ClassVar[Literal["query", "batch", "rows"]] = "rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            object.__setattr__(self, "weights", _check.array("weights", self.weights, ("r",)))

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Take the filter that `Impersonation` draws from the same seed."""
        return Impersonation.parameters_for(problem, share, seed, given)

    @property
    def probe_vector(self) -> Array | None:
        """The filter w_adv."""
        return cast("Array | None", self.weights)

    def priority(self, table: AttackedTable) -> Array:
        """Return |f_{w_adv}(x) − y| of each row."""
        return np.abs(table.output(self.probe_vector) - table.labels)

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return the difference of the labels, clipped to [−θ, θ]."""
        return np.minimum(np.maximum(query.probe_output - query.label, -bound), bound)
