"""Model files: what is saved comes back, and nothing else is loaded."""

from __future__ import annotations

import json
import os
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load, save
from sklearn.base import clone
from tests.support.messages import refused, says

import neurotron as nt
from neurotron import model_file

DRAW = np.random.default_rng(1)
X = DRAW.standard_normal((80, 6))
NETWORKS: dict[str, dict[str, Any]] = {
    "linear": {},
    "linear without intercept": {"fit_intercept": False, "random_state": None},
    "convolution": {"network": "convolution:filter_size=3,stride=2"},
    "image": {"network": "convolution2d:height=2,filter_size=4"},
    "dense gates": {"network": nt.networks.symmetric(6, 3, width=4, seed=1), "max_rows": 99},
    "a function": {"network": lambda n: nt.networks.relu_gate(n, leak=0.2), "standardize": True},
}


def fit(**parameters: Any) -> nt.NeuroTronRegressor:
    """Return a fitted model, converged or not."""
    y = X @ np.arange(1.0, 7.0) + 0.1 * np.random.default_rng(2).standard_normal(80)
    y[:8] += 20.0
    with warnings.catch_warnings(action="ignore"):
        return nt.NeuroTronRegressor(**parameters).fit(X, y)


@pytest.fixture(scope="module")
def model() -> nt.NeuroTronRegressor:
    """A fitted model; tests do not change it."""
    return fit()


@pytest.fixture
def path(model, tmp_path) -> Path:
    """A file of that model."""
    model.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("name", NETWORKS)
def test_a_loaded_model_predicts_and_judges_like_the_saved_one(name, tmp_path):
    model = fit(max_iter=2, **NETWORKS[name])
    model.save(tmp_path / "m.safetensors")
    loaded = nt.load_model(str(tmp_path / "m.safetensors"))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    for key, value in model.label_report(X, X[:, 0]).items():
        assert np.array_equal(loaded.label_report(X, X[:, 0])[key], value)
    assert np.array_equal(loaded.network_.gates, model.network_.gates)
    assert loaded.network_.leak == model.network_.leak
    assert {**loaded.get_params(), "network": 0} == {**model.get_params(), "network": 0}


def test_a_loaded_model_can_be_fitted_again(model, path):
    again = clone(nt.load_model(path)).fit(X, X[:, 0])
    assert np.allclose(again.coef_, np.eye(6)[0])


def test_a_network_that_was_a_function_is_saved_as_what_it_returned(tmp_path):
    fit(max_iter=2, **NETWORKS["a function"]).save(tmp_path / "m.safetensors")
    network = nt.load_model(tmp_path / "m.safetensors").network
    assert (network.n_inputs, network.leak) == (6, 0.2)


def test_what_certificates_need_and_the_training_are_saved(model, path):
    loaded = nt.load_model(path)
    for name in ("input_mean_", "input_second_moment_", "coef_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    for name in ("n_rows_", "n_iter_", "converged_", "scale_", "attacked_fraction_",
                 "attacked_fraction_interval_", "honest_noise_", "proven_against_"):  # fmt: skip
        assert getattr(loaded, name) == getattr(model, name)
    assert not hasattr(loaded, "suspects_")


def test_names_of_columns_are_saved(tmp_path):
    frame = pl.DataFrame({f"größe {i}": column for i, column in enumerate(X.T)})
    model = nt.NeuroTronRegressor().fit(frame, X.sum(axis=1))
    model.save(tmp_path / "m.safetensors")
    loaded = nt.load_model(tmp_path / "m.safetensors")
    assert loaded.feature_names_in_.tolist() == frame.columns
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_the_same_model_has_the_same_bytes(model, path, tmp_path):
    nt.load_model(path).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_any_program_can_read_the_arrays_and_the_header(path):
    arrays = load(path.read_bytes())
    assert arrays["fitted.weights_"].shape == (6,)
    header = header_of(path.read_bytes())
    assert (header["format"], header["class"]) == (1, "NeuroTronRegressor")
    assert header["fitted"]["values"]["n_rows_"] == 80


def header_of(data: bytes) -> dict[str, Any]:
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["neurotron"])


def rewritten(change: Callable[[dict[str, Any], dict[str, Any]], object], *, sealed: bool) -> Any:
    """Return a function that changes header and arrays; `sealed` also computes the hash again."""

    def change_file(data: bytes) -> bytes:
        header, arrays = header_of(data), load(data)
        change(header, arrays)
        if sealed:
            header["sha256"] = model_file._digest(header, arrays)
        return save(arrays, {"neurotron": json.dumps(header)})

    return change_file


def flipped(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def header(**values: Any) -> Any:
    return rewritten(lambda header, _: header.update(values), sealed=True)


def fitted(*, sealed: bool = True, **values: Any) -> Any:
    return rewritten(lambda header, _: header["fitted"]["values"].update(values), sealed=sealed)


def parameters(**values: Any) -> Any:
    return rewritten(lambda header, _: header["parameters"]["values"].update(values), sealed=True)


def array(name: str, value: np.ndarray) -> Any:
    return rewritten(lambda _, arrays: arrays.update({f"fitted.{name}": value}), sealed=True)


DAMAGED: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "empty": (lambda data: b"", ("damaged",)),
    "no model": (lambda data: b"mine", ("damaged",)),
    "a pickle": (lambda data: b"\x80\x04cos\nsystem\n(S'true'\ntR.", ("damaged",)),
    "truncated": (lambda data: data[:-20], ("damaged",)),
    "truncated in the header": (lambda data: data[:100], ("damaged",)),
    "too long": (lambda data: data + b"more", ("damaged",)),
    "a bit flipped": (flipped, ("changed",)),
    "foreign": (lambda data: save({"w": np.ones(3)}), ("not come from neurotron",)),
    "foreign with words": (lambda data: save({"w": np.ones(3)}, {"format": "pt"}), ("not come",)),
    "no JSON": (lambda data: save({"w": np.ones(3)}, {"neurotron": "{"}), ("header",)),
    "a deep header": (
        lambda data: save({"w": np.ones(3)}, {"neurotron": "[" * 100_000}), ("header",)
    ),
    "a list as header": (lambda data: save({}, {"neurotron": "[1]"}), ("header",)),
    "newer": (header(format=2), ("newer", "pip install", "checkout")),
    "another class": (header(**{"class": "Ridge"}), ("NeuroTronRegressor",)),
    "an edited number": (fitted(intercept_=9, sealed=False), ("changed",)),
    "an edited array": (
        rewritten(lambda _, arrays: arrays["fitted.weights_"].fill(0), sealed=False), ("changed",)
    ),
    "no weights": (
        rewritten(lambda header, _: header["fitted"]["values"].pop("weights_"), sealed=True),
        ("weights_",),
    ),
    "no array": (
        rewritten(lambda _, arrays: arrays.pop("fitted.weights_"), sealed=True), ("describe",)
    ),
    "other weights": (array("weights_", np.ones(5)), ("weights_", "(6,)")),
    "other columns": (array("input_mean_", np.ones(1)), ("input_mean_", "(6,)")),
    "a wrong intercept": (fitted(intercept_="much"), ("intercept_",)),
    "an infinite scale": (fitted(scale_=float("inf")), ("scale_",)),
    "no noise": (fitted(honest_noise_=None), ("describe",)),
    "noise without a size": (
        fitted(honest_noise_={"values": {"scale": "x", "tail": 3.0}}),
        ("honest_noise_.scale", "'x'"),
    ),
    "impossible tails": (
        fitted(honest_noise_={"values": {"scale": 1.0, "tail": 1e-300}}),
        ("honest_noise_.tail", "1e-300"),
    ),
    "inputs divided by zero": (
        array("input_scale_", np.zeros(6)), ("input_scale_", "positive", "0")
    ),
    "other moments": (
        array("input_second_moment_", np.ones(3)), ("input_second_moment_", "(6, 6)")
    ),
    "negative moments": (
        array("input_second_moment_", -np.eye(6)), ("input_second_moment_", "negative")
    ),
    "noise that is an array": (
        rewritten(
            lambda header, arrays: (
                header["fitted"]["values"].update(honest_noise_={"array": "noise"}),
                arrays.update(noise=np.ones(2)),
            ),
            sealed=True,
        ),
        ("describe",),
    ),
    "noise that is names": (fitted(honest_noise_={"names": ["a"]}), ("describe",)),
    "hashes in words": (fitted(row_hashes_="none"), ("row_hashes_", "'none'")),
    "hashes without order": (array("row_hashes_", np.arange(80)[::-1].copy()), ("row_hashes_",)),
    "more hashes than rows": (array("row_hashes_", np.arange(81)), ("row_hashes_",)),
    "names in one text": (fitted(feature_names_in_="abcdef"), ("feature_names_in_", "'abcdef'")),
    "names in a list": (fitted(feature_names_in_=[*"abcdef"]), ("feature_names_in_",)),
    "the same name twice": (
        fitted(feature_names_in_={"names": [*"aabcde"]}), ("feature_names_in_", "different")
    ),
    "too few names": (fitted(feature_names_in_={"names": ["a"]}), ("feature_names_in_", "6")),
    "a share in words": (fitted(attacked_fraction_="few"), ("attacked_fraction_", "'few'")),
    "a share above one": (fitted(attacked_fraction_=1.5), ("attacked_fraction_", "1.5")),
    "an interval of one number": (fitted(attacked_fraction_interval_=0.1), ("describe",)),
    "an interval of three numbers": (
        fitted(attacked_fraction_interval_={"tuple": [0.1, 0.2, 0.3]}), ("describe",)
    ),
    "an interval from above": (
        fitted(attacked_fraction_interval_={"tuple": [0.2, 0.1]}), ("attacked_fraction_interval_",)
    ),
    "an attack of negative size": (fitted(attack_size_=-1), ("attack_size_", "-1")),
    "a proof beyond the rows": (fitted(proven_against_=81), ("proven_against_", "81")),
    "half a row": (fitted(n_rows_=0.5), ("n_rows_", "0.5")),
    "starts in words": (fitted(n_iter_="one"), ("n_iter_", "'one'")),
    "perhaps converged": (fitted(converged_=2), ("converged_", "2")),
    "an attribute that no model has": (fitted(predict_=1), ("'predict_'",)),
    "a list of attributes": (header(fitted=[1]), ("describe",)),
    "a rate in words": (parameters(false_alarm_rate="x"), ("false_alarm_rate", "'x'")),
    "an unknown network": (parameters(network="nope"), ("network", "'nope'")),
    "a negative seed": (parameters(random_state=-1), ("random_state", "-1")),
    "an attribute that is a method": (fitted(__class__="x"), ("'__class__'",)),
    "an unknown parameter": (parameters(lr=1), ("lr",)),
    "an unknown activation": (
        rewritten(lambda header, _: header["fitted"]["values"]["network_"]["network"]["values"]
                  .update(activation="glue"), sealed=True),
        ("activation", "'glue'"),
    ),
    "no parameters": (header(parameters=3), ("describe",)),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_any_other_file_is_refused_in_one_sentence(name, path):
    change, parts = DAMAGED[name]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(nt.InputError) as caught:
        nt.load_model(path)
    assert says(caught.value, "model.safetensors", *parts)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize(
    "place", ["nothing.safetensors", "folder.safetensors", "pipe.safetensors", "\0", ""]
)
def test_a_file_that_is_not_there_is_refused(place, tmp_path):
    (tmp_path / "folder.safetensors").mkdir()
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(nt.InputError):
        nt.load_model(str(tmp_path / place) if place else place)


def test_a_model_replaces_a_model_but_no_other_file(model, path):
    model.save(path)
    path.write_text("mine")
    with refused("model.safetensors", "not a model file", "another name"):
        model.save(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("place", ["model.pkl", "no/model.safetensors", "", 3])
def test_a_place_that_cannot_be_written_is_refused(place, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nt.InputError, match=r"path|written"):
        model.save(place)
    assert [*tmp_path.iterdir()] == []


def test_a_failed_write_leaves_the_old_file(model, path, monkeypatch):
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neurotron._files.os.fsync", fail)
    with refused("No space left on device", "another place"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_model_that_is_not_fitted_cannot_be_saved(tmp_path):
    with refused("not fitted", "fit(X, y)"):
        nt.NeuroTronRegressor().save(tmp_path / "m.safetensors")


def test_what_a_killed_process_left_of_the_file_is_removed_when_it_is_old_and_nothing_else(
    model, path
):
    stale = path.with_name(".model.safetensors.7.tmp")
    new = path.with_name(".model.safetensors.8.tmp")
    others = [
        path.with_name(name)
        for name in (
            ".other.safetensors.7.tmp",
            "model.safetensors.7.tmp",
            ".model.safetensors.x1.tmp",
        )
    ]
    for file in (stale, new, *others):
        file.write_bytes(b"half")
        if file != new:
            os.utime(file, (0, 0))
    model.save(path)
    assert not stale.exists()
    assert all(file.read_bytes() == b"half" for file in (new, *others))
    assert nt.load_model(path).n_features_in_ == 6


def test_a_link_with_such_a_name_is_not_removed(model, path):
    link = path.with_name(".model.safetensors.7.tmp")
    link.symlink_to(path)
    os.utime(link, (0, 0), follow_symlinks=False)
    model.save(path)
    assert link.is_symlink()
