"""A sample of the damage on real tables: docs/evidence/tables.csv has all of it."""

from __future__ import annotations

import numpy as np
import pytest
from tools import tables

CASE = ("one side", 0.3)


def test_on_diabetes_a_one_sided_attack_costs_little_more_than_if_its_share_were_known():
    found = {method: [] for method in tables.METHODS}
    for split in range(5):
        for row in tables.damages("", "diabetes", split, cases=(CASE,)):
            found[row["method"]].append(row["damage"])
    median = {method: np.median(values) for method, values in found.items()}
    assert median["least squares"] > 20.0
    assert median["solve"] < median["TRIM, told β"] + 5.0
    assert median["solve"] < median["solve, without mixture"] - 5.0


def test_without_an_attack_diabetes_is_solved_as_well_as_by_least_squares():
    rows = tables.damages("", "diabetes", 0, cases=(("none", 0.0),))
    assert {row["method"]: row["damage"] for row in rows}["solve"] < 1.0


def test_an_attack_changes_as_many_labels_as_it_says_and_no_test_labels():
    split = tables.split_of("diabetes", 0)
    for attack, probability in tables.CASES:
        changed = tables.attacked(split, attack, probability, 0) != split.y
        assert changed.sum() == round(probability * len(split.y))
    assert len(split.y) + len(split.test.y) == 442


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(tables.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install .*tables.*plotnine"):
        tables.diamonds()
