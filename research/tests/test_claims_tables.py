"""Claims about public tables, judged on made-up results in which the truth is known."""

from __future__ import annotations

import pytest
from tests.support.damages import made_damages, tables_study

import neurotron as nt
from neurotron.lab.claims.model import DOES_NOT_HOLD, HOLDS, NOT_TESTED, UNDECIDED
from neurotron.lab.studies.claim_names import TABLES_CLAIM_NAMES

STUDY = tables_study(*TABLES_CLAIM_NAMES)


def as_claimed(setting, replicate, fit):
    """A world in which every claim holds; labels of randhie are counts."""
    facts = {"repeated": 0.3 if setting == "randhie" else 0.01}
    if fit["attack"] == "large-leverage":
        return facts | {"error": 3.5}
    if fit["method"] == "right":
        return facts | {"error": 0.5}
    if fit["attack"] == "none":
        return facts | {"error": 2.016}
    worse = {"ours": 2.02, "Huber": 2.5, "TRIM, told β": 2.02}
    if setting == "randhie":
        worse = {"ours": 2.3, "Huber": 2.2, "TRIM, told β": 2.1}
    return facts | {"error": worse[fit["method"]]}


def verdicts(folder, outcome, replicates=6):
    judged = nt.lab.claims.evaluate(made_damages(folder / "out", STUDY, outcome, replicates))
    return {one.claim.name: one.verdict for one in judged}


def changed(outcome, **where):
    """The world as claimed, but with another outcome of some fits."""

    def world(setting, replicate, fit):
        here = fit | {"setting": setting}
        other = all(here[name] == value for name, value in where.items())
        return as_claimed(setting, replicate, fit) | (outcome if other else {})

    return world


def test_every_claim_holds_where_it_is_true(tmp_path):
    assert verdicts(tmp_path, as_claimed) == dict.fromkeys(TABLES_CLAIM_NAMES, HOLDS)


def test_nothing_is_judged_by_fewer_than_five_splits(tmp_path):
    assert set(verdicts(tmp_path, as_claimed, 4).values()) == {NOT_TESTED}


def test_five_splits_decide_nothing_because_they_have_no_interval(tmp_path):
    assert set(verdicts(tmp_path, as_claimed, 5).values()) == {UNDECIDED}


FALSE = {
    "1.1 % without an attack": (
        "clean-price-is-small",
        changed({"error": 2.022}, setting="diabetes", attack="none", method="ours")),
    "1.1 % on counts": (
        "clean-price-is-small",
        changed({"error": 2.022, "repeated": 0.3}, setting="randhie", attack="none",
                method="ours")),
    "Huber better": (
        "less-damage-than-huber", changed({"error": 1.9}, setting="diabetes", method="Huber")),
    "Huber worse on counts": (
        "huber-wins-on-counts",
        changed({"error": 2.4, "repeated": 0.3}, setting="randhie", method="Huber")),
    "TRIM better by 1.5 points": (
        "as-good-as-trim-that-is-told",
        changed({"error": 1.99}, setting="diabetes", method="TRIM, told β")),
    "a method resists": (
        "leverage-defeats-every-method",
        changed({"error": 2.9, "repeated": 0.01}, attack="large-leverage", method="Huber")),
    "the right network is worse under one attack": (
        "right-network-beats-linear-models",
        changed({"error": 2.02}, setting="cell", attack="other-model", method="right")),
}  # fmt: skip


@pytest.mark.parametrize("case", FALSE)
def test_a_claim_does_not_hold_where_it_is_false(case, tmp_path):
    claim, world = FALSE[case]
    assert verdicts(tmp_path, world)[claim] == DOES_NOT_HOLD


EXCEPTED = {
    "a small table costs more": (
        "clean-price-is-small",
        changed({"error": 2.5, "rows": 16}, setting="diabetes", attack="none")),
    "Huber is better under random signs and leverage": (
        "less-damage-than-huber",
        changed({"error": 1.0}, setting="diabetes", attack="large-leverage", method="Huber")),
    "TRIM is better by 0.7 points": (
        "as-good-as-trim-that-is-told",
        changed({"error": 2.006}, setting="diabetes", method="TRIM, told β")),
    "TRIM is better on counts": (
        "as-good-as-trim-that-is-told",
        changed({"error": 1.0, "repeated": 0.3}, setting="randhie", method="TRIM, told β")),
    "a method resists on one table": (
        "leverage-defeats-every-method",
        changed({"error": 2.0}, setting="diabetes", attack="large-leverage", method="Huber")),
    "the right network is defeated by leverage": (
        "right-network-beats-linear-models",
        changed({"error": 9.0}, setting="cell", attack="large-leverage", method="right")),
}  # fmt: skip


@pytest.mark.parametrize("case", EXCEPTED)
def test_a_claim_is_not_about_what_it_excepts(case, tmp_path):
    claim, world = EXCEPTED[case]
    found = verdicts(tmp_path, world)
    if case == "a small table costs more":  # all fits of a split have as many rows
        world = changed({"error": 2.5, "rows": 16}, setting="diabetes")
        found = verdicts(tmp_path / "all", world)
    assert found[claim] == HOLDS


def test_a_difference_of_either_sign_is_undecided(tmp_path):
    def world(setting, replicate, fit):
        sign = 1.0 if replicate % 2 else -1.0
        found = as_claimed(setting, replicate, fit)
        if fit["method"] == "Huber" and setting == "diabetes":
            found["error"] = 2.02 + 0.2 * sign
        return found

    assert verdicts(tmp_path, world)["less-damage-than-huber"] == UNDECIDED


def test_what_was_measured_is_said_in_words(tmp_path):
    made = made_damages(tmp_path / "out", STUDY, as_claimed, 6)
    effects = {one.claim.name: one.effect for one in nt.lab.claims.evaluate(made)}
    assert "0.80 % over least squares" in effects["clean-price-is-small"]
    assert "24" in effects["less-damage-than-huber"]
    assert "75 % damage on its worst table" in effects["leverage-defeats-every-method"]
    assert "0.25 × the smallest linear error" in effects["right-network-beats-linear-models"]


def test_a_study_with_other_methods_tests_no_claim_about_them(tmp_path):
    study = STUDY.model_copy(update={"methods": STUDY.methods | {"Huber": "huber:epsilon=2"}})
    judged = nt.lab.claims.evaluate(made_damages(tmp_path / "out", study, as_claimed, 6))
    found = {one.claim.name: one.verdict for one in judged}
    assert found["less-damage-than-huber"] == NOT_TESTED


def test_claims_of_public_tables_are_refused_by_other_studies():
    with pytest.raises(nt.InputError, match="'faster-than-sgd' is about training runs"):
        tables_study("faster-than-sgd")
    smoke = nt.lab.studies.read("smoke").model_copy(update={"claims": ("clean-price-is-small",)})
    with pytest.raises(nt.InputError, match="'clean-price-is-small' is about studies of the kind"):
        nt.lab.studies.run(smoke, "never-written")
