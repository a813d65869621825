"""Raises the labels on one side of a plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from neurotron._formula import select
from neurotron.attacks.budget import chance_within
from neurotron.attacks.odd_direction import OddDirection
from neurotron.attacks.query import Query
from neurotron.problem import Problem

__all__ = ["HalfSpace"]


class HalfSpace(OddDirection):
    r"""Adds +θ to labels on one side of a plane, and leaves those on the other side alone.

    .. math:: \xi = \theta, \qquad \beta(x) = \beta\, [u^\top M x > 0]

    A bias of one sign: the labels' mean rises. Where uᵀMx is positive, +θ is the change that drives
    the weights along u, so no other sign would do more; its odd part is half of that of
    `OddDirection`, whose drift it has with twice the chance: the same share of labels, all of them
    on one side.

    Knows: x and M. Budget: θ at a share β of the labels with uᵀMx > 0. Guarantees: theorem1, sharp.

    Parameters
    ----------
    direction
        u, shape (r,), not zero.
    bound, probability
        θ ≥ 0 and β in [0, 1], the chance on that side.
    """

    budget: ClassVar[str] = "θ at a share β of the labels with uᵀMx > 0"

    @classmethod
    def settings_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Attack with twice the chance, at most 1: half of a symmetric law is on one side."""
        found = super().settings_for(problem, share, seed, given)
        return found | {"probability": chance_within(0.5, share)}

    @staticmethod
    def distort(bound: Any, query: Query) -> Any:
        """Return θ."""
        return bound

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β where uᵀMx > 0, else 0."""
        return select(query.probe > 0.0, probability, 0.0)
