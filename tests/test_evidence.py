"""Stored rows say which code they are of, and are computed again unless told otherwise."""

from __future__ import annotations

import pytest
from evidence import store


@pytest.fixture
def code(tmp_path, monkeypatch):
    """Return a function that sets the state of the code, and the setting that keeps other rows."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    def state(name, *, keeps=False):
        monkeypatch.setattr(store, "code_hash", lambda *_: name)
        monkeypatch.setattr(store, "KEEPS", keeps)

    return state


def results(number, *cases):
    return store.collect("some", "Some", {case: lambda: {"value": number} for case in cases})


def test_rows_of_other_code_are_computed_again(code):
    code("old")
    results(1, "a")
    code("new")
    assert [row["value"] for row in results(2, "a", "b")] == [2, 2]


def test_only_missing_rows_are_computed_if_others_are_to_be_kept(code, tmp_path):
    code("old")
    results(1, "a")
    code("new", keeps=True)
    assert [row["value"] for row in results(2, "a", "b")] == [1, 2]
    foot = (tmp_path / "some.md").read_text()
    assert "rows 1, code old" in foot
    assert "rows 1, code new" in foot
    assert store.stored("some") == {"a": {"value": 1}, "b": {"value": 2}}


def test_the_foot_of_a_table_is_a_sentence_that_names_the_command(code, tmp_path):
    store.write_table("some", "Some", [{"a": 1}], [{"numpy": "2.0"}], "neurotron run some")
    assert (
        (tmp_path / "some.md").read_text().endswith("\nFrom `neurotron run some` with numpy 2.0.\n")
    )
