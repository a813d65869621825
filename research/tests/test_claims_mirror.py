"""Verdicts on who recovers the filter, on results in which the truth is known."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED

NETWORKS = 60


@pytest.fixture(scope="module")
def recovered(tmp_path_factory):
    """Results in which everybody recovers the filter, for two laws."""
    study = nt.lab.studies.read("mirror")
    short = study.model_copy(update={"settings": study.settings[:2]})
    place = tmp_path_factory.mktemp("mirror") / "r"
    return made(place, short, lambda *_: {"errors": ending_at(0.01)}, NETWORKS)


def lost(results, laws=("normal-1", "student-t-4"), end="mirror", **networks):
    """Return the results with algorithms that end elsewhere, on so many networks of some laws."""
    runs = results.runs
    for algorithm, count in networks.items():
        here = pl.col("setting").is_in(laws) & (pl.col("replicate") < count)
        of = pl.col("algorithm") == algorithm.replace("_", "-")
        outcome = pl.when(here & of).then(pl.lit(end)).otherwise(pl.col("outcome"))
        runs = runs.with_columns(outcome=outcome)
    return dataclasses.replace(results, runs=runs)


def verdicts(results) -> dict[str, nt.lab.claims.Judgement]:
    return {found.claim.name: found for found in nt.lab.claims.evaluate(results)}


@pytest.mark.parametrize(
    ("name", "verdict", "ends"),
    [
        ("neuro-tron-recovers", HOLDS, {}),
        ("neuro-tron-recovers", UNDECIDED, {"neuro_tron": 4}),
        ("neuro-tron-recovers", DOES_NOT_HOLD, {"neuro_tron": 20}),
        ("more-often-than-sgd", HOLDS, {"sgd": 6}),
        ("more-often-than-sgd", UNDECIDED, {"sgd": 5}),  # five of five may be chance
        ("more-often-than-sgd", DOES_NOT_HOLD, {"neuro_tron": 6}),
        ("more-often-than-sgd", UNDECIDED, {"sgd": 9, "neuro_tron": 9}),
        ("more-often-than-sgd", UNDECIDED, {"sgd": 6, "laws": ("student-t-4",)}),
        ("sgd-ends-at-mirror", HOLDS, {"sgd": 6}),
        ("sgd-ends-at-mirror", DOES_NOT_HOLD, {"sgd": 6, "end": "other"}),
        ("sgd-ends-at-mirror", NOT_TESTED, {}),
        ("sgd-ends-at-mirror", NOT_TESTED, {"sgd": 2}),  # four are too few
    ],
)
def test_a_claim_comes_out_as_the_runs_were_made(name, verdict, ends, recovered):
    found = verdicts(lost(recovered, **ends))[name]
    assert found.verdict == verdict, found.findings


def test_networks_of_independent_settings_are_counted_together_where_it_ends(recovered):
    (found,) = verdicts(lost(recovered, sgd=6))["sgd-ends-at-mirror"].findings
    assert (found.replicates, found.estimate) == (12, 1.0)


def test_the_share_that_sgd_recovers_is_said(recovered):
    found = verdicts(lost(recovered, sgd=6))["more-often-than-sgd"].findings[0]
    assert "SGD recovers 54 of 60" in found.measure
    assert (found.estimate, found.replicates) == (1.0, NETWORKS)


def test_a_network_counts_once_however_many_levels_it_meets(recovered):
    harder = recovered.runs.with_columns(bound=pl.col("bound") + 1.0, outcome=pl.lit("other"))
    twice = dataclasses.replace(recovered, runs=pl.concat([recovered.runs, harder]))
    for found in verdicts(twice)["neuro-tron-recovers"].findings:
        assert (found.replicates, found.estimate) == (NETWORKS, 1.0)  # as at the first level


def test_a_sample_of_the_mirror_study_recovers_as_it_says(tmp_path):
    """Six networks: Neuro-Tron recovers all, SGD ends at the mirror of those it does not."""
    mirror = nt.lab.studies.read("mirror")
    few = mirror.model_copy(update={"settings": mirror.settings[2:3], "steps": 2000})
    nt.lab.studies.run(few, tmp_path / "out", replicates=6)
    runs = nt.load_results(tmp_path / "out").runs
    ends = {name: set(runs.filter(algorithm=name)["outcome"]) for name in ("neuro-tron", "sgd")}
    assert ends == {"neuro-tron": {"recovered"}, "sgd": {"recovered", "mirror"}}
