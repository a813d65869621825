"""The parameters of a regressor: checks, the network they describe, and the seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from neurotron import _check
from neurotron.networks import (
    Activation,
    FilterNetwork,
    convolution,
    convolution2d,
    linear,
    relu_gate,
)
from neurotron.networks.activations import activation_of

if TYPE_CHECKING:
    from neurotron.estimators.regressor import NeuroTronRegressor

__all__ = [
    "NAMES", "NETWORKS", "ActivationChoice", "NetworkChoice", "Size", "check_parameters",
    "network_for", "network_parameters", "seed_of",
]  # fmt: skip

NetworkChoice: TypeAlias = str | FilterNetwork | Callable[[int], FilterNetwork]
ActivationChoice: TypeAlias = str | Activation | None
Size: TypeAlias = int | tuple[int, int] | None

NETWORKS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "relu": ("activation",),
    "leaky": ("leak",),
    "convolution": ("filter_size", "stride", "activation"),
    "image": ("height", "width", "filter_size", "stride", "activation"),
}
"""The networks that have names, each with its parameters in text."""
NAMES = tuple(NETWORKS)
ACTIVATED = tuple(name for name in NETWORKS if "activation" in NETWORKS[name])
"""The networks that can have another activation than the ReLU."""


def check_parameters(model: NeuroTronRegressor) -> float:
    """Check the parameters that nothing else checks; return the rate of false alarms."""
    for name in ("fit_intercept", "standardize", "warm_start"):
        if not isinstance(getattr(model, name), (bool, np.bool_)):
            given = _check.shown(getattr(model, name))
            raise _check.InputError(f"`{name}` must be True or False, got {given}")
    if not isinstance(model.verbose, (bool, np.bool_)):
        _check.integer("verbose", model.verbose, 0)
    _check.integer("max_iter", model.max_iter, 1)
    _check.number("tol", model.tol, "(0, 1)")
    if model.max_rows is not None:
        _check.integer("max_rows", model.max_rows, 1)
    activation_of(model.activation)
    return _check.number("false_alarm_rate", model.false_alarm_rate, "(0, 1)")


def network_parameters(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a regressor whose network has parameters that were given as text.

    >>> network_parameters("image", {"height": 8, "width": 6, "filter_size": 3})
    {'network': 'image', 'image_shape': (8, 6), 'filter_size': 3}
    """
    if name not in NETWORKS:
        raise _check.unknown("network", name, NETWORKS)
    for parameter in given:
        if parameter not in NETWORKS[name]:
            raise _check.unknown(f"parameter of {name}", parameter, NETWORKS[name])
    sides = given.get("height"), given.get("width")
    if name == "image" and None in sides:
        raise _check.InputError(
            "the network 'image' needs the size of the images: write "
            "image:height=…,width=…,filter_size=…"
        )
    shape = {"image_shape": sides} if name == "image" else {}
    others = {key: value for key, value in given.items() if key not in ("height", "width")}
    return {"network": name, **shape, **others}


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that scikit-learn's parameter `random_state` stands for."""
    if isinstance(random_state, (int, np.integer)):
        return _check.integer("random_state", random_state, 0)
    return int(check_random_state(random_state).randint(2**31 - 1))


def network_for(
    network: NetworkChoice,
    n_features: int,
    *,
    filter_size: Size,
    image_shape: tuple[int, int] | None,
    stride: int | tuple[int, int],
    leak: float,
    activation: ActivationChoice,
) -> FilterNetwork:
    """Return the network for inputs of `n_features` columns."""
    if activation is not None and not (isinstance(network, str) and network in ACTIVATED):
        kind = f"network={network!r}" if isinstance(network, str) else "a network that is given"
        raise _check.InputError(
            f"{kind} takes no `activation`: leave it out, or use one of the networks "
            f"{', '.join(map(repr, ACTIVATED))}"
        )
    if isinstance(network, FilterNetwork):
        return _fitting(network, n_features, "has")
    if callable(network):
        made = network(n_features)
        if not isinstance(made, FilterNetwork):
            raise _check.InputError(
                "`network` must return a FilterNetwork when it is called with the number of "
                f"columns, got {_check.shown(made)}"
            )
        return _fitting(made, n_features, "returned one that has")
    if not isinstance(network, str):
        raise _check.InputError(
            f"`network` must be one of {', '.join(map(repr, NAMES))}, a FilterNetwork, or a "
            f"function of the number of columns that returns one, got {_check.shown(network)}"
        )
    _check.choice("network", network, NAMES)
    if network == "linear":
        return linear(n_features)
    if network == "relu":
        return relu_gate(n_features, activation=activation)
    if network == "leaky":
        return relu_gate(n_features, leak=_check.number("leak", leak, "(0, 1)"))
    if filter_size is None:
        raise _check.InputError(
            f"network={network!r} needs `filter_size`: give the number of weights of the filter"
            + (" as (height, width)" if network == "image" else "")
        )
    if network == "convolution":
        return convolution(n_features, filter_size, stride, activation=activation)  # type: ignore[arg-type]
    if image_shape is None:
        raise _check.InputError(
            "network='image' needs `image_shape`: give (height, width) of the images, whose pixels "
            f"are the {n_features} columns of `X`, row by row"
        )
    height, width = _sides("image_shape", image_shape)
    pair = (filter_size, filter_size) if isinstance(filter_size, Integral) else filter_size
    sides = _sides("filter_size", pair, height, width)
    made = convolution2d((height, width), sides, stride, activation=activation)
    if made.n_inputs != n_features:
        raise _check.InputError(
            f"`image_shape` must have as many pixels as `X` has columns, {n_features}, got "
            f"{height} × {width} = {made.n_inputs}"
        )
    return made


def _sides(
    name: str, value: object, tallest: float = math.inf, widest: float = math.inf
) -> tuple[int, int]:
    """Return a height and a width that are not larger than they may be."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise _check.InputError(f"`{name}` must be (height, width), got {_check.shown(value)}")
    return (
        _check.integer(f"{name}[0]", value[0], 1, tallest),
        _check.integer(f"{name}[1]", value[1], 1, widest),
    )


def _fitting(network: FilterNetwork, n_features: int, has: str) -> FilterNetwork:
    if network.n_inputs != n_features:
        raise _check.InputError(
            f"`network` {has} {network.n_inputs} inputs, but `X` has {n_features} columns: give a "
            "network for these columns, or a function of their number"
        )
    return network
