"""Inputs drawn with replacement from rows of data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neurotron import _check
from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import Law
from neurotron.laws.even_moments import EvenMoments, of_rows

__all__ = ["Empirical"]


@dataclass(frozen=True, eq=False)
class Empirical(Law):
    """The law that picks one of the given rows, each with the same chance.

    A row may count c times, c of mean 1 over the rows. Moments then go by what a trainer does with
    it: every update is multiplied by c, so E[c xxᵀ] stands for Σ, and c² stands wherever updates
    are squared. The chance of a row, and with it E‖x‖^i, is the same for all.

    Parameters
    ----------
    rows
        Shape (N, n), of entries up to 1e70, so that fourth powers are still numbers.
    symmetrized
        Also flip the sign of the row by a fair coin, which makes any inputs parity symmetric. Only
        where labels are made for the flipped inputs: rows that come with labels have none for −x.
    sample_weight
        How much each row counts, shape (N,): nonnegative, not all zero; only ratios matter. They
        belong to rows with labels (`Problem.from_rows`): inputs cannot be drawn with them.

    Examples
    --------
    >>> Empirical([[1.0, 2.0], [0.0, 1.0]]).symmetric
    False
    >>> Empirical([[1.0, 2.0], [0.0, 1.0]], symmetrized=True).symmetric
    True
    """

    rows: Array
    symmetrized: bool = False
    sample_weight: Array | None = None

    def __post_init__(self) -> None:
        rows = _check.array("rows", self.rows, ("N", "n"), _check.LARGEST)
        object.__setattr__(self, "rows", rows)
        _check.instance("symmetrized", self.symmetrized, bool)
        if self.sample_weight is not None:
            weight = _check.array("sample_weight", self.sample_weight, (len(rows),))
            if weight.min() < 0.0 or not weight.any():
                raise _check.InputError("`sample_weight` must be nonnegative and not all zero")
            relative = weight / weight.max()  # whose mean neither overflows nor vanishes
            object.__setattr__(self, "sample_weight", _check.freeze(relative / relative.mean()))

    def __repr__(self) -> str:
        count, n = self.rows.shape
        flipped = ", symmetrized" if self.symmetrized else ""
        weighted = ", weighted" if self.weighted else ""
        return f"Empirical({count} rows of {n} inputs{flipped}{weighted})"

    @property
    def weighted(self) -> bool:
        """Whether rows have sample weights."""
        return self.sample_weight is not None

    @property
    def counts(self) -> Array:
        """How often each row counts: c of mean 1, shape (N,)."""
        return np.ones(len(self.rows)) if self.sample_weight is None else self.sample_weight

    @property
    def n_inputs(self) -> int:
        """Dimension n of x."""
        return self.rows.shape[1]

    @cached_property
    def symmetric(self) -> bool:
        """Whether signs are flipped, or the rows and their weights are those of the opposites."""
        if self.symmetrized:
            return True
        # −rows + 0.0 turns −0.0 into 0.0, which would otherwise sort as a different row
        both = (np.column_stack([side + 0.0, self.counts]) for side in (self.rows, -self.rows))
        one, other = (rows[np.lexsort(rows.T[::-1])] for rows in both)
        return np.array_equal(one, other)

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms make a batch: one a row."""
        return batch_size

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return the rows at u, with their sign flipped where v < ½ if symmetrized."""
        chosen = self.rows[np.minimum((u * len(self.rows)).astype(np.intp), len(self.rows) - 1)]
        return chosen * select(v < 0.5, -1.0, 1.0)[:, None] if self.symmetrized else chosen

    def covariance(self, n_inputs: int) -> Array:
        """Return E[c xxᵀ] over the rows."""
        weighted = self.rows.T if self.sample_weight is None else self.rows.T * self.sample_weight
        return _check.freeze(weighted @ self.rows / len(self.rows))

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return sums over the rows."""
        return of_rows(self.rows, weighting, self.counts)

    def _norm_moment(self, order: int, n: int) -> float:
        """Return the mean of ‖row‖^i."""
        return float((np.linalg.norm(self.rows, axis=1) ** order).mean())
