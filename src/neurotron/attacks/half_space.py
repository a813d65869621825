"""Raises the labels on one side of a plane only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from neurotron._formula import select
from neurotron.attacks.budget import chance_within
from neurotron.attacks.odd_direction import OddDirection
from neurotron.attacks.query import Query
from neurotron.problem import Problem


class HalfSpace(OddDirection):
    r"""Adds +θ to the labels on one side of a plane only.

    .. math:: \xi = \theta, \qquad \beta(x) = \beta\, [u^\top M x > 0]

    Where uᵀMx is positive, +θ is the change that drives the weights along u. The odd part of ξ is
    half that of `OddDirection`. At twice the probability the attack therefore moves the weights as
    fast as `OddDirection` and attacks the same share of labels, all on one side. The mean of the
    labels rises. Use it to concentrate the attack in one region of the inputs.

    Knows: x and M. Budget: θ at a share β of the labels with uᵀMx > 0. Guarantees: theorem1, sharp.

    Parameters
    ----------
    direction
        The direction u in the space of weights, shape (r,), not zero.
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label on that side is attacked.
    """

    budget: ClassVar[str] = "θ at a share β of the labels with uᵀMx > 0"

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack with twice the probability, at most 1: half of a symmetric law is on one side."""
        found = super().parameters_for(problem, share, seed, given)
        return found | {"probability": chance_within(0.5, share)}

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ."""
        return bound

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β where uᵀMx > 0, else 0."""
        return select(query.probe > 0.0, probability, 0.0)
