"""`load_model`: a saved regressor from its file, whose every attribute is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._registry import parse
from neurotron._types import Array
from neurotron.estimators.regressor import NeuroTronRegressor, check_parameters, seed_of
from neurotron.estimators.table import MOST_HASHES, Hashes
from neurotron.model_file import read_model
from neurotron.networks import BY_NAME, FilterNetwork
from neurotron.residuals.suspects import HEAVIEST, NORMAL, HonestNoise

TAILS = f"[{0.99 * HEAVIEST:g}, {1.01 * NORMAL:g}]"
"""The tails of honest noise, with room for rounding."""
Check: TypeAlias = Callable[[str, Any], Any]
"""A check of an attribute, given its name and value; it returns the value in its clean form."""


def load_model(path: str | Path) -> NeuroTronRegressor:
    """Return the fitted model in a file that `NeuroTronRegressor.save` wrote.

    It predicts and judges labels like the model that was saved. A file that is damaged, changed,
    foreign or too new is refused.

    Parameters
    ----------
    path
        The name of the file.

    Examples
    --------
    >>> import tempfile, numpy as np, neurotron as nt
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = nt.NeuroTronRegressor().fit(X, X @ [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     loaded = nt.load_model(f"{folder}/model.safetensors")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    parameters, fitted = read_model(path)
    try:
        model = NeuroTronRegressor(**parameters)
        _check_parameters(model)
        attributes = _checked(fitted)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _check.InputError(
            f"{_check.printable(str(path)[:300])} cannot be loaded: it does not describe a "
            f"NeuroTronRegressor ({_check.printable(str(error)[:200])})"
        ) from None
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


def _check_parameters(model: NeuroTronRegressor) -> None:
    """Refuse parameters that no fit accepts; the sizes of a network are checked by the next fit."""
    check_parameters(model)
    seed_of(model.random_state)
    if not isinstance(model.network, FilterNetwork):
        name, _ = parse(_check.text("network", model.network))
        _check.choice("network", name, [*BY_NAME])


# ---- fitted attributes ---------------------------------------------------------------------------


def _checked(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted attributes of a file, if all are there and belong together."""
    checks = _checks(
        _check.instance("network_", fitted["network_"], FilterNetwork),
        _check.integer("n_rows_", fitted["n_rows_"], 1),
    )
    for name in checks:
        if name not in fitted and name != "feature_names_in_":
            raise _check.InputError(f"{name} is missing")
    for name in fitted:
        if name not in checks:
            raise _check.InputError(f"{_check.shown(name)} is not a fitted attribute")
    found = {name: checks[name](name, value) for name, value in fitted.items()}
    return found | {"n_features_in_": found["network_"].n_inputs}


def _checks(network: FilterNetwork, rows: int) -> dict[str, Check]:
    """Return the check of each fitted attribute."""
    inputs = network.n_inputs

    def columns(name: str, value: Any) -> Array:
        return _check.array(name, value, (inputs,))

    return {
        "network_": lambda name, value: value,
        "n_rows_": lambda name, value: rows,
        "weights_": lambda name, value: _check.array(name, value, (network.filter_size,)),
        "intercept_": _number("(-inf, inf)"),
        "scale_": _number("[0, inf)"),
        "honest_noise_": _noise,
        "attacked_fraction_": _number("[0, 1]"),
        "attacked_fraction_interval_": _interval,
        "attack_size_": _number("[0, inf)"),
        "proven_against_": lambda name, value: _check.integer(name, value, -1, rows),
        "n_iter_": lambda name, value: _check.integer(name, value, 0),
        "converged_": lambda name, value: _check.instance(name, value, bool),
        "row_hashes_": lambda name, value: _hashes(name, value, rows),
        "input_mean_": columns,
        "input_second_moment_": lambda name, value: _second_moment(name, value, inputs),
        "input_center_": columns,
        "input_scale_": lambda name, value: _positive(name, columns(name, value)),
        "feature_names_in_": lambda name, value: _names(name, value, inputs),
    }


def _number(interval: str) -> Check:
    return lambda name, value: _check.number(name, value, interval)


def _hashes(name: str, value: Any, rows: int) -> Hashes | None:
    """Return the hashes of the rows, in order and different; a file may have none."""
    if value is None:
        return None
    whole = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1
    if not whole or len(value) > min(rows, MOST_HASHES) or (np.diff(value) <= 0).any():
        raise _check.InputError(f"`{name}` must be hashes of rows, got {_check.shown(value)}")
    return np.asarray(value)


def _noise(name: str, value: Any) -> HonestNoise:
    return HonestNoise(
        _check.number(f"{name}.scale", value["scale"], "[0, inf)"),
        _check.number(f"{name}.tail", value["tail"], TAILS),
    )


def _interval(name: str, value: Any) -> tuple[float, float]:
    low, high = (_check.number(name, end, "[0, 1]") for end in value)
    if low > high:
        raise _check.InputError(f"`{name}` must begin with its lower end, got {low:g}, {high:g}")
    return low, high


def _positive(name: str, values: Array) -> Array:
    if values.min() <= 0.0:
        raise _check.InputError(f"`{name}` must be positive, got {values.min():g}")
    return values


def _second_moment(name: str, value: Any, inputs: int) -> Array | None:
    """Return the second moment, which is left out if there are many columns."""
    if value is None:
        return None
    moment = _check.array(name, value, (inputs, inputs))
    if moment.diagonal().min() < 0.0:
        raise _check.InputError(f"`{name}` must not be negative on its diagonal")
    return moment


def _names(name: str, value: Any, inputs: int) -> npt.NDArray[Any]:
    """Return the names of the columns, as many as there are, and each only once."""
    listed = isinstance(value, np.ndarray) and value.dtype.kind == "O"
    if not listed or value.shape != (inputs,) or len(set(value)) < inputs:
        raise _check.InputError(
            f"`{name}` must be {inputs} different names, got {_check.shown(value)}"
        )
    return np.asarray(value)
