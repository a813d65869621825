"""One unit on disk: a Parquet file of one row per arm, which tells when it was changed.

Two hashes are inside. `content` is that of the values, the same wherever they were computed. The
seal is that of the whole file with zeros in its own place: it is checked before anything else reads
the file, so one that was damaged by accident never reaches a parser. Whoever forges a file can also
make its seal; what is in it is checked all the same.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from neurotron import _check

__all__ = ["Damaged", "Identity", "Row", "decode", "encode", "verify"]

Row = dict[str, Any]

SEAL = b"neurotron-seal:"
DIGITS = 64
OPTIONAL = "attack_vector"
VECTORS = ("weights", "true_weights", OPTIONAL)
LISTS = (*VECTORS, "errors", "losses")
STATUSES = ("finished", "diverged")
COLUMNS = (
    "arm", "status", "stopped_at", "radius", "theorem1_radius", "weights", "true_weights",
    "attack_vector", "steps", "errors", "losses",
)  # fmt: skip


class Damaged(Exception):
    """A shard cannot be used; the message says why."""


class Identity(NamedTuple):
    """Whose shard it is."""

    study: str
    """The hash of the study it belongs to."""
    setting: str
    replicate: int


def encode(rows: list[Row], identity: Identity) -> bytes:
    """Return the bytes of a shard."""
    kinds = _schema()
    columns = {name: [_plain(row[name]) for row in rows] for name in COLUMNS}
    frame = pl.DataFrame(columns, schema=kinds)
    words = identity._asdict() | {"content": content_hash(rows, identity)}
    metadata = {"neurotron": json.dumps(words), "seal": SEAL.decode() + "0" * DIGITS}
    file = io.BytesIO()
    frame.write_parquet(file, metadata=metadata)
    data = file.getvalue()
    place = _seal_place(data)
    seal = hashlib.sha256(data).hexdigest().encode()
    return data[:place] + seal + data[place + DIGITS :]


def verify(data: bytes, identity: Identity) -> str:
    """Return the hash of the content of a shard, or say why it is `Damaged`."""
    return _open(data, identity).content


def decode(data: bytes, identity: Identity, arms: list[str] | None = None) -> pl.DataFrame:
    """Return the table of a shard, or say why it is `Damaged`.

    If `arms` are given, it must be of these, and hold what can be compared.
    """
    opened = _open(data, identity)
    if arms is not None:
        _require_sound(opened.rows, arms)
    return opened.table


class _Opened(NamedTuple):
    table: pl.DataFrame
    rows: list[Row]
    content: str


def _open(data: bytes, identity: Identity) -> _Opened:
    """Return what is in a shard, or say why it is `Damaged`."""
    _require_seal(data)
    try:
        words = json.loads(pl.read_parquet_metadata(io.BytesIO(data))["neurotron"])
        content, whose = words.pop("content"), Identity(**words)
        table = pl.read_parquet(io.BytesIO(data))
        if dict(table.schema) != _schema():
            raise ValueError("other columns")
        rows = _rows(table)
        same = content == content_hash(rows, whose)
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException):
        raise Damaged("it is not a shard of ours") from None
    if whose != identity:
        raise Damaged(
            f"it belongs to setting {_check.shorten(repr(whose.setting))}, replicate "
            + _check.shorten(repr(whose.replicate))
            + (" of another study" if whose.study != identity.study else "")
        )
    if not same:
        raise Damaged("its values are not those it was written with")
    return _Opened(table, rows, str(content))


def _require_sound(rows: list[Row], arms: list[str]) -> None:
    """Raise `Damaged` unless the values are of these arms, and can be compared with each other."""
    if [row["arm"] for row in rows] != arms:
        raise Damaged("its arms are not those of the study")
    if any(row["status"] not in STATUSES for row in rows):
        raise Damaged("a status in it is not known")
    if any(row[name] is None for row in rows for name in (*LISTS, "steps") if name != OPTIONAL):
        raise Damaged("a list is missing in it")
    for row in rows:
        records = {len(row[name]) for name in ("steps", "errors", "losses")}
        vectors = {len(row[name]) for name in VECTORS if row[name] is not None}
        if len(records) > 1 or len(vectors) > 1 or 0 in records | vectors:
            raise Damaged("lists in it differ in length")
        if not np.array_equal(row["steps"], rows[0]["steps"]):
            raise Damaged("its arms were recorded at different steps")
        _require_possible(row)


def _require_possible(row: Row) -> None:
    """Raise `Damaged` if no run ends like this; one that diverged has infinite errors."""
    for name in ("radius", "theorem1_radius", "errors", "losses"):
        if row[name] is not None and not (np.asarray(row[name]) >= 0.0).all():
            raise Damaged(f"a number of `{name}` in it is negative or NaN")
    for name in ("true_weights", OPTIONAL):
        if row[name] is not None and not np.isfinite(row[name]).all():
            raise Damaged(f"a number of `{name}` in it is not finite")


def content_hash(rows: list[Row], identity: Identity) -> str:
    """Return the hash of the values of a unit: no file format, no time, no machine in it."""
    digest = hashlib.sha256(json.dumps(identity).encode())
    for row in rows:
        for name in COLUMNS:
            value = row[name]
            if isinstance(value, np.ndarray):
                kind = "<i8" if value.dtype.kind == "i" else "<f8"
                digest.update(f"{name}{value.shape}".encode())
                digest.update(np.ascontiguousarray(value, kind).tobytes())
            else:
                digest.update(f"{name}={value!r};".encode())
    return digest.hexdigest()


def _rows(table: pl.DataFrame) -> list[Row]:
    """Return the rows of a table of a shard, as they were encoded."""
    columns = {
        name: [None if value is None else value.to_numpy() for value in table[name]]
        if name in (*LISTS, "steps")
        else table[name].to_list()
        for name in COLUMNS
    }
    return [{name: columns[name][i] for name in COLUMNS} for i in range(len(table))]


def _require_seal(data: bytes) -> None:
    place = _seal_place(data)
    blank = data[:place] + b"0" * DIGITS + data[place + DIGITS :]
    if hashlib.sha256(blank).hexdigest().encode() != data[place : place + DIGITS]:
        raise Damaged("it was changed after it was written")


def _seal_place(data: bytes) -> int:
    """Return where the digits of the seal begin."""
    place = data.rfind(SEAL) + len(SEAL)
    if place < len(SEAL) or place + DIGITS > len(data):
        raise Damaged("it is not a whole shard of ours")
    return place


def _schema() -> dict[str, Any]:
    numbers = pl.List(pl.Float64)
    kinds: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Float64) | dict.fromkeys(LISTS, numbers)
    kinds |= {"arm": pl.String, "status": pl.String, "stopped_at": pl.Int64}
    return kinds | {"steps": pl.List(pl.Int64)}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
