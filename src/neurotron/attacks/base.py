"""The base class of attacks, which says when a label is attacked and how it is changed.

A sample with the honest label y is attacked if its coin, a uniform random number, is at most β. Its
label then becomes y + ξ with |ξ| ≤ θ. `distort` returns ξ and `chance` returns β. Both are
elementwise formulas of what the attacker sees, a `Query`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

import numpy as np

from neurotron import _check
from neurotron._formula import formula_group
from neurotron._pickling import Pickled
from neurotron._registry import construct, name_of
from neurotron._types import Array
from neurotron.attacks.query import Query
from neurotron.attacks.table import AttackedTable
from neurotron.problem import Problem


@dataclass(frozen=True, eq=False)
class Attack(Pickled, ABC):
    """Base of all attacks, which add a bounded ξ to some of the labels.

    A label is attacked with probability β, independently of the others; then ξ with |ξ| ≤ θ is
    added to it. To write your own attack, define `distort` in plain NumPy:

    >>> import numpy as np, neurotron as nt
    >>> class TowardsZero(nt.Attack):
    ...     query_fields = ("label",)
    ...     def distort(self, bound, query):
    ...         return -np.clip(query.label, -bound, bound)
    >>> nt.check_attack(TowardsZero(bound=0.5, probability=0.2))

    Parameters
    ----------
    bound
        The bound θ ≥ 0, the largest change of a label.
    probability
        The probability β in [0, 1] that a label is attacked. If it varies from sample to sample
        (see `chance`), this is the largest one.
    """

    bound: float
    probability: float = 1.0

    query_fields: ClassVar[tuple[str, ...]] = Query._fields
    """The fields of the query that its formulas use; the others are NaN."""

    knowledge: ClassVar[str] = "not stated"
    """What the attacker must know."""

    budget: ClassVar[str] = "θ at a share β of the labels"
    """How much the attack changes, and at which labels."""

    scope: ClassVar[Literal["query", "batch", "rows"]] = "query"
    """Whether ξ depends on its own sample only ("query"), or on the whole batch ("batch").

    An attack of the scope "rows" needs all rows of a table at once, to choose those it attacks. It
    is for `neurotron.poison`; a stream has no such table.
    """

    covered: ClassVar[tuple[str, ...]] = ("theorem1", "sharp")
    """The guarantees that hold against it; an attack with any needs a finite bound."""

    own_number: ClassVar[tuple[str, str] | None] = None
    """Name and interval of the number behind `parameter`, such as ("share", "[0, 1]")."""

    def __post_init__(self) -> None:
        bounds = "[0, inf)" if self.covered else "[0, inf]"
        object.__setattr__(self, "bound", _check.number("bound", self.bound, bounds))
        chance = _check.number("probability", self.probability, "[0, 1]")
        object.__setattr__(self, "probability", chance)
        if self.own_number is not None:
            name, interval = self.own_number
            object.__setattr__(self, name, _check.number(name, getattr(self, name), interval))
        _check.choice(f"{type(self).__name__}.scope", self.scope, ("query", "batch", "rows"))
        for name in self.query_fields:
            if name not in Query._fields:
                raise _check.unknown(
                    f"field in {type(self).__name__}.query_fields", name, Query._fields
                )

    @classmethod
    def spending(
        cls, problem: Problem, bound: float, share: float, seed: int, /, **parameters: Any
    ) -> Self:
        """Return an attack of this kind that spends a given budget on `problem`.

        The budget is a change of up to `bound` at a `share` of all labels, on average. An attack
        that never attacks some samples attacks the others with a larger probability. An attack
        that needs a vector takes the most harmful one, or draws one from `seed`. Parameters given
        by name are kept, and the probability is adapted to them.
        """
        _check.instance("problem", problem, Problem)
        share = _check.number("share", share, "[0, 1]")
        found = cls.parameters_for(problem, share, _check.integer("seed", seed, 0), parameters)
        filled = {"bound": bound, "probability": share, **found, **parameters}
        return construct("attack", name_of(cls), cls, filled)

    @classmethod
    def parameters_for(
        cls, problem: Problem, share: float, seed: int, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the other parameters for `spending`, and the probability if not the share."""
        return {}

    @property
    def probe_vector(self) -> Array | None:
        """The fixed vector u of `Query.probe` and `Query.probe_output`, shape (r,), or None."""
        return None

    @property
    def parameter(self) -> float | None:
        """The attack's own number, which formulas see as `Query.parameter`, or None."""
        return None if self.own_number is None else getattr(self, self.own_number[0])

    @abstractmethod
    def distort(self, bound: Any, query: Query) -> Any:
        """Return the change ξ of each label, elementwise."""

    @staticmethod
    def chance(probability: Any, query: Query) -> Any:
        """Return the probability that each label is attacked, at most `probability`.

        Override it for a probability that depends on the query.
        """
        return probability

    def aimed(self, table: AttackedTable) -> Self:
        """Return the attack with all that it first has to find in a table of rows.

        Override it for an attack of the scope "rows" that chooses a vector by the rows.
        """
        return self

    def priority(self, table: AttackedTable) -> Array:
        """Return how much an attack of the scope "rows" prefers each row of a table, (N,).

        It attacks the share β of the rows with the largest priority: exactly ⌊βN⌋ of N rows. Rows
        of equal priority are in random order.
        """
        return np.zeros(len(table))

    @property
    def formula_group(self) -> object:
        """A key: arms with equal keys can be computed by one call of the formulas."""
        return formula_group(self, "distort", "chance")

    @property
    def number_texts(self) -> dict[str, str]:
        """Its numbers, each as text such as "bound=0.5"; an infinite bound is left out."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {
            name: f"{name}={value:g}" for name, value in values
            if isinstance(value, float) and (name, value) != ("bound", math.inf)
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.number_texts.values())})"


@dataclass(frozen=True, eq=False, repr=False)
class Unlimited(Attack):
    """An attack that no guarantee covers, because its changes of a label have no bound.

    With a finite `bound`, ξ is clipped to [−θ, θ]; the attack is still not covered.
    """

    bound: float = field(default=math.inf, kw_only=True)
    probability: float = field(default=1.0, kw_only=True)

    budget: ClassVar[str] = "any change of a share β of the labels"
    covered: ClassVar[tuple[str, ...]] = ()
