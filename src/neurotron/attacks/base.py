"""What an attacker sees, and what an attack is: when × what.

A sample with honest label y is attacked iff its coin ≤ β, and then its label becomes y + ξ with
|ξ| ≤ θ. `distort` is ξ, `chance` is β: elementwise formulas of what the attacker sees, a `Query`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple

from neurotron import _check
from neurotron._formula import formula_group
from neurotron._pickling import Pickled
from neurotron._types import Array

__all__ = ["Attack", "Query"]


class Query(NamedTuple):
    """What an attacker may look at; every field broadcasts over (batch, arms)."""

    label: Any
    """y, the honest label."""
    output: Any
    """f_w(x), what the learner would answer now."""
    sign: Any
    """−1, +1, −1, … by position in the batch."""
    uniform: Any
    """A fresh uniform number in (0, 1), the same for all arms."""
    push: Any
    """(w − w*)ᵀ(update direction of this sample): where a positive ξ drives the error."""
    probe: Any
    """uᵀMx for the attack's fixed vector u; M = Ā for trainers without a sensing matrix."""
    probe_output: Any
    """f_u(x), what the network with weights u would answer."""
    norm: Any
    """‖x‖."""
    step: Any
    """Number of updates made so far."""
    parameter: Any
    """The attack's own number."""


@dataclass(frozen=True, eq=False)
class Attack(Pickled, ABC):
    """Base of all attacks: adds ξ, |ξ| ≤ `bound`, to a label with chance `probability`.

    Write your own by giving `distort`, in plain NumPy:

    >>> import numpy as np, neurotron as nt
    >>> class TowardsZero(nt.Attack):
    ...     uses = ("label",)
    ...     def distort(self, bound, query):
    ...         return -np.clip(query.label, -bound, bound)
    >>> nt.check_attack(TowardsZero(bound=0.5, probability=0.2))

    Parameters
    ----------
    bound
        θ ≥ 0, the largest change of a label.
    probability
        β in [0, 1], the chance that a label is attacked; the largest one, if `chance` varies.
    """

    bound: float
    probability: float = 1.0

    query_fields: ClassVar[tuple[str, ...]] = Query._fields
    """The fields of the query its formulas look at; the others are NaN."""

    knowledge: ClassVar[str] = "not said"
    """What the attacker must know."""

    budget: ClassVar[str] = "θ at a share β of the labels"
    """What the attack spends: how much, at which labels."""

    scope: ClassVar[Literal["query", "batch"]] = "query"
    """Whether ξ depends on its own sample only, or on the whole batch."""

    covered: ClassVar[tuple[str, ...]] = ("theorem1", "sharp")
    """The guarantees that hold against it; only an attack with none may have an infinite bound."""

    def __post_init__(self) -> None:
        bounds = "[0, inf)" if self.covered else "[0, inf]"
        object.__setattr__(self, "bound", _check.number("bound", self.bound, bounds))
        chance = _check.number("probability", self.probability, "[0, 1]")
        object.__setattr__(self, "probability", chance)
        for name in self.query_fields:
            if name not in Query._fields:
                raise _check.unknown(
                    f"field in {type(self).__name__}.query_fields", name, Query._fields
                )

    @property
    def probe_vector(self) -> Array | None:
        """The fixed vector u behind `probe` and `probe_output`, shape (r,), if it has one."""
        return None

    @property
    def parameter(self) -> float | None:
        """The attack's own number behind `Query.parameter`, if it has one."""
        return None

    @abstractmethod
    def distort(self, bound: Any, query: Query) -> Any:
        """Return ξ, elementwise."""

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return β; a formula of the query if the chance is not constant, at most `probability`."""
        return probability

    @property
    def formula_group(self) -> object:
        """What arms must share for one call of the formulas to serve them all."""
        return formula_group(self, "distort", "chance")

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        numbers = [
            f"{name}={value:g}" for name, value in values
            if isinstance(value, float) and (name, value) != ("bound", math.inf)
        ]  # fmt: skip
        return f"{type(self).__name__}({', '.join(numbers)})"
