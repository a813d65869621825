"""What is learned: single-filter depth-2 networks, their builders, and sensing matrices.

>>> import neurotron as nt
>>> network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
>>> network.gates.shape
(10, 25, 100)
"""

from neurotron._registry import Registry
from neurotron.networks import sensing
from neurotron.networks.basis import Matrices, Windows
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
    "BY_NAME",
    "FilterNetwork",
    "Matrices",
    "Windows",
    "convolution",
    "convolution2d",
    "from_gates",
    "linear",
    "relu_gate",
    "sensing",
    "symmetric",
    "with_intercept",
]

BY_NAME: Registry[FilterNetwork] = Registry(
    "network",
    {
        "linear": linear,
        "relu-gate": relu_gate,
        "symmetric": symmetric,
        "convolution": convolution,
    },
)
