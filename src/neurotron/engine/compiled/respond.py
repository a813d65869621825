r"""Output and gradient coefficients of a network from its basis responses, compiled.

This computes the same as `FilterNetwork.respond`, for eight filters and a batch. There are three
forms: the gates are the basis itself; the gates are mixed from it; or they are the symmetric pairs
M ± f C, f = 1 … h, of the paper's Remark 1, whose sums have a closed form. With s and v the
responses of M and C, and m the number of pairs whose two gates agree (f|v| below |s|),

.. math:: \sum_i \max(0, s + f_i v) = h s + m |s| + |v| \sum_{f > m} f .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron._jit import inline, jit
from neurotron._types import Array
from neurotron.engine.compiled.loops import fill
from neurotron.networks import FilterNetwork

__all__ = ["Gates", "gates_of", "respond"]

PLAIN, MIXED, SYMMETRIC = range(3)


class Gates(NamedTuple):
    """How the gates of a network are made from its basis."""

    form: int
    mix: Array
    """(k, L), used by the mixed form."""
    share: Array
    """q / k, shape (k,)."""
    leak: float


def gates_of(network: FilterNetwork) -> Gates:
    """Return the gates of a network in the fastest form that describes them."""
    if network.mix is None:
        form, mix = PLAIN, np.empty((0, 0))
    else:
        form, mix = (SYMMETRIC if _is_symmetric(network) else MIXED), network.mix
    return Gates(form, np.array(mix), np.array(network.share), float(network.leak))


def _is_symmetric(network: FilterNetwork) -> bool:
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


@inline
def respond(
    gates: Gates,
    responses: Array,
    output: Array,
    slopes: bool,
    coefficients: Array,
    total: Array,
    slope: Array,
) -> None:
    """Set output (e,) and coefficients (L, e) from responses (L, e).

    Without `slopes` the coefficients are not valid. `total` and `slope` are working memory.
    """
    if gates.form == PLAIN:
        _plain(gates.share, gates.leak, responses, output, coefficients)
    elif gates.form == MIXED:
        _mixed(gates.mix, gates.share, gates.leak, responses, output, coefficients, total, slope)
    else:
        share, leak, half = gates.share[0], gates.leak, 0.5 * gates.share.size
        s, v = responses[0], responses[1]
        _symmetric_output(share, leak, half, s, v, output)
        if slopes:
            _symmetric_slopes(share, leak, half, s, v, coefficients[0], coefficients[1])


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
        fill(total, 0.0)
        for basis in range(len(responses)):
            _add_scaled(mix[gate, basis], responses[basis], total)
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
