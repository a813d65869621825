"""runs.jsonl: a damaged line is left out, and nothing else."""

from __future__ import annotations

import json

import pytest
from tests.support.results import made
from tests.support.studies import STUDY, flat

import neurotron as nt
from neurotron.lab import pages as report
from neurotron.lab.store import events


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    results = made(tmp_path_factory.mktemp("made") / "small", STUDY, flat, 1)
    results.folder.record("failed", setting="a", replicate=7, error="bad luck")
    return results.folder


def failed(**changes: object) -> str:
    event = {"time": "2026", "event": "failed", "setting": "a", "replicate": 5, "error": "no"}
    return json.dumps({name: value for name, value in (event | changes).items() if value != ...})


DAMAGED = [
    '{"event":"failed"}',
    *(failed(**{name: ...}) for name in ("time", "event", "setting", "replicate", "error")),
    failed(setting=["a"]), failed(setting={"a": 1}), failed(setting=None), failed(setting=3),
    failed(replicate="5"), failed(replicate=[5]), failed(replicate=True), failed(replicate=-1),
    failed(replicate=10**400), failed(replicate=5.0), failed(error={"a": "b"}), failed(time=1),
    '{"time": "2026", "event": "start", "kept": 1e400, "missing": 2}',
    '{"time": "2026", "event": "start", "kept": ' + "9" * 4300 + ', "missing": 1}',
    '{"time": "2026", "event": "unit", "seconds": NaN}',
    '{"time": "2026", "event": "unit", "seconds": 1e999}',
    "[" * 100_000, '{"a":' * 100_000, "null", "3", '"text"', "[1]", "", "\0", '{"time": "20',
]  # fmt: skip


@pytest.mark.parametrize("line", DAMAGED, ids=lambda line: line[:60])
def test_a_damaged_line_is_left_out(line):
    assert events.parse(f"{failed()}\n{line}\n{failed(replicate=6)}\n") == [
        json.loads(failed()), json.loads(failed(replicate=6)),
    ]  # fmt: skip


def test_damaged_lines_change_neither_tables_nor_page(folder):
    before = nt.load_results(folder.path)
    page = report.build(before, [])
    with open(folder.path / "runs.jsonl", "a") as file:
        file.write("\n".join(DAMAGED) + "\n")
    after = nt.load_results(folder.path)
    assert [(event["setting"], event["replicate"]) for event in after.failures] == [("a", 7)]
    assert after.asked == before.asked
    assert report.build(after, []) == page


def test_an_error_with_half_a_character_can_be_written_to_the_page(folder):
    folder.record("failed", setting="a", replicate=8, error="half a \ud83d character")
    report.write(nt.load_results(folder.path), [])
    assert "half a ? character" in (folder.path / "report.html").read_text("utf-8")
