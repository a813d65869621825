"""Tables in CSV and Parquet files: read into numbers, or refused in one sentence.

The cells of a CSV file are read as text and turned into numbers here. So an error can name the
column, the row and the value, and rows are written again exactly as they were read.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from neurotron import _check, _files
from neurotron._types import Array, Index, Mask

__all__ = ["FORMATS", "TableFile", "read_table", "write_table"]

FORMATS = (".csv", ".parquet")
MOST_BYTES = 4 * 10**9
"""Largest size of a file that is read."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
"""Cells of a CSV file that count as missing, in lower case."""
LARGEST_WHOLE = 2**53
"""Larger whole numbers are not all exact as floating-point numbers."""
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel file: save the table as CSV",
    b"\x1f\x8b": "compressed with gzip: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
    b"\xfd7zXZ": "compressed with xz: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}
"""How files begin that are not CSV, with what to do about them."""


@dataclass(frozen=True)
class TableFile:
    """A table that was read from a file.

    Rows are counted from 1, without the header.
    """

    name: str
    frame: pl.DataFrame
    rows: Index
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
        missing: Mask = np.zeros(len(self.rows), bool)
        for name in names:
            missing |= _is_missing(self.frame[name])
        if missing.all():
            raise self.refusal("every row has a missing value")
        return self.kept(~missing)

    def kept(self, mask: Mask) -> TableFile:
        """Return the table with some of its rows."""
        return replace(self, frame=self.frame.filter(pl.Series(mask)), rows=self.rows[mask])

    def numbers(self, name: str, role: str = "input") -> Array:
        """Return a column as finite numbers up to 1e70; true and false become 1 and 0.

        The `role` is "input" for a column that could be left out, "needed" for one that a model
        needs, or "label" for the labels, which must not be true and false.
        """
        column = self.frame[name]
        try:
            if role == "label" and _is_boolean(column):
                raise _Wrong("is true or false, but a label must be a number: turn it into numbers")
            return self._numbers(column)
        except _Wrong as error:
            quoted = shlex.quote(_check.shorten(_check.printable(name)))
            other = {
                "input": f", or leave out the column with --drop {quoted}",
                "label": ", or choose another label",
                "needed": "",
            }[role]
            raise self.refusal(f"column {_check.shown(name)} {error}{other}") from None

    def with_numbers(self, name: str, values: Array, mask: Mask) -> TableFile:
        """Return the table with other numbers in some rows of a column; others stay as they are."""
        column, fresh = self.frame[name], pl.Series(name, values)
        if column.dtype == pl.String:
            fresh = fresh.cast(pl.String)
            if self.decimal_comma:
                fresh = fresh.str.replace(".", ",", literal=True)
        kept = column if column.dtype == pl.String else column.cast(pl.Float64)
        return replace(self, frame=self.frame.with_columns(fresh.zip_with(pl.Series(mask), kept)))

    def _numbers(self, column: pl.Series) -> Array:
        missing = np.flatnonzero(_is_missing(column))
        if missing.size:
            raise _Wrong(
                f"has {_many(missing.size, 'missing value')}, the first in row "
                f"{self.rows[missing[0]]}: fill them in, add --skip-missing to leave out "
                "such rows",
            )
        values = self._parsed(column) if column.dtype == pl.String else _cast(column)
        self._check_range(column, values)
        return values

    def _parsed(self, column: pl.Series) -> Array:
        """Return a column of text as numbers."""
        if _is_boolean(column):
            return (_plain(column) == "true").to_numpy().astype(np.float64)
        text = column.str.strip_chars()
        if self.decimal_comma:
            text = text.str.replace(",", ".", literal=True)
        values = text.cast(pl.Float64, strict=False)
        wrong = np.flatnonzero(values.is_null().to_numpy())
        if wrong.size:
            cell = column[int(wrong[0])]
            what = f"holds text, such as {_check.shown(cell)} in row {self.rows[wrong[0]]}"
            if re.fullmatch(r"\s*[-+]?\d*,\d+\s*", cell):
                raise _Wrong(f"{what}: if that is a decimal comma, add --decimal-comma")
            raise _Wrong(f"{what}: turn it into numbers")
        return values.to_numpy()

    def _check_range(self, column: pl.Series, values: Array) -> None:
        large = np.flatnonzero(~(np.abs(values) <= _check.LARGEST))
        if large.size:
            raise _Wrong(
                f"has the value {values[large[0]]:g} in row {self.rows[large[0]]}, but values must "
                "be from -1e70 to 1e70: correct it",
            )
        whole = column.dtype.is_integer() or column.dtype == pl.String
        for place in np.flatnonzero(np.abs(values) > LARGEST_WHOLE)[:1] if whole else ():
            cell = str(column[int(place)]).strip()
            if cell.lstrip("+-").isdigit():
                raise _Wrong(
                    f"has the whole number {_check.shorten(cell)} in row {self.rows[place]}, "
                    "too large to be exact: if it is not the name of something, write it as 1.5e17",
                )


class _Wrong(Exception):
    """What is wrong with a column, as the end of a sentence about it."""


# ---- reading -------------------------------------------------------------------------------------


def read_table(
    path: Path, *, separator: str = ",", decimal_comma: bool = False, name: str = "data"
) -> TableFile:
    """Return the table in a CSV or Parquet file; `name` is what messages call the argument."""
    shown = _check.printable(str(path)[:300])
    suffix = _check.path(name, path).suffix.lower()
    if suffix not in FORMATS:
        raise _check.InputError(f"`{name}` must end in .csv or .parquet, got {_check.shown(shown)}")
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n.':
        raise _check.InputError(
            f"`--separator` must be one character, or tab, got {_check.shown(separator)}"
        )
    if decimal_comma and separator == ",":
        raise _check.InputError(
            "`--decimal-comma` needs another separator of columns: add --separator ';'"
        )
    content = _content(path, shown)
    frame = _csv(content, shown, separator) if suffix == ".csv" else _parquet(content, shown)
    if not frame.height:
        raise _check.InputError(f"{shown}: the table has no rows")
    _check.entries(f"{shown}: the table", *frame.shape)
    for place, column in enumerate(frame.columns, 1):
        if not column.strip():
            raise _check.InputError(
                f"{shown}: column {place} has no name: name it in the header (pandas writes the "
                "index like this; save with index=False)"
            )
    rows = np.arange(1, frame.height + 1)
    return TableFile(shown, frame, rows, separator, decimal_comma)


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
    content = content.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n ")
    for magic, what in FOREIGN.items():
        if content.startswith(magic):
            raise _check.InputError(f"{shown}: this is {what}")
    if content.startswith(b"PAR1"):
        raise _check.InputError(f"{shown}: this is a Parquet file: let its name end in .parquet")
    if b"\0" in content:
        raise _check.InputError(f"{shown}: this is not text: save the table as CSV in UTF-8")
    if not content.strip():
        raise _check.InputError(f"{shown}: the file is empty")
    whole: dict[str, Any] = {"separator": separator, "infer_schema": False, "has_header": False}
    try:
        header = pl.read_csv(content, n_rows=1, **whole).row(0)
        _check_header(header, content, shown, separator)
        whole["has_header"] = True
        return pl.read_csv(content, raise_if_empty=False, **whole)
    except pl.exceptions.PolarsError as error:
        raise _check.InputError(f"{shown}: {_reason(str(error))}") from None


def _check_header(header: Sequence[str | None], content: bytes, shown: str, separator: str) -> None:
    names = [name or "" for name in header]
    seen: set[str] = set()
    for name in names:
        if name in seen and name.strip():
            raise _check.InputError(
                f"{shown}: the column {_check.shown(name)} occurs twice: rename one of them"
            )
        seen.add(name)
    if any("\n" in name or "\r" in name for name in names):
        raise _check.InputError(
            f"{shown}: a name in the header goes over several lines: close its quotes, and end "
            "lines with a line feed"
        )
    others = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
    if len(names) == 1:
        for other, written in others.items():
            if other != separator and other in names[0]:
                raise _check.InputError(
                    f"{shown}: the header has one column, {_check.shown(names[0])}: if its columns "
                    f"are separated by {written}, add --separator {written}"
                )


def _reason(error: str) -> str:
    """Return what is wrong with a CSV file, for an error of polars."""
    if "utf-8" in error:
        return "this is not UTF-8 text: save it as UTF-8"
    if "more fields" in error:
        return "a row has more cells than the header: put quotes around cells with separators"
    if "could not parse" in error:
        return "a quote is opened and never closed: close it, or remove it"
    return f"this is not CSV ({_check.shorten(' '.join(error.split()))})"


def _parquet(content: bytes, shown: str) -> pl.DataFrame:
    """Return the table in a Parquet file, if it is not too large once it is unpacked."""
    try:
        schema = pl.read_parquet_schema(io.BytesIO(content))
        rows = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        _check.entries(f"{shown}: the table", rows, max(len(schema), 1))
        return pl.read_parquet(io.BytesIO(content))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = _check.shorten(" ".join(str(error).split()))
        raise _check.InputError(f"{shown}: this is not a Parquet file ({reason})") from None


# ---- cells ---------------------------------------------------------------------------------------


def _plain(column: pl.Series) -> pl.Series:
    return column.str.strip_chars().str.to_lowercase()


def _is_missing(column: pl.Series) -> Mask:
    missing = column.is_null()
    if column.dtype == pl.String:
        missing |= _plain(column).is_in(MISSING).fill_null(True)
    elif column.dtype.is_float():
        missing |= column.is_nan().fill_null(True)
    return missing.to_numpy()


def _is_boolean(column: pl.Series) -> bool:
    if column.dtype != pl.String:
        return column.dtype == pl.Boolean
    return bool(_plain(column).is_in(["true", "false"]).all())


def _cast(column: pl.Series) -> Array:
    """Return a column of numbers or truth values as floats."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise _Wrong(f"holds {_kind(column.dtype)}: turn it into numbers")
    return column.cast(pl.Float64).to_numpy()


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_temporal():
        return "dates or times"
    if dtype.is_nested():
        return "lists or records"
    if dtype in (pl.Categorical, pl.Enum):
        return "categories"
    return f"values of type {_check.shorten(str(dtype))}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


# ---- writing -------------------------------------------------------------------------------------


def write_table(frame: pl.DataFrame, path: Path, *, separator: str = ",") -> None:
    """Write a table as CSV or Parquet, completely or not at all."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(buffer)
    else:
        frame.write_csv(buffer, separator=separator)
    _files.replace(path, buffer.getvalue())
