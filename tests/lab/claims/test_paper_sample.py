"""A sample of docs/evidence/paper.md: one law and the impersonation, five replicates."""

from __future__ import annotations

import pytest
from tests.support.verdicts import VERDICTS

import neurotron as nt

TOLD = {
    "grows-with-bound", "grows-with-probability", "recovers-without-attack",
    "small-attack-degrades", "smaller-error-than-sgd", "faster-than-sgd", "impersonation-wins",
    "theorem-1-is-silent", "certificate-holds",
}  # fmt: skip


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> dict[str, nt.lab.claims.Judgement]:
    paper = nt.lab.studies.read("paper")
    settings = tuple(paper.setting(name) for name in ("normal-9", "impersonation"))
    folder = tmp_path_factory.mktemp("paper") / "out"
    nt.lab.studies.run(paper.model_copy(update={"settings": settings}), folder, replicates=5)
    return {found.claim.name: found for found in nt.lab.claims.evaluate(nt.load_results(folder))}


@pytest.mark.slow("ten units of the paper's study as it is, computed once for all claims")
@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_claim_of_the_paper_comes_out_as_the_docs_say(claims, name):
    assert claims[name].verdict == VERDICTS["paper"][name], claims[name]


def test_a_sample_of_the_mirror_study_recovers_as_it_says(tmp_path):
    """Six networks: Neuro-Tron recovers all, SGD ends at the mirror of those it does not."""
    mirror = nt.lab.studies.read("mirror")
    few = mirror.model_copy(update={"settings": mirror.settings[2:3], "steps": 2000})
    nt.lab.studies.run(few, tmp_path / "out", replicates=6)
    runs = nt.load_results(tmp_path / "out").runs
    ends = {name: set(runs.filter(algorithm=name)["outcome"]) for name in ("neuro-tron", "sgd")}
    assert ends == {"neuro-tron": {"recovered"}, "sgd": {"recovered", "mirror"}}
