"""What an attack is: when × what.

A sample with honest label y is attacked iff its coin ≤ β, and then its label becomes y + ξ with
|ξ| ≤ θ. `distort` is ξ, `chance` is β: elementwise formulas of what the attacker sees, a `Query`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self

from neurotron import _check
from neurotron._arguments import Explained
from neurotron._formula import formula_group
from neurotron._pickling import Pickled
from neurotron._registry import construct, kebab_case
from neurotron._types import Array
from neurotron.attacks.query import Query
from neurotron.problem import Problem

__all__ = ["Attack"]


@dataclass(frozen=True, eq=False)
class Attack(Pickled, metaclass=Explained):
    """Base of all attacks: adds ξ, |ξ| ≤ `bound`, to a label with chance `probability`.

    Write your own by giving `distort`, in plain NumPy:

    >>> import numpy as np, neurotron as nt
    >>> class TowardsZero(nt.Attack):
    ...     query_fields = ("label",)
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

    own_number: ClassVar[tuple[str, str] | None] = None
    """The name and the interval of the setting behind `parameter`, such as ("share", "[0, 1]")."""

    def __post_init__(self) -> None:
        bounds = "[0, inf)" if self.covered else "[0, inf]"
        object.__setattr__(self, "bound", _check.number("bound", self.bound, bounds))
        chance = _check.number("probability", self.probability, "[0, 1]")
        object.__setattr__(self, "probability", chance)
        if self.own_number is not None:
            name, interval = self.own_number
            object.__setattr__(self, name, _check.number(name, getattr(self, name), interval))
        for name in self.query_fields:
            if name not in Query._fields:
                raise _check.unknown(
                    f"field in {type(self).__name__}.query_fields", name, Query._fields
                )

    @classmethod
    def spending(
        cls, problem: Problem, bound: float, share: float, seed: int, /, **settings: Any
    ) -> Self:
        """Return the attack of this kind that spends a budget on `problem`.

        The budget is a change of up to `bound` at a `share` of all labels, on average. An attack
        that leaves some samples alone has a larger chance at the others; one that needs a vector
        finds the worst one for its purpose, or draws it by `seed`. The `settings` are kept as they
        are given, and the chance goes by them.
        """
        _check.instance("problem", problem, Problem)
        share = _check.number("share", share, "[0, 1]")
        found = cls.settings_for(problem, share, _check.integer("seed", seed, 0), settings)
        filled = {"bound": bound, "probability": share, **found, **settings}
        return construct("attack", kebab_case(cls.__name__), cls, filled)

    @classmethod
    def settings_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what `spending` needs besides bound and probability, or another probability."""
        return {}

    @property
    def probe_vector(self) -> Array | None:
        """The fixed vector u behind `probe` and `probe_output`, shape (r,), if it has one."""
        return None

    @property
    def parameter(self) -> float | None:
        """The attack's own number behind `Query.parameter`, if it has one."""
        return None if self.own_number is None else getattr(self, self.own_number[0])

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

    @property
    def number_texts(self) -> dict[str, str]:
        """Its numbers, each as text such as "bound=0.5"; an infinite bound is left out."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {
            name: f"{name}={value:g}" for name, value in values
            if isinstance(value, float) and (name, value) != ("bound", math.inf)
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.number_texts.values())})"
