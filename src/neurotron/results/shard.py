"""One unit on disk: a Parquet file of one row per arm, which tells when it was changed.

Two hashes are inside. `content` is that of the values, the same wherever they were computed. The
seal is that of the whole file with zeros in its own place: it is checked before anything else reads
the file, so a damaged one never reaches a parser.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any, NamedTuple

import numpy as np

from neurotron._extras import require

__all__ = ["Damaged", "Identity", "Row", "decode", "encode", "verify"]

Row = dict[str, Any]

SEAL = b"neurotron-seal:"
DIGITS = 64
LISTS = ("weights", "true_weights", "attack_vector", "errors", "losses")
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
    cohort: str
    replicate: int


def encode(rows: list[Row], identity: Identity) -> bytes:
    """Return the bytes of a shard."""
    polars = require("polars")
    kinds = _schema(polars)
    columns = {name: [_plain(row[name]) for row in rows] for name in COLUMNS}
    frame = polars.DataFrame(columns, schema=kinds)
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
    place = _seal_place(data)
    blank = data[:place] + b"0" * DIGITS + data[place + DIGITS :]
    if hashlib.sha256(blank).hexdigest().encode() != data[place : place + DIGITS]:
        raise Damaged("it was changed after it was written")
    words = json.loads(require("polars").read_parquet_metadata(io.BytesIO(data))["neurotron"])
    content = words.pop("content")
    if words != identity._asdict():
        raise Damaged(
            f"it belongs to cohort {words['cohort']!r}, replicate {words['replicate']}"
            + (" of another study" if words["study"] != identity.study else "")
        )
    return str(content)


def decode(data: bytes) -> Any:
    """Return the table of a verified shard."""
    return require("polars").read_parquet(io.BytesIO(data))


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


def _seal_place(data: bytes) -> int:
    """Return where the digits of the seal begin."""
    place = data.rfind(SEAL) + len(SEAL)
    if place < len(SEAL) or place + DIGITS > len(data):
        raise Damaged("it is not a whole shard of ours")
    return place


def _schema(polars: Any) -> dict[str, Any]:
    numbers = polars.List(polars.Float64)
    kinds = dict.fromkeys(COLUMNS, polars.Float64) | dict.fromkeys(LISTS, numbers)
    kinds |= {"arm": polars.String, "status": polars.String, "stopped_at": polars.Int64}
    return kinds | {"steps": polars.List(polars.Int64)}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
