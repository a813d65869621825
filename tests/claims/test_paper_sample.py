"""A sample of docs/evidence/claims.md: one law and the impersonation, five replicates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evidence.verdicts import PAPER as EXPECTED

import neurotron as nt

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence" / "claims.json"
TOLD = {
    "grows-with-bound", "grows-with-probability", "recovers-without-attack",
    "small-attack-degrades", "smaller-error-than-sgd", "faster-than-sgd", "impersonation-wins",
    "theorem-1-applies", "certificate-holds",
}  # fmt: skip


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> dict[str, nt.claims.Claim]:
    paper = nt.studies.read("paper")
    cohorts = tuple(paper.cohort(name) for name in ("normal-9", "impersonation"))
    folder = tmp_path_factory.mktemp("paper") / "out"
    nt.studies.run(paper.model_copy(update={"cohorts": cohorts}), folder, replicates=5)
    return {claim.name: claim for claim in nt.claims.evaluate(nt.load(folder))}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_claim_of_the_paper_comes_out_as_the_docs_say(claims, name):
    assert claims[name].verdict == EXPECTED[name], claims[name]


def test_sgd_recovers_the_filter_less_often(claims):
    more = claims["more-often-than-sgd"].findings[0]
    assert 0.0 < more.estimate <= 1.0


def test_the_stored_verdicts_are_those_the_docs_speak_of():
    (row,) = json.loads(EVIDENCE.read_text())["rows"].values()
    found = {verdict["name"]: verdict["verdict"] for verdict in row["result"]["verdicts"]}
    assert found == EXPECTED
