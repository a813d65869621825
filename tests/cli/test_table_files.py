"""Files of tables: as wide and as long as they come, and copied without a change."""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.cli import in_this_process, refused, run
from tests.support.messages import says

from neurotron.cli import table_file
from neurotron.cli.table_file import TableFile
from neurotron.cli.table_options import LabelledOptions

LABEL = ("--label", "price")


def write_wide(path: Path, cells: dict[str, str], times: int = 1, rows: int = 3) -> Path:
    """Write a table with these cells in all rows, so many times beside each other."""
    names = [f"{name}{i}" for i in range(times) for name in cells]
    row = ",".join([*cells.values()] * times)
    path.write_text("\n".join([",".join([*names, "price"]), *(f"{row},{i}" for i in range(rows))]))
    return path


def test_a_wide_table_costs_no_time_for_each_column(tmp_path):
    seconds = {}
    for columns in (50, 5000):  # the first one also loads what reads tables
        path = write_wide(tmp_path / "wide.csv", {"size": "1.5"}, columns)
        began = time.process_time()
        inputs, *_ = LabelledOptions(data=path, label=["price"], skip_missing=True).read()
        assert inputs.X.shape == (3, columns)
        seconds[columns] = time.process_time() - began
    # 0.2 s on a fast machine and 2 s on a slow one; above 3 s on any with a look at each column
    assert seconds[5000] < 3.0


@pytest.mark.parametrize("name", ["wide.csv", "wide.parquet"])
def test_too_many_columns_are_refused_by_the_header(name, data, monkeypatch):
    run("fit", data, *LABEL, "--out", "m.safetensors")
    table = write_wide(Path("wide.csv"), {"size": "1", "age": "2"}, 30)
    pl.read_csv(table).write_parquet("wide.parquet")
    for reader in ("read_csv", "read_parquet"):
        monkeypatch.setattr(pl, reader, lambda *_, **__: pytest.fail("read all of it"))
    monkeypatch.setattr(table_file, "MOST_COLUMNS", 60)
    for command in (("clean", name, *LABEL), ("predict", "m.safetensors", name)):
        assert says(refused(*command), name, "61 columns", "more than 60", "leave out")


def test_a_small_file_with_long_texts_is_refused(data, monkeypatch):
    """A Parquet file keeps equal texts once: 24 GB of them fitted into 76 kB."""
    monkeypatch.setattr(table_file, "MOST_BYTES", 10**5)
    texts = pl.repeat("x" * 200, 1000, eager=True)
    pl.DataFrame({"text": texts, "price": range(1000)}).write_parquet("texts.parquet")
    assert Path("texts.parquet").stat().st_size < 10**4
    assert says(refused("clean", "texts.parquet", *LABEL), "texts.parquet", "unpack", "leave out")


@pytest.mark.parametrize("values", [[[0.0] * 9] * 5, [{"height": 1.0}] * 5], ids=["list", "record"])
def test_lists_and_records_are_refused_before_they_unpack(values, data, monkeypatch):
    """A Parquet file keeps equal numbers once: 800 MB of lists in 20 rows fitted into 28 kB."""
    pl.DataFrame({"many": values, "price": range(5)}).write_parquet("lists.parquet")
    monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: pytest.fail("read all of it"))
    told = refused("clean", "lists.parquet", *LABEL, "--drop", "many")
    assert says(told, "'many'", "lists or records", "without it")


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1.5", 1.5),
        (" -2e3 ", -2000.0),
        (" True", 1.0),
        ("false", 0.0),
        ("12345678901234567", 12345678901234567.0),
    ],
)
def test_cells_are_numbers_with_blanks_around_them_and_truth_values(cell, number):
    frame = pl.DataFrame({"a": ["3"], "b": [cell], "c": [2], "d": [True]})
    table = TableFile("t", frame, np.array([1]), "", ";")
    found = table.inputs(["d", "c", "b", "a"], needed=False)
    assert found.to_dicts() == [{"d": 1.0, "c": 2.0, "b": number, "a": 3.0}]


NAMES = ['say "hi"', '"', 'a "" b', "x,y", 'end"', "price"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_quotes_in_the_header_are_the_same_in_every_copy(ends, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    with Path("first.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator=ends)
        writer.writerows([NAMES, *draw.normal(size=(90, len(NAMES))).tolist()])
    run("poison", "first.csv", *LABEL, "--bound", "1", "--drop", '"', "--out", "second.csv")
    run("clean", "second.csv", *LABEL, "--drop", 'say "hi"', "--cleaned", "third.csv")
    for name in ("second.csv", "third.csv"):
        with Path(name).open(newline="") as file:
            assert next(csv.reader(file)) == NAMES


def no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("link", [os.link, no_links])
@pytest.mark.parametrize(
    "command",
    [
        ("clean", "data.csv", *LABEL, "--out", "new.csv"),
        ("clean", "data.csv", *LABEL, "--cleaned", "new.csv"),
        ("predict", "m.safetensors", "data.csv", "--out", "new.csv"),
        ("poison", "data.csv", *LABEL, "--bound", "1", "--out", "new.csv"),
        ("poison", "data.csv", *LABEL, "--bound", "1", "--out", "o.csv", "--changed", "new.csv"),
        ("fit", "data.csv", *LABEL, "--out", "new.safetensors"),
    ],
)
def test_a_file_that_appears_during_the_work_is_not_replaced(link, command, data, monkeypatch):
    run("fit", data, *LABEL, "--out", "m.safetensors")
    mine, place = Path("m.safetensors").read_bytes(), Path(command[-1])
    read = table_file.read_table

    def slow(*given: Any, **options: Any) -> TableFile:
        place.write_bytes(mine)
        return read(*given, **options)

    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr(table_file, "read_table", slow)
    done = in_this_process(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert says(done.stderr, place.name, "File exists", "another place")
    assert place.read_bytes() == mine
    assert not [*Path().glob(".*")]
    for written in (place, Path("o.csv")):
        written.unlink(missing_ok=True)
    monkeypatch.setattr(table_file, "read_table", read)
    run(*command)
    assert place.exists()
    assert not [*Path().glob(".*")]
