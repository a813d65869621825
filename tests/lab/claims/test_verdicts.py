"""Verdicts on results in which the truth is known: every claim, every way it can come out."""

from __future__ import annotations

import math

import pytest
from tests.support.results import INITIAL, ending_at, made
from tests.support.studies import (
    DIVERGED,
    LIKE_THE_PAPERS,
    MIRROR,
    OUTER_WEIGHTS,
    as_claimed,
    judged,
    part_of,
)

import neurotron as nt
from neurotron.lab.claims import CLAIMS, VERDICTS, Judgement

HOLDS, PUBLISHED_CODE_ONLY, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED = VERDICTS
IMPERSONATION = """
name = "impersonation"
claims = ["impersonation-wins"]
[trainers]
Tron = "neuro-tron:sensing=center"
SGD = "sgd"
[[settings]]
name = "gate"
law = "uniform"
network = "relu-gate"
n_inputs = 25
step_size = 0.05
[[settings.sweeps]]
attack = "impersonation"
bound = 100
probability = [0.5, 1]
"""
ONE_LAW = LIKE_THE_PAPERS.partition('[[settings]]\nname = "heavy"')[0]


# ---- worlds --------------------------------------------------------------------------------------


def where(algorithm, change, **levels):
    """As claimed, but for an algorithm at some levels; the change may depend on the error."""

    def world(setting, replicate, arm):
        found = as_claimed(setting, replicate, arm)
        here = all(arm[key] == value for key, value in levels.items())
        if arm["algorithm"] == algorithm and here:
            found = found | (change(found["errors"][-1]) if callable(change) else change)
        return found

    return world


def tron(change, **levels):
    return where("neuro-tron", change, **levels)


def ending(factor, reached=10):
    return lambda error: {"errors": ending_at(factor * error, reached)}


def at(error):
    return {"errors": ending_at(error)}


def in_setting(name, change):
    def world(setting, replicate, arm):
        found = as_claimed(setting, replicate, arm)
        return found | (change(found["errors"][-1]) if setting == name else {})

    return world


def in_four_of_nine(contradicts):
    """As claimed in most replicates, so that only the interval speaks against it."""

    def world(setting, replicate, arm):
        return (contradicts if replicate < 4 else as_claimed)(setting, replicate, arm)

    return world


FIRST = "first-sample-sgd"
OF_THE_PAPER = [
    ("grows-with-bound", HOLDS, as_claimed),
    ("grows-with-bound", DOES_NOT_HOLD, tron(at(0.1))),
    ("grows-with-bound", DOES_NOT_HOLD, tron(at(0.001), bound=1.0)),  # it dips once
    ("grows-with-bound", HOLDS, tron(DIVERGED, bound=4.0)),  # the largest error
    ("grows-with-bound", DOES_NOT_HOLD, tron(DIVERGED, bound=0.125)),
    ("grows-with-bound", DOES_NOT_HOLD, tron(DIVERGED)),
    ("grows-with-bound", DOES_NOT_HOLD, in_setting("heavy", lambda e: at(0.1))),
    ("grows-with-probability", HOLDS, as_claimed),
    ("grows-with-probability", DOES_NOT_HOLD, tron(at(0.1))),
    ("grows-with-probability", DOES_NOT_HOLD, tron(at(0.01), probability=0.9)),
    ("recovers-without-attack", HOLDS, as_claimed),
    ("recovers-without-attack", DOES_NOT_HOLD, tron(DIVERGED, bound=0.0)),
    ("recovers-without-attack", DOES_NOT_HOLD, tron(at(1.1e-13), bound=0.0)),
    ("recovers-without-attack", HOLDS, tron(at(0.9e-13), bound=0.0)),
    ("recovers-without-attack", UNDECIDED, in_four_of_nine(tron(at(1e-12), bound=0.0))),
    ("small-attack-degrades", HOLDS, as_claimed),
    ("small-attack-degrades", DOES_NOT_HOLD, tron(lambda e: at(0.00125 if e < 1e-9 else e))),
    ("small-attack-degrades", DOES_NOT_HOLD, tron(at(0.1))),
    ("small-attack-degrades", NOT_TESTED, tron(DIVERGED)),
    ("small-attack-degrades", UNDECIDED, in_four_of_nine(tron(at(0.1)))),
    ("smaller-error-than-sgd", HOLDS, as_claimed),
    ("smaller-error-than-sgd", PUBLISHED_CODE_ONLY, where("sgd", ending(0.25))),
    ("smaller-error-than-sgd", DOES_NOT_HOLD, where(FIRST, ending(0.25))),
    ("smaller-error-than-sgd", HOLDS, where(FIRST, DIVERGED)),
    ("smaller-error-than-sgd", DOES_NOT_HOLD, tron(DIVERGED)),
    ("smaller-error-than-sgd", HOLDS, where("sgd", MIRROR)),  # it never recovers: no floor
    ("smaller-error-than-sgd", UNDECIDED, in_four_of_nine(where(FIRST, ending(0.25)))),
    ("faster-than-sgd", HOLDS, as_claimed),
    ("faster-than-sgd", PUBLISHED_CODE_ONLY, where("sgd", ending(1.0, 10))),
    ("faster-than-sgd", DOES_NOT_HOLD, where(FIRST, ending(1.0, 10))),
    ("faster-than-sgd", HOLDS, where(FIRST, DIVERGED)),
    ("faster-than-sgd", DOES_NOT_HOLD, tron(at(2.0))),  # never there, where the rival is
    ("faster-than-sgd", UNDECIDED, in_four_of_nine(where(FIRST, ending(1.0, 10)))),
    ("heavy-tails-alike", HOLDS, as_claimed),
    ("heavy-tails-alike", DOES_NOT_HOLD, in_setting("heavy", ending(11.0))),
    ("heavy-tails-alike", DOES_NOT_HOLD, in_setting("normal", ending(11.0))),
    ("heavy-tails-alike", DOES_NOT_HOLD, in_setting("heavy", lambda e: DIVERGED)),
    ("heavy-tails-alike", UNDECIDED, in_four_of_nine(in_setting("heavy", ending(11.0)))),
    ("heavy-tails-alike", UNDECIDED, in_four_of_nine(in_setting("normal", ending(11.0)))),
    ("theorem-1-is-silent", HOLDS, as_claimed),
    # of honest labels it may promise something, and less than the start is nothing
    ("theorem-1-is-silent", HOLDS, tron({"theorem1_radius": 1.0}, bound=0.0)),
    ("theorem-1-is-silent", HOLDS, tron({"theorem1_radius": INITIAL + 1.0})),
    ("theorem-1-is-silent", DOES_NOT_HOLD, tron({"theorem1_radius": 1.0}, bound=4.0)),
    ("certificate-holds", HOLDS, as_claimed),
    ("certificate-holds", DOES_NOT_HOLD, tron(lambda e: {"radius": 0.99 * e}, bound=4.0)),
    ("certificate-holds", DOES_NOT_HOLD, tron(DIVERGED, bound=4.0)),
    ("certificate-holds", NOT_TESTED, tron({"radius": None})),
    ("certificate-holds", NOT_TESTED, tron({"radius": INITIAL + 1.0, **at(99.0)})),
    # a radius allows for rounding errors: 1e-20 does not
    ("certificate-holds", DOES_NOT_HOLD, tron({"radius": 1e-20}, bound=0.0)),
    # one run outside is one too many
    ("certificate-holds", DOES_NOT_HOLD,
     in_four_of_nine(tron(lambda e: {"radius": 0.99 * e}, bound=4.0))),
    ("outer-weights-help", NOT_TESTED, as_claimed),
    ("impersonation-wins", NOT_TESTED, as_claimed),
]  # fmt: skip


@pytest.fixture(scope="module")
def claimed(tmp_path_factory):
    """Results in which all is as claimed."""
    return made(tmp_path_factory.mktemp("claimed") / "r", LIKE_THE_PAPERS, as_claimed, 9)


@pytest.mark.parametrize(
    ("name", "verdict", "world"),
    OF_THE_PAPER,
    ids=[f"{i}-{case[0]}" for i, case in enumerate(OF_THE_PAPER)],
)
def test_a_claim_of_the_paper_comes_out_as_the_runs_were_made(
    name, verdict, world, claimed, tmp_path
):
    if world is as_claimed:
        found = Judgement(CLAIMS[name], tuple(CLAIMS[name].check(claimed)))
    else:
        found = judged(tmp_path / "r", name, world)
    assert found.verdict == verdict, found.findings


# ---- what is measured, and where -----------------------------------------------------------------


def test_findings_measure_what_was_made(claimed):
    claims = {found.claim.name: found for found in nt.lab.evaluate(claimed)}
    slope = claims["grows-with-bound"].findings[0]
    assert (slope.case, slope.replicates) == ("N", 9)
    assert slope.estimate == pytest.approx(1.0)
    for found in claims["smaller-error-than-sgd"].findings:
        assert found.estimate == pytest.approx(0.5)
        both = found.case.endswith("against SGD, where both recover")
        assert found.replicates == (6 if both else 9)
    for found in claims["faster-than-sgd"].findings:
        assert found.estimate == pytest.approx(0.1)
    alike = claims["heavy-tails-alike"].findings
    assert [(found.case, found.estimate) for found in alike] == [("t against N", 1.0)]
    (few,) = {found.total for found in claims["certificate-holds"].findings}
    assert claims["certificate-holds"].effect.startswith(f"0 of {2 * few} runs outside, ")


def test_four_replicates_are_too_few_to_tell(tmp_path):
    results = made(tmp_path / "r", LIKE_THE_PAPERS, as_claimed, 4)
    claims = {found.claim.name: found for found in nt.lab.evaluate(results)}
    assert {claim.verdict for claim in claims.values()} == {NOT_TESTED}
    assert "fewer than 5 replicates" in claims["grows-with-bound"].effect
    assert claims["grows-with-bound"].findings


def test_what_too_few_runs_tell_of_sgd_itself_is_not_taken_as_told(tmp_path):
    claim = judged(tmp_path / "r", "smaller-error-than-sgd", as_claimed, replicates=6)
    assert claim.verdict == PUBLISHED_CODE_ONLY  # SGD recovers in 4
    assert claim.effect == (
        "0.50 × the error of the published SGD in all 4 comparisons; 0.50 × the error of true SGD "
        "in all runs (95 % intervals 0.0051–0.50 ×) in both comparisons; not counted, with fewer "
        "than 5 replicates: N against SGD, where both recover; t against SGD, where both recover"
    )


def test_what_a_study_has_no_arms_for_is_not_tested(tmp_path):
    text = ONE_LAW.replace('First = "first-sample-sgd"\nSGD = "sgd"\n', "")
    claims = {found.claim.name: found for found in nt.lab.evaluate(
        made(tmp_path / "r", text, as_claimed, 9))}  # fmt: skip
    not_tested = {name for name, claim in claims.items() if claim.verdict == NOT_TESTED}
    assert not_tested == {
        "smaller-error-than-sgd", "faster-than-sgd", "heavy-tails-alike", "outer-weights-help",
        "impersonation-wins", "risk-below-attack", "predictions-as-certified",
    }  # fmt: skip
    assert "does not test this claim" in claims["heavy-tails-alike"].effect


def test_both_must_recover_to_be_compared_where_both_recover(tmp_path):
    def world(setting, replicate, arm):
        lost = arm["algorithm"] == "neuro-tron" and replicate < 2
        return MIRROR if lost else as_claimed(setting, replicate, arm)

    findings = judged(tmp_path / "r", "smaller-error-than-sgd", world).findings
    both = [found for found in findings if found.case == "N against SGD, where both recover"]
    assert [found.replicates for found in both] == [9 - 2 - 3 + 1]  # one is lost by both


ELSEWHERE = [
    # an attack is compared with honest labels of the same probability
    ("small-attack-degrades", HOLDS, tron(at(9.0), bound=0.0, probability=0.1),
     ONE_LAW + "[[settings.sweeps]]\nbound = [0]\nprobability = 0.1\n"),
    # without the published rival, only what is meant is judged
    ("faster-than-sgd", HOLDS, as_claimed,
     LIKE_THE_PAPERS.replace('First = "first-sample-sgd"\n', "")),
    ("faster-than-sgd", DOES_NOT_HOLD, where("sgd", ending(1.0, 10)),
     LIKE_THE_PAPERS.replace('First = "first-sample-sgd"\n', "")),
    # a rival is compared where it was
    *((name, HOLDS, as_claimed, LIKE_THE_PAPERS.replace(
        "probability = [0, 0.1, 0.5, 0.9]", 'probability = [0.1, 0.9]\ntrainers = ["Tron"]'))
      for name in ("smaller-error-than-sgd", "faster-than-sgd")),
    # laws without common levels are not compared, nor two heavy ones
    ("heavy-tails-alike", NOT_TESTED, as_claimed,
     LIKE_THE_PAPERS + "[[settings.sweeps]]\nbound = [3, 5, 7]\n"),
    ("heavy-tails-alike", NOT_TESTED, as_claimed,
     LIKE_THE_PAPERS.replace('title = "N"', 'title = "N"\nlaw = "student-t:dof=3"')),
]  # fmt: skip


@pytest.mark.parametrize(("name", "verdict", "world", "text"), ELSEWHERE)
def test_what_is_compared_depends_on_the_study(name, verdict, world, text, tmp_path):
    assert judged(tmp_path / "r", name, world, text).verdict == verdict


def test_settings_are_compared_in_the_replicates_they_both_have(tmp_path):
    """Replicate i is i + 1 times as hard in both: only pairs of the same number are alike."""

    def world(setting, replicate, arm):
        return at(1e-6 * 100.0**replicate * (arm["bound"] * 2 or 1e-12))

    numbers = {"normal": range(6), "heavy": [0, 2, 3, 4, 5, 6]}
    alike = judged(tmp_path / "r", "heavy-tails-alike", world, replicates=numbers)
    assert [found.replicates for found in alike.findings] == [5]
    assert alike.findings[0].estimate == alike.findings[0].high == 1.0


# ---- outer weights, and impersonation ------------------------------------------------------------


def weighing(*errors):
    """Errors with q = 1 and 10, at η = 1e-4 and 2e-5; the setting of other sizes is far off."""
    ends = dict(zip([(1, 1e-4), (1, 2e-5), (10, 1e-4), (10, 2e-5)], errors, strict=True))

    def world(setting, replicate, arm):
        if setting == "of-other-sizes":
            return at(1e-9)
        return at(ends[min(arm["outer_weights"], 10), float(arm["step_size"])])

    return world


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((2.0, 2.0, 1.0, 1.0), HOLDS),
        ((2.0, 0.5, 3.0, 1.0), PUBLISHED_CODE_ONLY),
        ((1.0, 9.0, 0.5, 2.0), DOES_NOT_HOLD),
        ((1.0, 1.0, math.inf, 0.5), PUBLISHED_CODE_ONLY),
        ((math.inf,) * 4, NOT_TESTED),
    ],
)
def test_outer_weights_are_judged_with_published_and_with_equal_steps(errors, verdict, tmp_path):
    claim = judged(tmp_path / "r", "outer-weights-help", weighing(*errors), OUTER_WEIGHTS)
    assert claim.verdict == verdict
    if verdict == HOLDS:
        steps = ["published step sizes", "η = 0.0001 for both", "η = 2e-05 for both"]
        cases = [f"θ = {bound}, {kind}" for bound in (0, 1) for kind in steps]
        assert [found.case for found in claim.findings] == cases
        assert [found.estimate for found in claim.findings] == [0.5] * 6
        late = ["is still about that without" in found.measure for found in claim.findings]
        assert late == [False] * 3 + [True] * 3  # θ = 1 does not show


def test_outer_weights_are_compared_in_the_replicates_both_settings_have(tmp_path):
    numbers, world = {"light": range(6), "heavy": range(1, 9)}, weighing(2.0, 2.0, 1.0, 1.0)
    claim = judged(tmp_path / "r", "outer-weights-help", world, OUTER_WEIGHTS, numbers)
    assert [found.replicates for found in claim.findings] == [5] * 6
    assert claim.verdict == HOLDS
    text = OUTER_WEIGHTS.replace("outer_weights=10", "outer_weights=1.0")  # one of them alone
    alone = judged(tmp_path / "2", "outer-weights-help", world, text)
    assert alone.verdict == NOT_TESTED


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        ({"weights": (7.0, 1.0)}, HOLDS),
        ({"weights": (7.0, 1.0 + 1e-6)}, DOES_NOT_HOLD),
        ({"weights": (math.nan, math.inf)}, DOES_NOT_HOLD),
        ({"attack_vector": None}, DOES_NOT_HOLD),  # as a forged shard may say
    ],
)
def test_impersonation_wins_only_if_every_run_ends_at_its_filter(run, verdict, tmp_path):
    def world(setting, replicate, arm):
        ours = arm["algorithm"] == "neuro-tron" and arm["probability"] == 1.0 and replicate == 3
        return {"attack_vector": (7.0, 1.0), "weights": (7.0, 1.0)} | (run if ours else {})

    claim = judged(tmp_path / "r", "impersonation-wins", world, IMPERSONATION)
    assert claim.verdict == verdict
    assert [found.case for found in claim.findings] == ["gate, Tron"]


# ---- prediction errors ---------------------------------------------------------------------------

RISK = part_of(nt.lab.read("paper"), "prediction-risk")


def off_by(part: float, radius: float = 1.0, ratio: float = 0.9):
    """Return runs whose predictions are off by such a part of the attack's bound."""

    def world(setting, replicate, arm):
        error = part * arm["bound"]
        return {"errors": ending_at(0.1), "radius": radius, "theorem1_radius": radius,
                "prediction_error": error, "certified_prediction_error": 0.5,
                "theta_star": 1.1 * arm["bound"], "risk_ratio": ratio}  # fmt: skip

    return world


@pytest.mark.parametrize(
    ("claim", "world", "verdict"),
    [
        ("risk-below-attack", off_by(0.9), HOLDS),
        ("risk-below-attack", off_by(1.09), HOLDS),  # θ* is a little above θ
        ("risk-below-attack", off_by(1.11), DOES_NOT_HOLD),
        ("risk-below-attack", off_by(0.9, ratio=1.1), NOT_TESTED),  # the condition fails
        ("risk-below-attack", off_by(0.9, radius=11.0), NOT_TESTED),  # worse than the start
        ("predictions-as-certified", off_by(1.9), HOLDS),
        ("predictions-as-certified", off_by(2.1), DOES_NOT_HOLD),
    ],
)
def test_a_claim_about_predictions_comes_out_as_the_runs_were_made(claim, world, verdict, tmp_path):
    assert judged(tmp_path / "r", claim, world, RISK, 6).verdict == verdict
