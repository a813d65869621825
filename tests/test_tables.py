"""What label poisoning costs on real tables: docs/evidence/tables.csv, and a sample of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.support.messages import says
from tools.tables import data, neurotron, scikit_learn, splits, summary
from tools.tables.neurotron import OURS
from tools.tables.splits import Case

KEYS = ("table", "attack", "probability")


@pytest.fixture(scope="module")
def stored():
    return summary.stored()[0]


def cells(rows, column="damage"):
    """Return a column for each table, attack and probability."""
    return {tuple(key): value for *key, value in rows.select(*KEYS, column).rows()}


def guide():
    """Return the guide on one line."""
    return " ".join(summary.GUIDE.read_text().split())


# ---- the bars, in the stored table ---------------------------------------------------------------


def test_every_case_is_stored_with_twenty_splits(stored):
    assert set(stored["splits"]) == {splits.SPLITS}
    assert set(stored.select(*KEYS, "method").rows()) == {
        (table, *case, method)
        for table in data.TABLES
        for case in splits.CASES
        for method in summary.METHODS
    }


def test_without_an_attack_the_error_on_logarithms_is_within_2_per_cent_of_least_squares(stored):
    clean = stored.filter(pl.col("table").is_in(data.LOGARITHMS), attack="none", method=OURS)
    assert clean["damage"].max() <= 2.0
    assert len(clean) == len(data.LOGARITHMS)


def diamonds(stored, method):
    attacks = pl.col("attack").is_in(["one side", "other model"])
    return stored.filter(attacks, table="diamonds", method=method)


def test_attacks_on_diamonds_cost_less_than_1_per_cent(stored):
    assert diamonds(stored, OURS)["damage"].max() <= 1.0
    assert diamonds(stored, "Huber").filter(probability=0.3)["damage"].min() > 20.0


def test_on_diamonds_trim_that_is_told_the_share_has_no_less_damage(stored):
    assert summary.behind(diamonds(stored, "TRIM, told β"), "TRIM, told β").is_empty()


def test_huber_has_less_damage_in_two_cells_at_most_which_are_named(stored):
    found = summary.behind(stored, "Huber").select(*KEYS).rows()
    assert found == [("randhie", "one side", 0.1), ("randhie", "one side", 0.3)]
    assert "Huber's regression does in two, both of randhie." in guide()
    assert "**Randhie, one side.** Labels are counts" in guide()


def test_large_leverage_costs_no_more_on_diabetes_than_if_its_share_were_known(stored):
    cell = stored.filter(table="diabetes", attack="large leverage", probability=0.1)
    assert summary.behind(cell, "TRIM, told β").is_empty()
    assert cells(cell.filter(method=OURS))["diabetes", "large leverage", 0.1] < 2.0


def test_the_mixture_is_never_used_without_an_attack(stored):
    assert stored.filter(attack="none")["mixtures"].max() == 0
    assert stored["mixtures"].max() == splits.SPLITS


def test_large_leverage_defeats_every_method_on_some_table(stored):
    worst = stored.filter(attack="large leverage", probability=0.3)
    assert worst.group_by("method").agg(pl.col("damage").max())["damage"].min() > 50.0


# ---- the pages -----------------------------------------------------------------------------------


def test_the_tables_of_the_guide_are_written_from_the_table(stored):
    text = summary.GUIDE.read_text()
    assert text == summary.filled(text, stored)
    assert text.count("<!-- end -->") == len(summary.BLOCKS)


@pytest.mark.parametrize(
    ("cell", "method", "words"),
    [
        (("engel", "none", 0.0), OURS, "within {:.1f} % of least squares"),
        (("stackloss", "none", 0.0), OURS, "stackloss ({:.1f} %"),
        (("diamonds", "one side", 0.3), "Huber", "Huber's regression loses {:.0f} %"),
        (("diabetes", "large leverage", 0.3), OURS, "the regressor loses {:.0f} % on diabetes"),
        (("engel", "large leverage", 0.3), OURS, "and {:.0f} % on engel"),
        (("engel", "large leverage", 0.3), "Huber", "and {:.0f} %. Few methods"),
        (("diamonds", "large leverage", 0.3), OURS, "the regressor on diamonds ({:.1f} %)"),
        (("engel", "large leverage", 0.3), "RANSAC", "RANSAC on engel ({:.1f} %)"),
        (("diamonds", "large leverage", 0.3), "RANSAC", "RANSAC loses {:.0f} % on diamonds"),
        (("diabetes", "large leverage", 0.1), OURS, "with β = 0.1 the damage is {:.2f} %"),
        (("diabetes", "large leverage", 0.1), "Huber", "Huber's regression loses {:.1f} %."),
        (("diamonds", "none", 0.0), OURS, "large residuals less, which costs {:.1f} %"),
    ],
)
def test_the_guide_says_what_is_stored(stored, cell, method, words):
    assert words.format(cells(stored.filter(method=method))[cell]) in guide()


# ---- a sample, computed again: diabetes comes with scikit-learn ----------------------------------


def compared(probability):
    ours, others = neurotron.methods(probability), scikit_learn.methods(probability)
    return {OURS: ours[OURS], "Huber": others["Huber"]}


def test_a_split_of_diabetes_is_as_it_is_stored(stored):
    """The damage of a split is at most the largest one that is stored."""
    cases = (Case("none", 0.0), Case("other model", 0.3))
    found = splits.damages_of("diabetes", 3, compared, cases)
    for row in found:
        chosen = {name: row[name] for name in ("attack", "probability", "method")}
        largest = stored.filter(table="diabetes", **chosen)["largest"].item()
        assert row["damage"] <= largest + 0.1
    damage = {(row["attack"], row["method"]): row["damage"] for row in found}
    assert damage["none", OURS] < 2.0
    assert damage["other model", OURS] < damage["other model", "Huber"] - 5.0


def test_an_attack_changes_as_many_labels_as_it_says():
    rows = splits.split_of("diabetes", 0).fit
    for case in splits.CASES:
        changed = splits.attacked(rows, case, 0) != rows.y
        assert changed.sum() == round(case.probability * len(rows.y))


def test_large_leverage_attacks_the_rows_with_the_most_extreme_predictions():
    rows = splits.split_of("diabetes", 0).fit
    bad = splits.attacked(rows, Case("large leverage", 0.3), 0) != rows.y
    columns = np.column_stack([rows.X, np.ones(len(rows.y))])
    sizes = np.abs(columns @ np.linalg.lstsq(columns, rows.y)[0] - rows.y.mean())
    assert sizes[bad].min() >= sizes[~bad].max()


def test_intervals_hold_the_median_of_the_differences():
    rows = pl.DataFrame(
        [
            {"setting": "engel", "replicate": split, "attack": "none", "probability": 0.0,
             "method": method, "damage": damage}
            for split in range(20)
            for method, damage in ((OURS, 2.0 * split), ("Huber", 3.0 * split))
        ]
    )  # fmt: skip
    huber = summary.summary(rows).row(by_predicate=pl.col("method") == "Huber", named=True)
    assert (huber["damage"], huber["damage_low"], huber["damage_high"]) == (28.5, 15.0, 42.0)
    assert (huber["more_low"], huber["more_high"]) == (5.0, 14.0)


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(data.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as error:
        data.diamonds()
    assert says(error.value, "plotnine", "pip install")
