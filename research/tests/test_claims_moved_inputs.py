"""Verdicts on corrupted inputs, on results in which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.guarantees import biased_weights
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED
from neurotron.lab.studies import building

STUDY = nt.lab.studies.read("moved-inputs")
SHORT = STUDY.model_copy(update={"settings": STUDY.settings[:2]})


def predicted(replicate: int) -> float:
    problem = building.build_problem(SHORT, SHORT.settings[0], replicate)
    limit = biased_weights(problem, problem.sensing_matrix("optimal"))
    return float(np.linalg.norm(limit - problem.true_weights))


BIAS = [predicted(replicate) for replicate in range(5)]


def ending(adversary: float, noise: float, defence: float):
    """Return runs that end at such a part of the predicted bias."""

    def outcome(setting, replicate, arm):
        if arm["algorithm"] == "refined-tron":
            return {"errors": ending_at(defence)}
        part = adversary if setting.startswith("moved") else noise
        return {"errors": ending_at(part * BIAS[replicate])}

    return outcome


@pytest.mark.parametrize(
    ("claim", "outcome", "verdict"),
    [
        ("adversary-worse-than-noise", ending(1.0, 0.1, 0.0), HOLDS),
        ("adversary-worse-than-noise", ending(1.0, 1.1, 0.0), DOES_NOT_HOLD),
        ("moved-inputs-as-predicted", ending(0.95, 0.1, 0.0), HOLDS),
        ("moved-inputs-as-predicted", ending(1.2, 0.1, 0.0), DOES_NOT_HOLD),
        ("moved-inputs-as-predicted", ending(0.8, 0.1, 0.0), DOES_NOT_HOLD),
        ("defence-against-moved-inputs", ending(1.0, 1.0, 1e-13), HOLDS),
        ("defence-against-moved-inputs", ending(1.0, 1.0, 1e-11), DOES_NOT_HOLD),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_claim_comes_out_as_the_runs_were_made(claim, outcome, verdict, tmp_path):
    results = made(tmp_path / "r", SHORT, outcome, 5)
    (found,) = (one for one in nt.lab.claims.evaluate(results) if one.claim.name == claim)
    assert found.verdict == verdict


def test_noise_of_another_size_is_not_compared(tmp_path):
    first, noise = SHORT.settings
    louder = noise.model_copy(update={"law": "corrupted:scale=0.06,probability=0.1"})
    study = SHORT.model_copy(update={"settings": (first, louder)})
    results = made(tmp_path / "r", study, ending(1.0, 0.1, 0.0), 5)
    verdicts = {one.claim.name: one.verdict for one in nt.lab.claims.evaluate(results)}
    assert verdicts["adversary-worse-than-noise"] == NOT_TESTED


def test_the_noise_of_the_study_is_as_long_as_the_moves_of_the_adversary():
    for moved, noise in zip(STUDY.settings[::2], STUDY.settings[1::2], strict=True):
        laws = [nt.data.BY_NAME.build(one.law) for one in (moved, noise)]
        assert laws[0].size ** 2 == pytest.approx(moved.n_inputs * laws[1].scale ** 2)
        assert laws[0].probability == laws[1].probability
        assert noise.paired_with == moved.name
