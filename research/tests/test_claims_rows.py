"""Claims about stored rows, judged on made-up tables in which the truth is known."""

from __future__ import annotations

import pytest
from tests.support.fits import made_fits, rows_study

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED
from neurotron.lab.studies.claim_names import ROWS_CLAIM_NAMES

STUDY = rows_study(*ROWS_CLAIM_NAMES)
GOOD, BAD = {"error": 1e-15}, {"error": 0.5, "proven": -1}


def as_claimed(setting, replicate, fit):
    """A world in which every claim holds."""
    if setting == "noise":
        return {"error": {"honest": 0.1, "solve": 0.101, "least-squares": 0.5}[fit["solver"]]}
    if fit["solver"] == "trim":
        return {"error": 0.5}
    return BAD if setting == "gate" and fit["attack"] == "picked-rows" else GOOD


def verdicts(folder, outcome, replicates=40):
    judged = nt.lab.claims.evaluate(made_fits(folder / "out", STUDY, outcome, replicates))
    return {one.claim.name: one.verdict for one in judged}


def test_every_claim_holds_where_it_is_true(tmp_path):
    assert verdicts(tmp_path, as_claimed) == dict.fromkeys(ROWS_CLAIM_NAMES, HOLDS)


def test_nothing_is_judged_by_fewer_than_five_problems(tmp_path):
    assert set(verdicts(tmp_path, as_claimed, 4).values()) == {NOT_TESTED}


def changed(outcome, **where):
    """The world as claimed, but with another outcome of some fits."""

    def world(setting, replicate, fit):
        here = fit | {"setting": setting}
        other = all(here[name] == value for name, value in where.items())
        return as_claimed(setting, replicate, fit) | (outcome if other else {})

    return world


@pytest.mark.parametrize(
    ("claim", "world"),
    [
        ("few-rows-suffice", changed(BAD, setting="paper", attack="constant", probability=0.2)),
        ("few-rows-suffice", changed(BAD, setting="paper", attack="constant", probability=0.4)),
        ("picked-rows-need-more", changed(GOOD, setting="gate", attack="picked-rows")),
        ("near-honest-least-squares", changed({"error": 0.12}, setting="noise", solver="solve",
                                              bound=1.0)),
        ("near-honest-least-squares", changed({"error": 0.12}, setting="noise", solver="solve",
                                              attack="none")),
        ("more-often-exact-than-trim", lambda setting, replicate, fit: as_claimed(
            setting, replicate, fit) | (
            {"error": {"solve": 0.5, "trim": 1e-15}[fit["solver"]], "proven": -1}
            if setting == "rivals" else {})),
        ("proof-is-never-wrong", changed({"error": 0.5}, setting="rivals", solver="solve")),
    ],
)  # fmt: skip
def test_a_claim_does_not_hold_where_it_is_false(claim, world, tmp_path):
    found = verdicts(tmp_path, world)
    assert found.pop(claim) == DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("claim", "world"),
    [
        ("few-rows-suffice", changed(BAD, setting="paper", attack="picked-rows")),
        ("near-honest-least-squares", changed({"error": 9.0}, setting="noise", solver="solve",
                                              bound=0.1)),
        ("proof-is-never-wrong", changed({"error": 1e-8}, setting="rivals", solver="solve")),
        ("proof-is-never-wrong", changed({"error": 0.5, "proven": 5}, setting="rivals",
                                         solver="solve", tampered=6)),
    ],
)  # fmt: skip
def test_a_claim_is_not_about_what_it_excepts(claim, world, tmp_path):
    assert verdicts(tmp_path, world)[claim] == HOLDS


def test_as_many_proven_as_tampered_rows_of_a_wrong_filter_are_one_too_many(tmp_path):
    world = changed({"error": 0.5, "proven": 6}, setting="rivals", solver="solve", tampered=6)
    assert verdicts(tmp_path, world)["proof-is-never-wrong"] == DOES_NOT_HOLD


def test_equally_often_as_trim_is_undecided(tmp_path):
    world = changed(GOOD, setting="rivals", solver="trim")
    assert verdicts(tmp_path, world)["more-often-exact-than-trim"] == UNDECIDED


def test_what_was_measured_is_said_in_words(tmp_path):
    fits = made_fits(tmp_path / "out", STUDY, as_claimed, 40)
    effects = {one.claim.name: one.effect for one in nt.lab.claims.evaluate(fits)}
    assert "0 of" in effects["proof-is-never-wrong"]
    assert "1.01" in effects["near-honest-least-squares"]
    assert "40 of the 40 problems" in effects["more-often-exact-than-trim"]


def test_a_single_gate_says_nothing_about_trim(tmp_path):
    rivals = STUDY.setting("rivals").model_copy(update={"network": "relu-gate", "n_inputs": 2})
    study = STUDY.model_copy(update={"settings": (rivals,)})
    judged = nt.lab.claims.evaluate(made_fits(tmp_path / "out", study, as_claimed, 10))
    found = {one.claim.name: one.verdict for one in judged}
    assert found["more-often-exact-than-trim"] == NOT_TESTED


def test_claims_of_the_other_kind_of_study_are_refused():
    with pytest.raises(nt.InputError, match="'faster-than-sgd' is about training runs"):
        rows_study("faster-than-sgd")
    smoke = nt.lab.studies.read("smoke").model_copy(update={"claims": ("few-rows-suffice",)})
    with pytest.raises(nt.InputError, match="'few-rows-suffice' is about studies of the kind"):
        nt.lab.studies.run(smoke, "never-written")
