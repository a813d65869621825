"""The numbers of certificates that a unit stores, by which claims and figures judge its runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support.results import TRUE, ending_at, made
from tests.support.studies import SMALL

import neurotron as nt
from neurotron.guarantees import biased_weights
from neurotron.lab.training.building import arm_rows, build_problem
from neurotron.lab.training.columns import CERTIFICATES, COURSES
from neurotron.lab.training.spec import Setting
from neurotron.lab.training.unit import MOST_CERTIFIED, train

TEXT = b"""
name = "s"
steps = 2000
record = 2000
confidence = 0.8
[trainers]
Tron = "neuro-tron:step_size=fastest"
Scheduled = "neuro-tron:step_size=scheduled"
SGD = "sgd:step_size=0.01"
[[settings]]
name = "a"
law = "laplace:scale=0.5"
network = "symmetric:width=4,outer_weights=2"
n_inputs = 12
filter_size = 4
[[settings.sweeps]]
attack = "none"
[[settings.sweeps]]
attack = "odd-direction"
bound = 0.1
probability = 0.05
"""
(SETTING,) = nt.lab.parse(TEXT, "s").settings
SPEC = Setting.model_validate_json(json.dumps(SETTING))


@pytest.fixture(scope="module")
def rows():
    return {row["arm"]: row for row in train(SETTING, 0, 0)}


def test_law_network_and_step_size_are_columns_that_need_no_parser():
    first, second, third, *_ = arm_rows(SPEC)
    assert {name: first[name] for name in ("law_name", "law_scale", "dof")} == {
        "law_name": "laplace", "law_scale": 0.5, "dof": None,
    }  # fmt: skip
    assert (first["architecture"], first["outer_weights"]) == ("symmetric,width=4", 2.0)
    assert (first["corruption"], first["corrupted_share"]) == (None, None)
    assert [row["step_rule"] for row in (first, second, third)] == ["fastest", "scheduled", None]
    heavy = SPEC.model_copy(update={"law": "student-t:dof=4", "network": "relu-gate"})
    row = arm_rows(heavy)[0]
    assert (row["dof"], row["architecture"], row["outer_weights"]) == (4.0, "relu-gate", 1.0)


@pytest.mark.parametrize(
    ("network", "columns"),
    [
        ("symmetric", ("symmetric", "relu", 0.0)),
        ("symmetric:leak=0.3,width=4", ("symmetric,width=4", "relu", 0.3)),
        ("symmetric:width=4,activation=gelu", ("symmetric,width=4", "gelu", 0.0)),
        ("linear", ("linear", "relu", 1.0)),
    ],
)
def test_activations_are_columns(network, columns):
    row = arm_rows(SPEC.model_copy(update={"network": network}))[0]
    assert (row["architecture"], row["activation"], row["leak"]) == columns


@pytest.mark.parametrize(
    ("law", "size", "share"),
    [
        ("corrupted:scale=0.5,probability=0.2", 0.5 * 12**0.5, 0.2),
        ("moved:size=0.5,law=laplace", 0.5, 1.0),
    ],
)
def test_corrupted_inputs_are_columns_with_the_bias_that_they_predict(law, size, share):
    changed = {"law": law, "network": "relu-gate", "steps": 100, "record": 100}
    setting = SPEC.model_copy(update=changed)
    rows = {row["trainer"]: row for row in train(setting.model_dump(mode="json"), 0, 0)}
    assert rows["SGD"]["predicted_bias"] is None
    row, problem = rows["Tron"], build_problem(setting, 0)
    assert (row["corruption"], row["corrupted_share"]) == (pytest.approx(size), share)
    moments = problem.data.seen_moments(problem.network)
    if moments is None:
        assert row["predicted_bias"] is None
        return
    limit = biased_weights(problem, problem.sensing_matrix("optimal"))
    assert row["predicted_bias"] == np.linalg.norm(limit - problem.true_weights) > 0.0


def test_a_unit_stores_what_its_certificates_say(rows):
    problem = build_problem(SPEC, 0)
    attack = nt.attacks.build("odd-direction", problem, bound=0.1, probability=0.05, seed=0)
    row = rows["Tron, odd-direction θ=0.1 β=0.05"]
    sharp = nt.certify(problem, nt.Arm(nt.NeuroTron(), attack), steps=2000, confidence=0.8)
    stored = {"radius": sharp.radius, "root_mean_square": sharp.root_mean_square,
              "certified_limit": sharp.limit,
              "certified_prediction_error": sharp.prediction_error}  # fmt: skip
    assert {name: row[name] for name in stored} == stored
    at, errors, radii = (row[name] for name in COURSES)
    assert len(at) <= MOST_CERTIFIED
    assert (at[0], at[-1]) == (0, 2000)
    places = np.searchsorted(sharp.at_steps, at)
    assert np.array_equal(errors, np.sqrt(sharp.mean_square_bounds[places]))
    assert np.array_equal(radii, sharp.radii[places])


def test_what_no_theorem_covers_has_no_numbers(rows):
    assert {rows["SGD, honest labels"][name] for name in (*CERTIFICATES, *COURSES)} == {None}
    scheduled = rows["Scheduled, honest labels"]  # its radius is for many step sizes
    assert scheduled["radius"] < scheduled["errors"][0]
    assert scheduled["certified_steps"] is scheduled["theorem1_step_size"] is None
    assert rows["Tron, odd-direction θ=0.1 β=0.05"]["certified_steps"] is None
    assert rows["Tron, honest labels"]["certified_steps"] > 0


@pytest.mark.parametrize("b", [1, 16])
def test_certified_steps_are_those_of_the_rate_in_docs_paper(b):
    """c²λ1²/(L2²/b + (1 − 1/b)L1²) per step; a certificate may know a better bound."""
    none = [{"attack": "none", "bound": [0.0], "probability": [0.0], "trainers": None}]
    study = nt.lab.read("batch-size")
    setting = study.setting(f"normal-1-b{b}") | {"steps": 0, "sweeps": none}
    rows = {row["step_rule"]: row for row in train(setting, 0, 0)}
    steps = rows["fastest"]["certified_steps"]
    problem = build_problem(Setting.model_validate_json(json.dumps(setting)), 0)
    matrix = problem.sensing_matrix("optimal", "inverse-norm")
    known = nt.theory.sharp_constants(problem, matrix, "inverse-norm")
    square = known.L2**2 / b + (1.0 - 1.0 / b) * known.L1**2
    rate = (0.5 * known.lambda1) ** 2 / square
    assert steps == np.ceil(np.log(0.01) / np.log1p(-rate))
    arm = nt.Arm(nt.NeuroTron("fastest", weighting="inverse-norm"))
    found = nt.certify(problem, arm, batch_size=b, steps=int(steps), initial_error=100.0)
    assert found.mean_square_bounds[-1] <= 100.0 * (1.0 + 1e-9)


@pytest.mark.parametrize(("chance", "holds"), [(0.02, True), (0.03, False)])
def test_the_condition_of_section_3_4_is_stored(chance, holds):
    """0.0235 is the largest β of the condition, though Theorem 1 still holds beyond it."""
    setting = nt.lab.read("paper").setting("prediction-risk")
    sweeps = [setting["sweeps"][0] | {"probability": [chance], "bound": [0.25]}]
    row = train(setting | {"sweeps": sweeps, "steps": 20_000}, 0, 0)[0]
    assert row["theorem1_radius"] is not None
    assert (row["risk_ratio"] < 1.0) == holds
    assert row["theta_star"] >= 0.25


@pytest.mark.parametrize(
    ("weights", "cosine", "outcome"),
    [(TRUE, 1.0, "recovered"), ((-6.0, -8.0), -1.0, "mirror"), ((4.0, -3.0), 0.0, "other")],
)
def test_the_cosine_of_a_run_is_that_with_the_true_weights(weights, cosine, outcome, tmp_path):
    error = float(np.linalg.norm(np.subtract(weights, TRUE)))
    results = made(
        tmp_path / "r", SMALL, lambda *_: {"weights": weights, "errors": ending_at(error)}, 1
    )
    assert set(results.runs["cosine"]) == {cosine}
    assert set(results.runs["outcome"]) == {outcome}
