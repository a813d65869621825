"""The regressor with softplus, SiLU and GELU instead of the ReLU."""

from __future__ import annotations

import inspect
import json

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load, save
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_dict_unchanged,
    check_estimators_pickle,
    check_fit_idempotent,
    check_methods_sample_order_invariance,
)
from tests.support.cli import in_this_process
from tests.support.messages import refused, says

import neurotron as nt
from neurotron import model_file
from neurotron.networks.activations import BUILT_IN, Activation

X = np.random.default_rng(0).standard_normal((400, 16))
ATTACKED = np.arange(400) < 120
CASES = {
    "relu": ({}, nt.networks.relu_gate(16, activation="gelu")),
    "convolution": (
        {"filter_size": 5, "stride": 2},
        nt.networks.convolution(16, 5, 2, activation="gelu"),
    ),
    "image": (
        {"filter_size": (2, 3), "image_shape": (4, 4)},
        nt.networks.convolution2d((4, 4), (2, 3), activation="gelu"),
    ),
}
OWN = Activation(
    "own",
    lambda z: np.sqrt(1.0 + z * z) / 2.0,
    lambda z: z / np.sqrt(1.0 + z * z) / 2.0,
    lipschitz=0.5,
)


def labels(network: nt.FilterNetwork, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which 30 % come from another filter, and the filter of the others."""
    draw = np.random.default_rng(1)
    weights, other = draw.standard_normal((2, network.filter_size))
    y = np.where(ATTACKED, network(other, X), network(weights, X)) + 1.5
    return y + noise * draw.standard_normal(400), weights


@pytest.mark.parametrize("name", CASES)
def test_a_named_network_with_an_activation_is_found_although_labels_are_poisoned(name):
    sizes, network = CASES[name]
    y, weights = labels(network)
    model = nt.NeuroTronRegressor(network=name, activation="gelu", **sizes).fit(X, y)
    assert model.weights_ == pytest.approx(weights, abs=1e-9)
    assert model.intercept_ == pytest.approx(1.5, abs=1e-9)
    assert np.array_equal(model.suspects_, ATTACKED)
    assert model.network_.activation == BUILT_IN["gelu"]
    assert model.attacked_fraction_ == pytest.approx(0.3)
    assert (model.proven_against_, model.certificate_) == (-1, None)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("activation", [*BUILT_IN, OWN], ids=[*BUILT_IN, "own"])
def test_labels_are_judged_and_the_diagnosis_does_not_speak_of_gates_that_are_off(activation):
    y, weights = labels(nt.networks.relu_gate(16, activation=activation), noise=0.05)
    model = nt.NeuroTronRegressor(network="relu", activation=activation).fit(X, y)
    assert np.linalg.norm(model.weights_ - weights) < 0.03
    assert model.scale_ == pytest.approx(0.05, rel=0.25)
    report = model.label_report(X, y)
    assert np.array_equal(report["is_label_issue"], model.suspects_)
    assert model.suspects_[~ATTACKED].sum() <= 8
    assert model.suspects_[ATTACKED].mean() > 0.8
    assert report["predicted_label"] == pytest.approx(model.predict(X))
    text, geometry = " ".join(map(str, model.diagnose().paragraphs)), model.diagnose().geometry
    assert geometry.active is None
    assert geometry.asymmetry is not None
    assert "gate is on" not in text
    assert says(text, "symmetric around zero")
    assert json.dumps(model.diagnose().to_dict())


def test_gates_that_can_be_off_are_still_counted():
    y, _ = labels(nt.networks.relu_gate(16))
    model = nt.NeuroTronRegressor(network="relu", activation="relu").fit(X, y)
    assert model.network_.activation is None
    assert says(" ".join(model.diagnose().paragraphs), "At least one gate is on in")


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"network": "linear", "activation": "gelu"}, ("'linear'", "`activation`", "'relu'")),
        ({"network": "leaky", "activation": "gelu"}, ("'leaky'", "`activation`", "'image'")),
        (
            {"network": nt.networks.relu_gate(16), "activation": "gelu"},
            ("a network that is given", "`activation`", "leave it out"),
        ),
        ({"network": nt.networks.relu_gate, "activation": OWN}, ("`activation`", "leave it out")),
        ({"network": "relu", "activation": "glue"}, ("'glue'", "did you mean 'gelu'")),
        ({"network": "relu", "activation": 2.0}, ("`activation`", "2.0", "'softplus'")),
        ({"activation": ["gelu"]}, ("`activation`", "['gelu']")),
    ],
)
def test_an_activation_that_does_not_fit_gets_one_sentence(parameters, parts):
    with refused(*parts):
        nt.NeuroTronRegressor(**parameters).fit(X, X[:, 0])


@pytest.mark.parametrize("activation", ["softplus", BUILT_IN["softplus"]], ids=["name", "object"])
def test_a_saved_model_predicts_the_same(activation, tmp_path):
    y, _ = labels(nt.networks.convolution(16, 5, activation="softplus"))
    model = nt.NeuroTronRegressor(network="convolution", filter_size=5, activation=activation)
    clone(model).fit(X, y).save(tmp_path / "m.safetensors")
    loaded = nt.load_model(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.predict(X), model.fit(X, y).predict(X))
    assert loaded.activation == "softplus"
    assert np.array_equal(loaded.fit(X, y).weights_, model.weights_)


def test_an_activation_of_your_own_is_cloned_but_not_saved(tmp_path):
    y, weights = labels(nt.networks.relu_gate(16, activation=OWN))
    model = clone(nt.NeuroTronRegressor(network="relu", activation=OWN)).fit(X, y)
    assert model.weights_ == pytest.approx(weights)
    with refused("own", "functions cannot be saved", "gelu"):
        model.save(tmp_path / "m.safetensors")
    assert not [*tmp_path.iterdir()]


def without_activations(header: dict) -> None:
    """Make a header what it was before there were activations."""
    del header["parameters"]["values"]["activation"]
    del header["fitted"]["values"]["network_"]["network"]["values"]["activation"]


@pytest.mark.parametrize(
    ("change", "works"),
    [
        (without_activations, True),
        (lambda header: header["parameters"]["values"].update(activation="glue"), False),
        (lambda header: header["parameters"]["values"].update(activation={"tuple": []}), False),
    ],
    ids=["an old file", "an unknown name", "no name"],
)
def test_files_from_before_are_read_and_unknown_activations_refused(change, works, tmp_path):
    y, _ = labels(nt.networks.relu_gate(16))
    path = tmp_path / "m.safetensors"
    model = nt.NeuroTronRegressor(network="relu").fit(X, y)
    model.save(path)
    header, arrays = model_file._read(path)
    assert isinstance(header, dict)
    change(header)
    header["sha256"] = model_file._digest(header, arrays)
    path.write_bytes(save(load(path.read_bytes()), {"neurotron": json.dumps(header)}))
    if works:
        assert np.array_equal(nt.load_model(path).predict(X), model.predict(X))
        return
    with refused("cannot be loaded", "activation"):
        nt.load_model(path)


@pytest.mark.parametrize(
    ("network", "made"),
    [
        ("relu:activation=gelu", CASES["relu"][1]),
        ("convolution:filter_size=5,stride=2,activation=gelu", CASES["convolution"][1]),
    ],
    ids=["relu", "convolution"],
)
def test_the_command_fits_a_network_with_an_activation(network, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, weights = labels(made)
    pl.DataFrame({f"t{i}": column for i, column in enumerate(X.T)} | {"y": y}).write_csv("t.csv")
    options = ("--label", "y", "--out", "m.safetensors", "--overwrite", "--json", "--network")
    done = in_this_process("fit", "t.csv", *options, network)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["weights"] == pytest.approx(weights, abs=1e-6)
    assert nt.load_model("m.safetensors").activation == "gelu"
    wrong = in_this_process("fit", "t.csv", *options, "linear:activation=gelu")
    assert wrong.returncode == 2
    assert says(wrong.stderr, "linear", "activation")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "check",
    [
        check_dict_unchanged,
        check_estimators_pickle,
        check_fit_idempotent,
        check_methods_sample_order_invariance,
    ],
)
def test_scikit_learn_accepts_it_with_an_activation(check):
    check("NeuroTronRegressor", nt.NeuroTronRegressor(network="relu", activation="silu"))


def test_the_docstring_names_the_parameter_after_leak():
    names = [*inspect.signature(nt.NeuroTronRegressor).parameters]
    assert names.index("activation") == names.index("leak") + 1
    assert "activation\n        What network=" in nt.NeuroTronRegressor.__doc__
