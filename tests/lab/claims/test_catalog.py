"""The list of claims, the studies that name them, and what is said of other studies."""

from __future__ import annotations

import re

import pytest
from tests.support.results import ending_at, made
from tests.support.studies import DIVERGED, LIKE_THE_PAPERS, OUTER_WEIGHTS, as_claimed, flat

import neurotron as nt
from neurotron.cli import list_command, report_command
from neurotron.lab.claims import CLAIMS, catalog
from neurotron.lab.studies.reading import CATALOG

STUDIES = {name: nt.lab.read(name) for name in nt.lab.catalog()}


def named(claims: str) -> str:
    return f"""
name = "named"
claims = {claims}
trainers = {{ Tron = "neuro-tron" }}
settings = [{{ name = "a", n_inputs = 8, filter_size = 2, network = "symmetric:width=2" }}]
"""


def parsed(text: str) -> nt.Study:
    return nt.lab.parse(text.encode(), "mine.toml")


def test_a_study_without_claims_gets_those_of_any():
    default = parsed(named("[]").replace("claims = []", ""))
    assert tuple(default.claims) == catalog.OF_ANY_STUDY


def test_what_a_claim_says_of_its_source_agrees_with_whose_it_is():
    for claim in CLAIMS.values():
        assert claim.from_paper is not claim.source.startswith("added by this package"), claim.name
    assert sum(CLAIMS[name].from_paper for name in STUDIES["paper"].claims) == 11


@pytest.mark.parametrize(
    ("claims", "complaint"),
    [
        ('["grows-with-bond"]', "unknown claim 'grows-with-bond': did you mean 'grows-with-bound'"),
        ('["certificate-holds", "certificate-holds"]', "lists 'certificate-holds' twice"),
    ],
)
def test_claims_that_do_not_exist_or_come_twice_are_refused_when_a_study_is_read(claims, complaint):
    with pytest.raises(nt.InputError, match=complaint):
        parsed(named(claims))


def test_results_are_judged_by_the_claims_of_their_study_in_its_order(tmp_path):
    claims = '["predictions-as-certified", "certificate-holds", "grows-with-bound"]'
    found = nt.lab.evaluate(made(tmp_path / "r", named(claims), flat, 1))
    assert [one.claim.name for one in found] == [*parsed(named(claims)).claims]
    assert {one.verdict for one in found} == {"not tested"}
    nothing = made(tmp_path / "none", named("[]"), flat, 1)
    assert nt.lab.evaluate(nothing) == []
    assert nothing.spec["note"] == ""


WORLDS = {
    "paper": (LIKE_THE_PAPERS, as_claimed),
    "weights": (OUTER_WEIGHTS, flat),
    "diverged": (LIKE_THE_PAPERS, lambda *_: DIVERGED),
    "zero": (LIKE_THE_PAPERS, lambda *_: {"errors": ending_at(0.0)}),
    "small": (named("[]"), flat),
}


@pytest.mark.parametrize("world", WORLDS)
def test_every_claim_can_be_judged_on_any_results(world, tmp_path):
    text, outcome = WORLDS[world]
    results = made(tmp_path / "r", text, outcome, 1)
    for claim in CLAIMS.values():  # one replicate is too few
        assert nt.lab.Judgement(claim, tuple(claim.check(results))).verdict == "not tested"


def of_catalog(name: str, *changes: tuple[str, str]) -> str:
    """Return the text of a study of the catalog, with some of its text replaced."""
    text = (CATALOG / f"{name}.toml").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    return text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (of_catalog("paper"), ""),
        (of_catalog("paper", ("seed = 0", "seed = 7"), ("replicates = 20", "replicates = 3")), ""),
        (of_catalog("smoke", ("steps = ", "steps = 1")), ""),  # certificates are for any study
        (of_catalog("paper", ("steps = 40_000", "steps = 39_999")), "study 'paper'"),
        (of_catalog("paper", ('"SGD" = "sgd"', '"SGD" = "sgd:step_size=1"')), "study 'paper'"),
        (of_catalog("paper", ('name = "paper"', 'name = "mine"')), "is not in the catalog"),
        (named('["faster-than-sgd"]'), "is not in the catalog"),
    ],
)
def test_claims_on_another_study_than_the_catalogs_are_said_to_be(text, said):
    note = parsed(text).note
    assert note.startswith("These claims were written for other studies") == bool(said)
    assert said in note


def test_the_command_says_when_the_study_is_not_the_catalogs(tmp_path, capsys):
    results = made(tmp_path / "r", named('["faster-than-sgd"]'), flat, 1)
    report_command.report(results.folder.path, verdicts=True)
    assert "this study is not in the catalog" in " ".join(capsys.readouterr().out.split())
    report_command.report(results.folder.path, as_json=True)
    printed = capsys.readouterr()
    assert printed.out.startswith("{")
    assert "this study is not in the catalog" in printed.err


def test_claims_are_listed_with_what_they_say_and_where_they_are_tested(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    list_command.list_things("claims")
    lines = capsys.readouterr().out.splitlines()
    for claim in CLAIMS.values():
        (at,) = (i for i, line in enumerate(lines) if line.split()[:1] == [claim.name])
        assert (claim.short or claim.statement)[:40] in lines[at]
        tested = [name for name, study in STUDIES.items() if claim.name in study.claims]
        where = re.split(r"\s{2,}", lines[at].strip())[-1].split(", ")
        assert not tested or where == tested
        assert any(claim.source in line for line in lines[at : at + 4])
