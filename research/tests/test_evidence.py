"""What is stored in docs/evidence: small, of the studies as they are, and as the docs say."""

from __future__ import annotations

import json
import re

import pytest
from neurotron.lab.results.compact import MOST_BYTES
from neurotron.lab.results.manifest import study_hash
from research.tests.verdicts import VERDICTS
from tests.support.results import ending_at, made
from tools import evidence

import neurotron as nt
from neurotron.lab.claims import CLAIMS, Judgement
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, UNDECIDED

STORED = evidence.stored()


def test_every_study_of_the_catalog_with_claims_of_its_own_is_stored():
    assert set(STORED) == set(evidence.STUDIES) == set(nt.lab.studies.catalog()) - {"smoke"}


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_what_is_stored_is_of_the_study_as_it_is(name):
    study = nt.lab.studies.read(name)
    assert STORED[name]["study"] == study_hash(study.identity())
    assert STORED[name]["replicates"] == study.replicates
    assert tuple(STORED[name]["claims"]) == study.claims
    assert re.fullmatch("[0-9a-f]{16}", STORED[name]["environment"]["code"])


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_a_page_is_written_from_what_is_stored(name):
    assert (evidence.STORE / f"{name}.md").read_text() == evidence.page(name, STORED[name])


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_a_table_is_small_and_has_three_digits(name):
    text = (evidence.STORE / f"{name}.csv").read_text()
    assert len(text.encode()) <= MOST_BYTES
    numbers = re.findall(r"(?<=,)(\d[\d.]*)(?:e[-+]\d+)?(?=[,\n])", text)
    assert numbers
    assert max(len(number.replace(".", "").strip("0")) for number in numbers) <= 3


def test_all_that_is_stored_is_small():
    files = [path for path in evidence.STORE.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".csv", ".md", ".json"}
    assert sum(path.stat().st_size for path in files) <= 800_000


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


def test_an_entry_of_a_study_can_be_read_again_and_its_page_shows_every_comparison(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(evidence, "STORE", tmp_path)
    monkeypatch.setattr(evidence, "VERDICTS", tmp_path / "verdicts.json")
    study = nt.lab.studies.read("recovery").model_copy(update={"steps": 50, "record": 50})
    nt.lab.studies.run(study, tmp_path / "out", replicates=5)
    results = nt.load_results(tmp_path / "out")
    evidence.keep("recovery", evidence.entry_of(results), "setting\n")
    entry = evidence.stored()["recovery"]
    claim = entry["claims"]["recovers-to-rounding"]
    assert claim["verdict"] == DOES_NOT_HOLD  # after 50 steps
    page = (tmp_path / "recovery.md").read_text()
    assert len(claim["findings"]) == 4
    assert all(one["case"] in page for one in claim["findings"])
    assert entry["environment"]["code"] in page
    assert claim["effect"] in page
    with pytest.raises(SystemExit, match="another study than 'recovery'"):
        evidence.judge_again("recovery", tmp_path / "out")


def test_results_are_judged_again_without_computing_and_other_seeds_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "STORE", tmp_path)
    monkeypatch.setattr(evidence, "VERDICTS", tmp_path / "verdicts.json")
    monkeypatch.setattr(evidence, "computed", lambda *_: pytest.fail("nothing may be computed"))
    study = nt.lab.studies.read("limits")
    made(tmp_path / "limits", study, lambda *_: {"errors": ending_at(9.0)}, 5)
    seeds = {"1": {"code": "c", "verdicts": dict.fromkeys(study.claims, HOLDS)}}
    (tmp_path / "verdicts.json").write_text(json.dumps({"limits": {"other_seeds": seeds}}))
    evidence.main(["limits", "--computed", str(tmp_path)])
    entry = evidence.stored()["limits"]
    assert entry["other_seeds"] == seeds
    assert entry["claims"]["nobody-above-half"]["verdict"] == HOLDS
    assert "0 of 20 runs end near w*" in (tmp_path / "limits.md").read_text()


NUMBER = re.compile(r"(?<![\w.=(])−?\d[\d,]*\.?\d*(?:e-?\d+)?")


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf").replace(",", ""))


@pytest.mark.parametrize("study", evidence.STUDIES)
def test_the_stored_effects_are_those_of_the_stored_findings(study):
    for name, one in STORED[study]["claims"].items():
        judgement = Judgement(CLAIMS[name], tuple(map(evidence.restored, one["findings"])))
        assert judgement.verdict == one["verdict"], name
        assert NUMBER.sub("#", judgement.effect) == NUMBER.sub("#", one["effect"])
        again, stored = (
            [read(number) for number in NUMBER.findall(said)]
            for said in (judgement.effect, one["effect"])
        )
        assert again == pytest.approx(stored, rel=0.11), name  # two digits, of three
