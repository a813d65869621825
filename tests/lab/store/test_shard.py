"""A shard: what goes in comes out, and no change to it goes unnoticed."""

from __future__ import annotations

import io
import math
import platform
import time

import numpy as np
import polars
import pytest

from neurotron.lab.store import shard
from neurotron.lab.store.shard import Damaged, Identity, decode, encode
from neurotron.work.columns import TYPES, checked_columns, plain_rows

IDENTITY = Identity("0123456789abcdef", "normal", 7)
COLUMNS = checked_columns(
    {"text": str, "truth": bool, "whole": int, "real": float, "wholes": list[int],
     "reals": list[float]}
)  # fmt: skip
VALUES = {
    "text": ["", "θ\n", "neurotron-seal:" + "0" * 64, None], "truth": [True, None, False, True],
    "whole": [-(2**63), 3, None, 0], "real": [math.inf, None, -0.0, 5e-324],
    "wholes": [np.arange(2), None, [], [2**62]], "reals": [[0.1], np.array([np.nan, -0.0]), None,
                                                           []],
}  # fmt: skip
ROWS = plain_rows(VALUES, COLUMNS)
DATA = encode(ROWS, COLUMNS, IDENTITY)


@pytest.fixture
def no_parser(monkeypatch):
    """Nothing may parse the file."""

    def parse(*_: object) -> None:
        pytest.fail("a damaged shard reached a parser")

    monkeypatch.setattr(polars, "read_parquet_metadata", parse)
    monkeypatch.setattr(polars, "read_parquet", parse)


def test_every_column_comes_back_bit_for_bit():
    assert {*COLUMNS.values()} == {*TYPES.values()}
    table = decode(DATA, COLUMNS, IDENTITY)
    assert table.schema == shard.schema_of(COLUMNS)
    for put, got in zip(ROWS, table.to_dicts(), strict=True):
        for name, value in put.items():
            if isinstance(value, np.ndarray):
                assert np.array(got[name], value.dtype).tobytes() == value.tobytes()
            else:
                assert (got[name], str(got[name])) == (value, str(value))


def test_types_do_not_depend_on_the_values_and_no_rows_come_back():
    for rows in ([dict.fromkeys(COLUMNS)], []):
        table = decode(encode(rows, COLUMNS, IDENTITY), COLUMNS, IDENTITY)
        assert table.schema == shard.schema_of(COLUMNS)
        assert len(table) == len(rows)


def test_other_columns_than_those_of_the_study_are_damage():
    for columns in ({"text": "str"}, COLUMNS | {"more": "str"}, COLUMNS | {"whole": "float"}):
        with pytest.raises(Damaged, match="its columns are not those of the study"):
            decode(DATA, columns, IDENTITY)


def test_a_flipped_bit_anywhere_is_noticed(no_parser):
    draw = np.random.default_rng(0)
    footer = range(len(DATA) - 8 - int.from_bytes(DATA[-8:-4], "little"), len(DATA))
    assert DATA.rfind(shard.SEAL) in footer
    for place in {*range(8), *footer, *draw.integers(len(DATA), size=300).tolist()}:
        changed = bytearray(DATA)
        changed[place] ^= 1 << draw.integers(8)
        with pytest.raises(Damaged):
            decode(bytes(changed), COLUMNS, IDENTITY)


def test_a_shard_cut_short_or_lengthened_is_noticed(no_parser):
    for length in {*range(0, len(DATA), 7), *range(len(DATA) - 200, len(DATA))}:
        with pytest.raises(Damaged):
            decode(DATA[:length], COLUMNS, IDENTITY)
    for longer in (DATA + b"\0", b"\0" + DATA, DATA + DATA):
        with pytest.raises(Damaged):
            decode(longer, COLUMNS, IDENTITY)


def test_what_is_no_shard_is_told_so(no_parser):
    file = io.BytesIO()
    polars.DataFrame({"text": ["SGD"]}).write_parquet(file)
    for data in (b"", b"PAR1", b"\0" * 5000, shard.SEAL, shard.SEAL + b"0" * 64, file.getvalue()):
        with pytest.raises(Damaged, match=r"not a complete shard|was changed"):
            decode(data, COLUMNS, IDENTITY)


@pytest.mark.parametrize(
    ("identity", "sentence"),
    [
        (Identity("f" * 16, "normal", 7), "setting 'normal', replicate 7 of another study"),
        (Identity("0123456789abcdef", "laplace", 7), "setting 'normal', replicate 7$"),
        (Identity("0123456789abcdef", "normal", 8), "setting 'normal', replicate 7$"),
    ],
)
def test_a_shard_of_somebody_else_is_named_as_such(identity, sentence):
    with pytest.raises(Damaged, match=f"it belongs to {sentence}"):
        decode(DATA, COLUMNS, identity)


def test_equal_values_make_equal_files_at_any_time_on_any_machine(monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "another-machine")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert encode(ROWS, COLUMNS, IDENTITY) == DATA
