"""The checked arguments of `verify`, and what both theorems share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array, Mask
from neurotron.data import Rows
from neurotron.guarantee import Kind, delta
from neurotron.laws import Empirical, Law
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.cells import Partition
from neurotron.theory.concentration import concentration_of
from neurotron.theory.explained import Shares
from neurotron.theory.rounding import UNIT, label_rounding, output_reach, rounding_reach
from neurotron.theory.sharp import risk_constant
from neurotron.theory.spread import Spread, root_of, spread_of

ATTACKERS = ("any", "coin")
NOISES = ("independent", "even")
BLOCK = 4_000_000
"""Entries of the projected inputs, or of the rows of all filters, that are kept at a time."""
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
class Inputs:
    """Fresh inputs of a problem, with all that the filters verified on them share."""

    problem: Problem
    X: Array

    @classmethod
    def of(cls, problem: Problem, X: npt.ArrayLike) -> Inputs:
        """Return the inputs; refuse those on which nothing can be verified."""
        _check.instance("problem", problem, Problem)
        inputs = _check.array("X", X, ("N", problem.network.n_inputs), _check.LARGEST)
        problem.data.require_seen("verification")
        return cls(problem, inputs)

    @cached_property
    def basis(self) -> tuple[Kind, Literal["law", "table"]]:
        """What a verification rests on: the law, a table, or a table taken for the law."""
        law = self.problem.law
        if not isinstance(law, Empirical):
            return "theorem", "law"
        together = isinstance(self.problem.data, Rows) and not self.problem.data.replacement
        if together:
            return "plug-in", "law"
        table = Counter(row.tobytes() for row in law.rows + 0.0)
        rows = [row.tobytes() for row in self.X + 0.0]  # which turns −0.0 into 0.0
        flipped = rows
        if law.symmetrized:
            flipped = [row.tobytes() for row in -self.X + 0.0]
        drawn = all(
            row in table or other in table for row, other in zip(rows, flipped, strict=True)
        )
        whole = len(rows) > 1 and Counter(rows) == table  # draws are hardly ever each row once
        return ("theorem", "table") if drawn and not whole else ("plug-in", "law")

    @cached_property
    def centred_spread(self) -> Spread | None:
        """The spread with intervals anywhere, to which independent noise may be added."""
        return spread_of(self.problem.network, self.problem.law, anywhere=True)

    @cached_property
    def spread(self) -> Spread | None:
        """The spread of the inputs around 0."""
        return spread_of(self.problem.network, self.problem.law)

    @cached_property
    def partition(self) -> tuple[Partition, float] | None:
        """The cells of the network and κ of the inputs; None if either is not known."""
        found = root_of(self.problem.law, self.problem.network.n_inputs)
        concentration = None if found is None else concentration_of(found[0])
        if found is None or concentration is None or not math.isfinite(concentration.slope):
            return None
        partition = Partition.of(self.problem.network, found[1])
        return None if partition is None else (partition, concentration.slope)

    @cached_property
    def risk(self) -> float:
        """The c with E(f_w(x) − f_v(x))² ≤ c ‖w − v‖², inf if none is known."""
        # with sample weights, the constant of the problem is about a weighted mean
        return math.inf if self.problem.law.weighted else risk_constant(self.problem)

    @cached_property
    def reach(self) -> Array:
        """How much more rounding there may be for each unit of ‖ŵ − w*‖, shape (N,)."""
        return rounding_reach(self.problem.network, self.X)

    @cached_property
    def output_reach(self) -> Array:
        """The most by which an output changes for each unit of ‖ŵ − w*‖, shape (N,)."""
        return self.by_blocks(partial(output_reach, self.problem.network))

    def by_blocks(self, function: Callable[[Array], Array]) -> Array:
        """Return a function of the projected inputs, (b, L, r), for a block of rows at a time."""
        network = self.problem.network
        step = max(BLOCK // ((len(network.basis) + network.width) * network.filter_size), 1)
        return np.concatenate(
            [function(self._projected(start, step)) for start in range(0, len(self.X), step)]
        )

    def _projected(self, start: int, step: int) -> Array:
        """Return a block of projected inputs, which is kept until another one is asked for."""
        if start not in self._kept:
            self._kept.clear()
            self._kept[start] = self.problem.network.project(self.X[start : start + step])
        return self._kept[start]

    @cached_property
    def _kept(self) -> dict[int, Array]:
        return {}


@dataclass(frozen=True, eq=False)
class Case:
    """A filter, fresh rows, and what is known about attackers and noise."""

    inputs: Inputs
    weights: Array
    y: Array
    probability: float
    attacker: str
    confidence: float
    noise: str | float
    """"independent", "even", or a number: at least so much normal noise, 0 for exact labels."""
    bound: float
    delta: float
    """The probability with which the theorems may fail, at most 1 − confidence."""

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        weights: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        probability: float,
        attacker: str,
        confidence: float,
        noise: str | float,
        bound: float | None,
    ) -> Case:
        """Return the case; refuse arguments that cannot be used."""
        if not isinstance(noise, str):
            noise = _check.number("noise", noise, "[0, 1e70]")
        elif noise not in NOISES:
            raise _check.InputError(
                f"`noise` must be 'independent', 'even' or a number, got {_check.shown(noise)}"
            )
        size = inputs.problem.network.filter_size
        confidence = _check.number("confidence", confidence, "[0.5, 1)")
        return cls(
            inputs,
            _check.array("weights", weights, (size,), _check.LARGEST),
            _check.array("y", y, (len(inputs.X),), _check.LARGEST),
            _check.number("probability", probability, "[0, 1]"),
            _check.choice("attacker", attacker, ATTACKERS),
            confidence,
            noise,
            math.inf if bound is None else _check.number("bound", bound, "[0, 1e70]"),
            delta(confidence),
        )

    @property
    def told(self) -> tuple[float, str, float, str | float, float]:
        """What is known besides the filter and its rows; equal cases are verified together."""
        return self.probability, self.attacker, self.delta, self.noise, self.bound

    @property
    def network(self) -> FilterNetwork:
        """What the filter belongs to."""
        return self.inputs.problem.network

    @property
    def law(self) -> Law:
        """The law of the inputs."""
        return self.inputs.problem.law

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
    def residuals(self) -> Array:
        """|y − f_ŵ(x)| as computed, shape (N,)."""
        column = self.weights[:, None]
        outputs = self.inputs.by_blocks(lambda rows: self.network.respond(rows @ column)[0])
        return np.abs(self.y - outputs[:, 0])

    @property
    def active(self) -> Mask:
        """Which gates of the filter are active, shape (N, k)."""
        mix = self.network.mix
        sums = self.inputs.by_blocks(lambda rows: rows @ self.weights)
        return np.asarray((sums if mix is None else sums @ mix.T) > 0.0)

    @cached_property
    def rounding(self) -> Array:
        """What rounding may have added to or taken from a residual, if ŵ were w*, shape (N,)."""
        stored = 2.0 * UNIT * (np.abs(self.y) + self.residuals)
        return label_rounding(self.network, self.weights, self.inputs.X) + stored

    def sizes(self, allowance: float = 1.0) -> Array:
        """Return the residuals with this multiple of their rounding, shape (N,)."""
        return np.maximum(self.residuals + allowance * self.rounding, LEAST)
