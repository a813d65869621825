"""Where batches of (inputs, honest labels) come from: a simulated problem, or rows of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from neurotron import _check
from neurotron._pickling import Pickled
from neurotron._streams import Purpose, Stream
from neurotron._types import Array, Index
from neurotron.laws import Empirical, Law, Normal
from neurotron.problem import Problem
from neurotron.trainers import Arm

__all__ = ["Batch", "Rows", "Simulated", "Source", "draw_batch", "draw_inputs"]


class Batch(NamedTuple):
    """Inputs (b, n), honest labels (b,), and how much each sample counts (None: all the same)."""

    inputs: Array
    labels: Array
    counts: Array | None = None


class Source(Protocol):
    """What the engine asks of a source: batch number `step`, the same whenever it is asked."""

    def batch(self, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream."""


def draw_inputs(law: Law, stream: Stream, step: int, batch_size: int, n_inputs: int) -> Array:
    """Return the inputs of batch number `step`, (b, n), as a law draws them from the stream."""
    u, v = stream.pairs(Purpose.INPUTS, step, law.pairs(batch_size, n_inputs))
    inputs = law.inputs(u, v, batch_size, n_inputs)
    _require_shape(f"the inputs of {type(law).__name__}", inputs, (batch_size, n_inputs))
    return inputs


def draw_batch(source: Source, stream: Stream, step: int, batch_size: int, n_inputs: int) -> Batch:
    """Return batch number `step` of a source, after checking that it is one."""
    batch = source.batch(stream, step, batch_size)
    _require_shape(f"the inputs of {type(source).__name__}", batch.inputs, (batch_size, n_inputs))
    _require_shape(f"the labels of {type(source).__name__}", batch.labels, (batch_size,))
    return batch


def _require_shape(name: str, values: Array, shape: tuple[int, ...]) -> None:
    if np.shape(values) != shape:
        raise _check.InputError(f"{name} must have shape {shape}, got {np.shape(values)}")


@dataclass(frozen=True, eq=False)
class Simulated:
    """Fresh batches from the law of a problem, with labels f_{w*}(x) + noise · ζ.

    A law that corrupts inputs gives the trainer others than the x that labels are made of.
    """

    problem: Problem

    def __post_init__(self) -> None:
        if _check.instance("problem", self.problem, Problem).true_weights is None:
            raise _check.InputError(
                "the problem has no `true_weights`, so it cannot make labels: give them, or data "
                "with source=Rows(X, y)"
            )

    def batch(self, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream."""
        network, law = self.problem.network, self.problem.law
        inputs = clean = draw_inputs(law, stream, step, batch_size, network.n_inputs)
        if law.corrupted:
            clean = draw_inputs(law.clean, stream, step, batch_size, network.n_inputs)
        assert self.problem.true_weights is not None
        labels = network(self.problem.true_weights, clean)
        if self.problem.noise > 0.0:
            pair = stream.pairs(Purpose.NOISE, step, Normal().pairs(batch_size, 1))
            labels = labels + self.problem.noise * Normal().inputs(*pair, batch_size, 1)[:, 0]
        return Batch(inputs, labels)


@dataclass(frozen=True, eq=False)
class Rows(Pickled):
    """Batches from rows of data.

    Every epoch visits each row once in an order of its own; a batch may end one epoch and begin the
    next. The row at a place is a function of (seed, epoch, position), so N steps and N more are the
    same as 2N.

    Parameters
    ----------
    X, y
        Inputs (N, n) and labels (N,).
    sample_weight
        How much each row counts, shape (N,): nonnegative, not all zero. Only ratios matter; a row
        of weight 2 counts like two rows. The moments of an `Empirical` law do not know of them: a
        step size must be a number, and sensing="optimal" is that of rows without weights.

    Examples
    --------
    >>> import numpy as np, neurotron as nt
    >>> network = nt.networks.relu_gate(2)
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> problem = nt.Problem(network, nt.Empirical(X))
    >>> run = nt.simulate(problem, [nt.Arm(nt.NeuroTron(0.5))], steps=200, batch_size=2,
    ...                   source=nt.Rows(X, network([3.0, -2.0], X)))
    >>> run.weights.round(6)
    array([[ 3., -2.]])
    """

    X: Array
    y: Array
    sample_weight: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", _check.array("X", self.X, ("N", "n")))
        size = (len(self.X),)
        object.__setattr__(self, "y", _check.array("y", self.y, size))
        if self.sample_weight is not None:
            weight = _check.array("sample_weight", self.sample_weight, size)
            if weight.min() < 0.0 or not weight.any():
                raise _check.InputError("`sample_weight` must be nonnegative and not all zero")
            relative = weight / weight.max()  # whose mean neither overflows nor vanishes
            object.__setattr__(self, "sample_weight", _check.freeze(relative / relative.mean()))

    def require_fit(self, problem: Problem, arms: Sequence[Arm]) -> None:
        """Refuse rows that are not what the problem and the arms take them for."""
        n, law = problem.network.n_inputs, problem.law
        if self.X.shape[1] != n:
            raise _check.InputError(
                f"the network takes {n} inputs, but X has {self.X.shape[1]} columns"
            )
        if isinstance(law, Empirical) and law.symmetrized:
            raise _check.InputError(
                "the labels of `source` are stored, and there are none for rows of opposite sign: "
                "use Empirical(X) without symmetrized=True"
            )
        if isinstance(law, Empirical) and not np.array_equal(self.X, law.rows):
            raise _check.InputError(
                f"`source` has other rows than the problem's law {law!r}: give Rows(X, y) the X of "
                "Empirical(X)"
            )
        if self.sample_weight is None:
            return
        for arm in arms:
            if any(isinstance(trainer.step_size, str) for trainer in arm.trainer.parts):
                raise _check.InputError(
                    f"{arm.trainer!r} finds its step size from moments of the rows without their "
                    "`sample_weight`: give a number as step_size, or rows without weights"
                )

    def batch(self, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream."""
        count = len(self.X)
        places = step * batch_size + np.arange(batch_size)
        epochs, positions = np.divmod(places, count)
        chosen = np.empty(batch_size, dtype=np.intp)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            here = epochs == epoch
            chosen[here] = _order(stream, epoch, count)[positions[here]]
        counts = None if self.sample_weight is None else self.sample_weight[chosen]
        return Batch(self.X[chosen], self.y[chosen], counts)


@lru_cache(maxsize=4)
def _order(stream: Stream, epoch: int, count: int) -> Index:
    u, _ = stream.pairs(Purpose.ROWS, epoch, count)
    return np.argsort(u, kind="stable")
