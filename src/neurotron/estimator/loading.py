"""`load_model`: a saved regressor from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron.estimator.regressor import NeuroTronRegressor
from neurotron.estimator.suspects import HonestNoise
from neurotron.model_file import read_model

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
        noise = fitted["honest_noise_"]
        fitted["honest_noise_"] = HonestNoise(
            _check.number("scale", noise["scale"], "[0, inf)"),
            _check.number("tail", noise["tail"], "(0, inf)"),
        )
    except (KeyError, TypeError, _check.InputError) as error:
        raise _check.InputError(
            f"{_check.printable(str(path)[:300])} cannot be loaded: it does not describe a "
            f"NeuroTronRegressor ({_check.shorten(str(error))})"
        ) from None
    for name, value in fitted.items():
        setattr(model, name, value)
    return model


def _known(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, if a regressor has them."""
    known = NeuroTronRegressor().get_params()
    for name in parameters:
        if name not in known:
            raise _check.unknown("parameter", name, known)
    return parameters
