"""Networks written out gate by gate."""

from __future__ import annotations

import numpy as np


def output_and_gradient(network, w, x):
    """f_w(x) and ∇f_w(x), gate by gate."""
    output, gradient = 0.0, np.zeros(len(w))
    for q, gate in zip(network.outer_weights, network.gates, strict=True):
        z = float(w @ (gate @ x))
        slope = 1.0 if z > 0 else network.leak
        output += q * slope * z / network.width
        gradient += q * slope * (gate @ x) / network.width
    return output, gradient
