"""Data that are simulated: inputs are drawn from a law, labels made from true weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neurotron import _check
from neurotron._streams import Purpose, Stream
from neurotron._types import Array
from neurotron.data.base import Batch, Data, draw_inputs
from neurotron.laws import Law, Normal
from neurotron.networks import FilterNetwork


@dataclass(frozen=True, eq=False, repr=False)
class Simulated(Data):
    """Fresh batches from a law, with labels f_{w*}(x) + noise · ζ, where ζ ~ N(0, 1).

    Parameters
    ----------
    law
        The law of the inputs.
    true_weights
        w*, shape (r,). With None no label can be made: such a problem can be certified and planned
        with a bound on the initial error, but not trained on.
    noise
        Standard deviation of honest label noise (0 in the paper).
    """

    law: Law
    true_weights: Array | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        if _check.instance("law", self.law, Law).weighted:
            raise _check.InputError(
                f"inputs cannot be drawn from {self.law!r}, whose `sample_weight` belong to rows "
                "with labels: give them to Problem.from_rows(network, X, y, sample_weight=…)"
            )
        if self.true_weights is not None:
            weights = _check.array("true_weights", self.true_weights, ("r",))
            object.__setattr__(self, "true_weights", weights)
        object.__setattr__(self, "noise", _check.number("noise", self.noise, "[0, 1e70]"))

    @property
    def noise_kurtosis(self) -> float:
        """3, as noise is normal; a subclass may have other noise and states its own number."""
        return 3.0 if type(self) is Simulated else math.inf

    def __repr__(self) -> str:
        unknown = "" if self.true_weights is not None else ", without true weights"
        noise = f", noise={self.noise:g}" if self.noise > 0.0 else ""
        return f"{type(self).__name__}({self.law!r}{noise}{unknown})"

    def require_labels(self) -> None:
        """Refuse to make labels without true weights."""
        if self.true_weights is None:
            raise _check.InputError(
                f"there are no labels to train on, since the data are drawn from {self.law!r} "
                "without `true_weights`: give them to Problem.draw(network, law, true_weights=…), "
                "or give rows with labels to Problem.from_rows(network, X, y)"
            )

    def batch(self, network: FilterNetwork, stream: Stream, step: int, batch_size: int) -> Batch:
        """Return batch number `step` of the stream."""
        self.require_labels()
        assert self.true_weights is not None
        inputs = draw_inputs(self.law, stream, step, batch_size, network.n_inputs)
        labels = network(self.true_weights, inputs)
        if self.noise > 0.0:
            pair = stream.pairs(Purpose.NOISE, step, Normal().pairs(batch_size, 1))
            labels = labels + self.noise * Normal().inputs(*pair, batch_size, 1)[:, 0]
        return Batch(inputs, labels)
