"""Verified radii of trained filters and the rows they need: docs/evidence/verification.csv."""

from __future__ import annotations

import math

import polars as pl
import pytest
from tools import verification as tool

RADII, ROWS, CODE = tool.stored()
EXACT = RADII.filter(trainer="Refined-Tron", noise=0.0)
TEN_THOUSAND = RADII.filter(rows=10_000)


def test_every_case_is_stored_and_the_page_is_written_from_the_tables():
    assert len(RADII.filter(rows=1_000, confidence=0.95, given="0.0")) == (
        len(tool.TRAINERS) * len(tool.SHARES) * len(tool.ATTACKERS)
    )
    assert set(RADII["networks"]) == {len(tool.SEEDS)} == {5}
    assert (tool.STORE / f"{tool.RADII}.md").read_text() == tool.page(RADII, ROWS, CODE)


def test_no_radius_is_smaller_than_the_error_and_no_lower_bound_larger_but_rarely():
    assert RADII.filter(confidence=0.999)["unsafe"].sum() == 0
    unsure = RADII.filter(confidence=0.95)
    assert unsure["unsafe"].sum() <= 0.01 * unsure["networks"].sum()
    assert (RADII["error"] <= RADII["radius"]).all()


def test_exact_filters_are_verified_up_to_nearly_half_of_the_labels():
    by_coins = EXACT.filter(attacker="coin", rows=10_000)
    assert set(by_coins["probability"]) == {*tool.SHARES}
    assert max(tool.SHARES) == 0.45
    assert by_coins["largest_radius"].max() < 1e-8
    chosen = EXACT.filter(attacker="any", rows=10_000)
    assert chosen["largest_radius"].max() < 1e-6


def test_with_noise_the_radius_is_of_the_order_of_the_noise():
    noisy = TEN_THOUSAND.filter(trainer="Refined-Tron", noise=0.01, attacker="coin")
    few = noisy.filter(pl.col("probability") <= 0.2)
    assert 0.001 < few["radius"].min() < few["radius"].max() < 0.05
    told = few.filter(given="0.01")["radius"]
    assert (told <= few.filter(given="independent")["radius"]).all()


def test_a_certificate_of_scheduled_steps_is_smaller_and_one_of_the_fastest_mostly_not():
    """At the confidence 99.9 %, with exact labels, coins, and up to a tenth of the labels."""
    known = TEN_THOUSAND.filter(
        pl.col("probability") <= 0.1, noise=0.0, attacker="coin", confidence=0.999
    )
    fastest, scheduled = (
        known.filter(trainer=name) for name in ("Neuro-Tron", "Neuro-Tron, scheduled")
    )
    assert (fastest["radius"] < fastest["certified"]).all()
    assert (scheduled["radius"] > scheduled["certified"]).all()


def test_the_rows_that_are_needed_are_about_those_that_are_said():
    assert [tuple(row) for row in ROWS.select("attacker", "probability").rows()] == [
        (attacker, share) for attacker, shares in tool.ROW_SHARES.items() for share in shares
    ]
    assert ROWS["verified"].min() >= tool.WANTED
    ratio = ROWS["rows"] / ROWS["rows_needed"]
    assert 0.9 < ratio.min() < ratio.max() < 3.0  # largest near the limit of the attacker
    assert ratio.median() < 1.4
    assert ROWS.filter(attacker="coin", probability=0.4)["rows"].item() < 500


def test_a_true_filter_is_verified_with_the_rows_that_are_stored():
    row = ROWS.row(by_predicate=(pl.col("attacker") == "coin") & (pl.col("probability") == 0.4))
    rows, _, needed, radius = row[2:]
    found = tool.tried("coin", 0.4, rows, 2)
    assert tool.share_verified(found) >= 0.7
    assert [one.rows_needed for one in found] == pytest.approx([needed] * len(found), rel=0.1)
    assert min(one.radius for one in found) < 10.0 * radius
    assert tool.share_verified(tool.tried("coin", 0.4, rows // 4, 2)) <= 0.3


def test_a_trained_filter_is_verified_as_is_stored(monkeypatch):
    monkeypatch.setattr(tool, "SIZES", {1_000: (0.001,), 2_000: ()})
    case = tool.Case("Refined-Tron", 0.0, 0.4)
    for row in tool.radii_of((case,), seed=0):
        stored = EXACT.filter(
            probability=0.4, rows=1_000, attacker=row["attacker"], confidence=0.999
        )
        low, high = stored["least_radius"].item(), stored["largest_radius"].item()
        assert low * 0.98 <= row["radius"] <= high * 1.02 or math.isinf(high)
        assert row["error"] < 1e-13
