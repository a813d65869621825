"""What label poisoning costs on public tables: docs/evidence/tables.csv, and a sample of it."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tools import tables_guide
from tools.tables_guide import CONVOLUTION, HUBER, OURS, TOLD, behind

import neurotron as nt
from neurotron.lab.studies.public_tables import LOGARITHMS, TABLES
from neurotron.lab.studies.table_unit import damage

KEYS = ("setting", "attack", "probability")
STUDY = nt.lab.studies.read("tables")


@pytest.fixture(scope="module")
def stored():
    return tables_guide.stored()


def cells(rows, column="damage"):
    """Return a column for each table, attack and probability."""
    return {tuple(key): value for *key, value in rows.select(*KEYS, column).rows()}


def guide():
    """Return the guide on one line."""
    return " ".join(tables_guide.GUIDE.read_text().split())


# ---- the bars, in the stored table ---------------------------------------------------------------


def test_every_case_is_stored_with_twenty_splits(stored):
    assert set(stored["splits"]) == {STUDY.replicates} == {20}
    assert set(stored.select(*KEYS, "method").rows()) == {
        (setting.name, attack.name.replace("-", " "), attack.probability, method)
        for setting in STUDY.settings
        for sweep in setting.sweeps
        for attack in sweep.attacks
        for method in STUDY.methods_of(setting)
    }
    assert {setting.name for setting in STUDY.settings} == set(TABLES)


def test_without_an_attack_the_error_on_logarithms_is_within_2_per_cent_of_least_squares(stored):
    clean = stored.filter(pl.col("setting").is_in(LOGARITHMS), attack="none", method=OURS)
    assert clean["damage"].max() <= 2.0
    assert len(clean) == len(LOGARITHMS)


def diamonds(stored, method):
    attacks = pl.col("attack").is_in(["one side", "other model"])
    return stored.filter(attacks, setting="diamonds", method=method)


def test_attacks_on_diamonds_cost_less_than_1_per_cent(stored):
    assert diamonds(stored, OURS)["damage"].max() <= 1.0
    assert diamonds(stored, HUBER).filter(probability=0.3)["damage"].min() > 20.0


def test_on_diamonds_trim_that_is_told_the_share_has_no_less_damage(stored):
    assert behind(diamonds(stored, TOLD), TOLD).is_empty()


def test_huber_has_less_damage_in_two_cells_which_are_named(stored):
    found = behind(stored, HUBER).select(*KEYS).rows()
    assert found == [("randhie", "one side", 0.1), ("randhie", "one side", 0.3)]
    assert "Huber's regression does in two, both of randhie." in guide()
    assert "**Randhie, one side.** Labels are counts" in guide()


def test_large_leverage_costs_no_more_on_diabetes_than_if_its_share_were_known(stored):
    cell = stored.filter(setting="diabetes", attack="large leverage", probability=0.1)
    assert behind(cell, TOLD).is_empty()
    assert cells(cell.filter(method=OURS))["diabetes", "large leverage", 0.1] < 2.0


def test_the_mixture_is_never_used_without_an_attack(stored):
    assert stored.filter(attack="none")["mixtures"].max() == 0
    assert stored["mixtures"].max() == 20


def test_large_leverage_defeats_every_method_on_some_table(stored):
    linear = stored.filter(
        pl.col("method") != CONVOLUTION, attack="large leverage", probability=0.3
    )
    assert linear.group_by("method").agg(pl.col("damage").max())["damage"].min() > 50.0


# ---- the pages -----------------------------------------------------------------------------------


def test_the_tables_of_the_guide_are_written_from_the_evidence(stored):
    text = tables_guide.GUIDE.read_text()
    assert text == tables_guide.filled(text, stored, tables_guide.without_mixture())
    assert text.count("<!-- end -->") == 4


@pytest.mark.parametrize(
    ("cell", "method", "words"),
    [
        (("engel", "none", 0.0), OURS, "within {:.1f} % of least squares"),
        (("stackloss", "none", 0.0), OURS, "stackloss ({:.1f} %"),
        (("trump_approval", "other model", 0.3), OURS, "cost the regressor at most {:.2f} %"),
        (("trump_approval", "one side", 0.3), HUBER, "Huber's regression up to {:.0f} %"),
        (("cell", "large leverage", 0.3), CONVOLUTION, "even the right network loses {:.0f} %"),
        (("diamonds", "one side", 0.3), HUBER, "Huber's regression loses {:.0f} %"),
        (("diabetes", "large leverage", 0.3), OURS, "the regressor loses {:.0f} % on diabetes"),
        (("engel", "large leverage", 0.3), OURS, "and {:.0f} % on engel"),
        (("engel", "large leverage", 0.3), HUBER, "and {:.0f} %. Few methods"),
        (("diamonds", "large leverage", 0.3), OURS, "the regressor on diamonds ({:.1f} %)"),
        (("engel", "large leverage", 0.3), "RANSAC", "RANSAC on engel ({:.1f} %)"),
        (("diamonds", "large leverage", 0.3), "RANSAC", "RANSAC loses {:.0f} % on diamonds"),
        (("diabetes", "large leverage", 0.1), OURS, "with β = 0.1 the damage is {:.2f} %"),
        (("diabetes", "large leverage", 0.1), HUBER, "Huber's regression loses {:.1f} %."),
        (("diamonds", "none", 0.0), OURS, "large residuals less, which costs {:.1f} %"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_the_guide_says_what_is_stored(stored, cell, method, words):
    assert words.format(cells(stored.filter(method=method))[cell]) in guide()


def test_what_the_guide_says_of_the_largest_damages_is_so(stored):
    rows = pl.col("attack").is_in(["one side", "other model", "random sign"])
    random = stored.filter(rows)
    trump = random.filter(setting="trump_approval")
    assert trump.filter(method=OURS)["damage"].max() == 0.41
    assert round(trump.filter(method=HUBER)["damage"].max()) == 39
    clean = stored.filter(pl.col("setting") != "stackloss", attack="none", method=OURS)
    assert clean["damage"].max() == 0.69
    cell = stored.filter(rows | (pl.col("attack") == "none"), setting="cell")
    assert cell.filter(method=CONVOLUTION)["damage"].max() < -83.3  # a sixth
    assert cell.filter(method=OURS)["damage"].max() < 3.0


# ---- a sample, computed again: diabetes comes with scikit-learn ----------------------------------


def test_a_split_of_diabetes_is_as_it_is_stored(stored):
    """The damage of a split is at most the largest one that is stored."""
    attacks = [{"attack": "none"}, {"attack": "other-model", "probability": [0.3]}]
    setting = {"name": "diabetes", "methods": [OURS, HUBER], "sweeps": attacks}
    spec = {"name": "some", "kind": "tables", "methods": STUDY.methods, "settings": [setting]}
    rows = damage(json.dumps(spec), "diabetes", 3)
    found = {
        (row["attack"], row["method"]): 100.0 * (row["error"] / row["reference"] - 1.0)
        for row in rows
    }
    for (attack, method), value in found.items():
        chosen = stored.filter(
            pl.col("probability").is_in([0.0, 0.3]), setting="diabetes", method=method,
            attack=attack.replace("-", " "),
        )  # fmt: skip
        assert value <= chosen["largest"].item() + 0.1
    assert found["none", OURS] < 2.0
    assert found["other-model", OURS] < found["other-model", HUBER] - 5.0
