"""A sample of docs/evidence/paper.md: one law and the impersonation, five replicates."""

from __future__ import annotations

import pytest
from research.tests.verdicts import VERDICTS
from tests.support.studies import part_of

import neurotron as nt

TOLD = {
    "grows-with-bound", "grows-with-probability", "recovers-without-attack",
    "small-attack-degrades", "smaller-error-than-sgd", "faster-than-sgd", "impersonation-wins",
    "theorem-1-is-silent", "certificate-holds",
}  # fmt: skip


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> dict[str, nt.lab.Judgement]:
    some = part_of(nt.lab.read("paper"), "normal-9", "impersonation")
    folder = tmp_path_factory.mktemp("paper") / "out"
    nt.lab.run(some, folder, replicates=5)
    return {found.claim.name: found for found in nt.lab.evaluate(nt.load_results(folder))}


@pytest.mark.slow("ten units of the paper's study as it is, computed once for all claims")
@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_claim_of_the_paper_comes_out_as_the_docs_say(claims, name):
    assert claims[name].verdict == VERDICTS["paper"][name], claims[name]
