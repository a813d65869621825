"""Pushes along one fixed direction: the attack that meets the certificate."""

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

__all__ = ["OddDirection"]


@dataclass(frozen=True, eq=False, repr=False)
class OddDirection(Attack):
    r"""Pushes along one fixed direction u, by an odd function of x.

    .. math:: \xi = \theta\, \mathrm{sign}(u^\top M x)

    Only the odd part of ξ can move Neuro-Tron on average; with u the left singular vector of the
    smallest singular value of ĀΣ this attack reaches the certified floor of normal inputs. M is the
    trainer's sensing matrix, the mean gate Ā for trainers without one.

    Knows: x and M. Budget: θ at a share β of the labels. Guarantees: theorem1, sharp.

    Parameters
    ----------
    direction
        u, shape (r,), not zero.
    bound, probability
        θ ≥ 0 and β in [0, 1].
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
    def settings_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack along the direction in which Neuro-Tron is held least."""
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
    """Return the left singular vector of the smallest singular value of ĀΣ, or of Ā without Σ."""
    seen = problem.network.mean_gate
    if problem.covariance is not None:
        seen = seen @ problem.covariance
    left, _, _ = np.linalg.svd(seen, full_matrices=False)
    return np.ascontiguousarray(left[:, -1])
