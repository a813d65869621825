"""Files of fitted models: arrays in the safetensors format, and one JSON header.

The header says what the file is: its format version, the class and the parameters of the model, the
network, what was fitted, and the SHA-256 of all of it. Nothing in a file is ever executed. The
SHA-256 reveals damage and careless edits; it is not a signature, because anybody can compute it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check, _files
from neurotron._environment import environment
from neurotron._extras import install, require
from neurotron._registry import parse
from neurotron.networks import BY_NAME, FilterNetwork
from neurotron.networks.activations import BUILT_IN, Activation
from neurotron.networks.basis import Basis, Matrices, Windows

FORMAT = 1
"""The version of the format. Files with a larger one are refused."""
KEY = "neurotron"
"""Where the header is in the metadata of a safetensors file."""
CLASS = "NeuroTronRegressor"
OF_THE_ROWS = ("suspects_", "suspicion_", "certificate_", "solution_", "calibration_rows_")
"""Fitted attributes that are not saved: they are about the rows of the training, not the model."""
OF_THE_NETWORK = ("n_features_in_",)
"""Fitted attributes that are not saved, because the network says the same."""
Arrays = dict[str, npt.NDArray[Any]]


def save(model: Any, path: str | Path, *, overwrite: bool = True, row_hashes: bool = True) -> None:
    """Write a fitted model to a file, from which `neurotron.load_model` reads it.

    The file is written completely or not at all. It replaces a model file of the same name, but no
    other file. What belongs to the rows of the training, such as `suspects_`, is not saved;
    `label_report` computes it again for any rows. A `network` that was given as a function is saved
    as the network that it returned, and a `random_state` only if it is a whole number.

    Parameters
    ----------
    model
        A fitted `NeuroTronRegressor`.
    path
        The name of the file, which must end in ``.safetensors``.
    overwrite
        Whether a model file of this name is replaced.
    row_hashes
        Whether the file keeps the hashes of the rows of the fit, by which `verify` refuses them.
    """
    check_place(path)
    if not hasattr(model, "weights_"):
        raise _check.InputError("`model` is not fitted: call fit(X, y) before save")
    _check.instance("row_hashes", row_hashes, bool)
    data = _encoded(model, {} if row_hashes else {"row_hashes_": None})
    with _files.writing(path):
        _files.remove_leftovers(Path(path))
        put = _files.replace if overwrite else _files.create
        put(Path(path), data)


def check_place(path: str | Path) -> None:
    """Refuse a place where no model file can be, or where another file would be lost."""
    place = _check.path("path", path, ".safetensors")
    if not os.path.lexists(place):
        return
    try:
        _read(place)
    except _check.InputError:
        raise _check.InputError(
            f"{str(path)!r} exists and is not a model file that can be read: choose another name, "
            "or remove it"
        ) from None


class Stored(NamedTuple):
    """What a model file says about a model."""

    parameters: dict[str, Any]
    fitted: dict[str, Any]


def read_model(path: str | Path) -> Stored:
    """Return the parameters and the fitted attributes of the model in a file.

    Their values are those in the file, and still have to be checked.
    A file that is damaged, changed, foreign or too new is refused.
    """
    place = _check.path("path", path)
    header, arrays = _read(place)
    try:
        return Stored(*(_decoded(header[part], arrays) for part in ("parameters", "fitted")))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _refused(place, f"it does not describe a model ({_one_line(error)})") from None


# ---- writing -------------------------------------------------------------------------------------


def _encoded(model: Any, instead: Mapping[str, Any]) -> bytes:
    """Return the content of the file, with some fitted attributes replaced."""
    arrays: Arrays = {}
    parameters = model.get_params(deep=False)
    network = parameters["network"]
    if not (isinstance(network, str) and parse(network)[0] in BY_NAME):
        parameters["network"] = model.network_
    if not isinstance(parameters["random_state"], (int, np.integer)):
        parameters["random_state"] = None
    fitted = {
        name: value
        for name, value in (vars(model) | instead).items()
        if name.endswith("_")
        and not name.startswith("_")
        and name not in (*OF_THE_ROWS, *OF_THE_NETWORK)
    }
    header = {
        "format": FORMAT,
        "class": CLASS,
        "parameters": _coded("parameters", parameters, arrays),
        "fitted": _coded("fitted", fitted, arrays),
        "environment": environment(),
    }
    header["sha256"] = _digest(header, arrays)
    text = json.dumps(header, ensure_ascii=False)
    return bytes(require("safetensors.numpy").save(arrays, {KEY: text}))


def _coded(place: str, value: Any, arrays: Arrays) -> Any:
    """Return a value as JSON; its arrays are put into `arrays`, under the name of their place.

    Of a dataclass, the fields are stored.
    """
    if isinstance(value, FilterNetwork):
        return {"network": _coded(place, _network_parts(value), arrays), "shown": repr(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return {"names": [_check.text(place, name) for name in value.tolist()]}
    if isinstance(value, np.ndarray):
        kind = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}[value.dtype.kind]
        arrays[place] = np.array(value, kind, order="C")
        return {"array": place}
    if isinstance(value, tuple):
        parts = [_coded(f"{place}.{i}", each, arrays) for i, each in enumerate(value)]
        return {"tuple": parts}
    if isinstance(value, dict):
        parts_by_name = {
            name: _coded(f"{place}.{name}", each, arrays) for name, each in value.items()
        }
        return {"values": parts_by_name}
    raise _check.InputError(
        f"`{place}` cannot be saved in a model file, which holds numbers, text, arrays and "
        f"networks: got {_check.shown(value)}"
    )


def _network_parts(network: FilterNetwork) -> dict[str, Any]:
    basis = network.basis
    return {
        "basis": basis.values if isinstance(basis, Matrices) else basis.index,
        "n_inputs": network.n_inputs,
        "mix": network.mix,
        "outer_weights": network.outer_weights,
        "leak": network.leak,
        "activation": _activation_name(network.activation),
    }


def _activation_name(activation: Activation | None) -> str | None:
    """Return the name of a built-in activation; functions cannot be saved."""
    if activation is None or BUILT_IN.get(activation.name) == activation:
        return None if activation is None else activation.name
    raise _check.InputError(
        f"the activation {activation.name} is your own, and functions cannot be saved in a model "
        f"file: use one of {', '.join(BUILT_IN)}"
    )


def _digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """Return the SHA-256 of the header and of all arrays."""
    whole = {name: value for name, value in header.items() if name != "sha256"}
    total = hashlib.sha256(json.dumps(whole, sort_keys=True).encode())
    for name in sorted(arrays):
        value = arrays[name]
        total.update(f"{name} {value.dtype.str} {value.shape}".encode())
        total.update(value.tobytes())
    return total.hexdigest()


# ---- reading -------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a model file; refuse any other file."""
    tensors = require("safetensors")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _refused(path, "it is not a regular file")
        with tensors.safe_open(path, framework="numpy") as file:
            header = _header(path, file.metadata())
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise _check.InputError(f"there is no file {_check.shown(str(path))}") from None
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be read") from None
    except (tensors.SafetensorError, AttributeError, TypeError) as error:
        reason = f"it is damaged, or not a safetensors file ({_one_line(error)})"
        raise _refused(path, reason) from None
    try:
        intact = _digest(header, arrays) == header.get("sha256")
    except RecursionError:
        intact = False
    if not intact:
        raise _refused(path, "its content was changed after it was written: fit and save it again")
    return header, arrays


def _header(path: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the header, if the file is a model of ours and its format is known."""
    if not metadata or KEY not in metadata:
        raise _refused(path, "this safetensors file does not come from neurotron")
    try:
        header = json.loads(metadata[KEY])
        version = header["format"]
        if isinstance(version, bool) or not isinstance(version, int):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _refused(path, "its header cannot be read") from None
    if version > FORMAT:
        update = f"pull that version, and {install('sklearn')}"
        raise _refused(path, f"it was written by a newer version: {update}")
    if version < 1 or header.get("class") != CLASS:
        raise _refused(path, f"its header does not say that it is a {CLASS}")
    return dict(header)


def _decoded(code: Any, arrays: Arrays) -> Any:
    """Return the value that `_coded` put into JSON."""
    if not isinstance(code, dict):
        return code
    if "array" in code:
        return arrays[code["array"]]
    if "names" in code:
        return np.array([_check.text("name", name) for name in code["names"]], object)
    if "tuple" in code:
        return tuple(_decoded(each, arrays) for each in code["tuple"])
    if "values" in code:
        return {name: _decoded(each, arrays) for name, each in code["values"].items()}
    parts = _decoded(code["network"], arrays)
    basis: Basis = (
        Matrices(parts["basis"])
        if parts["basis"].ndim == 3
        else Windows(parts["basis"], parts["n_inputs"])
    )
    return FilterNetwork(
        basis, parts["mix"], parts["outer_weights"], parts["leak"], parts.get("activation")
    )


def _refused(path: Path, reason: str) -> _check.InputError:
    return _check.InputError(f"{_check.printable(str(path)[:300])} cannot be loaded: {reason}")


def _one_line(error: Exception) -> str:
    return _check.shorten(_check.printable(" ".join(str(error).split())) or type(error).__name__)
