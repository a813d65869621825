"""One network of every kind, and networks written out gate by gate."""

from __future__ import annotations

import numpy as np

import neurotron as nt


def networks() -> dict[str, nt.FilterNetwork]:
    """One network of every kind, leaky and weighted ones too."""
    draw = np.random.default_rng(0)
    build = nt.networks
    return {
        "relu_gate": build.relu_gate(6),
        "symmetric": build.symmetric(9, 4, 6, seed=3),
        "symmetric_leaky": build.symmetric(9, 4, 6, seed=3, leak=0.3),
        "symmetric_weighted": build.symmetric(
            9, 4, 4, seed=3, outer_weights=[1, 2, 0.5, -3], leak=0.2
        ),
        "convolution": build.convolution(9, 4, 2, leak=0.1),
        "circular": build.convolution(10, 3, 4, circular=True),
        "convolution2d": build.convolution2d((4, 5), (2, 3), (1, 2), outer_weights=2.0),
        "symmetric_silu": build.symmetric(9, 4, 4, seed=3, activation="silu"),
        "convolution_gelu": build.convolution(9, 4, 2, activation="gelu", outer_weights=-1.5),
        "softplus_gates": build.from_gates(
            np.random.default_rng(5).standard_normal((3, 2, 5)), activation="softplus"
        ),
        "from_gates": build.from_gates(draw.standard_normal((3, 4, 7)), leak=0.05),
    }


def output_and_gradient(network, w, x):
    """f_w(x) and ∇f_w(x), gate by gate."""
    output, gradient = 0.0, np.zeros(len(w))
    for q, gate in zip(network.outer_weights, network.gates, strict=True):
        z = float(w @ (gate @ x))
        value, slope = (z, 1.0) if z > 0 else (network.leak * z, network.leak)
        if network.activation is not None:
            value, slope = network.activation.value(z), network.activation.derivative(z)
        output += q * value / network.width
        gradient += q * slope * (gate @ x) / network.width
    return output, gradient
