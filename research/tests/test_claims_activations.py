"""Verdicts on what holds with every activation, on results in which the truth is known."""

from __future__ import annotations

import pytest
from tests.support.results import TRUE, ending_at, made

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED

STUDY = nt.lab.studies.read("activations")
SHORT = STUDY.model_copy(
    update={"settings": tuple(map(STUDY.setting, ("relu-normal", "relu-uniform", "gelu-normal")))}
)
MIRROR = {"weights": (-3.0, -4.0), "errors": ending_at(10.0)}
FOUND = {"weights": TRUE, "errors": ending_at(0.0)}


def judged(folder, claim: str, outcome, replicates: int = 10) -> nt.lab.claims.Judgement:
    results = made(folder / "r", SHORT, outcome, replicates)
    return next(one for one in nt.lab.claims.evaluate(results) if one.claim.name == claim)


def ends(mirrored: dict[str, int], astray: int = 0):
    """Return runs of SGD that end at −w* on so many networks of each setting."""

    def outcome(setting, replicate, arm):
        if arm["attack"] != "none":
            return MIRROR  # which does not count
        count = astray if arm["algorithm"] == "neuro-tron" else mirrored.get(setting, 0)
        return MIRROR if replicate < count else FOUND

    return outcome


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (ends({"relu-normal": 3, "gelu-normal": 1}), HOLDS),
        (ends({"relu-normal": 3}), UNDECIDED),  # none of ten with GELU
        (ends({"relu-normal": 3, "gelu-normal": 9}, astray=1), DOES_NOT_HOLD),
    ],
)
def test_the_mirror_claim_comes_out_as_the_runs_were_made(outcome, verdict, tmp_path):
    assert judged(tmp_path, "mirror-with-every-activation", outcome).verdict == verdict


def test_networks_of_all_laws_of_an_activation_are_counted_together(tmp_path):
    outcome = ends({"relu-normal": 3, "relu-uniform": 2, "gelu-normal": 1})
    found = judged(tmp_path, "mirror-with-every-activation", outcome).findings
    counted = {(one.group, one.case): (one.count, one.total, one.estimate) for one in found}
    assert counted == {
        ("SGD", "ReLU"): (5, 20, 0.25), ("Neuro-Tron", "ReLU"): (0, 20, 0.0),
        ("SGD", "GELU"): (1, 10, 0.1), ("Neuro-Tron", "GELU"): (0, 10, 0.0),
    }  # fmt: skip


def certified_at(part: dict[str, float]):
    """Return runs of Neuro-Tron whose error is such a part of the certified one."""

    def outcome(setting, replicate, arm):
        if arm["algorithm"] != "neuro-tron":
            return FOUND
        bound = 0.5 if replicate % 2 else 0.25  # as the networks differ
        error = bound * part[setting.partition("-")[0]] * (0.99 if replicate < 5 else 1.01)
        return {"errors": ending_at(error), "radius": 2.0, "root_mean_square": bound}

    return outcome


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({"relu": 0.98, "gelu": 0.95}, HOLDS),
        ({"relu": 0.98, "gelu": 0.8}, DOES_NOT_HOLD),
        ({"relu": 0.98, "gelu": 1.0 / 1.1}, UNDECIDED),
    ],
)
def test_the_claim_of_sharpness_comes_out_as_the_runs_were_made(parts, verdict, tmp_path):
    judgement = judged(tmp_path, "sharp-with-every-activation", certified_at(parts))
    assert judgement.verdict == verdict, judgement.findings


def test_sharpness_is_found_by_activation_and_attack(tmp_path):
    parts = {"relu": 0.98, "gelu": 0.95}
    found = judged(tmp_path, "sharp-with-every-activation", certified_at(parts)).findings
    assert [one.case for one in found] == [
        "ReLU, odd-direction", "ReLU, adaptive", "GELU, odd-direction", "GELU, adaptive",
    ]  # fmt: skip
    for one in found:
        part = parts[one.case.partition(",")[0].lower()]
        assert one.estimate == pytest.approx(1.0 / part, rel=1e-3)
        assert one.low <= one.estimate <= one.high
        assert one.replicates == (20 if one.case.startswith("ReLU") else 10)


def test_a_study_without_rivals_or_certificates_does_not_test_the_claims(tmp_path):
    def uncertified(setting, replicate, arm):
        return FOUND

    assert judged(tmp_path, "sharp-with-every-activation", uncertified).verdict == NOT_TESTED


def test_the_chart_has_a_panel_for_each_law_and_a_point_for_each_activation(tmp_path):
    parts = {"relu": 0.98, "gelu": 0.95}
    results = made(tmp_path / "r", SHORT, certified_at(parts), 10)
    (chart,) = (one for one in nt.lab.figures.charts(results) if one.name == "activations")
    (panel,) = chart.panels  # the uniform law is there with one activation only
    assert panel.title == "normal:scale=0.03"
    assert panel.ticks == ("ReLU", "GELU")
    assert [line.name for line in panel.lines] == ["odd-direction", "adaptive"]
    for line in panel.lines:
        assert line.y == pytest.approx([0.98, 0.95], rel=1e-3)
        assert (line.low <= line.y).all()
        assert (line.y <= line.high).all()


def test_a_study_with_one_activation_has_no_such_chart(tmp_path):
    study = STUDY.model_copy(update={"settings": (STUDY.setting("relu-normal"),)})
    results = made(tmp_path / "r", study, certified_at({"relu": 0.9}), 2)
    assert "activations" not in {chart.name for chart in nt.lab.figures.charts(results)}
