r"""Output and gradient coefficients of a network from its basis responses, compiled.

This computes the same as `FilterNetwork.respond`, for eight filters and a batch. There are three
forms: the gates are the basis itself; the gates are mixed from it; or they are the symmetric pairs
M ± f C, f = 1 … h, of the paper's Remark 1, whose sums have a closed form. With s and v the
responses of M and C, and m the number of pairs whose two gates agree (f|v| below |s|),

.. math:: \sum_i \max(0, s + f_i v) = h s + m |s| + |v| \sum_{f > m} f .

Activations without a kink have no such form: their gates are added one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from neurotron._jit import inline, jit
from neurotron._types import Array
from neurotron.engine.compiled.formulas import Loop, named
from neurotron.engine.compiled.loops import fill
from neurotron.engine.compiled.program import Call
from neurotron.networks import Activation, FilterNetwork


def is_symmetric(network: FilterNetwork) -> bool:
    """Return whether the gates are the pairs M ± f C with equal outer weights."""
    mix = network.mix
    if mix is None or mix.shape[1] != 2 or len(mix) % 2:
        return False
    half = len(mix) // 2
    factors = [f for f in range(-half, half + 1) if f]
    return bool(
        (mix[:, 0] == 1.0).all()
        and np.array_equal(np.sort(mix[:, 1]), factors)
        and (network.share == network.share[0]).all()
    )


def respond(
    network: FilterNetwork,
    responses: Array,
    output: Array,
    slopes: bool,
    coefficients: Array,
    total: Array,
    slope: Array,
) -> Iterator[Call]:
    """Yield the calls that set output (e,) and coefficients (L, e) from responses (L, e).

    Without `slopes` the coefficients are not valid. `total` and `slope` are working memory.
    """
    share, leak = np.array(network.share), float(network.leak)
    if network.activation is not None:
        odd = network.activation.slope
        loop = smooth_loop(network.activation, network.mix is not None, slopes)
        own = [share, odd, responses, output, *([coefficients] if slopes else [])]
        if network.mix is not None:
            own = [np.array(network.mix), total, *([slope] if slopes else []), *own]
        yield loop, *own
    elif network.mix is None:
        yield _plain, share, leak, responses, output, coefficients
    elif not is_symmetric(network):
        mix = np.array(network.mix)
        yield _mixed, mix, share, leak, responses, output, coefficients, total, slope
    else:
        each, half, (s, v) = float(share[0]), 0.5 * share.size, responses
        yield _symmetric_output, each, leak, half, s, v, output
        if slopes:
            yield _symmetric_slopes, each, leak, half, s, v, *coefficients


@cache
def smooth_loop(activation: Activation, mixes: bool, slopes: bool) -> Loop:
    """Return the loop for gates that are mixed from the basis or are the basis itself.

    With `slopes` it also sets the coefficients, and else only the output.
    """
    even, even_slope = inline(activation.even), inline(activation.even_slope)

    def plain_output(share: Array, odd: float, responses: Array, output: Array) -> None:
        fill(output, 0.0)
        for gate in range(share.size):
            z = responses[gate]
            for e in range(output.size):
                output[e] += share[gate] * (odd * z[e] + even(z[e]))

    def plain(
        share: Array, odd: float, responses: Array, output: Array, coefficients: Array
    ) -> None:
        fill(output, 0.0)
        for gate in range(share.size):
            z, slope = responses[gate], coefficients[gate]
            for e in range(output.size):
                output[e] += share[gate] * (odd * z[e] + even(z[e]))
                slope[e] = share[gate] * (odd + even_slope(z[e]))

    def mixed_output(
        mix: Array, z: Array, share: Array, odd: float, responses: Array, output: Array
    ) -> None:
        fill(output, 0.0)
        for gate in range(share.size):
            _mix(mix[gate], responses, z)
            for e in range(output.size):
                output[e] += share[gate] * (odd * z[e] + even(z[e]))

    def mixed(
        mix: Array, z: Array, slope: Array, share: Array, odd: float, responses: Array,
        output: Array, coefficients: Array,
    ) -> None:  # fmt: skip
        fill(output, 0.0)
        for basis in range(len(responses)):
            fill(coefficients[basis], 0.0)
        for gate in range(share.size):
            _mix(mix[gate], responses, z)
            for e in range(output.size):
                output[e] += share[gate] * (odd * z[e] + even(z[e]))
                slope[e] = share[gate] * (odd + even_slope(z[e]))
            for basis in range(len(responses)):
                _add_scaled(mix[gate, basis], slope, coefficients[basis])

    formulas = (activation.even, activation.even_slope) if slopes else (activation.even,)
    of_output, of_both = (mixed_output, mixed) if mixes else (plain_output, plain)
    return named(of_both if slopes else of_output, *formulas, subject=activation.name)


@jit
def _plain(share: Array, leak: float, responses: Array, output: Array, coefficients: Array) -> None:
    fill(output, 0.0)
    for gate in range(share.size):
        _add_gate(responses[gate], share[gate], leak, output, coefficients[gate])


@jit
def _mixed(
    mix: Array,
    share: Array,
    leak: float,
    responses: Array,
    output: Array,
    coefficients: Array,
    total: Array,
    slope: Array,
) -> None:
    fill(output, 0.0)
    for basis in range(len(responses)):
        fill(coefficients[basis], 0.0)
    for gate in range(share.size):
        _mix(mix[gate], responses, total)
        _add_gate(total, share[gate], leak, output, slope)
        for basis in range(len(responses)):
            _add_scaled(mix[gate, basis], slope, coefficients[basis])


@jit
def _add_gate(total: Array, share: float, leak: float, output: Array, slope: Array) -> None:
    """Add share · σ(total) to the output; set slope = share · σ'(total)."""
    for e in range(total.size):
        slope[e] = share * (1.0 if total[e] > 0.0 else leak)
        output[e] += slope[e] * total[e]


@jit
def _mix(coefficients: Array, responses: Array, total: Array) -> None:
    """Set the sums of a gate that is made from the basis by these coefficients."""
    fill(total, 0.0)
    for basis in range(len(responses)):
        _add_scaled(coefficients[basis], responses[basis], total)


@jit
def _add_scaled(factor: float, values: Array, out: Array) -> None:
    for e in range(out.size):
        out[e] += factor * values[e]


@inline
def _agreeing(s: float, v: float, half: float) -> float:
    """Return the number m of pairs with both gates on (s > 0) or both off; off at zero."""
    ratio = abs(s) / abs(v)
    below = max(np.ceil(ratio) - 1.0, 0.0) if s > 0.0 else np.floor(ratio)
    return below if ratio <= half else half  # also where the ratio is 0/0


@jit
def _symmetric_output(
    share: float, leak: float, half: float, s: Array, v: Array, output: Array
) -> None:
    for e in range(output.size):
        m = _agreeing(s[e], v[e], half)
        rest = 0.5 * (half * (half + 1.0) - m * (m + 1.0))
        on = half * s[e] + m * abs(s[e]) + rest * abs(v[e])
        output[e] = share * (on + leak * (2.0 * half * s[e] - on))


@jit
def _symmetric_slopes(
    share: float, leak: float, half: float, s: Array, v: Array, first: Array, second: Array
) -> None:
    for e in range(s.size):
        m = _agreeing(s[e], v[e], half)
        rest = 0.5 * (half * (half + 1.0) - m * (m + 1.0))
        any_on = (s[e] != 0.0) | (v[e] != 0.0)
        on = half + np.copysign(m, s[e]) if any_on else 0.0
        first[e] = share * (on + leak * (2.0 * half - on))
        second[e] = share * (1.0 - leak) * np.copysign(rest, v[e]) if any_on else 0.0
