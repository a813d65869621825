"""Pushes the weights along one fixed direction, which can reach the certified error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks.base import Attack
from neurotron.attacks.query import Query
from neurotron.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class OddDirection(Attack):
    r"""Pushes the weights along one fixed direction u.

    .. math:: \xi = \theta\, \mathrm{sign}(u^\top M x)

    Only the odd part of ξ can move Neuro-Tron's weights on average, and this ξ is odd in x. If u is
    the left singular vector for the smallest singular value of ĀΣ, the attack reaches the certified
    error floor for normal inputs, and nearly so for many other laws. Use it to see how close a
    guarantee is to the worst case. M is the trainer's sensing matrix, or the mean gate Ā for
    trainers without one.

    Knows: x and M. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    direction
        The direction u in the space of weights, shape (r,), not zero.
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked.
    """

    direction: Array = field(kw_only=True)

    query_fields: ClassVar[tuple[str, ...]] = ("probe",)
    knowledge: ClassVar[str] = "x and M"

    def __post_init__(self) -> None:
        super().__post_init__()
        direction = _check.array("direction", self.direction, ("r",))
        if not direction.any():
            raise _check.InputError("`direction` must not be zero")
        object.__setattr__(self, "direction", direction)

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack along the direction in which Neuro-Tron resists least."""
        return {"direction": _weakest_direction(problem)}

    @property
    def probe_vector(self) -> Array:
        """The direction u."""
        return self.direction

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ with the sign of uᵀMx."""
        return np.copysign(bound, query.probe)


def _weakest_direction(problem: Problem) -> Array:
    """Return the left singular vector for the smallest singular value of ĀΣ, or of Ā without Σ."""
    seen = problem.network.mean_gate
    if problem.covariance is not None:
        seen = seen @ problem.covariance
    left, _, _ = np.linalg.svd(seen, full_matrices=False)
    return np.ascontiguousarray(left[:, -1])
