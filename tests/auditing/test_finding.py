"""What is gathered from measured rows: verdicts, the smallest budget, recommendations."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.support.audits import around, check, made, no_ceiling, remedy

from neurotron._intervals import Interval, of_mean
from neurotron.auditing.finding import Breaking
from neurotron.auditing.gathering import breaking, ceiling, damages, strongest
from neurotron.auditing.question import Level
from neurotron.auditing.records import (
    Attempt,
    Failed,
    HonestFit,
    Limit,
    Measured,
    from_rows,
    to_rows,
)
from neurotron.auditing.sentences import breaking_words


def _flat(found):
    """Return a summary in one line."""
    return " ".join(str(found).split())


LEVEL = Level(1.0, 0.1, 10)


def attempt(attack, error, level=LEVEL, *, searched=False):
    return Attempt(*level, attack, searched, error, 0.0, 0.0, None)


def split(*attempts, clean=1.0, unit=None, limits=()):
    return Measured(HonestFit(clean, unit or clean, clean, "", [], []), attempts, limits)


def test_what_was_measured_survives_as_rows_of_plain_columns():
    fitted = HonestFit(1.0, 1.0, 0.9, "it is a tree", [0, 2], [0.5, 0.25])
    most = Limit(*LEVEL, "", 0.1, 0.2, 0.3, 7, 5)
    lost = Attempt(math.inf, 0.1, 10, "a", True, math.inf, 0.0, 1.0, 0.5)
    whole = Measured(fitted, (attempt("a", 1.5), lost), (most, Limit(*LEVEL, "so it is")))
    for found in (whole, Failed("it cannot be fitted")):
        rows = to_rows(found)
        assert from_rows(rows) == found
        assert {type(value) for row in rows for value in row.values()} <= {
            str, float, int, bool, list, type(None)
        }  # fmt: skip


# ---- the strongest attack ------------------------------------------------------------------------


def test_the_strongest_attack_may_be_another_one_on_every_split():
    splits = [
        split(attempt("a", 1.5), attempt("b", 1.0)),
        split(attempt("a", 1.0), attempt("b", 1.5)),
    ]
    assert strongest(splits, LEVEL).relative.estimate == pytest.approx(0.5)
    assert [one.relative.estimate for one in damages(splits, [LEVEL])] == [0.25, 0.25]


def test_an_attack_that_is_possible_on_some_splits_only_counts_in_the_strongest():
    splits = [split(attempt("a", 1.1)), split(attempt("a", 1.1), attempt("b", 1.9))]
    assert [one.attack for one in damages(splits, [LEVEL])] == ["a"]
    assert strongest(splits, LEVEL).relative.estimate == pytest.approx(0.5)


def test_budgets_of_equal_share_and_another_number_of_rows_are_kept_apart():
    more = LEVEL._replace(rows=11)
    limits = (Limit(*LEVEL, "", 0.3, 0.0, 0.0), Limit(*more, "", 0.4, 0.0, 0.0))
    each = split(attempt("a", 1.1), attempt("a", 1.2, more), limits=limits)
    found = [ceiling([each, each], level) for level in (LEVEL, more)]
    assert [(one.error.estimate, one.rows) for one in found] == [(0.3, 10), (0.4, 11)]


def test_the_interval_of_a_rise_ends_at_zero():
    splits = [split(attempt("a", error)) for error in (1.0, 1.5)]
    (found,) = damages(splits, [LEVEL])
    assert found.error.low == found.relative.low == 0.0 < found.error.estimate


def test_damage_is_in_units_that_are_never_zero():
    each = split(attempt("a", 0.5), clean=0.0, unit=0.25)
    assert damages([each], [LEVEL])[0].relative.estimate == 2.0


# ---- the smallest budget -------------------------------------------------------------------------


def searched(*errors, safe=(None, None)):
    """Return two splits, whose damage differs by 0.02, with 1, 2, … rows attacked."""
    return [
        split(
            *(attempt("a", 1.0 + error + more, LEVEL._replace(rows=count), searched=True)
              for count, error in enumerate(errors, 1)),
            limits=(Limit(*LEVEL, "", 0.0, 0.0, 0.0, harmless=harmless),),
        )
        for more, harmless in zip((-0.01, 0.01), safe, strict=True)
    ]  # fmt: skip


def test_a_number_of_rows_breaks_the_tolerance_if_the_interval_reaches_beyond_it():
    half = of_mean([-0.01, 0.01]).high
    found = breaking(searched(0.1, 0.2, 0.3), 1.0, 0.2 + 0.9 * half, 45)
    assert (found.rows, found.unbroken) == (2, 1)
    found = breaking(searched(0.1, 0.2, 0.3), 1.0, 0.2 + 1.1 * half, 45)
    assert (found.rows, found.unbroken) == (3, 2)


def test_what_is_proved_to_be_harmless_does_not_break():
    found = breaking(searched(0.3, 0.3, 0.3, safe=(2, 3)), 1.0, 0.1, 45)
    assert (found.rows, found.unbroken, found.proven) == (3, 2, 2)


def test_nothing_is_proved_unless_it_is_on_every_split():
    assert breaking(searched(0.3, safe=(5, None)), 1.0, 0.1, 45).proven is None


@pytest.mark.parametrize(
    ("rows", "unbroken", "words"),
    [(3, 0, "Fewer were not tried."), (3, 2, "2 did not"), (1, 0, "")],
)
def test_it_is_said_whether_fewer_rows_were_tried(rows, unbroken, words):
    text = breaking_words(made(), Breaking(1.0, 332, rows, "constant", unbroken, None))
    assert words in text
    assert ("not tried" in text) == (words == "Fewer were not tried.")


# ---- remedies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "is_recommended"),
    [
        ({}, True),
        ({"saved": Interval(0.1, -0.01, 0.2)}, False),
        ({"price": Interval(0.101, 0.0, 0.2)}, False),
        ({"price": Interval(0.099, 0.0, 0.2)}, True),
        ({"total": of_mean([math.inf, 0.1]), "saved": of_mean([-math.inf, 0.1])}, False),
        ({"saved": of_mean([math.nan, 0.1])}, False),
    ],
    ids=["better", "not-clearly", "too-dear", "just-cheap-enough", "fails-under-attack", "unknown"],
)
def test_a_remedy_is_recommended_if_it_is_clearly_better_and_cheap(change, is_recommended):
    one = replace(remedy("huber", 0.01, 0.05), **change)
    assert (made(remedies=(one,)).recommendation is not None) == is_recommended


@pytest.mark.parametrize(
    ("harm", "at_most", "name"),
    [
        (0.105, 0.19, "ridge"),
        (0.095, None, "ridge"),
        (0.105, None, "huber"),
        (0.12, 0.13, "huber"),
    ],
    ids=["equal, with a ceiling", "better", "equal, without one", "worse, with a ceiling"],
)
def test_of_remedies_that_are_equally_good_one_with_a_ceiling_is_recommended(harm, at_most, name):
    pair = (remedy("huber", 0.0, 0.1), remedy("ridge", 0.0, harm, at_most))
    found = made(remedies=tuple(sorted(pair, key=lambda one: one.error.estimate)))
    assert found.recommendation.name == name


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("within", ""), ("exceeded", ", but misses the tolerance"),
     ("undecided", ", but may miss the tolerance")],
)  # fmt: skip
def test_a_remedy_that_misses_the_tolerance_is_said_to(verdict, words):
    found = made(remedies=(replace(remedy("huber", 0.0, 0.05), verdict=verdict),))
    assert f"(transfer attacks only), at no cost without an attack{words}." in found.headline
    said = words.removeprefix(", but ") or "holds the tolerance"
    assert f"{said[0].upper()}{said[1:]}: huber" in _flat(found)
    assert found.to_dict()["remedies"][0]["verdict"] == verdict


def test_a_remedy_that_holds_the_tolerance_by_a_bad_fit_is_said_to():
    found = _flat(made(remedies=(remedy("mean", 0.06, 0.01),)))
    assert "Holds the tolerance, but fits worse than least squares: mean" in found


def test_a_remedy_whose_error_stays_lower_under_attack_is_not_said_to_rise():
    headline = made(remedies=(remedy("ridge", -0.3, 0.1, -0.15),)).headline
    assert "with ridge it stays 20 % lower than without an attack, at no cost" in headline


def test_numbers_of_transfer_attacks_are_marked_in_text_and_json():
    bare = {"transfers_only": True, "ceilings": (no_ceiling("it is a tree"),)}
    found = made(**bare)
    assert "by 34 % (transfer attacks only)" in found.headline
    for each, times in ((found, 1), (made(**bare, checks=(check(around(0.05)),)), 2)):
        assert _flat(each).count("Only transfer attacks were tried") == times
    assert found.to_dict()["transfers_only"]
    assert "+6.1 % (+5.2 % to +7 %)*" in str(found)
    assert "raise it by +34 % (+29 % to +39 %)*." in _flat(found)
    ceiling = made(remedies=made().remedies[3:4])
    assert "transfer" not in str(ceiling)


@pytest.mark.parametrize(("above", "is_said"), [(0.049, False), (0.051, True)])
def test_a_small_rise_means_little_for_a_model_that_fits_worse_than_least_squares(above, is_said):
    found = made(versus_least_squares=around(above))
    words = "ridge:alpha=1 fits the labels 5.1 % worse than least squares"
    assert (words in _flat(found)) == is_said
    assert (words in found.to_dict()["poor_fit"]) == is_said


def test_a_mean_of_infinite_values_keeps_their_sign():
    assert of_mean([math.inf, 1.0]).low == math.inf
    assert of_mean([-math.inf, 1.0]).high == -math.inf
    assert math.isnan(of_mean([math.inf, -math.inf]).estimate)
