"""A sample of docs/evidence/claims.md: one law and the impersonation, five replicates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evidence.verdicts import FRONTIER, MIRROR, PAPER

import neurotron as nt

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
TOLD = {
    "grows-with-bound", "grows-with-probability", "recovers-without-attack",
    "small-attack-degrades", "smaller-error-than-sgd", "faster-than-sgd", "impersonation-wins",
    "theorem-1-is-silent", "certificate-holds",
}  # fmt: skip


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> dict[str, nt.claims.Judgement]:
    paper = nt.studies.read("paper")
    settings = tuple(paper.setting(name) for name in ("normal-9", "impersonation"))
    folder = tmp_path_factory.mktemp("paper") / "out"
    nt.studies.run(paper.model_copy(update={"settings": settings}), folder, replicates=5)
    return {found.claim.name: found for found in nt.claims.evaluate(nt.load_results(folder))}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_claim_of_the_paper_comes_out_as_the_docs_say(claims, name):
    assert claims[name].verdict == PAPER[name], claims[name]


def test_a_sample_of_the_mirror_study_recovers_as_it_says(tmp_path):
    """Six networks: Neuro-Tron recovers all, SGD ends at the mirror of those it does not."""
    mirror = nt.studies.read("mirror")
    few = mirror.model_copy(update={"settings": mirror.settings[2:3], "steps": 2000})
    nt.studies.run(few, tmp_path / "out", replicates=6)
    runs = nt.load_results(tmp_path / "out").runs
    ends = {name: set(runs.filter(algorithm=name)["outcome"]) for name in ("neuro-tron", "sgd")}
    assert ends == {"neuro-tron": {"recovered"}, "sgd": {"recovered", "mirror"}}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("claims", PAPER), ("mirror_claims", MIRROR), ("frontier_claims", FRONTIER)],
)
def test_the_stored_verdicts_are_those_the_docs_speak_of(name, wanted):
    (row,) = json.loads((EVIDENCE / f"{name}.json").read_text())["rows"].values()
    found = {verdict["name"]: verdict["verdict"] for verdict in row["result"]["verdicts"]}
    assert found == wanted


@pytest.mark.parametrize(("study", "wanted"), [("paper", PAPER), ("mirror", MIRROR)])
def test_no_verdict_flips_with_the_seed(study, wanted):
    """Five seeds: none between holding and not holding, none undecided with every seed."""
    rows = json.loads((EVIDENCE / f"{study}_seeds.json").read_text())["rows"]
    assert len(rows) == 5
    for name in wanted:
        verdicts = {row["result"]["verdicts"][name] for row in rows.values()}
        assert not {"holds", "does not hold"} <= verdicts, name
        assert verdicts != {"undecided"}, name
