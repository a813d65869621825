"""Tables in CSV and Parquet files: read into numbers, or refused in one sentence.

The cells of a CSV file are read as text. So an error can name the column, the row and the value,
and rows are written again exactly as they were read.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from neurotron import _check, _files
from neurotron._text import shorten
from neurotron._types import Array, Index, Mask
from neurotron.cli import columns

MOST_BYTES = 2 * 10**9
"""Largest size of a file that is read, and of what it unpacks to: 100 bytes for each cell."""
MOST_CELLS = 5 * 10**7
"""Largest table that is read. A fit then takes up to 5 GB: a cell of CSV 50 to 100 bytes of it."""
MOST_COLUMNS = 50_000
"""Most columns of a table. Each takes up to 0.5 ms, however few rows there are."""
MOST_TEXT = 300
"""Longest list of columns in a message."""
NOT_TEXT = "this is not UTF-8 text: save the table as CSV in UTF-8, and unpack a compressed file"
SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
"""What may be between the columns of a CSV file, as it is written after --separator."""


@dataclass(frozen=True)
class TableFile:
    """A table that was read from a file.

    Rows are counted from 1, without the header.
    """

    name: str
    frame: pl.DataFrame
    rows: Index
    sha256: str
    """The SHA-256 of the file."""
    separator: str = ","
    decimal_comma: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns

    def refusal(self, text: str) -> _check.InputError:
        """Return the error that this table cannot be used."""
        return _check.InputError(f"{self.name}: {text}")

    def require(self, option: str, names: Sequence[str]) -> None:
        """Refuse names of columns that the table does not have."""
        for name in names:
            if name not in self.columns:
                unknown = _check.unknown(f"column in `{option}`", name, self.columns)
                raise self.refusal(str(unknown))

    def complete(self, names: Sequence[str]) -> TableFile:
        """Return the table without the rows in which one of these columns has a missing value."""
        missing: Mask = np.any(columns.is_missing(self.frame.select(names)), axis=1)
        if missing.all():
            raise self.refusal("every row has a missing value")
        return self.kept(~missing)

    def kept(self, mask: Mask) -> TableFile:
        """Return the table with some of its rows."""
        return replace(self, frame=self.frame.filter(pl.Series(mask)), rows=self.rows[mask])

    def labels(self, name: str) -> Array:
        """Return the column of labels as finite numbers up to 1e70."""
        values = columns.numbers(self.frame.select(name), decimal_comma=self.decimal_comma)
        if columns.is_boolean(self.frame[name]):
            problem = "is true or false, but a label must be a number: turn it into numbers"
        elif name in values:
            return values[name]
        else:
            problem = self._problem_of(name)
        raise self.refusal(f"column {_check.shown(name)} {problem}, or choose another label")

    def inputs(self, names: Sequence[str], *, needed: bool) -> pl.DataFrame:
        """Return columns as finite numbers up to 1e70; true and false become 1 and 0.

        Columns that are not `needed` may also be left out, as an error says about all of them that
        cannot be used.
        """
        values = columns.numbers(self.frame.select(names), decimal_comma=self.decimal_comma)
        wrong = [name for name in names if name not in values]
        if wrong:
            what = "the column" if len(wrong) == 1 else f"the {len(wrong):,} unusable columns"
            drops = " ".join(f"--drop {shlex.quote(_check.printable(each))}" for each in wrong)
            leave_out = f", or leave out {what} with {shorten(drops, MOST_TEXT)}"
            raise self.refusal(
                f"column {_check.shown(wrong[0])} {self._problem_of(wrong[0])}"
                f"{'' if needed else leave_out}"
            )
        return pl.DataFrame({name: values[name] for name in names})

    def _problem_of(self, name: str) -> str:
        return columns.problem_of(self.frame[name], self.rows, decimal_comma=self.decimal_comma)

    def with_numbers(self, name: str, values: Array, mask: Mask) -> TableFile:
        """Return the table with other numbers in some rows of a column; others stay as they are."""
        column, fresh = self.frame[name], pl.Series(name, values)
        if column.dtype == pl.String:
            fresh = fresh.cast(pl.String)
            if self.decimal_comma:
                fresh = fresh.str.replace(".", ",", literal=True)
        kept = column if column.dtype == pl.String else column.cast(pl.Float64)
        return replace(self, frame=self.frame.with_columns(fresh.zip_with(pl.Series(mask), kept)))


# ---- reading -------------------------------------------------------------------------------------


def read_table(path: Path, *, separator: str, decimal_comma: bool) -> TableFile:
    """Return the table in a CSV or Parquet file."""
    shown = _check.printable(str(path)[:300])
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n.':
        raise _check.InputError(
            f"`--separator` must be one character, or tab, got {_check.shown(separator)}"
        )
    if decimal_comma and separator == ",":
        raise _check.InputError(
            "`--decimal-comma` needs another separator of columns: add --separator ';'"
        )
    content = _content(path, shown)
    if path.suffix.lower() == ".parquet":
        frame = _parquet(content, shown)
    else:
        frame = _csv(content, shown, separator)
    if not frame.height:
        raise _check.InputError(f"{shown}: the table has no rows")
    rows = np.arange(1, frame.height + 1)
    digest = sha256(content).hexdigest()
    return TableFile(shown, frame, rows, digest, separator, decimal_comma)


def _content(path: Path, shown: str) -> bytes:
    try:
        content = _files.read(path, MOST_BYTES)
        size = path.stat().st_size
    except FileNotFoundError:
        raise _check.InputError(f"there is no file {_check.shown(shown)}") from None
    except OSError as error:
        reason = error.strerror or "it is not a regular file"
        raise _check.InputError(f"{shown}: cannot be read: {reason}") from None
    if not content:
        why = f"the file has more than {MOST_BYTES:,} bytes" if size else "the file is empty"
        raise _check.InputError(f"{shown}: {why}")
    return content


def _csv(content: bytes, shown: str, separator: str) -> pl.DataFrame:
    """Return the cells of a CSV file as text."""
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").rstrip(b"\r\n ")
    if content.startswith(b"PAR1"):
        raise _check.InputError(f"{shown}: this is a Parquet file: let its name end in .parquet")
    if b"\0" in content:
        raise _check.InputError(f"{shown}: {NOT_TEXT}")
    if not content.strip():
        raise _check.InputError(f"{shown}: the file is empty")
    try:
        names = _header(io.BytesIO(content).readline().rstrip(b"\r\n").decode(), shown, separator)
        _check_names(names, shown)
        _check_separator(names, content, shown, separator)
        most = MOST_CELLS // len(names) + 1
        frame = pl.read_csv(
            content, separator=separator, infer_schema=False, raise_if_empty=False, n_rows=most
        )
        frame.columns = names  # polars keeps quotes doubled in names
    except (UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise _check.InputError(f"{shown}: {_reason(str(error))}") from None
    _check_size(*frame.shape, shown)
    return frame


def _header(first: str, shown: str, separator: str) -> list[str]:
    """Return the names in the first line of a CSV file."""
    _check_size(0, first.count(separator) + 1, shown)
    if "\r" not in first and first.count('"') % 2 == 0:
        with contextlib.suppress(csv.Error):
            return next(csv.reader([first], delimiter=separator, strict=True))
    raise _check.InputError(
        f"{shown}: the header cannot be read: where a quote is opened, close it in the same line, "
        "at the end of the name, and end lines with a line feed"
    )


def _check_size(rows: int, width: int, shown: str) -> None:
    """Refuse a table that takes too much time or memory."""
    if width > MOST_COLUMNS:
        raise _check.InputError(
            f"{shown}: the table has {width:,} columns, more than {MOST_COLUMNS:,}: leave out "
            "those that are not needed"
        )
    if rows * width > MOST_CELLS:
        raise _check.InputError(
            f"{shown}: the table has more than {MOST_CELLS // width:,} rows, and with "
            f"{width:,} columns more are not read, to save memory: give a part of its rows"
        )


def _check_names(names: Sequence[str], shown: str) -> None:
    """Refuse columns without a name, and repeated names."""
    seen = set[str]()
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise _check.InputError(
                f"{shown}: column {place} has no name: name it in the header (pandas writes the "
                "index like this; save with index=False)"
            )
        if name in seen:
            raise _check.InputError(
                f"{shown}: the column {_check.shown(name)} occurs twice: rename one of them"
            )
        seen.add(name)


def _check_separator(names: Sequence[str], content: bytes, shown: str, separator: str) -> None:
    """Refuse a header of one column that seems to have several with another separator."""
    name = names[0]
    for other, written in SEPARATORS.items():
        if len(names) == 1 and other != separator and other in name:
            first_rows = content.partition(b"\n")[2][:10_000]
            commas = other != "," and re.search(rb"\d,\d", first_rows)
            raise _check.InputError(
                f"{shown}: the header has one column, {_check.shown(name)}: if its columns are "
                f"separated by {written}{' and numbers look like 1,5' if commas else ''}, add "
                f"--separator {written}{' --decimal-comma' if commas else ''}"
            )


def _reason(error: str) -> str:
    """Return what is wrong with a CSV file, for an error of polars."""
    if "utf-8" in error:
        return NOT_TEXT
    if "more fields" in error:
        return "a row has more cells than the header: put quotes around cells with separators"
    if "could not parse" in error:
        return "a quote is opened and never closed: close it, or remove it"
    return f"this is not CSV ({_check.shorten(' '.join(error.split()))})"


def _parquet(content: bytes, shown: str) -> pl.DataFrame:
    """Return the table in a Parquet file, if it is not too large once it is unpacked."""
    if not content.startswith(b"PAR1"):
        raise _check.InputError(
            f"{shown}: this is not a Parquet file: if it is CSV, let its name end in .csv"
        )
    try:
        schema = pl.read_parquet_schema(io.BytesIO(content))
        rows = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        _check_size(rows, max(len(schema), 1), shown)
        _check_names([*schema], shown)
        _check_types(schema, shown)
        frame = pl.read_parquet(io.BytesIO(content))  # equal texts are not unpacked yet
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = shorten(_check.printable(" ".join(str(error).split())), MOST_TEXT)
        raise _check.InputError(
            f"{shown}: this is not a Parquet file that can be read: write it again ({reason})"
        ) from None
    if frame.estimated_size() > MOST_BYTES:
        raise _check.InputError(
            f"{shown}: its texts unpack to more than {MOST_BYTES:,} bytes: leave out columns of "
            "text"
        )
    return frame


def _check_types(schema: Mapping[str, pl.DataType], shown: str) -> None:
    """Refuse lists and records, of which a few rows in a small file may unpack to gigabytes."""
    for name, kind in schema.items():
        if kind.is_nested():
            raise _check.InputError(
                f"{shown}: column {_check.shown(name)} holds lists or records: write the file "
                "without it, or with columns of numbers instead"
            )


# ---- writing -------------------------------------------------------------------------------------


def write_table(frame: pl.DataFrame, path: Path, *, overwrite: bool, separator: str = ",") -> None:
    """Write a table as CSV or Parquet, completely or not at all."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(buffer)
    else:
        frame.write_csv(buffer, separator=separator)
    _files.remove_leftovers(path)
    put = _files.replace if overwrite else _files.create
    put(path, buffer.getvalue())
