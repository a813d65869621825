"""`load_model`: a saved regressor from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron.estimators.attributes import checked
from neurotron.estimators.parameters import NAMES, check_parameters, seed_of
from neurotron.estimators.regressor import NeuroTronRegressor
from neurotron.model_file import read_model
from neurotron.networks import FilterNetwork

__all__ = ["load_model"]


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
        model = NeuroTronRegressor(**_known(parameters))
        _check_parameters(model)
        attributes = checked(fitted)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _check.InputError(
            f"{_check.printable(str(path)[:300])} cannot be loaded: it does not describe a "
            f"NeuroTronRegressor ({_check.printable(str(error)[:200])})"
        ) from None
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


def _known(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, if a regressor has them."""
    known = NeuroTronRegressor().get_params()
    for name in parameters:
        if name not in known:
            raise _check.unknown("parameter", name, known)
    return parameters


def _check_parameters(model: NeuroTronRegressor) -> None:
    """Refuse parameters that no fit accepts; the sizes of a network are checked by the next fit."""
    check_parameters(model)
    seed_of(model.random_state)
    if not isinstance(model.network, FilterNetwork):
        _check.choice("network", model.network, NAMES)
