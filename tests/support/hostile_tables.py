"""Files that are no usable tables, each with what the refusal has to say."""

from __future__ import annotations

import datetime
import gzip
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

__all__ = ["HOSTILE", "Hostile", "good_csv"]


@dataclass(frozen=True)
class Hostile:
    """A file that the commands refuse, the options it is given with, and what they answer."""

    content: bytes | Callable[[Path], object] | None
    says: tuple[str, ...]
    name: str = "data.csv"
    options: tuple[str, ...] = ("--label", "price")

    def make(self, folder: Path) -> Path:
        """Write the file into a folder."""
        path = folder / self.name
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        elif self.content is not None:
            self.content(path)
        return path


def good_csv(rows: int = 40) -> bytes:
    """Return a table that can be used: price = 2 size + 3 age + 1."""
    lines = [f"{i % 7},{i % 5},{2 * (i % 7) + 3 * (i % 5) + 1}" for i in range(rows)]
    return "\n".join(["size,age,price", *lines, ""]).encode()


def csv(*lines: str, encoding: str = "utf-8") -> bytes:
    return "\n".join([*lines, ""]).encode(encoding)


def parquet(**columns: object) -> Callable[[Path], object]:
    return lambda path: pl.DataFrame(columns).write_parquet(path)


def zipped(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.csv", content)
    return buffer.getvalue()


def damaged_parquet(path: Path) -> None:
    pl.DataFrame({"size": range(50), "price": range(50)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[8:120] = b"\xff" * 112
    path.write_bytes(content)


def loop(path: Path) -> None:
    path.symlink_to(path)


P = "data.parquet"
HOSTILE: dict[str, Hostile] = {
    # files
    "no file": Hostile(None, ("no file", "data.csv")),
    "a folder": Hostile(Path.mkdir, ("data.csv", "directory")),
    "a link to itself": Hostile(loop, ("data.csv", "links")),
    "a pipe": Hostile(lambda path: os.mkfifo(path), ("data.csv", "regular file")),
    "empty": Hostile(b"", ("data.csv", "empty")),
    "blank lines": Hostile(b"\n\r\n  \n", ("data.csv", "empty")),
    "a name that is too long": Hostile(
        None, (f"got '{'x' * 56}...", "too long"), name="x" * 300 + ".csv"
    ),
    "another ending": Hostile(good_csv(), (".csv or .parquet", "'data.xlsx'"), name="data.xlsx"),
    "zip": Hostile(zipped(good_csv()), ("UTF-8", "unpack")),
    "gzip": Hostile(gzip.compress(good_csv()), ("UTF-8", "unpack")),
    "bzip2": Hostile(b"BZh91AY&SY" + bytes(50), ("UTF-8", "unpack")),
    "parquet in disguise": Hostile(parquet(size=[1, 2], price=[1, 2]), ("Parquet", ".parquet")),
    "binary": Hostile(bytes(range(256)) * 4, ("not UTF-8 text",)),
    "csv as parquet": Hostile(good_csv(), ("not a Parquet file", "end in .csv"), name=P),
    "damaged parquet": Hostile(damaged_parquet, ("not a Parquet file", "write it again"), name=P),
    "truncated parquet": Hostile(b"PAR1" + bytes(30) + b"PAR1", ("not a Parquet file",), name=P),
    # text
    "UTF-16": Hostile(csv("size,price", "1,2", encoding="utf-16"), ("not UTF-8 text",)),
    "UTF-32": Hostile(csv("size,price", "1,2", encoding="utf-32"), ("not UTF-8 text",)),
    "UTF-16 without a mark": Hostile(csv("size,price", encoding="utf-16-le"), ("not UTF-8 text",)),
    "Latin-1": Hostile(csv("größe,price", "1,2", encoding="latin-1"), ("UTF-8",)),
    "semicolons": Hostile(csv("size;price", "1;2"), ("one column", "--separator ';'")),
    "semicolons and decimal commas": Hostile(
        csv("size;age;price", "1;2;3", "1,5;2,5;3,5"),
        ("one column", "--separator ';' --decimal-comma"),
    ),
    "tabs": Hostile(csv("size\tprice", "1\t2"), ("one column", "--separator tab")),
    "decimal commas": Hostile(
        csv("size;price", "1,5;2", "2,5;3"), ("'size'", "row 1", "--decimal-comma"),
        options=("--label", "price", "--separator", ";"),
    ),
    "thousands with points": Hostile(
        csv("size;price", "1,5;1.234", "2,5;3"), ("'price'", "'1.234'", "row 1"),
        options=("--label", "price", "--separator", ";", "--decimal-comma"),
    ),
    "a comma for columns and decimals": Hostile(
        csv("size,price", "1,2"), ("--decimal-comma", "--separator"),
        options=("--label", "price", "--decimal-comma"),
    ),
    "a wide separator": Hostile(
        good_csv(), ("--separator", "'::'"), options=("--label", "price", "--separator", "::")
    ),
    "old line ends": Hostile(b"size,price\r1,2\r2,3\r", ("header", "line")),
    "long rows": Hostile(csv("size,price", "1,2", "1,2,3"), ("more cells", "header")),
    "short rows": Hostile(csv("size,price", "1,2", "1"), ("'price'", "missing", "row 2")),
    "a quote in a cell": Hostile(csv("size,price", '1,"2', "3,4"), ("quote", "close it")),
    "a quote in the header": Hostile(csv('size,"price', "1,2", "3,4"), ("quote", "close it")),
    "an inch mark in the header": Hostile(csv('5" disks,price', "1,2", "3,4"), ("header", "quote")),
    # columns
    "header only": Hostile(csv("size,price"), ("no rows",)),
    "numbers without a header": Hostile(
        csv("1,2", "3,4"), ("--label", "'price'", "unknown column")
    ),
    "one column": Hostile(csv("price", "1", "2"), ("no column of inputs", "'price'")),
    "no label": Hostile(csv("size,prise", "1,2"), ("'price'", "did you mean", "'prise'")),
    "a blank after the label": Hostile(csv("size,price ", "1,2"), ("'price'", "'price '")),
    "label given twice": Hostile(
        good_csv(), ("--label", "once"), options=("--label", "price", "--label", "age")
    ),
    "label left out": Hostile(
        good_csv(), ("--label", "--drop", "'price'"),
        options=("--label", "price", "--drop", "price"),
    ),
    "left out twice and unknown": Hostile(
        good_csv(), ("--drop", "'id'"), options=("--label", "price", "--drop", "id", "--drop", "id")
    ),
    "all inputs left out": Hostile(
        good_csv(), ("no column of inputs",),
        options=("--label", "price", "--drop", "size", "--drop", "age"),
    ),
    "a name twice": Hostile(csv("size,size,price", "1,2,3"), ("'size'", "twice", "rename")),
    "the label twice": Hostile(csv("price,size,price", "1,2,3"), ("'price'", "twice", "rename")),
    "no name": Hostile(csv(",size,price", "0,1,2"), ("column 1", "no name", "index=False")),
    "a name like an option": Hostile(csv("--out,price", "a,1"), ("'--out'", "--drop --out")),
    "a name of two words": Hostile(csv("my size,price", "a,1"), ("--drop 'my size'",)),
    # cells
    "text": Hostile(csv("city,price", "Paris,1"), ("'city'", "'Paris'", "row 1", "--drop city")),
    "much text": Hostile(
        csv("cut,size,colour,price", "Ideal,1,E,1"), ("'cut'", "--drop cut --drop colour")
    ),
    "text far below": Hostile(
        good_csv(2000) + b"3,old,3\n", ("'age'", "'old'", "row 2001", "--drop age")
    ),
    "text labels": Hostile(csv("size,price", "1,cheap"), ("'price'", "'cheap'", "another label")),
    "dates": Hostile(csv("day,price", "2024-01-05,1"), ("'day'", "'2024-01-05'", "numbers")),
    "true and false labels": Hostile(csv("size,price", "1,true", "2,false"), ("'price'", "true")),
    "missing values": Hostile(
        csv("size,price", "1,1", ",2", "NA,3"), ("'size'", "2 missing", "row 2", "--skip-missing")
    ),
    "a missing label": Hostile(csv("size,price", "1,1", "2,"), ("'price'", "1 missing", "row 2")),
    "NaN": Hostile(csv("size,price", "1,1", "nan,2"), ("'size'", "1 missing", "row 2")),
    "nothing but missing values": Hostile(
        csv("size,price", ",1", "2,"), ("every row", "missing"),
        options=("--label", "price", "--skip-missing"),
    ),
    "infinite": Hostile(csv("size,price", "1,1", "inf,2"), ("'size'", "inf", "row 2")),
    "1e308": Hostile(csv("size,price", "1e308,1"), ("'size'", "1e+308", "1e70")),
    "tiny": Hostile(csv("size,price", "1e-300,1", "2e-300,2"), ("'size'", "1e-60", "unit")),
    "beyond floating point": Hostile(csv("size,price", "1,1e999"), ("'price'", "inf", "1e70")),
    "thousands": Hostile(csv("size,price", '1,"1,234"'), ("'1,234'", "thousands, remove it")),
    "a decimal comma before three digits": Hostile(
        csv("size;price", "1,053;2", "0,512;3"), ("'1,053' in row 1", "--decimal-comma"),
        options=("--label", "price", "--separator", ";"),
    ),
    "thousands and decimals": Hostile(csv("size,price", '1,"1,234.5"'), ("'1,234.5'", "remove")),
    "equal labels": Hostile(csv("size,price", "1,3", "2,3", "3,3"), ("'price'", "3", "another")),
    "a thousand columns of text": Hostile(
        csv(",".join(f"c{i}" for i in range(1000)) + ",price", "a," * 1000 + "1"),
        ("'c0'", "1,000 unusable columns", "--drop c0 --drop c1"),
    ),
    "more columns than rows": Hostile(
        csv("a,b,c,d,price", "1,2,3,4,1", "5,6,8,7,2", "4,3,1,2,3"), ("rows",)
    ),
    # types of Parquet
    "nested": Hostile(parquet(tags=[[1], [2]], price=[1, 2]), ("'tags'", "lists"), name=P),
    "records": Hostile(parquet(at=[{"x": 1}] * 2, price=[1, 2]), ("'at'", "records"), name=P),
    "parquet dates": Hostile(
        parquet(day=[datetime.date(2024, 1, 5)] * 2, price=[1, 2]),
        ("'day'", "Date", "numbers"), name=P,
    ),
    "categories": Hostile(
        parquet(city=pl.Series(["a", "b"], dtype=pl.Categorical), price=[1, 2]),
        ("'city'", "Categorical", "--drop city"), name=P,
    ),
    "bytes": Hostile(parquet(blob=[b"a", b"b"], price=[1, 2]), ("'blob'", "Binary"), name=P),
    "only nulls": Hostile(
        parquet(size=[None, None], price=[1, 2]), ("'size'", "2 missing"), name=P
    ),
    "NaN in parquet": Hostile(
        parquet(size=[1.0, float("nan")], price=[1, 2]), ("'size'", "1 missing", "row 2"), name=P
    ),
    "parquet without columns": Hostile(parquet(), ("no rows",), name=P),
}  # fmt: skip
