"""The runner runs any pure function of text, and its results are one table."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from multiprocessing import get_context

import polars
import pytest
from tests.support.units import (
    SPEC,
    UNITS,
    at_odds,
    begun,
    echo,
    endless,
    mixture,
    nothing,
    sums,
)  # fmt: skip

import neurotron as nt
from neurotron._check import InputError
from neurotron.lab.results import load_table
from neurotron.lab.results.folder import Folder
from neurotron.lab.results.manifest import TRAINING
from neurotron.lab.studies.work import fingerprint, name_of


def work(function=sums, units=UNITS, **words) -> nt.lab.studies.Work:
    return nt.lab.studies.Work(SPEC | words, units, function)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def expected() -> list[dict]:
    """The rows of the table, from the function itself."""
    text = work().text
    return [
        {"setting": setting, "replicate": replicate} | row | {"drawn": row["drawn"].tolist()}
        for setting, replicate in sorted(UNITS)
        for row in sums(text, setting, replicate)
    ]


def test_a_function_of_ones_own_is_run_and_read_as_one_table(out):
    report = nt.lab.studies.run(work(), out)
    assert (report.wanted, report.computed, report.failures) == (3, 3, [])
    table = load_table(out)
    assert table.columns[:2] == ["setting", "replicate"]
    assert table.to_dicts() == expected()
    assert nt.lab.studies.run(work(), out).kept == 3


def test_processes_compute_the_same(out):
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        assert nt.lab.studies.run(work(), out, executor=executor).failures == []
    assert load_table(out).to_dicts() == expected()


def test_more_units_extend_what_is_there_and_a_damaged_one_is_computed_again(out):
    nt.lab.studies.run(work(units=UNITS[:2]), out)
    (out / "shards/few/0.parquet").write_bytes(b"half")
    with pytest.warns(UserWarning, match=r"left out: .*few/0\.parquet: .*Run again"):
        assert set(load_table(out)["setting"]) == {"many"}
    report = nt.lab.studies.run(work(), out)
    assert (report.kept, report.computed, len(report.set_aside)) == (1, 2, 1)
    assert load_table(out).to_dicts() == expected()


def test_the_folder_says_which_function_and_which_code_computed_it(out):
    nt.lab.studies.run(work(), out)
    manifest = Folder.read(out).manifest
    assert manifest["unit"] == "tests.support.units:sums"
    assert manifest["arms"] == {}
    assert manifest["environment"] == fingerprint(sums)
    assert len(manifest["environment"]["code"]) == 16


def test_the_name_of_the_training_unit_is_the_one_that_manifests_are_read_by():
    assert name_of(nt.lab.studies.train) == TRAINING


def test_results_of_other_code_are_refused_unless_mixed(out, monkeypatch):
    nt.lab.studies.run(work(units=UNITS[:1]), out)
    monkeypatch.setattr("neurotron.lab.studies.work.source_hash", lambda module: "f" * 64)
    with pytest.raises(InputError, match=r'code was ".*", is now "f{16}".*--mixed'):
        nt.lab.studies.run(work(), out)
    assert nt.lab.studies.run(work(), out, mixed=True).computed == 2


def test_the_function_is_not_told_words_which_may_change(out):
    nt.lab.studies.run(work(echo), out)
    nt.lab.studies.run(work(echo, title="Other words", claims=["one"]), out)
    texts = set(load_table(out)["text"])
    settings = [{"name": "few", "count": 3}, {"name": "many", "count": 5}]
    assert [json.loads(text) for text in texts] == [{"name": "sums", "settings": settings}]
    assert Folder.read(out).manifest["spec"]["title"] == "Other words"


def test_another_function_or_spec_is_refused(out):
    nt.lab.studies.run(work(), out)
    with pytest.raises(InputError, match=r"function was .*:sums.* is .*:echo"):
        nt.lab.studies.run(work(echo), out)
    with pytest.raises(InputError, match="another study: seed is new"):
        nt.lab.studies.run(work(seed=3), out)


def test_results_of_another_unit_are_no_training_runs(out):
    nt.lab.studies.run(work(), out)
    with pytest.raises(InputError, match=r"units:sums.*load_table"):
        nt.load_results(out)


# --- what comes back


def test_what_is_no_table_fails_with_one_sentence_and_the_others_go_on(out):
    report = nt.lab.studies.run(work(nothing), out)
    assert report.computed == 0
    assert {failure.error.partition(":")[0] for failure in report.failures} == {"InputError"}
    assert "must return a list of rows" in report.failures[0].error


def test_units_may_have_other_columns_and_no_rows(out):
    nt.lab.studies.run(work(mixture), out)
    table = load_table(out)
    assert table.rows() == [("few", 0, 1.0, None), ("many", 0, 0.5, "θ")]
    assert table["x"].dtype == polars.Float64


def test_a_column_of_text_and_numbers_in_two_units_is_told(out):
    nt.lab.studies.run(work(at_odds), out)
    with pytest.raises(InputError, match=r"'x' is Float64 in \('few', 0\) and String in \('many'"):
        load_table(out)


def test_a_forged_shard_with_right_hashes_is_left_out(out):
    nt.lab.studies.run(work(), out)
    Folder.read(out).save("few", 0, [{"setting": "many", "x": 1}])
    with pytest.warns(UserWarning, match=r"few/0\.parquet: it is not a shard"):
        assert load_table(out).height == 4


def test_a_folder_without_shards_is_an_empty_table(out):
    nt.lab.studies.run(work(nothing), out)
    assert load_table(out).schema == {"setting": polars.String, "replicate": polars.Int64}


def test_training_runs_are_a_table_too(out):
    study = nt.lab.studies.read("smoke").model_copy(update={"steps": 10})
    nt.lab.studies.run(study, out, replicates=1)
    table = load_table(out)
    assert table.columns[:4] == ["setting", "replicate", "arm", "status"]
    assert table.height == nt.load_results(out).runs.height


# --- progress and Ctrl-C


def test_a_unit_that_tells_its_progress_stops_on_ctrl_c(out):
    told = []

    def interrupt(state):
        told.append(state)
        if begun.is_set():
            raise KeyboardInterrupt

    endless_work = nt.lab.studies.Work(SPEC, UNITS[:1], endless)
    report = nt.lab.studies.run(endless_work, out, workers=1, progress=interrupt)
    assert report.interrupted
    assert all(0.0 <= state.share <= 1.0 and state.units == 1 for state in told)


# --- what is refused


@pytest.mark.parametrize(
    "function",
    [lambda *_: [], partial(sums), "sums", None, sums.__call__, print, str.upper],
    ids=["lambda", "partial", "text", "nothing", "method of an object", "built in", "method"],
)
def test_a_function_that_workers_cannot_import_is_refused(function):
    with pytest.raises(InputError, match=r"`function` .* top level of a file|no readable file"):
        work(function)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (None, "`spec` must have"),
        ({"name": "x"}, "`spec` must have"),
        ({"name": "x", "settings": [{"name": "../x"}]}, '"settings"'),
        ({"name": "x", "settings": [{"name": "a"}, {"name": "a"}]}, 'different "name"'),
        (SPEC | {"x": {1, 2}}, "plain JSON"),
        (SPEC | {"x": float("nan")}, "plain JSON"),
        (SPEC | {"x": reduce(lambda inner, _: [inner], range(5000), [])}, "plain JSON"),
        (SPEC | {"title": "\ud800"}, "plain JSON"),
    ],
)
def test_a_spec_that_is_none_is_refused(spec, sentence):
    with pytest.raises(InputError, match=sentence):
        nt.lab.studies.Work(spec, UNITS, sums)


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ([], "1 to 1,000,000 .*got 0"),
        ([("few", 0)] * 2, "different .*got 2"),
        ([("fw", 0)], "unknown setting of a unit 'fw': did you mean 'few'"),
        ([("few", -1)], "replicate` must be a whole number"),
        ([("few", 10**9)], "replicate` must be a whole number"),
        ([(3, 0)], "setting` must be text"),
        ([3], "`units` must be pairs"),
        (None, "`units` must be pairs"),
    ],
)
def test_units_that_are_none_are_refused(chosen, sentence):
    with pytest.raises(InputError, match=sentence):
        work(units=chosen)


def test_a_work_names_its_units_and_has_no_arms(out):
    with pytest.raises(InputError, match="`replicates` is for studies"):
        nt.lab.studies.run(work(), out, replicates=3)
    with pytest.raises(InputError, match="run the Study"):
        work(nt.lab.studies.train)
    with pytest.raises(InputError, match="run the Study"):
        nt.lab.studies.Work(SPEC, UNITS, sums, arms={"few": [], "many": []})
    with pytest.raises(InputError, match="`arms` must be a Mapping"):
        nt.lab.studies.Work(SPEC, UNITS, sums, arms=3)
    with pytest.raises(InputError, match="`check` must be a function"):
        nt.lab.studies.Work(SPEC, UNITS, sums, check=3)
    assert not out.exists()


class Callable:
    """A class can be called as well, but computes nothing."""


def test_a_class_is_no_function():
    with pytest.raises(InputError, match=r"`function` must be a function .*Callable"):
        work(Callable)
