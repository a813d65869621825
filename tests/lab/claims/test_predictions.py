"""Prediction errors in studies: how they are measured, and the verdicts on them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED
from neurotron.lab.studies.unit import prediction_errors

STUDY = nt.lab.studies.read("paper")
RISK = STUDY.model_copy(update={"settings": (STUDY.setting("prediction-risk"),)})


@pytest.mark.parametrize("leak", [0.0, 1.0])
def test_the_prediction_error_of_one_gate_is_the_exact_one(leak):
    """E(σ(wᵀx) − σ(0))² is ‖w‖²/2 for a ReLU and ‖w‖² for a linear gate, x standard normal."""
    problem = nt.Problem.draw(
        nt.networks.relu_gate(3, leak=leak), nt.Normal(), true_weights=[1e-9, 0.0, 0.0]
    )
    weights = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [np.inf, 0.0, 0.0]])
    found = prediction_errors(problem, weights, seed=1, replicate=0)
    assert found[0] == pytest.approx(5.0 * np.sqrt((1.0 + leak) / 2.0), rel=0.05)
    assert found[1] < 1e-8
    assert found[2] == np.inf


def test_predictions_are_compared_at_inputs_before_they_are_corrupted():
    law = nt.data.Corrupted(nt.Normal(), scale=100.0)
    clean, noisy = (
        prediction_errors(
            nt.Problem.draw(nt.networks.linear(3), one, true_weights=np.zeros(3)),
            np.ones((1, 3)), seed=1, replicate=0,
        )
        for one in (nt.Normal(), law)
    )  # fmt: skip
    assert clean == noisy


def test_inputs_without_variance_have_no_prediction_error():
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.StudentT(dof=1.0))
    assert prediction_errors(problem, np.ones((1, 2)), seed=1, replicate=0) is None


def judged(folder, claim: str, study, outcome, replicates: int = 6):
    record = nt.lab.claims.CLAIMS[claim]
    results = made(folder / "r", study, outcome, replicates)
    return nt.lab.claims.Judgement(record, tuple(record.check(results)))


def off_by(part: float, radius: float = 1.0):
    """Return runs whose predictions are off by such a part of the attack's bound."""

    def outcome(setting, replicate, arm):
        error = part * arm["bound"]
        return {"errors": ending_at(0.1), "radius": radius, "theorem1_radius": radius,
                "prediction_error": error, "certified_prediction_error": 0.5}  # fmt: skip

    return outcome


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (off_by(0.9), HOLDS),
        (off_by(1.5), DOES_NOT_HOLD),  # θ* is a little above θ
        (off_by(0.9, radius=11.0), NOT_TESTED),  # worse than the start
    ],
    ids=["below", "above", "silent"],
)
def test_the_risk_claim_comes_out_as_the_runs_were_made(outcome, verdict, tmp_path):
    judgement = judged(tmp_path, "risk-below-attack", RISK, outcome)
    assert judgement.verdict == verdict
    if verdict == HOLDS:
        assert [one.case for one in judgement.findings] == [
            f"prediction risk, Neuro-Tron, odd-direction θ={theta:g} β=0.02"
            for theta in (0.1, 0.25)
        ]
        assert all(0.8 < one.estimate < 0.9 for one in judgement.findings)


@pytest.mark.parametrize(
    ("part", "verdict"), [(1.9, HOLDS), (2.1, DOES_NOT_HOLD)], ids=["below", "above"]
)
def test_the_claim_on_certified_predictions_comes_out_as_the_runs_were_made(
    part, verdict, tmp_path
):
    judgement = judged(tmp_path, "predictions-as-certified", RISK, off_by(part))
    assert judgement.verdict == verdict


def test_where_the_condition_of_section_3_4_fails_the_risk_claim_says_nothing(tmp_path):
    """β = 0.03 is above the bound 0.0235 of section 3.4, though Theorem 1 still holds."""
    setting = RISK.settings[0]
    sweep = setting.sweeps[0].model_copy(update={"probability": (0.03,)})
    study = RISK.model_copy(update={"settings": (setting.model_copy(update={"sweeps": (sweep,)}),)})
    assert judged(tmp_path, "risk-below-attack", study, off_by(0.9)).verdict == NOT_TESTED


def test_a_sample_of_the_study_has_a_risk_far_below_its_bound(tmp_path):
    short = RISK.model_copy(update={"steps": 6000})
    nt.lab.studies.run(short, tmp_path / "out", replicates=2)
    results = nt.load_results(tmp_path / "out")
    (weak, strong), (certified,) = (
        nt.lab.claims.CLAIMS[name].check(results)
        for name in ("risk-below-attack", "predictions-as-certified")
    )
    assert max(weak.worst, strong.worst) < 0.2
    assert certified.count == 0
    runs = results.runs
    assert (runs["prediction_error"] < runs["theorem1_prediction_error"]).all()
    assert (runs["certified_prediction_error"] < runs["theorem1_prediction_error"]).all()
