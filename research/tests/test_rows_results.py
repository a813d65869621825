"""The results of studies of rows: what counts as solved, how many rows are enough, and damage."""

from __future__ import annotations

import polars as pl
import pytest
from tests.support.fits import made_fits, rows_study
from tools import evidence

import neurotron as nt
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.loading import load
from neurotron.lab.results.needed import compact_fits_csv, needed
from neurotron.lab.results.rows import plain_rows
from neurotron.lab.results.shard import rows_of

STUDY = rows_study()


def from_eight_rows_on(setting, replicate, fit):
    """A world in which the constant attack needs N/r = 8, picked rows cannot be solved."""
    if setting == "noise":
        return {"error": {"honest": 0.1, "solve": 0.2, "least-squares": 0.5}[fit["solver"]]}
    lost = fit["attack"] == "picked-rows" or (
        fit["attack"] == "constant" and fit["rows_per_weight"] < 8
    )
    return {"error": 0.5 if lost else 1e-15}


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    return made_fits(tmp_path_factory.mktemp("fits") / "out", STUDY, from_eight_rows_on)


def cells(fits, **where):
    return fits.smallest.filter(**where)["smallest"].to_list()


def test_the_smallest_number_of_rows_is_where_problems_begin_to_be_solved(fits):
    assert cells(fits, setting="paper", attack="none") == [2.0]
    assert cells(fits, setting="paper", attack="constant") == [8.0, 8.0]
    assert cells(fits, setting="paper", attack="picked-rows") == [None, None]


def test_a_problem_that_was_solved_twice_counts_as_solved_with_more_rows(fits):
    without = fits.fits.filter(setting="paper", attack="none", replicate=0)
    assert without["rows_per_weight"].to_list() == [2.0, 4.0]  # larger ones were not computed
    shares = fits.shares.filter(setting="paper", attack="none")
    assert shares["solved"].to_list() == shares["problems"].to_list() == [6] * 4


def test_one_failure_of_twenty_is_allowed_but_not_at_a_larger_number_of_rows(tmp_path):
    def outcome(setting, replicate, fit):
        at = fit["rows_per_weight"]
        lost = (replicate == 0 and at == 2) or (replicate in (1, 2) and at == 4)
        return {"error": 1.0 if lost else 1e-15}

    study = STUDY.model_copy(update={"settings": STUDY.settings[:1]})
    found = made_fits(tmp_path / "out", study, outcome, 20)
    assert cells(found, attack="none") == [8.0]  # 19 of 20 at N/r = 2, but 18 of 20 at 4


def test_errors_are_divided_by_those_of_honest_rows_in_the_same_problem(fits):
    ratios = fits.ratios.filter(solver="solve")
    assert set(ratios["ratio"]) == {2.0}
    assert sorted(set(ratios["size"])) == [0.0, 1.0, 10.0]
    assert "honest" not in set(fits.ratios["solver"])


def test_a_table_of_the_smallest_numbers_has_a_column_for_every_probability(fits):
    betas, rows = needed(fits)
    assert betas == [0.0, 0.2, 0.4]
    assert [row.cells for row in rows[:3]] == [("2", "", ""), ("", "8", "8"), ("", "–", "–")]
    assert {row.setting for row in rows} == {"paper", "gate"}


def test_the_small_table_has_all_three_kinds_of_numbers(fits):
    text = compact_fits_csv(fits)
    assert "paper,constant,4,0.4,solve,,6,,8,,,1\n" in text
    assert "rivals,constant,4,0.4,trim,8,6,1,,,,\n" in text
    assert "noise,constant,0.1,0.4,least-squares,20,6,,,5,5,\n" in text


def test_a_folder_is_loaded_as_what_it_is(fits):
    assert load(fits.folder.path).fits.equals(fits.fits)
    with pytest.raises(nt.InputError, match=r"no training runs.*load_fits"):
        nt.load_results(fits.folder.path)
    assert "few" in repr(fits)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[:-1], "not those of the study"),
        (lambda rows: rows[1:], "not those of the study"),
        (lambda rows: [row | {"solver": "trim"} for row in rows], "not those of the study"),
        (lambda rows: [row | {"error": -1.0} for row in rows], "no fit can have"),
        (lambda rows: [row | {"error": float("nan")} for row in rows], "no fit can have"),
        (lambda rows: [row | {"rows": None} for row in rows], "no fit can have"),
        (lambda rows: [row | {"more": 1} for row in rows], "columns are not those"),
    ],
)
def test_a_table_that_no_unit_can_return_is_left_out_and_computed_again(change, reason, tmp_path):
    fits = made_fits(tmp_path / "out", STUDY, from_eight_rows_on, 1)
    held = Folder.read(fits.folder.path)
    rows = rows_of(held.load("paper", 0))
    held.save("paper", 0, plain_rows(change(rows)))
    after = load(fits.folder.path)
    assert after.replicates["paper"] == 0
    assert len(after.damaged) == 1
    assert reason in after.damaged[0]


@pytest.mark.parametrize("error", [0.0, float("inf")])
def test_noisy_labels_without_an_honest_error_to_compare_with_are_left_out(error, tmp_path):
    held = made_fits(tmp_path / "out", STUDY, from_eight_rows_on, 1).folder
    rows = rows_of(held.load("noise", 0))
    forged = [row | {"error": error if row["solver"] == "honest" else row["error"]} for row in rows]
    Folder.read(held.path).save("noise", 0, forged)
    (line,) = load(held.path).damaged
    assert "no fit can have" in line


def test_an_empty_folder_has_an_empty_table(tmp_path):
    fits = made_fits(tmp_path / "out", STUDY, from_eight_rows_on, 0)
    assert fits.fits.is_empty()
    assert fits.smallest.is_empty()
    assert fits.ratios.is_empty()
    assert isinstance(fits.exact, pl.DataFrame)
    assert compact_fits_csv(fits).count("\n") == 1


def test_the_evidence_of_a_study_of_rows_has_the_table_and_every_comparison(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "STORE", tmp_path)
    monkeypatch.setattr(evidence, "VERDICTS", tmp_path / "verdicts.json")
    rows = rows_study("few-rows-suffice").model_copy(update={"name": "rows"})
    results = made_fits(tmp_path / "out", rows, from_eight_rows_on, 5)
    evidence.keep("rows", evidence.entry_of(results), evidence.csv_of(results))
    entry = evidence.stored()["rows"]
    assert entry["needed"]["betas"] == [0.0, 0.2, 0.4]
    assert ["P", "constant", "", "8", "8"] in entry["needed"]["rows"]
    page = (tmp_path / "rows.md").read_text()
    assert "| P | picked-rows |  | – | – |" in page
    assert entry["claims"]["few-rows-suffice"]["effect"] in page
    assert ", 20 to 40 replicates of every setting" in page
    assert (tmp_path / "rows.csv").read_text() == compact_fits_csv(results)
    with pytest.raises(SystemExit, match="another study than 'rows'"):
        evidence.judge_again("rows", tmp_path / "out")
