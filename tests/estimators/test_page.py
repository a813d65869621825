"""What docs/poisoned-labels.md says about suspects is what was measured."""

from __future__ import annotations

import polars as pl
import pytest
from tools import suspects

PAGE = suspects.FILE.parent.parent / "poisoned-labels.md"
STORED = suspects.stored()


def test_the_page_shows_the_stored_numbers():
    page = PAGE.read_text()
    for table in suspects.page_tables(STORED):
        assert table in page


def test_every_kind_of_tables_is_stored():
    kinds = STORED.select("noise", "attack", "share", "rows").rows()
    assert kinds == [tuple(case) for case in suspects.cases()]


def test_false_alarms_are_as_rare_as_the_page_says():
    """The rate is 5 %, and 200 tables leave a standard error of 1.5 %."""
    clean = STORED.filter(attack="none")
    assert clean["tables with a false alarm"].max() <= 0.05 + 2 * 0.015
    attacked = STORED.filter(pl.col("attack") != "none")
    assert attacked["suspects that are honest"].max() <= 0.05 + 2 * 0.015


def test_a_few_tables_give_what_is_stored():
    case = suspects.Case("normal", "8 to one side", 0.3, 100)
    (stored,) = STORED.filter(attack=case.attack, share=case.share, rows=case.rows).to_dicts()
    found = suspects.measure(case, tables=5)
    assert found["attacked rows found"] == pytest.approx(stored["attacked rows found"], abs=0.05)
