"""What docs/activations.md says was measured is what is stored."""

from __future__ import annotations

import csv

import pytest
from tests.support.documents import ROOT, assert_says
from tools import evidence

PAGE = ROOT / "docs" / "activations.md"
CLAIMS = evidence.stored()["activations"]["claims"]


def findings(claim: str, activation: str) -> list[dict]:
    every = CLAIMS[claim]["findings"]
    return [one for one in every if one["case"].partition(",")[0] == activation]


@pytest.mark.parametrize("activation", ["ReLU", "softplus", "SiLU", "GELU"])
def test_the_table_has_the_stored_numbers(activation):
    largest = max(one["worst"] for one in findings("recovers-to-rounding", activation))
    sharp = [one["estimate"] for one in findings("sharp-with-every-activation", activation)]
    sgd, tron = findings("mirror-with-every-activation", activation)
    assert_says(
        PAGE, f"| {activation} | {{}} | {{}} | {{}} | {{}} of {{}} networks ({{}} to {{}} %) |",
        largest, *sharp, sgd["count"], sgd["total"], 100 * sgd["low"], 100 * sgd["high"],
    )  # fmt: skip
    assert tron["count"] == 0


def test_no_run_ends_outside_its_radius():
    held = CLAIMS["certificate-holds"]["findings"]
    assert_says(PAGE, "no error of {} runs is above its", sum(one["total"] for one in held))
    assert sum(one["count"] for one in held) == 0


def test_the_errors_of_sgd_and_neuro_tron_are_the_stored_ones():
    rows = csv.DictReader((evidence.STORE / "activations.csv").read_text().splitlines())
    median = {
        (row["trainer"], row["attack"]): float(row["median"])
        for row in rows
        if row["setting"] == "gelu-normal"
    }
    attacks = "odd-direction", "adaptive"
    assert_says(
        PAGE, "medians of {} and {} against {} and {})",
        *(median[trainer, attack] for trainer in ("SGD", "Neuro-Tron") for attack in attacks),
    )  # fmt: skip
