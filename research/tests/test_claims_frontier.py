"""Verdicts past the paper, on results in which the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.results import TRUE, ending_at, made
from tests.support.studies import FRONTIER, FRONTIER_CLAIMS, as_hoped

import neurotron as nt
from neurotron.lab.claims import CLAIMS, Judgement
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED
from neurotron.lab.results.summary import bootstrap


def where(change, **levels):
    """As hoped, but for a change of the errors at some levels."""

    def outcome(setting, replicate, arm):
        found = as_hoped(setting, replicate, arm)
        about = arm | {"setting": setting, "replicate": replicate}
        if all(about[key] == value for key, value in levels.items()):
            found = found | {"errors": ending_at(change(found["errors"][-1], arm))}
        return found

    return outcome


def exchanged(setting, replicate, arm):
    """The defence does what SGD did, and SGD what the defence did."""
    other = {"refined-tron": "sgd", "sgd": "refined-tron"}.get(arm["algorithm"], arm["algorithm"])
    return as_hoped(setting, replicate, arm | {"algorithm": other})


def judge(folder, name, outcome, text=FRONTIER, replicates=6):
    study = nt.lab.studies.parse(text.encode(), "like")
    results = made(folder / "r", study, outcome, replicates)
    return Judgement(CLAIMS[name], tuple(CLAIMS[name].check(results)))


REFINED, TRON = {"algorithm": "refined-tron"}, {"algorithm": "neuro-tron"}
CASES = [
    ("exact-below-half", where(lambda e, a: 1.1e-12, **REFINED, probability=0.2)),
    ("exact-when-concentrated", where(lambda e, a: 1e-3, **REFINED, attack="burst")),
    ("exact-when-not-additive", where(lambda e, a: math.inf, **REFINED, attack="sign-flip")),
    ("as-often-as-others", exchanged),
    ("nobody-above-half", where(lambda e, a: 0.01, algorithm="sgd", probability=0.6, replicate=3)),
    ("floor-grows-with-bound", where(lambda e, a: e * a["bound"], **TRON)),
    ("floor-grows-with-bound", where(lambda e, a: 0.1, **TRON, attack="odd-direction")),
    ("floor-grows-with-probability", where(lambda e, a: 0.1, **TRON, attack="odd-direction")),
    ("floor-grows-with-probability",
     where(lambda e, a: e * a["probability"], **TRON, attack="alternating-sign")),
    ("heavier-tails", where(lambda e, a: 2.1 * e, **TRON, setting="heavier")),
    ("certificate-holds", where(lambda e, a: 9.5, **TRON, attack="burst")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "outcome"), CASES, ids=[name for name, _ in CASES])
def test_a_claim_does_not_hold_where_it_is_contradicted(tmp_path, name, outcome):
    assert judge(tmp_path, name, outcome).verdict == DOES_NOT_HOLD


def test_one_replicate_against_it_leaves_a_claim_undecided(tmp_path):
    worse = where(lambda e, a: 1.0, **REFINED, setting="five", replicate=2)
    claim = judge(tmp_path, "exact-below-half", worse)
    assert claim.verdict == UNDECIDED
    assert claim.effect.startswith("undecided in 1 of ")


@pytest.fixture(scope="module")
def hoped(tmp_path_factory):
    study = nt.lab.studies.parse(FRONTIER.encode(), "like")
    return made(tmp_path_factory.mktemp("hoped") / "r", study, as_hoped, 6)


def test_every_claim_holds_in_a_world_as_hoped(hoped):
    judgements = nt.lab.claims.evaluate(hoped)
    assert [found.claim.name for found in judgements] == FRONTIER_CLAIMS
    assert {found.verdict for found in judgements} == {HOLDS}
    assert {name for name, _ in CASES} == set(FRONTIER_CLAIMS)


def test_findings_tell_their_numbers(hoped):
    found = {
        (judgement.claim.name, one.case): one
        for judgement in nt.lab.claims.evaluate(hoped)
        for one in judgement.findings
    }
    share = found["exact-below-half", "N, odd-direction"]
    assert (share.estimate, share.low, share.high, share.replicates) == (1.0, 1.0, 1.0, 6)
    assert found["floor-grows-with-bound", "N, odd-direction"].estimate == pytest.approx(1.0)
    square = found["floor-grows-with-probability", "N, alternating-sign"]
    assert square.estimate == pytest.approx(0.5)
    assert found["heavier-tails", "ν = 2.5 against ν = 5"].estimate == pytest.approx(1.0)
    far = found["nobody-above-half", "N, SGD"]
    assert far.estimate == pytest.approx(2.0 / math.hypot(*TRUE))


def test_what_is_not_in_the_results_is_not_tested(tmp_path):
    text = FRONTIER[: FRONTIER.index("[[settings.sweeps]]\nattack")]
    results = made(tmp_path / "r", nt.lab.studies.parse(text.encode(), "like"), as_hoped, 6)
    verdicts = {found.claim.name: found.verdict for found in nt.lab.claims.evaluate(results)}
    silent = {name for name, verdict in verdicts.items() if verdict == NOT_TESTED}
    assert silent == {
        "exact-when-concentrated", "exact-when-not-additive", "nobody-above-half", "heavier-tails",
    }  # fmt: skip


def test_the_interval_of_a_share_is_that_of_the_replicates_in_their_order(tmp_path):
    """Resampling depends on the order, so the same results must come in the same one."""
    levels = [(bound, chance) for bound in (0.25, 1.0, 4.0) for chance in (0.1, 0.2, 0.4)]

    def ever_fewer(setting, replicate, arm):
        lost = (arm["bound"], arm["probability"]) in levels[:replicate]
        return {"errors": ending_at(1.0)} if lost else as_hoped(setting, replicate, arm)

    found = judge(tmp_path, "exact-below-half", ever_fewer, replicates=9).findings
    share = next(one for one in found if one.case == "N, odd-direction")
    expected = bootstrap([1.0 - lost / 9.0 for lost in range(9)], np.mean)
    assert (share.estimate, share.low, share.high) == pytest.approx(tuple(expected))


TWO_TEXTS = """
name = "two-texts"
[trainers]
Refined = "refined-tron"
[[settings]]
name = "normal"
title = "N"
[[settings.sweeps]]
attack = "multiplicative:factor=3"
bound = 1e6
probability = [0.2, 0.4]
[[settings.sweeps]]
attack = "multiplicative:factor=5"
bound = 1e6
probability = [0.2, 0.4]
[[settings.sweeps]]
attack = "sign-flip"
bound = 1e6
"""


def test_an_attack_with_two_settings_is_judged_as_two(tmp_path):
    worse = where(lambda e, a: 1.0, attack_text="multiplicative:factor=5")
    claim = judge(tmp_path, "exact-when-not-additive", worse, TWO_TEXTS)
    assert {found.case: found.holds for found in claim.findings} == {
        "N, multiplicative:factor=3": True, "N, multiplicative:factor=5": False,
    }  # fmt: skip


def test_of_two_trainers_of_an_algorithm_the_first_is_meant(tmp_path):
    text = FRONTIER.replace('SGD = "sgd"', 'Other = "refined-tron:quantile=0.3"\nSGD = "sgd"')
    worse = where(lambda e, a: 1.0, trainer="Other")
    assert judge(tmp_path, "exact-below-half", worse, text).verdict == HOLDS
    (against,) = {
        found.replicates
        for found in judge(tmp_path / "2", "as-often-as-others", worse, text).findings
    }
    assert against == 6


def test_tails_are_compared_only_in_settings_that_differ_in_nothing_else(tmp_path):
    other = FRONTIER.replace(
        'law = "student-t:dof=2.5"', 'law = "student-t:dof=2.5"\nn_inputs = 50'
    )
    assert judge(tmp_path, "heavier-tails", as_hoped, other).verdict == NOT_TESTED
