"""A shard: what goes in comes out, and no change to it goes unnoticed."""

from __future__ import annotations

import io
import math
import platform
import time

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurotron.lab.results import shard
from neurotron.lab.results.rows import Row, plain_rows
from neurotron.lab.results.shard import Damaged, Identity, content_hash, decode, encode, verify
from neurotron.lab.results.training import PREDICTIONS, SCHEMA, sound

IDENTITY = Identity("0123456789abcdef", "normal", 7)


def row(**changes: object) -> Row:
    values = {
        "arm": "Neuro-Tron, alternating-sign θ=0.25 β=0.5", "status": "finished",
        "stopped_at": None, "radius": 0.5, "root_mean_square": 0.1, "theorem1_radius": None,
        "verified_radius": None,
        **dict.fromkeys(PREDICTIONS),
        "weights": np.array([1.0, -2.0]), "true_weights": np.array([1.0, -2.5]),
        "attack_vector": None, "steps": np.array([0, 1, 10]),
        "errors": np.array([1.0, 0.5, 0.1]), "losses": np.array([2.0, 0.0, 0.25]),
    }  # fmt: skip
    return values | changes


ROWS = [
    row(),
    row(
        arm="SGD", status="diverged", stopped_at=1, radius=math.inf, theorem1_radius=5e-324,
        attack_vector=np.array([0.1, -0.0]), steps=np.array([], int), errors=np.array([]),
        losses=np.array([np.inf, np.nan]),
    ),
    row(arm="neurotron-seal:" + "0" * 64),
]  # fmt: skip
DATA = encode(ROWS, IDENTITY)


@pytest.fixture
def no_parser(monkeypatch):
    """Nothing may parse the file."""

    def parse(*_: object) -> None:
        pytest.fail("a damaged shard reached a parser")

    monkeypatch.setattr(polars, "read_parquet_metadata", parse)
    monkeypatch.setattr(polars, "read_parquet", parse)


def test_every_column_comes_back_bit_for_bit():
    assert verify(DATA, IDENTITY) == content_hash(ROWS, IDENTITY)
    table = decode(DATA, IDENTITY)
    assert table.columns == list(ROWS[0])
    for put, got in zip(ROWS, table.iter_rows(named=True), strict=True):
        for name, value in put.items():
            if isinstance(value, np.ndarray):
                assert np.asarray(got[name], value.dtype).tobytes() == value.tobytes(), name
            else:
                assert got[name] == value, name


def test_the_content_of_training_runs_has_the_hash_it_always_had():
    digest = "360db3297a5025a71ad0d5dc922508355cd16793612da6867cef3969ff13aec9"
    assert content_hash(ROWS, IDENTITY) == digest
    assert content_hash(plain_rows(ROWS), IDENTITY) == digest


def test_types_of_training_runs_do_not_depend_on_the_values():
    bare = row(stopped_at=None, radius=None, theorem1_radius=None, attack_vector=None)
    full = row(stopped_at=3, radius=1.0, theorem1_radius=2.0, attack_vector=np.ones(2))
    for one in (bare, full):
        table = sound(decode(encode([one], IDENTITY), IDENTITY), [one["arm"]])
        assert dict(table.schema) == SCHEMA


def test_a_table_of_any_columns_comes_back():
    rows = plain_rows(
        {
            "text": ["", "θ\n", None], "truth": [True, None, False], "whole": [-(2**63), 3, None],
            "real": [math.inf, None, -0.0], "wholes": [np.arange(2), None, []],
            "reals": [[0.1], np.array([np.nan]), None], "nothing": [None] * 3,
        }
    )  # fmt: skip
    data = encode(rows, IDENTITY)
    table = decode(data, IDENTITY)
    assert list(table.schema.values()) == [*[*shard.TYPES.values()][1:], polars.Null]
    assert verify(data, IDENTITY) == content_hash(shard.rows_of(table), IDENTITY)
    assert str(shard.rows_of(table)) == str(rows)


def test_a_table_of_no_rows_comes_back():
    assert decode(encode([], IDENTITY), IDENTITY).shape == (0, 0)


@pytest.mark.parametrize(
    "column",
    [
        polars.Series("x", [[True]]), polars.Series("x", ["a"], polars.Categorical),
        polars.Series("x", [1], polars.Int32), polars.Series("x", [{"a": 1}]),
        polars.Series("x", [[1, None]]), polars.Series("setting", ["a"]),
    ],
    ids=lambda column: str(column.dtype),
)  # fmt: skip
def test_a_table_that_no_unit_can_return_is_refused(column):
    with pytest.raises(ValueError, match=r"column|missing"):
        shard.rows_of(column.to_frame())


def test_a_flipped_bit_anywhere_is_noticed(no_parser):
    draw = np.random.default_rng(0)
    footer = range(len(DATA) - 8 - int.from_bytes(DATA[-8:-4], "little"), len(DATA))
    assert DATA.rfind(shard.SEAL) in footer
    for place in {*range(8), *footer, *draw.integers(len(DATA), size=300).tolist()}:
        changed = bytearray(DATA)
        changed[place] ^= 1 << draw.integers(8)
        with pytest.raises(Damaged):
            verify(bytes(changed), IDENTITY)


def test_a_shard_cut_short_or_lengthened_is_noticed(no_parser):
    for length in {*range(0, len(DATA), 7), *range(len(DATA) - 200, len(DATA))}:
        with pytest.raises(Damaged):
            verify(DATA[:length], IDENTITY)
    for longer in (DATA + b"\0", b"\0" + DATA, DATA + DATA):
        with pytest.raises(Damaged):
            verify(longer, IDENTITY)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"\0" * 5000, shard.SEAL, shard.SEAL + b"0" * 64])
def test_what_is_no_shard_is_told_so(no_parser, data):
    with pytest.raises(Damaged, match=r"not a complete shard|was changed"):
        verify(data, IDENTITY)


def test_somebody_elses_parquet_is_no_shard(no_parser):
    file = io.BytesIO()
    polars.DataFrame({"arm": ["SGD"]}).write_parquet(file)
    with pytest.raises(Damaged, match="not a complete shard"):
        verify(file.getvalue(), IDENTITY)


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
        verify(DATA, identity)


@given(st.data())
def test_the_hash_tells_any_one_value_from_another(data):
    name = data.draw(st.sampled_from(list(ROWS[0])))
    number = data.draw(st.integers(0, len(ROWS) - 1))
    old = ROWS[number][name]
    if isinstance(old, np.ndarray) and old.size:
        place = data.draw(st.integers(0, old.size - 1))
        new = old.copy()
        new.view("u8")[place] ^= np.uint64(1 << data.draw(st.integers(0, 63)))
    elif isinstance(old, np.ndarray):
        new = np.zeros(data.draw(st.integers(1, 3)), old.dtype)
    else:
        new = data.draw(st.none() | st.text() | st.floats() | st.integers())
        if repr(new) == repr(old):
            return
    rows = [*ROWS[:number], ROWS[number] | {name: new}, *ROWS[number + 1 :]]
    assert content_hash(rows, IDENTITY) != content_hash(ROWS, IDENTITY)


@pytest.mark.parametrize("place", range(3))
def test_the_hash_tells_whose_shard_it_is(place):
    other = [*IDENTITY]
    other[place] = 8 if place == 2 else "other"
    assert content_hash(ROWS, Identity(*other)) != content_hash(ROWS, IDENTITY)


def test_the_hash_does_not_see_how_values_are_held():
    held = [
        {
            name: np.asfortranarray(np.repeat(value, 2))[::2] if isinstance(value, np.ndarray)
            else value for name, value in one.items()
        }
        for one in ROWS
    ]  # fmt: skip
    assert content_hash(held, IDENTITY) == content_hash(ROWS, IDENTITY)


def test_the_hash_tells_where_one_column_ends_and_the_next_begins():
    one = row(weights=np.array([1.0, 2.0]), true_weights=np.array([3.0]))
    other = row(weights=np.array([1.0]), true_weights=np.array([2.0, 3.0]))
    assert content_hash([one], IDENTITY) != content_hash([other], IDENTITY)


def test_rows_in_another_order_are_another_content():
    assert content_hash(ROWS[::-1], IDENTITY) != content_hash(ROWS, IDENTITY)


def test_equal_values_make_equal_files_at_any_time_on_any_machine(monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "another-machine")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert encode(ROWS, IDENTITY) == DATA
