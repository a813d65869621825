"""Theorem A: any error, any noise that does not tell x from −x, up to a third of the labels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from neurotron._types import Array, Index, Mask
from neurotron.guarantees.assumptions import Assumption
from neurotron.guarantees.verify.case import Case, Found, by_chance
from neurotron.laws import Empirical
from neurotron.theory.concentration import NormalConcentration
from neurotron.theory.explained import Explained, deviation, largest
from neurotron.theory.spread import Spread

__all__ = ["ParityTheorem"]

LEVELS = 100
"""How many levels are tried at a time. The statement holds for all levels at once."""


class ParityTheorem:
    """The share of rows that a filter explains, compared with that of a wrong filter."""

    name = "parity"

    def __init__(self, case: Case) -> None:
        self.case = case
        anywhere = case.centred_spread if case.linear and not case.exact else None
        direct = case.linear and (case.exact or (case.noise != "even" and anywhere is not None))
        self.pairs = not direct
        self.spread: Spread | None = anywhere if direct and anywhere is not None else case.spread

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

    def verify(self, failure: float) -> Found:
        """Return the smallest radius over all levels; the assumptions hold."""
        rows = _Rows(self.case, failure)
        explained, spread = self.explained(), self.spread
        assert spread is not None
        found = rows.best(explained, spread.smallest, math.inf)
        noise = self.case.noise
        if isinstance(noise, float) and noise > 0.0:
            if not rows.agree_with_noise(noise):
                return Found(
                    threshold=found.threshold, rows_needed=found.rows_needed, consistent=False
                )
            if isinstance(spread.concentration, NormalConcentration):
                known = dataclasses.replace(explained, noise=noise)
                better = rows.best(known, spread.smallest, found.size)
                found = better if better.size < found.size else found
        return dataclasses.replace(found, radius=found.size / spread.smallest)


class _Rows:
    """The rows in the order of their residuals."""

    def __init__(self, case: Case, failure: float) -> None:
        self.case, self.count = case, len(case.y)
        self.epsilon = deviation(self.count, failure)
        self.failure = failure
        sizes = case.sizes()
        order = np.argsort(sizes, kind="stable")
        self.levels = sizes[order]
        self.reach = np.maximum.accumulate(case.reach[order])
        self.shares = np.arange(1, self.count + 1) / self.count

    def best(self, explained: Explained, smallest: float, known: float) -> Found:
        """Return the level with the smallest bound on the size ‖Gᵀd‖, which is at most `known`.

        The rounding of labels grows with the distance to w*: it is counted up to the known size, or
        along with the size if none is known.
        """
        shares = self.case.shares
        gap = shares.gap(explained.perfect)
        threshold = 1.0 - self.case.probability - gap + self.epsilon
        least = self.epsilon if math.isfinite(self.case.bound) else threshold
        candidates = np.flatnonzero(self.shares > least)
        needed = _rows_for(gap, self.failure, self.case.probability)
        nothing = Found(threshold=threshold, rows_needed=needed)
        if not candidates.size:
            return nothing

        def sizes(chosen: Index) -> Array:
            level, more = self.levels[chosen], self.reach[chosen] / smallest
            share = self.shares[chosen] - self.epsilon

            def consistent(size: Array) -> Mask:
                farther = level + more * np.minimum(size, known)
                return shares.most(explained, farther, size) >= share

            return largest(consistent, level / (explained.slope * explained.concentration.unit))

        place, size = _smallest_of(candidates, sizes)
        if not math.isfinite(size):
            return nothing
        return dataclasses.replace(
            nothing, size=size, level=float(self.levels[place]), share=float(self.shares[place])
        )

    def agree_with_noise(self, noise: float) -> bool:
        """Return whether rows are explained no better than normal noise of this size allows."""
        most = self.case.shares.most_of_noise(self.levels, noise)
        return bool((self.shares - self.epsilon <= most).all())


def _smallest_of(candidates: Index, sizes: Callable[[Index], Array]) -> tuple[int, float]:
    """Return the best candidate of a grid, after a second grid between its neighbours."""
    chosen = _grid(candidates)
    for _ in range(2):
        found = sizes(chosen)
        best = int(found.argmin())
        around = chosen[max(best - 1, 0)], chosen[min(best + 1, len(chosen) - 1)]
        place, size = int(chosen[best]), float(found[best])
        chosen = np.union1d(
            _grid(candidates[(candidates >= around[0]) & (candidates <= around[1])]), [place]
        )
    return place, size


def _grid(candidates: Index) -> Index:
    if len(candidates) <= LEVELS:
        return candidates
    return candidates[np.linspace(0, len(candidates) - 1, LEVELS).astype(np.intp)]


def _rows_for(gap: float, failure: float, probability: float) -> int | None:
    """Return from how many rows on a perfect filter is verified, in 95 of 100 tables."""
    if gap <= 0.0:
        return None
    off = deviation(1, failure) + by_chance(probability, 1)  # both fall with the root of the rows
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
    rank, size = np.linalg.matrix_rank(case.network.mean_gate), case.network.filter_size
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
