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


@dataclass(frozen=True, eq=False)
class Empirical(Law):
    """Rows of data, each drawn with the same probability.

    This is the law (probability distribution) to use when inputs come from a data set. For rows
    with labels, `Problem.from_rows` makes it.

    With sample weights, a row counts c times, where c has mean 1 over the rows. Every update is
    then multiplied by c, so the moments use E[c xxᵀ] in place of Σ, and c² wherever updates are
    squared. All rows are still drawn equally often, so E‖x‖^i does not depend on the weights.

    Parameters
    ----------
    rows
        The inputs, shape (N, n). Entries may be as large as 1e70, so that fourth powers do not
        overflow.
    symmetrized
        Whether to flip the sign of each drawn row with probability ½, which makes any inputs
        parity symmetric. Use it only where labels are computed for the flipped inputs: rows that
        come with labels have no label for −x.
    sample_weight
        How much each row counts, shape (N,): nonnegative and not all zero. Only ratios matter.
        Weights are for rows with labels (`Problem.from_rows`): simulated inputs cannot have them.

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
            weight = _check.sample_weight(self.sample_weight, len(rows))
            object.__setattr__(self, "sample_weight", weight)

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
        """How much each row counts: c with mean 1, shape (N,)."""
        return np.ones(len(self.rows)) if self.sample_weight is None else self.sample_weight

    @property
    def n_inputs(self) -> int:
        """Dimension n of x."""
        return self.rows.shape[1]

    @cached_property
    def symmetric(self) -> bool:
        """Whether signs are flipped, or each row has an opposite row of the same weight."""
        if self.symmetrized:
            return True
        if not np.array_equal(self.rows.max(axis=0), -self.rows.min(axis=0)):
            return False  # which is known without sorting
        # −rows + 0.0 turns −0.0 into 0.0, which would otherwise sort as a different row
        both = (np.column_stack([side + 0.0, self.counts]) for side in (self.rows, -self.rows))
        one, other = (rows[np.lexsort(rows.T[::-1])] for rows in both)
        return np.array_equal(one, other)

    def pairs(self, batch_size: int, n_inputs: int) -> int:
        """Return how many pairs of uniforms a batch needs: one per row."""
        return batch_size

    def inputs(self, u: Array, v: Array, batch_size: int, n_inputs: int) -> Array:
        """Return the rows chosen by u; if symmetrized, their sign is flipped where v < ½."""
        chosen = self.rows[np.minimum((u * len(self.rows)).astype(np.intp), len(self.rows) - 1)]
        return chosen * select(v < 0.5, -1.0, 1.0)[:, None] if self.symmetrized else chosen

    def covariance(self, n_inputs: int) -> Array:
        """Return E[c xxᵀ] over the rows."""
        weighted = self.rows.T if self.sample_weight is None else self.rows.T * self.sample_weight
        return _check.freeze(weighted @ self.rows / len(self.rows))

    def even_moments(self, n_inputs: int, weighting: str | None = None) -> EvenMoments:
        """Return the moments that the sharp certificate needs, as means over the rows.

        They are exact, except that τ is an upper bound.
        """
        return of_rows(self.rows, weighting, self.counts)

    def _norm_moment(self, order: int, n: int) -> float:
        """Return the mean of ‖row‖^i."""
        return float((np.linalg.norm(self.rows, axis=1) ** order).mean())
