"""The regressor with softplus, SiLU and GELU instead of the ReLU."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from tests.support.cli import in_this_process
from tests.support.messages import refused, says

import neurotron as nt
from neurotron.networks.activations import BUILT_IN, Activation

X = np.random.default_rng(0).standard_normal((400, 16))
ATTACKED = np.arange(400) < 120
CASES = {
    "relu-gate:activation=gelu": nt.networks.relu_gate(16, activation="gelu"),
    "convolution:filter_size=5,stride=2,activation=gelu": nt.networks.convolution(
        16, 5, 2, activation="gelu"
    ),
    "convolution2d:filter_size=4,activation=gelu": nt.networks.convolution2d(
        (4, 4), (2, 2), activation="gelu"
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
    network = CASES[name]
    y, weights = labels(network)
    model = nt.NeuroTronRegressor(network=name).fit(X, y)
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
    gate = nt.networks.relu_gate(16, activation=activation)
    model = nt.NeuroTronRegressor(network=gate).fit(X, y)
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
    model = nt.NeuroTronRegressor(network="relu-gate:activation=relu").fit(X, y)
    assert model.network_.activation is None
    assert says(" ".join(model.diagnose().paragraphs), "At least one gate is on in")


@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ("linear:activation=gelu", ("parameter of linear", "'activation'")),
        ("relu-gate:activation=glue", ("'glue'", "did you mean 'gelu'")),
        ("relu-gate:activation=2", ("`activation`", "2", "'softplus'")),
        ("relu-gate:leak=0.1,activation=gelu", ("`leak`", "gelu", "not both")),
    ],
)
def test_an_activation_that_does_not_fit_gets_one_sentence(network, parts):
    with refused(*parts):
        nt.NeuroTronRegressor(network=network).fit(X, X[:, 0])


def test_a_saved_model_predicts_the_same(tmp_path):
    y, _ = labels(nt.networks.convolution(16, 5, activation="softplus"))
    model = nt.NeuroTronRegressor(network="convolution:filter_size=5,activation=softplus")
    clone(model).fit(X, y).save(tmp_path / "m.safetensors")
    loaded = nt.load_model(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.predict(X), model.fit(X, y).predict(X))
    assert loaded.network_.activation == BUILT_IN["softplus"]
    assert np.array_equal(loaded.fit(X, y).weights_, model.weights_)


def test_an_activation_of_your_own_is_cloned_but_not_saved(tmp_path):
    gate = nt.networks.relu_gate(16, activation=OWN)
    y, weights = labels(gate)
    model = clone(nt.NeuroTronRegressor(network=gate)).fit(X, y)
    assert model.weights_ == pytest.approx(weights)
    with refused("own", "functions cannot be saved", "gelu"):
        model.save(tmp_path / "m.safetensors")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("network", [*CASES][:2])
def test_the_command_fits_a_network_with_an_activation(network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, weights = labels(CASES[network])
    pl.DataFrame({f"t{i}": column for i, column in enumerate(X.T)} | {"y": y}).write_csv("t.csv")
    options = ("--label", "y", "--out", "m.safetensors", "--overwrite", "--json", "--network")
    done = in_this_process("fit", "t.csv", *options, network)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["weights"] == pytest.approx(weights, abs=1e-6)
    assert nt.load_model("m.safetensors").network_.activation == BUILT_IN["gelu"]
    wrong = in_this_process("fit", "t.csv", *options, "linear:activation=gelu")
    assert wrong.returncode == 2
    assert says(wrong.stderr, "linear", "activation")
