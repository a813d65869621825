"""The checked arguments of `verify`, and what both theorems share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Rows
from neurotron.guarantees.certificate import Kind
from neurotron.laws import Empirical, Law
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.explained import Shares
from neurotron.theory.rounding import UNIT, label_rounding, output_reach, rounding_reach
from neurotron.theory.spread import Spread, spread_of

__all__ = ["ATTACKERS", "NOISES", "Case", "Found", "by_chance"]

ATTACKERS = ("any", "coin")
NOISES = ("independent", "even")
BLOCK = 4_000_000
"""Entries of the projected inputs that are kept at a time."""
USUAL = 1.645
"""The normal quantile at 95 %."""
LEAST = 1e-100
"""The smallest size of a residual, so that no level is 0."""


def by_chance(probability: float, rows: float) -> float:
    """Return by how much a share of so many rows is off from its probability, at most as a rule.

    In about 95 of 100 tables it is off by less to the bad side. With this, the numbers of rows are
    found with which a perfect filter is nearly always verified.
    """
    return USUAL * math.sqrt(probability * (1.0 - probability) / rows)


@dataclass(frozen=True)
class Found:
    """What a theorem says about a filter."""

    radius: float = math.inf
    size: float = math.inf
    """A bound on ‖Gᵀd‖, the size of the odd difference, if the theorem gives one."""
    level: float = math.nan
    share: float = math.nan
    threshold: float = math.inf
    """The share of rows that a filter must explain at least to be verified."""
    rows_needed: int | None = None
    consistent: bool = True


@dataclass(frozen=True, eq=False)
class Case:
    """A filter, fresh rows, and what is known about attackers and noise."""

    problem: Problem
    weights: Array
    X: Array
    y: Array
    probability: float
    attacker: str
    failure: float
    noise: str | float
    """"independent", "even", or a number: at least so much normal noise, 0 for exact labels."""
    bound: float

    @classmethod
    def of(
        cls,
        problem: Problem,
        weights: npt.ArrayLike,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        probability: float,
        attacker: str,
        failure: float,
        noise: str | float,
        bound: float | None,
    ) -> Case:
        """Return the case; refuse arguments that cannot be used."""
        _check.instance("problem", problem, Problem)
        network = problem.network
        inputs = _check.array("X", X, ("N", network.n_inputs), _check.LARGEST)
        if problem.law.corrupted:
            raise _check.InputError(
                f"verification needs labels that are computed from the inputs at hand, and "
                f"{problem.law!r} corrupts them: verify on rows with clean inputs, with a problem "
                "whose law is the clean one"
            )
        if not isinstance(noise, str):
            noise = _check.number("noise", noise, "[0, 1e70]")
        elif noise not in NOISES:
            raise _check.InputError(
                f"`noise` must be 'independent', 'even' or a number, got {_check.shown(noise)}"
            )
        return cls(
            problem,
            _check.array("weights", weights, (network.filter_size,), _check.LARGEST),
            inputs,
            _check.array("y", y, (len(inputs),), _check.LARGEST),
            _check.number("probability", probability, "[0, 1]"),
            _check.choice("attacker", attacker, ATTACKERS),
            _check.number("failure", failure, "[1e-15, 0.5]"),
            noise,
            math.inf if bound is None else _check.number("bound", bound, "[0, 1e70]"),
        )

    @property
    def network(self) -> FilterNetwork:
        """What the filter belongs to."""
        return self.problem.network

    @property
    def law(self) -> Law:
        """The law of the inputs."""
        return self.problem.law

    @property
    def linear(self) -> bool:
        """Whether the network is linear."""
        return self.network.is_linear

    @property
    def exact(self) -> bool:
        """Whether honest labels have no noise."""
        return self.noise == 0.0

    @property
    def shares(self) -> Shares:
        """What the attacker can add to the share of explained rows."""
        return Shares(self.probability, self.attacker == "coin", self.bound)

    @cached_property
    def kind(self) -> Kind:
        """What a verification rests on: the law, a table, or a table taken for the law."""
        if not isinstance(self.law, Empirical):
            return "theorem (law)"
        together = isinstance(self.problem.data, Rows) and not self.problem.data.replacement
        if together:
            return "plug-in"
        table = Counter(row.tobytes() for row in self.law.rows + 0.0)
        rows = [row.tobytes() for row in self.X + 0.0]  # which turns −0.0 into 0.0
        flipped = rows
        if self.law.symmetrized:
            flipped = [row.tobytes() for row in -self.X + 0.0]
        drawn = all(
            row in table or other in table for row, other in zip(rows, flipped, strict=True)
        )
        whole = len(rows) > 1 and Counter(rows) == table  # draws are hardly ever each row once
        return "theorem (table)" if drawn and not whole else "plug-in"

    @cached_property
    def centred_spread(self) -> Spread | None:
        """The spread with intervals anywhere, to which independent noise may be added."""
        return spread_of(self.network, self.law, anywhere=True)

    @cached_property
    def spread(self) -> Spread | None:
        """The spread of the inputs around 0."""
        return spread_of(self.network, self.law)

    @cached_property
    def residuals(self) -> Array:
        """|y − f_ŵ(x)| as computed, shape (N,)."""
        return np.abs(self.y - self._by_blocks(lambda rows: self.network(self.weights, rows)))

    @cached_property
    def rounding(self) -> Array:
        """What rounding may have added to or taken from a residual, if ŵ were w*, shape (N,)."""
        stored = 2.0 * UNIT * (np.abs(self.y) + self.residuals)
        return label_rounding(self.network, self.weights, self.X) + stored

    @cached_property
    def reach(self) -> Array:
        """How much more rounding there may be for each unit of ‖ŵ − w*‖, shape (N,)."""
        return rounding_reach(self.network, self.X)

    @cached_property
    def output_reach(self) -> Array:
        """The most by which an output changes for each unit of ‖ŵ − w*‖, shape (N,)."""
        return self._by_blocks(lambda rows: output_reach(self.network, rows))

    def sizes(self, allowance: float = 1.0) -> Array:
        """Return the residuals with this multiple of their rounding, shape (N,)."""
        return np.maximum(self.residuals + allowance * self.rounding, LEAST)

    def _by_blocks(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the rows, computed for a block of rows at a time."""
        entries = (len(self.network.basis) + self.network.width) * self.network.filter_size
        step = max(BLOCK // entries, 1)
        return np.concatenate(
            [function(self.X[start : start + step]) for start in range(0, len(self.X), step)]
        )
