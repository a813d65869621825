"""The damage of label poisoning on real tables, as it is stored in docs/evidence/tables.csv."""

from __future__ import annotations

import polars as pl
import pytest
from tools import tables

pytestmark = pytest.mark.long

SMALL = {"engel", "star98", "diabetes"}
"""Tables of fewer than 500 rows."""


def stored(method="solve"):
    """Return the median damage of a method for each table, attack and probability."""
    table, _ = tables.stored()
    rows = table.filter(pl.col("method") == method)
    keys = zip(rows["table"], rows["attack"], rows["probability"], strict=True)
    return dict(zip(keys, rows["median"], strict=True))


def test_every_case_has_twenty_splits():
    table, _ = tables.stored()
    assert set(table["splits"]) == {tables.SPLITS}
    assert len(table) == len(tables.TABLES) * len(tables.CASES) * len(tables.METHODS)


@pytest.mark.parametrize("name", tables.TABLES)
def test_the_median_damage_without_an_attack_is_small(name):
    assert stored()[name, "none", 0.0] < (2.0 if name in SMALL else 1.0)


@pytest.mark.parametrize("name", ["star98", "diabetes"])
def test_labels_shifted_to_one_side_cost_little_more_than_if_their_share_were_known(name):
    case = (name, "one side", 0.3)
    assert stored()[case] < stored("TRIM, told β")[case] + 5.0
    assert stored()[case] < stored("solve, without mixture")[case] - 5.0


@pytest.mark.parametrize("name", tables.TABLES)
def test_the_mixture_never_raises_the_median_damage_by_more_than_a_point(name):
    plain = stored("solve, without mixture")
    for case, damage in stored().items():
        if case[0] == name:
            assert damage < plain[case] + 1.0


def test_the_page_is_written_from_the_table():
    assert (tables.STORE / "tables.md").read_text() == tables.page(*tables.stored())


def test_a_split_is_computed_again():
    """No damage exceeds the largest that is stored. Diabetes needs no package of an extra."""
    table, _ = tables.stored()
    for row in tables.damages("", "diabetes", 3):
        found = table.filter(
            pl.col("table") == "diabetes",
            pl.col("attack") == row["attack"],
            pl.col("probability") == row["probability"],
            pl.col("method") == row["method"],
        )
        assert row["damage"] <= found["largest"].item() + 0.1
