"""Verdicts past the paper, on results in which the truth is known."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from tests.support.results import TRUE, ending_at, made
from tests.support.studies import FRONTIER, LIKE_THE_PAPERS, as_claimed, as_hoped

import neurotron as nt
from neurotron.claims import FAMILIES, Claim
from neurotron.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED
from neurotron.claims.settings import origin


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


def judge(folder, name, outcome, replicates=6):
    study = nt.studies.parse(FRONTIER.encode(), "like")
    results = made(folder / "r", study, outcome, replicates)
    statement, source, check = FAMILIES["frontier"].claims[name]
    return Claim(name, statement, source, tuple(check(results)))


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
    assert "undecided in" in claim.reason


@pytest.fixture(scope="module")
def hoped(tmp_path_factory):
    study = nt.studies.parse(FRONTIER.encode(), "like")
    return made(tmp_path_factory.mktemp("hoped") / "r", study, as_hoped, 6)


def test_every_claim_holds_in_a_world_as_hoped(hoped):
    claims = nt.claims.evaluate(hoped)
    assert [claim.name for claim in claims] == list(FAMILIES["frontier"].claims)
    assert {claim.verdict for claim in claims} == {HOLDS}
    assert {name for name, _ in CASES} == set(FAMILIES["frontier"].claims)


def test_findings_tell_their_numbers(hoped):
    found = {
        (claim.name, one.case): one for claim in nt.claims.evaluate(hoped) for one in claim.findings
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
    results = made(tmp_path / "r", nt.studies.parse(text.encode(), "like"), as_hoped, 6)
    verdicts = {claim.name: claim.verdict for claim in nt.claims.evaluate(results)}
    silent = {name for name, verdict in verdicts.items() if verdict == NOT_TESTED}
    assert silent == {
        "exact-when-concentrated", "exact-when-not-additive", "nobody-above-half", "heavier-tails",
    }  # fmt: skip


def test_claims_are_those_of_the_study_that_results_are_of(tmp_path, hoped):
    assert origin(hoped) == "frontier"
    like = nt.studies.parse(LIKE_THE_PAPERS.encode(), "like")
    paper = made(tmp_path / "paper", like, as_claimed, 1)
    other = made(tmp_path / "other", nt.studies.read("smoke"), lambda c, r, a: {}, 1)
    assert (origin(paper), origin(other)) == ("paper", None)
    names = [[claim.name for claim in nt.claims.evaluate(results)] for results in (paper, other)]
    assert names == [list(FAMILIES["paper"].claims), ["certificate-holds"]]


def test_figures_of_the_paper_are_not_made_of_another_study(hoped):
    from neurotron.claims.settings import published, table1_settings

    assert len(published(hoped)) == 0
    assert table1_settings(hoped) == []
    assert len(published(hoped, "frontier")) == len(hoped.runs)


def test_further_arms_do_not_make_the_papers_study_another():
    paper = nt.studies.read("paper")
    more = {"RefinedTron": "refined-tron", "HuberSGD": "huber-sgd", "TrimmedSGD": "trimmed-sgd"}
    settings = tuple(
        setting.model_copy(update={"trainers": (*setting.trainers, *more)})
        for setting in paper.settings
    )
    changed = paper.model_copy(update={"trainers": paper.trainers | more, "settings": settings})
    assert origin(SimpleNamespace(spec=changed.model_dump())) == "paper"
    frontier = nt.studies.read("frontier")
    one = frontier.model_copy(update={"settings": frontier.settings[:1]})
    assert origin(SimpleNamespace(spec=one.model_dump())) == "frontier"
