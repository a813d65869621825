"""The results of studies of public tables: medians, intervals, and what is damaged."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from tests.support.damages import made_damages, tables_study

import neurotron as nt
from neurotron.lab.pages import page
from neurotron.lab.results.damage_summary import compact_damages_csv, standing, summarise_damages
from neurotron.lab.results.damages import middle
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.loading import load
from neurotron.lab.results.rows import plain_rows
from neurotron.lab.results.shard import rows_of

STUDY = tables_study()


def by_split(setting, replicate, fit):
    """A world in which damages grow with the number of the split, twice as much for Huber."""
    size = {"ours": 1.0, "Huber": 2.0}.get(fit["method"], 0.5)
    return {"error": 2.0 * (1.0 + 0.01 * size * replicate), "mixture": None}


@pytest.fixture(scope="module")
def damages(tmp_path_factory):
    return made_damages(tmp_path_factory.mktemp("damages") / "out", STUDY, by_split)


@pytest.mark.parametrize("count", range(1, 60))
def test_the_interval_of_a_median_is_the_narrowest_of_ranks_with_95_per_cent(count):
    found = middle(np.arange(1.0, count + 1.0))
    assert found.estimate == (count + 1.0) / 2.0
    if math.isinf(found.low):
        assert 2.0 * binom.cdf(0, count, 0.5) > 0.05
        return
    rank = int(found.low)
    assert found.high == count + 1 - rank
    assert 2.0 * binom.cdf(rank - 1, count, 0.5) <= 0.05 < 2.0 * binom.cdf(rank, count, 0.5)


def test_the_median_of_infinite_values_is_infinite():
    assert middle([1.0, math.inf, math.inf]).estimate == math.inf


def test_damage_is_relative_to_least_squares_without_an_attack(damages):
    row = damages.damages.filter(method="Huber", replicate=10, setting="diabetes").row(
        0, named=True
    )
    assert row["damage"] == pytest.approx(0.2)
    assert row["more"] == pytest.approx(0.1)


def test_intervals_are_those_of_the_median_of_the_differences(damages):
    huber = summarise_damages(damages).filter(setting="diabetes", attack="none", method="Huber")
    row = huber.row(0, named=True)
    numbers = [row[name] for name in ("damage", "damage_low", "damage_high", "largest")]
    assert numbers == pytest.approx([0.19, 0.10, 0.28, 0.38])
    assert [row["more_low"], row["more_high"]] == pytest.approx([0.05, 0.14])
    assert row["splits"] == 20


def test_a_method_has_less_damage_than_the_first_one_more_or_the_same():
    rows = [(-2.0, -1.0), (1.0, 2.0), (-1.0, 1.0), (0.0, 0.0)]
    found = [standing({"more_low": low, "more_high": high}) for low, high in rows]
    assert found == ["less", "more", "same", "same"]


def test_the_first_method_of_each_setting_is_the_one_that_others_are_compared_with(damages):
    assert damages.leads == {"diabetes": "ours", "randhie": "ours", "cell": "right"}
    ours = damages.damages.filter(method="ours")
    assert ours.filter(setting="diabetes")["more"].abs().max() == 0.0
    assert ours.filter(setting="cell")["more"].max() > 0.0


def test_mixtures_are_those_of_the_first_method(tmp_path):
    def outcome(setting, replicate, fit):
        used = fit["attack"] == "other-model" and replicate < 3
        return {"mixture": used if fit["method"] == "ours" else None}

    found = summarise_damages(made_damages(tmp_path / "out", STUDY, outcome, 4))
    of_table = found.filter(setting="diabetes")
    assert set(of_table.filter(attack="other-model")["mixtures"]) == {3}
    assert set(of_table.filter(attack="none")["mixtures"]) == {0}
    assert set(found.filter(setting="cell")["mixtures"]) == {0}


def test_the_small_table_is_in_per_cent_and_has_a_line_for_every_attack(damages):
    text = compact_damages_csv(damages)
    lines = text.splitlines()
    assert len(lines) == 1 + 3 * 5
    assert lines[0].startswith("setting,attack,shift,probability,splits,mixtures,damage: ours,")
    assert lines[2].startswith("diabetes,one-side,2,0.1,20,0,9.5,19,4.75,,5,10,")
    table = pl.read_csv(text.encode())
    assert table["damage: right"].null_count() == 10


def test_a_folder_is_loaded_as_what_it_is(damages):
    assert load(damages.folder.path).fits.equals(damages.fits)
    with pytest.raises(nt.InputError, match=r"no training runs.*load_damages"):
        nt.load_results(damages.folder.path)
    with pytest.raises(nt.InputError, match="no results of a study of rows"):
        nt.lab.results.load_fits(damages.folder.path)
    assert "few-tables" in repr(damages)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[:-1], "not those of the study"),
        (lambda rows: [*rows[1:], rows[0]], "not those of the study"),
        (lambda rows: [row | {"method": "trim"} for row in rows], "not those of the study"),
        (lambda rows: [row | {"error": -1.0} for row in rows], "no fit can have"),
        (lambda rows: [row | {"error": float("nan")} for row in rows], "no fit can have"),
        (lambda rows: [row | {"reference": 0.0} for row in rows], "no fit can have"),
        (lambda rows: [row | {"rows": None} for row in rows], "no fit can have"),
        (lambda rows: [row | {"more": 1} for row in rows], "columns are not those"),
    ],
    ids=["short", "order", "method", "negative", "nan", "reference", "null", "column"],
)
def test_a_table_that_no_unit_can_return_is_left_out(change, reason, tmp_path):
    made = made_damages(tmp_path / "out", STUDY, by_split, 1)
    held = Folder.read(made.folder.path)
    held.save("diabetes", 0, plain_rows(change(rows_of(held.load("diabetes", 0)))))
    after = load(made.folder.path)
    assert after.replicates["diabetes"] == 0
    assert len(after.damaged) == 1
    assert reason in after.damaged[0]


def test_an_empty_folder_has_an_empty_table(tmp_path):
    none = made_damages(tmp_path / "out", STUDY, by_split, 0)
    assert none.damages.is_empty()
    assert summarise_damages(none).is_empty()
    assert compact_damages_csv(none).count("\n") == 1
    assert nt.lab.figures.charts(none) == []
    assert "No fits have been computed yet" in page.build(none, [])
