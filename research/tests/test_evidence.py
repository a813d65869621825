"""What is stored in docs/evidence: small, with its origin, and as the docs say."""

from __future__ import annotations

import json
import re

import pytest
from research import evidence, verdicts
from research.compact import MOST_BYTES
from research.evidence_page import claims_of, judgements
from research.pages import ROOT
from research.tests.verdicts import VERDICTS
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, UNDECIDED
from neurotron.lab.store.manifest import study_hash

STORED = verdicts.read()
HELD_OUT = "unseen-held-out"
"""A study that is not to be computed before a change is finished."""


def test_every_study_of_research_and_of_the_wheel_but_smoke_is_stored():
    ours = {file.parent.name for file in ROOT.glob("research/*/study.toml")}
    ours |= {file.stem for file in ROOT.glob("research/tables/unseen*.toml")} - {HELD_OUT}
    assert set(nt.lab.catalog()) == {*evidence.IN_THE_WHEEL, "smoke"}
    assert set(STORED) == set(evidence.STUDIES) == ours | set(evidence.IN_THE_WHEEL)


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_what_is_stored_has_all_claims_and_replicates_and_says_who_computed_it(name):
    study, entry = evidence.study_of(name), STORED[name]
    assert entry["replicates"] == study.replicates
    assert list(entry["claims"]) == list(claims_of(study))
    assert re.fullmatch("[0-9a-f]{16}", entry["environment"]["code"])
    page = (verdicts.STORE / f"{name}.md").read_text()
    assert entry["environment"]["code"] in page
    is_earlier = entry["study"] != study_hash(study.spec())
    assert ("Computed by an earlier version of this study" in page) is is_earlier


@pytest.mark.parametrize("name", [*evidence.STUDIES, *evidence.MEASUREMENTS])
def test_a_page_is_written_from_what_is_stored(name):
    """If it is not: python -m research.evidence --pages."""
    file = verdicts.STORE / f"{name}.md"
    assert (file.read_text() if file.exists() else None) == evidence.page_of(name)


def test_a_stored_claim_that_the_study_no_longer_has_is_one_sentence(monkeypatch):
    entry = STORED["limits"] | {"claims": {"gone": {}}}
    monkeypatch.setattr(verdicts, "read", lambda: {"limits": entry})
    with pytest.raises(ValueError, match=r"'limits' no longer has .* 'gone': run python -m"):
        evidence.page_of("limits")


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_a_table_is_small_and_has_three_digits(name):
    text = (verdicts.STORE / f"{name}.csv").read_text()
    assert len(text.encode()) <= MOST_BYTES
    numbers = re.findall(r"(?<=,)(\d[\d.]*)(?:e[-+]\d+)?(?=[,\n])", text)
    assert numbers
    assert max(len(number.replace(".", "").strip("0")) for number in numbers) <= 3


def test_all_that_is_stored_is_small():
    files = [path for path in verdicts.STORE.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".csv", ".md", ".json"}
    assert sum(path.stat().st_size for path in files) <= 700_000


@pytest.mark.parametrize("name", VERDICTS)
def test_the_stored_verdicts_are_those_the_docs_speak_of(name):
    found = {claim: one["verdict"] for claim, one in STORED[name]["claims"].items()}
    assert found == VERDICTS[name]


@pytest.mark.parametrize("name", evidence.OTHER_SEEDS)
def test_no_verdict_flips_with_the_seed(name):
    """Five seeds: none between holding and not holding, none undecided with every seed."""
    seeds = STORED[name]["other_seeds"]
    assert len(seeds) == 4
    for claim, one in STORED[name]["claims"].items():
        verdicts = {one["verdict"], *(found["verdicts"][claim] for found in seeds.values())}
        assert not {HOLDS, DOES_NOT_HOLD} <= verdicts, claim
        assert verdicts != {UNDECIDED}, claim


def test_a_study_that_does_not_exist_is_named():
    with pytest.raises(SystemExit, match=r"papr.*paper"):
        evidence.main(["papr"])


def test_what_is_kept_of_a_study_can_be_read_again_and_its_page_shows_what_fails(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(verdicts, "STORE", tmp_path)
    study = evidence.study_of("recovery")
    made(tmp_path / "out", study, lambda *_: {"errors": ending_at(1e-3)}, 5)
    evidence.keep("recovery", nt.lab.load(tmp_path / "out"), {})
    claim = verdicts.read()["recovery"]["claims"]["recovers-to-rounding"]
    assert claim["verdict"] == DOES_NOT_HOLD
    assert len(claim["findings"]) == 4
    page = (tmp_path / "recovery.md").read_text()
    assert all(one["case"] in page for one in claim["findings"])
    assert claim["effect"] in page
    assert "an earlier version" not in page
    with pytest.raises(SystemExit, match="another study than 'mirror'"):
        evidence.judge_again("mirror", tmp_path / "out")


def test_results_are_judged_again_without_computing_and_other_seeds_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(verdicts, "STORE", tmp_path)
    monkeypatch.setattr(evidence, "computed", lambda *_: pytest.fail("nothing may be computed"))
    study = evidence.study_of("limits")
    made(tmp_path / "limits", study, lambda *_: {"errors": ending_at(9.0)}, 5)
    seeds = {"1": {"code": "c", "verdicts": {"nobody-above-half": HOLDS}}}
    (tmp_path / "verdicts.json").write_text(json.dumps({"limits": {"other_seeds": seeds}}))
    evidence.main(["limits", "--computed", str(tmp_path)])
    entry = verdicts.read()["limits"]
    assert entry["other_seeds"] == seeds
    assert entry["claims"]["nobody-above-half"]["verdict"] == HOLDS
    assert "0 of 20 runs end near w*" in (tmp_path / "limits.md").read_text()


NUMBER = re.compile(r"(?<![\w.=(])−?\d[\d,]*\.?\d*(?:e-?\d+)?")


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf").replace(",", ""))


@pytest.mark.parametrize("study", evidence.STUDIES)
def test_the_stored_effects_are_those_of_the_stored_findings(study):
    entry = STORED[study]
    every = judgements(entry, claims_of(evidence.study_of(study)))
    for judgement, (name, one) in zip(every, entry["claims"].items(), strict=True):
        assert judgement.verdict == one["verdict"], name
        assert NUMBER.sub("#", judgement.effect) == NUMBER.sub("#", one["effect"])
        again, stored = (
            [read(number) for number in NUMBER.findall(said)]
            for said in (judgement.effect, one["effect"])
        )
        assert again == pytest.approx(stored, rel=0.11), name  # two digits, of three
