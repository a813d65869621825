"""Networks: builders of single-filter depth-2 networks, and sensing matrices.

>>> import neurotron as nt
>>> network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
>>> network.gates.shape
(10, 25, 100)
"""

import math

from neurotron import _check
from neurotron._registry import Registry
from neurotron.networks import sensing
from neurotron.networks.activations import Activation
from neurotron.networks.basis import Matrices as Matrices
from neurotron.networks.basis import Windows as Windows
from neurotron.networks.builders import (
    convolution,
    convolution2d,
    from_gates,
    linear,
    relu_gate,
    symmetric,
    with_intercept,
)
from neurotron.networks.network import FilterNetwork

__all__ = [
    "Activation", "FilterNetwork", "convolution", "convolution2d", "from_gates", "linear",
    "relu_gate", "sensing", "symmetric", "with_intercept",
]  # fmt: skip


def _convolution2d(
    n_inputs: int,
    filter_size: int,
    height: int | None = None,
    stride: int = 1,
    outer_weights: float = 1.0,
    leak: float = 0.0,
    activation: str | None = None,
) -> FilterNetwork:
    """Return a convolution for images with a square filter; 3 × 3 weights are filter_size=9.

    Images are square unless their `height` is given.
    """
    total = _check.integer("n_inputs", n_inputs, 1)
    side = math.isqrt(_check.integer("filter_size", filter_size, 1))
    tall = math.isqrt(total) if height is None else _check.integer("height", height, 1)
    wide = total // tall
    if tall * wide != total or (height is None and tall != wide) or side**2 != filter_size:
        raise _check.InputError(
            "`filter_size` of convolution2d must be a square, as 9, and so must `n_inputs`, unless "
            f"it is a multiple of the `height` that is given; got {filter_size} and {n_inputs}"
        )
    return convolution2d(
        (tall, wide), (side, side), stride, outer_weights=outer_weights, leak=leak,
        activation=activation,
    )  # fmt: skip


BY_NAME: Registry[FilterNetwork] = Registry(
    "network",
    {
        "linear": linear,
        "relu-gate": relu_gate,
        "symmetric": symmetric,
        "convolution": convolution,
        "convolution2d": _convolution2d,
    },
    FilterNetwork,
)


def __dir__() -> list[str]:
    return sorted(__all__)
