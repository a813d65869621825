"""What data are: batches of inputs and honest labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from neurotron import _check
from neurotron._pickling import Pickled
from neurotron._streams import Purpose, Stream
from neurotron._types import Array
from neurotron.laws import Law
from neurotron.networks import FilterNetwork


class Batch(NamedTuple):
    """Inputs (b, n), honest labels (b,), and how much each sample counts (None: all the same)."""

    inputs: Array
    labels: Array
    counts: Array | None = None

    def __repr__(self) -> str:
        return f"Batch({_check.shapes(self._asdict())})"


class Data(Pickled, ABC):
    """Where inputs x and honest labels y come from.

    To write your own, define `law` and `batch`. No theorem covers the labels of such a class, so
    `certify` and `plan` give no guarantee; use ``certify(…, method="measured")`` instead.

    Examples
    --------
    Labels with noise of another law, drawn from the stream:

    >>> import numpy as np, neurotron as nt
    >>> class SkewedNoise(nt.data.Simulated):
    ...     def batch(self, network, stream, step, batch_size):
    ...         batch = super().batch(network, stream, step, batch_size)
    ...         u, _ = stream.pairs(nt.data.Purpose.NOISE, step, batch_size)
    ...         return batch._replace(labels=batch.labels - np.log(u) - 1.0)
    >>> problem = nt.Problem(nt.networks.linear(2), SkewedNoise(nt.Normal(), [1.0, 2.0]))
    >>> run = nt.simulate(problem, nt.SGD(0.01), steps=2000, batch_size=10)
    >>> bool(run.final_errors[0] < 0.2)
    True
    """

    law: Law
    """The law of the inputs; step sizes and guarantees are computed from its moments."""
    true_weights: Array | None = None
    """w*, shape (r,); None if they are not known."""
    noise: float = 0.0
    """Standard deviation of the honest noise that labels carry, as far as it is known."""

    @property
    def noise_kurtosis(self) -> float:
        """A stated bound on E[ζ⁴ | x]/E[ζ²]² for the noise ζ of a label; inf if none is stated."""
        return math.inf

    def require_labels(self) -> None:
        """Refuse data that cannot be trained on because there are no labels."""
        return

    def require_seen(self, purpose: str) -> None:
        """Refuse data whose labels were computed from other inputs than those that are seen."""
        return

    @abstractmethod
    def batch(self, network: FilterNetwork, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream, which is the same in every call."""


def draw_inputs(law: Law, stream: Stream, step: int, batch_size: int, n_inputs: int) -> Array:
    """Return the inputs of batch number `step`, (b, n), as a law draws them from the stream."""
    u, v = stream.pairs(Purpose.INPUTS, step, law.pairs(batch_size, n_inputs))
    inputs = law.inputs(u, v, batch_size, n_inputs)
    _require_shape(f"the inputs of {type(law).__name__}", inputs, (batch_size, n_inputs))
    return inputs


def draw_batch(
    data: Data, network: FilterNetwork, stream: Stream, step: int, batch_size: int
) -> Batch:
    """Return batch number `step` of some data, after checking that it is one."""
    name = type(data).__name__
    batch = data.batch(network, stream, step, batch_size)
    _check.instance(f"the batch of {name}", batch, Batch)
    _require_shape(f"the inputs of {name}", batch.inputs, (batch_size, network.n_inputs))
    _require_shape(f"the labels of {name}", batch.labels, (batch_size,))
    if batch.counts is not None:
        _require_shape(f"the counts of {name}", batch.counts, (batch_size,))
    return batch


def _require_shape(name: str, values: Array, shape: tuple[int, ...]) -> None:
    if np.shape(values) != shape:
        raise _check.InputError(f"{name} must have shape {shape}, got {np.shape(values)}")
