"""The list of claims, the studies that name them, and what is said of other studies."""

from __future__ import annotations

import re

import pytest
from tests.support.results import ending_at, made
from tests.support.studies import (
    DIVERGED,
    FRONTIER,
    LIKE_THE_PAPERS,
    OUTER_WEIGHTS,
    as_claimed,
    as_hoped,
)

import neurotron as nt
from neurotron.cli import claims_command, list_command
from neurotron.lab.claims import CLAIMS, catalog
from neurotron.lab.claims.judging import departure
from neurotron.lab.studies.claim_names import CLAIM_NAMES, ROWS_CLAIM_NAMES, TABLES_CLAIM_NAMES

CATALOG = {name: nt.lab.studies.read(name) for name in nt.lab.studies.catalog()}


def named(claims: str) -> bytes:
    return f"""
name = "named"
claims = {claims}
trainers = {{ Tron = "neuro-tron" }}
settings = [{{ name = "a", n_inputs = 8, filter_size = 2, network = "symmetric:width=2" }}]
""".encode()


def results_of(folder, study, replicates=0):
    return made(folder / "r", study, lambda *_: {"errors": ending_at(0.1)}, replicates)


def test_a_study_can_name_every_claim_there_is_and_no_other():
    assert tuple(CLAIMS) == (*CLAIM_NAMES, *ROWS_CLAIM_NAMES, *TABLES_CLAIM_NAMES)
    every = (
        catalog.PAPER, catalog.MIRROR, catalog.BATCH_SIZE, catalog.MOVED_INPUTS,
        catalog.FRONTIER, catalog.DEFENCE, catalog.CERTIFICATES, catalog.ACTIVATIONS,
        catalog.OF_ANY_STUDY, catalog.VERIFICATION, catalog.ROWS, catalog.TABLES,
    )  # fmt: skip
    assert len(CLAIMS) == sum(map(len, every))  # no name twice
    assert (
        tuple(claim.name for claim in catalog.OF_ANY_STUDY)
        == nt.lab.studies.parse(named("[]").replace(b"claims = []", b""), "default").claims
    )


def test_what_a_claim_says_of_its_source_agrees_with_whose_it_is():
    for claim in CLAIMS.values():
        assert claim.from_paper is not claim.source.startswith("added by this package"), claim.name
    assert sum(CLAIMS[name].from_paper for name in CATALOG["paper"].claims) == 11


def test_every_claim_is_named_by_a_study_of_the_catalog():
    assert {name for study in CATALOG.values() for name in study.claims} == set(CLAIMS)


@pytest.mark.parametrize(
    ("claims", "complaint"),
    [
        ('["grows-with-bond"]', "unknown claim 'grows-with-bond': did you mean 'grows-with-bound'"),
        ('["certificate-holds", "certificate-holds"]', "lists 'certificate-holds' twice"),
    ],
)
def test_claims_that_do_not_exist_or_come_twice_are_refused_when_a_study_is_read(claims, complaint):
    with pytest.raises(nt.InputError, match=complaint):
        nt.lab.studies.parse(named(claims), "mine.toml")


def test_an_unknown_claim_is_refused_before_anything_is_computed(tmp_path):
    study = CATALOG["smoke"].model_copy(update={"claims": ("nonsense",)})
    with pytest.raises(nt.InputError, match="unknown claim 'nonsense'"):
        nt.lab.studies.run(study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_are_judged_by_the_claims_of_their_study_in_its_order(tmp_path):
    claims = '["sgd-ends-at-mirror", "certificate-holds", "grows-with-bound"]'
    results = results_of(tmp_path, nt.lab.studies.parse(named(claims), "named"), 1)
    found = [(one.claim, one.verdict) for one in nt.lab.claims.evaluate(results)]
    assert [claim.name for claim, _ in found] == results.spec["claims"]
    assert {verdict for _, verdict in found} == {"not tested"}


def test_a_study_may_name_no_claims(tmp_path):
    results = results_of(tmp_path, nt.lab.studies.parse(named("[]"), "named"), 1)
    assert nt.lab.claims.evaluate(results) == []
    assert departure(results) == ""


WORLDS = {
    "paper": (LIKE_THE_PAPERS, as_claimed),
    "weights": (OUTER_WEIGHTS, lambda *_: {"errors": ending_at(0.1)}),
    "frontier": (FRONTIER, as_hoped),
    "diverged": (FRONTIER, lambda *_: DIVERGED),
    "zero": (LIKE_THE_PAPERS, lambda *_: {"errors": ending_at(0.0)}),
    "small": (named("[]").decode(), lambda *_: {"errors": ending_at(0.1)}),
}


@pytest.mark.parametrize("world", WORLDS)
def test_every_claim_can_be_judged_on_any_results(world, tmp_path):
    text, outcome = WORLDS[world]
    study = nt.lab.studies.parse(text.encode(), world).model_copy(update={"claims": CLAIM_NAMES})
    judgements = nt.lab.claims.evaluate(made(tmp_path / "r", study, outcome, 1))
    assert [one.claim.name for one in judgements] == list(CLAIM_NAMES)
    assert {one.verdict for one in judgements} == {"not tested"}  # one replicate is too few


def with_(study: nt.lab.studies.Study, **changes: object) -> nt.lab.studies.Study:
    return study.model_copy(update=changes)


def with_batch(study: nt.lab.studies.Study) -> nt.lab.studies.Study:
    first, *others = study.settings
    return with_(study, settings=(first.model_copy(update={"batch_size": 15}), *others))


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (CATALOG["paper"], ""),
        (with_(CATALOG["paper"], seed=7, replicates=3, title="mine"), ""),
        (with_(CATALOG["paper"], claims=("faster-than-sgd",)), ""),
        (CATALOG["smoke"], ""),
        (with_(CATALOG["smoke"], steps=5), ""),  # certificates are judged on any study
        (with_(CATALOG["paper"], steps=39_999), "differs from the catalog's study 'paper'"),
        (with_batch(CATALOG["mirror"]), "differs from the catalog's study 'mirror'"),
        (with_(CATALOG["mirror"], trainers=CATALOG["mirror"].trainers | {"SGD": "sgd:step_size=1"}),
         "differs from the catalog's study 'mirror'"),
        (with_(CATALOG["smoke"], claims=("faster-than-sgd",)), "study 'smoke'"),
        (with_(CATALOG["paper"], name="mine"), "is not in the catalog"),
    ],
)  # fmt: skip
def test_claims_on_another_study_than_the_catalogs_are_said_to_be(study, said, tmp_path):
    note = departure(results_of(tmp_path, study))
    assert note.startswith("These claims were written for other studies") == bool(said)
    assert said in note


def test_the_command_says_when_the_study_is_not_the_catalogs(tmp_path, capsys):
    results = results_of(tmp_path, with_(CATALOG["mirror"], steps=5), 1)
    claims_command.claims(results.folder.path)
    said = " ".join(capsys.readouterr().out.split())
    assert "differs from the catalog's study 'mirror'" in said
    claims_command.claims(results.folder.path, as_json=True)
    printed = capsys.readouterr()
    assert printed.out.startswith("{")
    assert "differs from the catalog's study 'mirror'" in printed.err


def test_claims_are_listed_with_what_they_say_and_where_they_are_tested(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    list_command.list_things("claims")
    lines = capsys.readouterr().out.splitlines()
    for claim in CLAIMS.values():
        (at,) = (i for i, line in enumerate(lines) if line.split()[:1] == [claim.name])
        assert (claim.short or claim.statement)[:40] in lines[at]
        where = re.split(r"\s{2,}", lines[at].strip())[-1].split(", ")
        assert where == [name for name, study in CATALOG.items() if claim.name in study.claims]
        assert any(claim.source in line for line in lines[at : at + 4])
