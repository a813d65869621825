"""Stores one unit as a Parquet file in which changes can be detected.

The file contains two hashes. `content` is the hash of the values, which is the same wherever they
were computed. The seal is the hash of the whole file, with zeros in place of the seal. It is
checked before anything else reads the file, so a file that was damaged by accident never reaches a
parser. A forged file can have a valid seal, so its content is checked as well.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from neurotron import _check
from neurotron.work.columns import OWN, Row

__all__ = [
    "Damaged", "Identity", "content_hash", "decode", "encode", "rows_of", "schema_of", "verify",
]  # fmt: skip

SEAL = b"neurotron-seal:"
DIGITS = 64
TYPES: dict[str, Any] = {
    "str": pl.String,
    "bool": pl.Boolean,
    "int": pl.Int64,
    "float": pl.Float64,
    "list[int]": pl.List(pl.Int64),
    "list[float]": pl.List(pl.Float64),
}
"""The type of a column in a table, by its declared type."""


class Damaged(ValueError):
    """A shard cannot be used; the message says why."""


class Identity(NamedTuple):
    """The study, setting and replicate that a shard belongs to."""

    study: str
    """The hash of the study."""
    setting: str
    replicate: int


def schema_of(columns: Mapping[str, str]) -> pl.Schema:
    """Return the types of declared columns in a table."""
    return pl.Schema({name: TYPES[kind] for name, kind in columns.items()})


def encode(rows: list[Row], columns: Mapping[str, str], identity: Identity) -> bytes:
    """Return the bytes of a shard of rows of these columns."""
    values = {name: [_listed(row[name]) for row in rows] for name in columns}
    frame = pl.DataFrame(values, schema=schema_of(columns))
    words = identity._asdict() | {"content": content_hash(rows, identity)}
    metadata = {"neurotron": json.dumps(words), "seal": SEAL.decode() + "0" * DIGITS}
    file = io.BytesIO()
    frame.write_parquet(file, metadata=metadata)
    data = file.getvalue()
    place = _seal_place(data)
    seal = hashlib.sha256(data).hexdigest().encode()
    return data[:place] + seal + data[place + DIGITS :]


def verify(data: bytes, identity: Identity) -> str:
    """Return the hash of the values of a shard; raise `Damaged` if it is not intact."""
    return _open(data, identity).content


def decode(data: bytes, columns: Mapping[str, str], identity: Identity) -> pl.DataFrame:
    """Return the table of a shard; raise `Damaged` if it is not intact, or has other columns."""
    table = _open(data, identity).table
    if table.schema != schema_of(columns):
        raise Damaged("its columns are not those of the study")
    return table


class _Opened(NamedTuple):
    table: pl.DataFrame
    content: str


def _open(data: bytes, identity: Identity) -> _Opened:
    """Return the content of a shard; raise `Damaged` if it is not intact."""
    _require_seal(data)
    try:
        words = json.loads(pl.read_parquet_metadata(io.BytesIO(data))["neurotron"])
        content, whose = words.pop("content"), Identity(**words)
        table = pl.read_parquet(io.BytesIO(data))
        same = content == content_hash(rows_of(table), whose)
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException):
        raise Damaged("it is not a shard of neurotron") from None
    if whose != identity:
        raise Damaged(
            f"it belongs to setting {_check.shorten(repr(whose.setting))}, replicate "
            + _check.shorten(repr(whose.replicate))
            + (" of another study" if whose.study != identity.study else "")
        )
    if not same:
        raise Damaged("its values have changed since it was written")
    return _Opened(table, str(content))


def content_hash(rows: list[Row], identity: Identity) -> str:
    """Return the hash of the values of a unit; it does not depend on format, time or machine."""
    digest = hashlib.sha256(json.dumps(identity).encode())
    for row in rows:
        for name, value in row.items():
            if isinstance(value, np.ndarray):
                kind = "<i8" if value.dtype.kind == "i" else "<f8"
                digest.update(f"{name}{value.shape}".encode())
                digest.update(np.ascontiguousarray(value, kind).tobytes())
            else:
                digest.update(f"{name}={value!r};".encode())
    return digest.hexdigest()


def rows_of(table: pl.DataFrame) -> list[Row]:
    """Return the rows of the table of a shard as they were encoded; refuse any other table."""
    if not {*OWN}.isdisjoint(table.columns):
        raise ValueError("a column has a reserved name")
    columns = {column.name: _values(column) for column in table.iter_columns()}
    return [{name: columns[name][i] for name in columns} for i in range(len(table))]


def _values(column: pl.Series) -> list[Any]:
    if column.dtype not in TYPES.values():
        raise ValueError("a column has an unknown type")
    values = column.to_list()
    if not column.dtype.is_nested():
        return values
    kind = np.int64 if column.dtype == TYPES["list[int]"] else np.float64
    if any(None in value for value in values if value is not None):
        raise ValueError("a list has missing values")
    return [None if value is None else np.array(value, kind) for value in values]


def _require_seal(data: bytes) -> None:
    place = _seal_place(data)
    blank = data[:place] + b"0" * DIGITS + data[place + DIGITS :]
    if hashlib.sha256(blank).hexdigest().encode() != data[place : place + DIGITS]:
        raise Damaged("it was changed after it was written")


def _seal_place(data: bytes) -> int:
    """Return where the digits of the seal begin."""
    place = data.rfind(SEAL) + len(SEAL)
    if place < len(SEAL) or place + DIGITS > len(data):
        raise Damaged("it is not a complete shard of neurotron")
    return place


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
