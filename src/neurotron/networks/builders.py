"""Functions that build networks: the paper's, convolutions, and the linear network."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.networks.activations import Activation, activation_of
from neurotron.networks.basis import Basis, Matrices, Windows
from neurotron.networks.network import FilterNetwork
from neurotron.networks.sensing import wishart

MOST_GATES = 10**7


def linear(n_inputs: int) -> FilterNetwork:
    """Return the linear network f_w(x) = wᵀx, a single gate of leak 1.

    Use it for linear regression. It has as many weights as inputs.

    Parameters
    ----------
    n_inputs
        Dimension n ≥ 1 of the input.

    Examples
    --------
    >>> linear(2)([1.0, 2.0], [[3.0, 1.0], [-3.0, 1.0]])
    array([ 5., -1.])
    """
    return relu_gate(n_inputs, leak=1.0)


def relu_gate(
    n_inputs: int, *, outer_weights: npt.ArrayLike = 1.0, leak: float = 0.0,
    activation: Activation | str | None = None,
) -> FilterNetwork:  # fmt: skip
    """Return a network with a single gate, a ReLU by default: f_w(x) = q σ(wᵀx).

    Parameters
    ----------
    n_inputs
        Dimension n ≥ 1 of the input, which is also the number of weights.
    outer_weights
        The outer weight q, not zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments; 0 is the ReLU.
    activation
        Another activation: "softplus", "silu", "gelu" or your own `Activation`.

    Examples
    --------
    >>> relu_gate(3).gates.shape
    (1, 3, 3)
    """
    n = _check.integer("n_inputs", n_inputs, 1)
    _check.entries("the input", n)
    return _network(Windows(np.arange(n)[None, :], n), None, outer_weights, leak, activation)


def symmetric(
    n_inputs: int | None = None,
    filter_size: int | None = None,
    width: int = 10,
    *,
    center: npt.ArrayLike | str = "gaussian",
    degrees: int | None = None,
    spread: npt.ArrayLike | None = None,
    seed: int = 0,
    outer_weights: npt.ArrayLike = 1.0,
    leak: float = 0.0,
    activation: Activation | str | None = None,
) -> FilterNetwork:
    """Return the paper's network with gates M ± C, M ± 2C, …, M ± hC.

    This is the network of the paper's Remark 1, of width 2h. The mean of its gates is M. With equal
    outer weights, Ā therefore has full rank whenever M has. Inputs are projected onto M and C only,
    whatever the width.

    Parameters
    ----------
    n_inputs, filter_size
        Dimension n of the input and number r ≤ n of weights; they may be left out if M is given.
    width
        Number 2h of gates, an even number.
    center, degrees
        The matrix M, shape (r, n). Or how to draw it: "gaussian" has independent N(0, 1) entries,
        as in the paper; "wishart" is `sensing.wishart` with these `degrees` of freedom.
    spread
        The matrix C, shape (r, n). If it is not given it is drawn with independent N(0, 1) entries,
        and M does not depend on that.
    seed
        Seed of the drawn matrices.
    outer_weights
        The outer weights q: one number for all gates, or one per gate; none may be zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments; 0 is the ReLU.
    activation
        Another activation: "softplus", "silu", "gelu" or your own `Activation`.

    Examples
    --------
    >>> network = symmetric(n_inputs=100, filter_size=25, width=10, seed=1)
    >>> bool(np.allclose(network.gates.mean(axis=0), network.mean_gate))
    True
    """
    width = _check.integer("width", width, 2, MOST_GATES)
    if width % 2:
        raise _check.InputError(
            f"`width` must be even, got {width}: symmetric gates come in pairs M ± jC"
        )
    named = isinstance(center, str)
    law = _check.choice("center", center, ("gaussian", "wishart")) if named else ""
    if degrees is not None and law != "wishart":
        raise _check.InputError("`degrees` is for center=wishart: leave it out")
    given = None if named else center
    r, n = _dimensions(n_inputs, filter_size, given, spread)
    if law == "wishart":
        given = wishart(r, n, degrees=degrees, seed=seed)
    m = _given_or_drawn("center", given, (r, n), seed)
    c = _given_or_drawn("spread", spread, (r, n), seed)
    half = width // 2
    steps = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    mix = np.stack([np.ones(width), steps], axis=1)
    return _network(Matrices(np.stack([m, c])), mix, outer_weights, leak, activation)


def convolution(
    n_inputs: int,
    filter_size: int,
    stride: int = 1,
    *,
    circular: bool = False,
    outer_weights: npt.ArrayLike = 1.0,
    leak: float = 0.0,
    activation: Activation | str | None = None,
) -> FilterNetwork:
    """Return a convolution for signals: gate i sees r inputs from i·stride on.

    Parameters
    ----------
    n_inputs
        Length n of the signal.
    filter_size
        Number r ≤ n of weights, the length of a window.
    stride
        Distance between the starts of neighbouring windows, at least 1.
    circular
        If False, only windows that fit into the signal are used. If True, the signal is a ring, and
        windows may continue from its end to its beginning. A ring with stride 1 has a mean gate of
        rank 1, and no sensing matrix can train it (see `sensing`).
    outer_weights
        The outer weights q: one number for all gates, or one per gate; none may be zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments; 0 is the ReLU.
    activation
        Another activation: "softplus", "silu", "gelu" or your own `Activation`.

    Examples
    --------
    >>> convolution(n_inputs=5, filter_size=3, stride=2).basis.index
    array([[0, 1, 2],
           [2, 3, 4]])
    """
    n = _check.integer("n_inputs", n_inputs, 1)
    _check.entries("the input", n)
    r = _filter_length("filter_size", filter_size, n)
    stride = _check.integer("stride", stride, 1)
    _check.instance("circular", circular, bool)
    starts = _starts(n if circular else n - r + 1, stride)
    _check.entries("all windows together", len(starts), r)
    index = (np.array(starts)[:, None] + np.arange(r)) % n
    return _network(Windows(index, n), None, outer_weights, leak, activation)


def convolution2d(
    image_shape: tuple[int, int],
    filter_shape: tuple[int, int],
    stride: int | tuple[int, int] = 1,
    *,
    outer_weights: npt.ArrayLike = 1.0,
    leak: float = 0.0,
    activation: Activation | str | None = None,
) -> FilterNetwork:
    """Return a convolution for images, given as vectors in row-major order.

    Parameters
    ----------
    image_shape, filter_shape
        Height and width, in pixels, of the image and of the filter.
    stride
        Distance between neighbouring windows: one number, or one per axis; at least 1.
    outer_weights
        The outer weights q: one number for all gates, or one per gate; none may be zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments; 0 is the ReLU.
    activation
        Another activation: "softplus", "silu", "gelu" or your own `Activation`.

    Examples
    --------
    >>> convolution2d((3, 3), (2, 2)).basis.index[0]
    array([0, 1, 3, 4])
    """
    height, breadth = _pair("image_shape", image_shape)
    _check.entries("the image", height, breadth)
    rows = _filter_length("filter_shape[0]", _pair("filter_shape", filter_shape)[0], height)
    columns = _filter_length("filter_shape[1]", filter_shape[1], breadth)
    down, across = _pair(
        "stride", stride if isinstance(stride, (tuple, list)) else (stride, stride)
    )
    tops, lefts = _starts(height - rows + 1, down), _starts(breadth - columns + 1, across)
    _check.entries("all windows together", len(tops), len(lefts), rows, columns)
    corners = np.array(tops)[:, None] * breadth + np.array(lefts)
    window = np.arange(rows)[:, None] * breadth + np.arange(columns)
    index = corners.reshape(-1, 1) + window.reshape(1, -1)
    return _network(Windows(index, height * breadth), None, outer_weights, leak, activation)


def from_gates(
    gates: npt.ArrayLike,
    *,
    outer_weights: npt.ArrayLike = 1.0,
    leak: float = 0.0,
    activation: Activation | str | None = None,
) -> FilterNetwork:
    """Return the network with the given gate matrices A_i.

    Use it for a network that no other builder describes.

    Parameters
    ----------
    gates
        The matrices A_1, …, A_k, shape (k, r, n) with r ≤ n.
    outer_weights
        The outer weights q: one number for all gates, or one per gate; none may be zero.
    leak
        Slope α in [0, 1] of the activation for negative arguments; 0 is the ReLU.
    activation
        Another activation: "softplus", "silu", "gelu" or your own `Activation`.

    Examples
    --------
    >>> from_gates(np.ones((4, 1, 2))).width
    4
    """
    matrices = _check.array("gates", gates, ("k", "r", "n"))
    _filter_length("filter_size", matrices.shape[1], matrices.shape[2])
    return _network(Matrices(matrices), None, outer_weights, leak, activation)


def with_intercept(network: FilterNetwork) -> FilterNetwork:
    """Return a network of leak 1 with an intercept: one more input, always 1, and its weight.

    A network of leak 1 has the output wᵀĀx whatever its gates are. So the result has one gate: Ā,
    extended by one row and one column that are zero except for a 1 in the corner. Its output is
    f_(w, c)(x, 1) = wᵀĀx + c.

    Parameters
    ----------
    network
        A network of leak 1, such as `linear`.

    Examples
    --------
    >>> with_intercept(linear(2))([3.0, 4.0, 5.0], [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    array([12.,  5.])
    """
    if not _check.instance("network", network, FilterNetwork).is_linear:
        kind = f"leak={network.leak:g}"
        if network.activation is not None:
            kind = f"the activation {network.activation.name}"
        raise _check.InputError(
            f"an intercept needs a network that is linear in x, but this one has {kind}: use "
            "leak=1 or networks.linear(n_inputs), or subtract a constant from y and leave out "
            "`intercept`"
        )
    r, n = network.filter_size, network.n_inputs
    gate = network.mean_gate
    if r == n and np.array_equal(gate, np.eye(n)):
        return linear(n + 1)
    extended = np.zeros((1, r + 1, n + 1))
    extended[0, :r, :n], extended[0, r, n] = gate, 1.0
    return from_gates(extended, leak=1.0)


def _network(
    basis: Basis,
    mix: Array | None,
    outer_weights: npt.ArrayLike,
    leak: float,
    activation: Activation | str | None,
) -> FilterNetwork:
    return FilterNetwork(basis, mix, cast(Array, outer_weights), leak, activation_of(activation))


def _starts(end: int, stride: int) -> range:
    """Return where windows begin; a stride beyond the end gives one window."""
    return range(0, end, min(stride, end))


def _filter_length(name: str, value: object, n_inputs: int) -> int:
    size = _check.integer(name, value, 1)
    if size > n_inputs:
        raise _check.InputError(
            f"`{name}` must be at most the size of the input, {_check.shown(n_inputs)}, got "
            f"{_check.shown(size)}"
        )
    return size


def _pair(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise _check.InputError(
            f"`{name}` must be a pair of whole numbers, got {_check.shown(value)}"
        )
    first, second = (_check.integer(f"{name}[{i}]", part, 1) for i, part in enumerate(value))
    return first, second


def _dimensions(
    n_inputs: int | None,
    filter_size: int | None,
    center: npt.ArrayLike | None,
    spread: npt.ArrayLike | None,
) -> tuple[int, int]:
    """Return (r, n) as given; what is not given is taken from the matrices."""
    for name, matrix in (("center", center), ("spread", spread)):
        if matrix is not None:
            r, n = _check.array(name, matrix, ("r", "n")).shape
            filter_size = r if filter_size is None else filter_size
            n_inputs = n if n_inputs is None else n_inputs
    if n_inputs is None or filter_size is None:
        raise _check.InputError("give `n_inputs` and `filter_size`, or the matrix `center`")
    n = _check.integer("n_inputs", n_inputs, 1)
    r = _filter_length("filter_size", filter_size, n)
    _check.entries("the gates' matrices", r, n)
    return r, n


def _given_or_drawn(
    name: str, value: npt.ArrayLike | None, shape: tuple[int, int], seed: int
) -> Array:
    if value is not None:
        return _check.array(name, value, shape)
    return _seeds.generator(seed, "network", name).standard_normal(shape)
