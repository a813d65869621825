"""Stores one unit as a Parquet file in which changes can be detected.

The file contains its seal, which is the hash of the whole file with zeros in place of the seal. It
is checked before anything else reads the file, so a file that was damaged by accident never reaches
a parser. A forged file can have a valid seal, so its columns are checked as well.
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
from neurotron.work.columns import Row

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
    words = json.dumps(identity._asdict())
    metadata = {"neurotron": words, "seal": SEAL.decode() + "0" * DIGITS}
    file = io.BytesIO()
    frame.write_parquet(file, metadata=metadata)
    data = file.getvalue()
    place = _seal_place(data)
    seal = hashlib.sha256(data).hexdigest().encode()
    return data[:place] + seal + data[place + DIGITS :]


def decode(data: bytes, columns: Mapping[str, str], identity: Identity) -> pl.DataFrame:
    """Return the table of a shard; raise `Damaged` if it is not intact, or has other columns."""
    _require_seal(data)
    try:
        words = json.loads(pl.read_parquet_metadata(io.BytesIO(data))["neurotron"])
        whose, table = Identity(**words), pl.read_parquet(io.BytesIO(data))
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
    if table.schema != schema_of(columns):
        raise Damaged("its columns are not those of the study")
    return table


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
