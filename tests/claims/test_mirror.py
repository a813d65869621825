"""Verdicts on who recovers the filter, on results in which the truth is known."""

from __future__ import annotations

import pytest
from tests.support.results import ending_at, made
from tests.support.studies import MIRROR

import neurotron as nt
from neurotron.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED

ELSEWHERE = {"weights": (4.0, -3.0), "errors": ending_at(7.0)}
NETWORKS = 60


def verdicts(folder, outcome) -> dict[str, nt.claims.Claim]:
    study = nt.studies.read("mirror")
    short = study.model_copy(update={"settings": study.settings[:2]})
    results = made(folder / "r", short, outcome, NETWORKS)
    return {claim.name: claim for claim in nt.claims.evaluate(results)}


def lost(**networks):
    """Return a world in which algorithms are lost on so many networks, and how."""

    def outcome(setting, replicate, arm):
        count, how = networks.get(arm["algorithm"].replace("-", "_"), (0, MIRROR))
        return how if replicate < count else {"errors": ending_at(0.01)}

    return outcome


def lost_for_one_law(setting, replicate, arm):
    """On the networks of the first law both recover everything."""
    return (lost() if setting == "normal-1" else lost(sgd=(6, MIRROR)))(setting, replicate, arm)


@pytest.mark.parametrize(
    ("name", "verdict", "outcome"),
    [
        ("neuro-tron-recovers", HOLDS, lost()),
        ("neuro-tron-recovers", UNDECIDED, lost(neuro_tron=(4, MIRROR))),
        ("neuro-tron-recovers", DOES_NOT_HOLD, lost(neuro_tron=(20, MIRROR))),
        ("more-often-than-sgd", HOLDS, lost(sgd=(6, MIRROR))),
        ("more-often-than-sgd", UNDECIDED, lost(sgd=(5, MIRROR))),  # five of five may be chance
        ("more-often-than-sgd", DOES_NOT_HOLD, lost(neuro_tron=(6, MIRROR))),
        ("more-often-than-sgd", UNDECIDED, lost(sgd=(9, MIRROR), neuro_tron=(9, MIRROR))),
        ("more-often-than-sgd", UNDECIDED, lost_for_one_law),
        ("sgd-ends-at-mirror", HOLDS, lost(sgd=(6, MIRROR))),
        ("sgd-ends-at-mirror", DOES_NOT_HOLD, lost(sgd=(6, ELSEWHERE))),
        ("sgd-ends-at-mirror", NOT_TESTED, lost()),
        ("sgd-ends-at-mirror", NOT_TESTED, lost(sgd=(2, MIRROR))),  # four are too few
    ],
)
def test_a_claim_comes_out_as_the_runs_were_made(name, verdict, outcome, tmp_path):
    claim = verdicts(tmp_path, outcome)[name]
    assert claim.verdict == verdict, claim.findings


def test_networks_of_independent_settings_are_counted_together_where_it_ends(tmp_path):
    (found,) = verdicts(tmp_path, lost(sgd=(6, MIRROR)))["sgd-ends-at-mirror"].findings
    assert (found.replicates, found.estimate) == (12, 1.0)


def test_the_share_that_sgd_recovers_is_said(tmp_path):
    found = verdicts(tmp_path, lost(sgd=(6, MIRROR)))["more-often-than-sgd"].findings[0]
    assert "SGD recovers 54 of 60" in found.measure
    assert (found.estimate, found.replicates) == (1.0, NETWORKS)
