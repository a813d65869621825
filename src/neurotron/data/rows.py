"""Data that are given as rows of inputs with their labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from neurotron import _check
from neurotron._streams import Purpose, Stream
from neurotron._types import Array, Index
from neurotron.data.base import Batch, Data
from neurotron.laws import Empirical
from neurotron.networks import FilterNetwork


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Data):
    """Batches from rows of data.

    Every epoch visits each row once, in a new random order. A batch may end one epoch and begin the
    next. With `replacement`, every sample is instead drawn from all rows with equal probability,
    independently of the others; guarantees about a table of data are for rows drawn in this way.
    The row at a place is a function of the seed and the place, so a run of N steps that is resumed
    for N more is the same as one of 2N. The law of the inputs is that of the rows, with their
    weights.

    Parameters
    ----------
    X, y
        Inputs (N, n), of entries up to 1e70, and labels (N,).
    sample_weight
        How much each row counts, shape (N,): nonnegative, not all zero. Only ratios matter. On
        average a row of weight 2 counts like two rows, and it makes larger single steps.
    true_weights
        w*, shape (r,), if they are known. They are only used to measure errors; the labels stay
        those that are given.
    replacement
        Whether rows are drawn with replacement. By default they are visited in epochs.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> network = nt.networks.relu_gate(2)
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> problem = nt.Problem.from_rows(network, X, network([3.0, -2.0], X))
    >>> run = nt.simulate(problem, nt.NeuroTron(0.5), steps=200, batch_size=2)
    >>> run.weights.round(6)
    array([[ 3., -2.]])
    """

    X: Array
    y: Array
    sample_weight: Array | None = field(default=None, kw_only=True)
    true_weights: Array | None = field(default=None, kw_only=True)
    replacement: bool = field(default=False, kw_only=True)
    law: Empirical = field(init=False)

    def __post_init__(self) -> None:
        X = _check.array("X", self.X, ("N", "n"), _check.LARGEST)
        object.__setattr__(self, "y", _check.array("y", self.y, (len(X),), _check.LARGEST))
        law = Empirical(X, sample_weight=self.sample_weight)
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "X", law.rows)
        object.__setattr__(self, "sample_weight", law.sample_weight)
        _check.instance("replacement", self.replacement, bool)
        if self.true_weights is not None:
            weights = _check.array("true_weights", self.true_weights, ("r",))
            object.__setattr__(self, "true_weights", weights)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.law.weighted else ""
        known = "" if self.true_weights is None else ", with true weights"
        drawn = ", drawn with replacement" if self.replacement else ""
        return f"Rows({len(self.X)} rows of {self.X.shape[1]} inputs{weighted}{known}{drawn})"

    def batch(self, network: FilterNetwork, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream."""
        chosen = self._chosen(stream, step, batch_size)
        counts = None if self.sample_weight is None else self.sample_weight[chosen]
        return Batch(self.X[chosen], self.y[chosen], counts)

    def _chosen(self, stream: Stream, step: int, batch_size: int) -> Index:
        """Return the numbers of the rows of a batch, (b,)."""
        count = len(self.X)
        if self.replacement:
            u, _ = stream.pairs(Purpose.ROWS, step, batch_size)
            return np.minimum((u * count).astype(np.intp), count - 1)
        places = step * batch_size + np.arange(batch_size)
        epochs, positions = np.divmod(places, count)
        chosen = np.empty(batch_size, dtype=np.intp)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            here = epochs == epoch
            chosen[here] = _order(stream, epoch, count)[positions[here]]
        return chosen


@lru_cache(maxsize=4)
def _order(stream: Stream, epoch: int, count: int) -> Index:
    u, _ = stream.pairs(Purpose.ROWS, epoch, count)
    return np.argsort(u, kind="stable")
