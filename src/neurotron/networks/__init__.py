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
    stride: int = 1,
    outer_weights: float = 1.0,
    leak: float = 0.0,
    activation: str | None = None,
) -> FilterNetwork:
    """Return a convolution for square images with a square filter: 12 × 12 is n_inputs=144."""
    sides = [
        math.isqrt(_check.integer(name, size, 1))
        for name, size in (("n_inputs", n_inputs), ("filter_size", filter_size))
    ]
    if [side**2 for side in sides] != [n_inputs, filter_size]:
        raise _check.InputError(
            "`n_inputs` and `filter_size` of convolution2d must be squares, as 144 and 9, got "
            f"{n_inputs} and {filter_size}"
        )
    image, window = ((side, side) for side in sides)
    return convolution2d(
        image, window, stride, outer_weights=outer_weights, leak=leak, activation=activation
    )


def _symmetric(
    n_inputs: int,
    filter_size: int,
    width: int = 10,
    center: str = "gaussian",
    degrees: int | None = None,
    outer_weights: float = 1.0,
    leak: float = 0.0,
    activation: str | None = None,
    seed: int = 0,
) -> FilterNetwork:
    """Return the paper's network with gates M ± C, M ± 2C, …; M is gaussian or wishart.

    A Wishart matrix has `degrees` of freedom, as many as the filter has weights by default.
    """
    _check.choice("center", center, ("gaussian", "wishart"))
    if degrees is not None and center != "wishart":
        raise _check.InputError("`degrees` is for center=wishart: leave it out")
    matrix = None
    if center == "wishart":
        matrix = sensing.wishart(filter_size, n_inputs, degrees=degrees, seed=seed)
    return symmetric(
        n_inputs, filter_size, width, center=matrix, seed=seed, outer_weights=outer_weights,
        leak=leak, activation=activation,
    )  # fmt: skip


BY_NAME: Registry[FilterNetwork] = Registry(
    "network",
    {
        "linear": linear,
        "relu-gate": relu_gate,
        "symmetric": _symmetric,
        "convolution": convolution,
        "convolution2d": _convolution2d,
    },
    FilterNetwork,
)


def __dir__() -> list[str]:
    return sorted(__all__)
