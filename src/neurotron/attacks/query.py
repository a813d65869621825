"""What an attacker sees of a batch, and the one place where it is assembled.

A `Query` holds arrays over (batch, arms), with one row for each sample and one column for each arm.
Values that all arms or all samples share have a single column or row. `QueryBuilder` takes the
known fields of a batch and computes the others from its inputs. `visible` hides from an attack all
fields except those in its `query_fields`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.networks import FilterNetwork

if TYPE_CHECKING:
    from neurotron.attacks.base import Attack

Known: TypeAlias = Array | Callable[[], Array]
"""A field of a query, or a function that computes it, called only if an attack uses the field."""


class Query(NamedTuple):
    """What an attacker may see of a batch; the formulas of an `Attack` receive it.

    Every field broadcasts over (batch, arms). Fields that are not in the attack's `query_fields`
    are NaN.

    Attributes
    ----------
    label
        The honest label y.
    output
        The network's output f_w(x) at the present weights w.
    sign
        −1, +1, −1, … by position in the batch.
    uniform
        A new uniform random number in (0, 1), the same for all arms.
    push
        (w − w*)ᵀg with g the update direction of the sample: a ξ of this sign pushes away from w*.
        For stored rows, w − w* is the direction in which the rows resist least.
    probe
        uᵀMx for the attack's `probe_vector` u; M = Ā for trainers without a sensing matrix.
    probe_output
        The output f_u(x) of the network with weights u.
    norm
        The norm ‖x‖ of the input.
    step
        The number of updates made so far.
    parameter
        The attack's own number, `Attack.parameter`.
    """

    label: Any
    output: Any
    sign: Any
    uniform: Any
    push: Any
    probe: Any
    probe_output: Any
    norm: Any
    step: Any
    parameter: Any

    def __repr__(self) -> str:
        return f"Query({_check.shapes(self._asdict())})"


UNSEEN = _check.freeze(np.full((1, 1), np.nan))
"""The value of a field that is not known, or that the attack does not use."""


class QueryBuilder:
    """Builds the queries of several attacks, one column for each.

    Parameters
    ----------
    attacks
        The attack on each arm, None for an arm with honest labels.
    network
        The network to be trained; without it, `probe` and `probe_output` are unknown unless given.
    sensing
        The matrix M of `probe`; None for the network's mean gate Ā.
    """

    def __init__(
        self,
        attacks: Sequence[Attack | None],
        network: FilterNetwork | None = None,
        sensing: Array | None = None,
    ) -> None:
        self.network, self.sensing = network, sensing
        self.fields = {
            name for attack in attacks if attack is not None for name in attack.query_fields
        }
        self.parameter = parameters_of(attacks)[None, :]
        size = 0 if network is None else network.filter_size
        self.vectors = probe_vectors_of(attacks, size) if size else UNSEEN

    def build(self, inputs: Array, **known: Known) -> Query:
        """Return the query of a batch of inputs, (b, n).

        Fields that are `known` are used as given. The others are computed if that is possible and
        an attack uses them; otherwise they are NaN.
        """
        fields: dict[str, Known] = {
            **dict.fromkeys(Query._fields, UNSEEN),
            "sign": lambda: position_signs(len(inputs))[:, None],
            "norm": lambda: np.linalg.norm(inputs, axis=1)[:, None],
            "parameter": self.parameter,
        }
        if self.network is not None:
            fields |= {
                "probe": lambda: self._probe(inputs),
                "probe_output": lambda: self._probe_output(inputs),
            }
        fields |= known
        return Query(**{name: self._value(name, value) for name, value in fields.items()})

    def _value(self, name: str, value: Known) -> Array:
        if callable(value):
            return value() if name in self.fields else UNSEEN
        return value

    def _probe(self, inputs: Array) -> Array:
        """Return uᵀMx, (b, arms)."""
        assert self.network is not None
        matrix = self.network.mean_gate if self.sensing is None else self.sensing
        return inputs @ (matrix.T @ self.vectors)

    def _probe_output(self, inputs: Array) -> Array:
        """Return f_u(x), (b, arms)."""
        assert self.network is not None
        output, _ = self.network.respond(self.network.project(inputs) @ self.vectors)
        return output


def visible(query: Query, attack: Attack, columns: Index | slice = slice(None)) -> Query:
    """Return what an attack on some of the arms sees: all but its `query_fields` are NaN.

    Fields that all arms share keep their single column.
    """
    return Query(
        *(
            (value if value.shape[1] == 1 else value[:, columns])
            if name in attack.query_fields
            else UNSEEN
            for name, value in zip(Query._fields, query, strict=True)
        )
    )


@lru_cache(maxsize=8)
def position_signs(batch_size: int) -> Array:
    """Return −1, +1, −1, … for the positions in a batch."""
    return _check.freeze(np.where(np.arange(batch_size) % 2, 1.0, -1.0))


def parameters_of(attacks: Sequence[Attack | None]) -> Array:
    """Return each attack's own number, NaN for those without one: (arms,)."""
    numbers = [None if attack is None else attack.parameter for attack in attacks]
    return np.array([np.nan if number is None else number for number in numbers])


def probe_vectors_of(attacks: Sequence[Attack | None], filter_size: int) -> Array:
    """Return each attack's fixed vector as a column, NaN for those without one: (r, arms)."""
    vectors = np.full((filter_size, len(attacks)), np.nan)
    for column, attack in enumerate(attacks):
        if attack is not None and attack.probe_vector is not None:
            vectors[:, column] = attack.probe_vector
    return vectors
