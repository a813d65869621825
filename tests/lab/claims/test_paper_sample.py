"""A sample of docs/evidence/paper.md: one law and the impersonation, five replicates."""

from __future__ import annotations

import numpy as np
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


def test_a_net_on_which_sgd_ends_at_the_mirror_filter_and_neuro_tron_does_not():
    """The network of the README, in full."""
    network = nt.networks.symmetric(n_inputs=100, filter_size=25, width=10, seed=2)
    problem = nt.Problem.draw(network, nt.Normal(), seed=2)
    attack = nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
    arms = [nt.Arm(nt.NeuroTron(1e-4, sensing="mean"), attack), nt.Arm(nt.SGD(1e-4), attack)]
    run = nt.simulate(problem, arms, steps=40_000, batch_size=16, seed=2)
    ours, theirs = run.errors[:, -1]
    assert ours < 5e-3
    assert theirs > 1.0
    w, true = run.weights[1], problem.true_weights
    assert -(w @ true) > 0.9 * np.linalg.norm(w) * np.linalg.norm(true)
