"""Theorem A: any error, any noise that does not tell x from −x, up to a third of the labels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np

from neurotron._types import Array, Index, Mask
from neurotron.guarantee import Assumption
from neurotron.guarantees.verify.case import Case, Found, by_chance
from neurotron.laws import Empirical
from neurotron.theory.concentration import NormalConcentration
from neurotron.theory.explained import Explained, deviation, largest
from neurotron.theory.spread import Spread

LEVELS = 100
"""How many levels are tried at a time. The statement holds for all levels at once."""
ALIKE = 1.0 + 1e-6
"""Sizes within this factor are compared by the bound itself, and not by its quick version."""


class ParityTheorem:
    """The share of rows that a filter explains, compared with that of a wrong filter.

    It depends on what is told in the case, and not on its filter.
    """

    name = "parity"

    def __init__(self, case: Case) -> None:
        self.case = case
        anywhere = case.inputs.centred_spread if case.linear and not case.exact else None
        direct = case.linear and (case.exact or (case.noise != "even" and anywhere is not None))
        self.pairs = not direct
        self.spread: Spread | None = (
            anywhere if direct and anywhere is not None else case.inputs.spread
        )

    @property
    def assumptions(self) -> list[Assumption]:
        """What the theorem needs of the inputs."""
        found = [_known_spread(self.case, self.spread)]
        if self.spread is not None:
            found.append(_seen(self.case, self.spread))
        return [*found, _symmetric(self.case)] if self.pairs else found

    @property
    def can_verify(self) -> bool:
        """Whether a perfect filter can be verified with enough rows, whatever its labels are."""
        gap = self.case.shares.gap(self.explained().perfect)
        return gap > 0.0 or math.isfinite(self.case.bound)

    def explained(self) -> Explained:
        """Return the bound on explained rows, without what is known about the size of noise."""
        assert self.spread is not None
        network = self.case.network
        one_gate = self.pairs and self.case.exact and network.width == 1
        return Explained(
            self.spread.concentration,
            network.odd_slope,
            self.pairs,
            network.leak if one_gate else 0.0,
        )

    def verify(self, cases: list[Case], delta: float) -> list[Found]:
        """Return the smallest radius of each case over all levels; the assumptions hold.

        The cases are told the same.
        """
        rows = _Rows(cases, delta)
        explained, spread = self.explained(), self.spread
        assert spread is not None
        found = rows.best(explained, spread.smallest, np.full(len(cases), math.inf))
        noise = self.case.noise
        if isinstance(noise, float) and noise > 0.0:
            if isinstance(spread.concentration, NormalConcentration):
                known = dataclasses.replace(explained, noise=noise)
                sizes = np.array([one.size for one in found])
                better = rows.best(known, spread.smallest, sizes)
                found = [
                    min(both, key=lambda one: one.size) for both in zip(found, better, strict=True)
                ]
            fine = rows.agree_with_noise(noise)
            found = [
                one if agree else Found(
                    threshold=one.threshold, rows_needed=one.rows_needed, consistent=False
                )
                for one, agree in zip(found, fine, strict=True)
            ]  # fmt: skip
        return [dataclasses.replace(one, radius=one.size / spread.smallest) for one in found]


class _Rows:
    """The rows of filters that are told the same, in the order of their residuals."""

    def __init__(self, cases: list[Case], delta: float) -> None:
        self.case, self.count, self.arms = cases[0], len(cases[0].y), len(cases)
        self.epsilon = deviation(self.count, delta)
        self.delta = delta
        sizes = np.array([case.sizes() for case in cases])
        order = np.argsort(sizes, axis=1)
        self.levels = np.take_along_axis(sizes, order, axis=1)
        self.reach = np.maximum.accumulate(self.case.inputs.reach[order], axis=1)
        self.shares = np.arange(1, self.count + 1) / self.count

    def best(self, explained: Explained, smallest: float, known: Array) -> list[Found]:
        """Return the level with the smallest bound on the size ‖Gᵀd‖, which is at most `known`.

        The rounding of labels grows with the distance to w*: it is counted up to the known size, or
        along with the size if none is known.
        """
        shares = self.case.shares
        gap = shares.gap(explained.perfect)
        threshold = 1.0 - self.case.probability - gap + self.epsilon
        least = self.epsilon if math.isfinite(self.case.bound) else threshold
        first = int(np.searchsorted(self.shares, least, side="right"))
        needed = _rows_for(gap, self.delta, self.case.probability)
        nothing = Found(threshold=threshold, rows_needed=needed)
        if first == self.count:
            return [nothing] * self.arms

        def sizes(explained: Explained, arms: Index, places: Index) -> Array:
            level, more = self.levels[arms, places], self.reach[arms, places] / smallest
            share, most = self.shares[places] - self.epsilon, known[arms]

            def consistent(size: Array) -> Mask:
                farther = level + more * np.minimum(size, most)
                return shares.most(explained, farther, size) >= share

            return largest(consistent, level / (explained.slope * explained.concentration.unit))

        return [
            nothing if size == math.inf else dataclasses.replace(
                nothing, size=size, level=float(self.levels[arm, place]),
                share=float(self.shares[place]),
            )
            for arm, (place, size) in enumerate(self._smallest(explained, sizes, first))
        ]  # fmt: skip

    def _smallest(
        self, explained: Explained, sizes: Callable[[Explained, Index, Index], Array], first: int
    ) -> list[tuple[int, float]]:
        """Return the best level of each arm and its size, from a grid and one between neighbours.

        Every level has a proof of its own, so they may be compared by a quick version of the bound.
        The size is that of the bound itself.
        """
        quick = dataclasses.replace(explained, concentration=explained.concentration.quick)
        chosen = [_grid(first, self.count - 1)] * self.arms

        def found(bound: Explained) -> Iterator[tuple[Index, Array]]:
            counts = [len(places) for places in chosen]
            values = sizes(bound, np.repeat(np.arange(self.arms), counts), np.concatenate(chosen))
            return zip(chosen, np.split(values, np.cumsum(counts)[:-1]), strict=True)

        for narrowed in (_around_the_best, _nearly_the_best):
            chosen = [narrowed(places, values) for places, values in found(quick)]
        best = ((places, values, values.argmin()) for places, values in found(explained))
        return [(int(places[i]), float(values[i])) for places, values, i in best]

    def agree_with_noise(self, noise: float) -> Array:
        """Return whether rows are explained no better than normal noise of this size allows."""
        most = self.case.shares.most_of_noise(self.levels, noise)
        return np.asarray((self.shares - self.epsilon <= most).all(axis=1))


def _grid(first: int, last: int) -> Index:
    """Return places from the first to the last one."""
    if last - first < LEVELS:
        return np.arange(first, last + 1)
    return first + np.linspace(0, last - first, LEVELS).astype(np.intp)


def _around_the_best(places: Index, sizes: Array) -> Index:
    """Return a grid between the neighbours of the best place, which it contains."""
    best = int(sizes.argmin())
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    return np.union1d(_grid(int(low), int(high)), places[best : best + 1])


def _nearly_the_best(places: Index, sizes: Array) -> Index:
    """Return the places that a quick bound cannot tell from the best one."""
    best = int(sizes.argmin())
    near = sizes <= sizes[best] * ALIKE if sizes[best] < math.inf else slice(best, best + 1)
    return np.asarray(places[near])


def _rows_for(gap: float, delta: float, probability: float) -> int | None:
    """Return from how many rows on a perfect filter is verified, in 95 of 100 tables."""
    if gap <= 0.0:
        return None
    off = deviation(1, delta) + by_chance(probability, 1)  # both fall with the root of the rows
    return math.floor((off / gap) ** 2) + 1


def _known_spread(case: Case, spread: Spread | None) -> Assumption:
    return Assumption(
        "concentration",
        "It is known how much probability the outputs of two different filters can have near each "
        "other.",
        "known" if spread is not None else f"it is not known for {case.law!r}",
        "known",
        spread is not None,
        "Use one of the built-in laws (StudentT for t and Cauchy), a log-concave law of SciPy such "
        "as the logistic one, or Empirical(rows) with rows drawn from the law.",
    )


def _seen(case: Case, spread: Spread) -> Assumption:
    remedy = "Use a law whose inputs vary in every direction, or leave out inputs that do not."
    rank = size = case.network.filter_size
    if spread.smallest == 0.0:
        rank = np.linalg.matrix_rank(case.network.mean_gate)
    if rank < size:
        remedy = (
            f"The mean gate Ā of this network has the rank {rank}, and the filter has {size} "
            "weights: use a network whose mean gate has full rank."
        )
    elif isinstance(case.law, Empirical):
        remedy = "Give rows whose inputs vary in every direction, or leave out inputs that do not."
        if case.linear and not case.exact:
            remedy += " A constant input, such as an intercept, can only be verified without noise."
    return Assumption(
        "λ > 0",
        "Every direction of the filter changes the odd part of the outputs; the smallest change "
        "is λ.",
        spread.smallest,
        "> 0",
        spread.smallest > 0.0,
        remedy,
    )


def _symmetric(case: Case) -> Assumption:
    symmetric = case.law.symmetric
    remedy = "Use a linear network, a symmetric law, or exact labels (noise 0)."
    if isinstance(case.law, Empirical):
        remedy = (
            "Use a linear network, or Empirical(rows, symmetrized=True) if the sign of each row "
            "was drawn at random."
        )
    elif case.network.activation is not None:
        remedy = "Use a symmetric law, a linear network, or one with leaky ReLUs."
    elif case.exact:
        remedy = "Use a linear network, a symmetric law, or a network of at most 10 gates."
    return Assumption(
        "symmetry",
        "The inputs x and −x have the same law.",
        "they have" if symmetric else f"it is not so, or not known, for {case.law!r}",
        "the same",
        symmetric,
        remedy,
    )
