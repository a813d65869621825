"""Rows of inputs from a file, for laws that are written as text."""

from __future__ import annotations

import hashlib
import io

import numpy as np

from neurotron import _check
from neurotron._types import Array

KINDS = "a CSV file of numbers with commas, with or without a line of names, or a .npy file"


def read_rows(path: str, sha256: str | None = None) -> Array:
    """Return the rows of a file, shape (N, n): a CSV file of numbers, or an array in a .npy file.

    Nothing in the file is evaluated or unpickled. If a hash is given, the file must have it, so
    that results computed from it can be computed again.

    Parameters
    ----------
    path
        The file.
    sha256
        The SHA-256 of the file, 64 hexadecimal digits; None for any file.
    """
    content = _read(path)
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != str(sha256).lower():
        raise _check.InputError(
            f"{_check.shown(path)} is not the file that was meant: its sha256 is {found}, but "
            f"{_check.shown(sha256)} was given"
        )
    try:
        rows = _parsed(content)
    except (ValueError, EOFError) as error:
        raise _check.InputError(
            f"{_check.shown(path)} cannot be read as rows of numbers: give {KINDS} ({error})"
        ) from None
    return _check.array("rows", rows, ("N", "n"), _check.LARGEST)


def hash_of_file(path: str) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(_read(path)).hexdigest()


def _read(path: str) -> bytes:
    try:
        with open(_check.path("rows", path), "rb") as file:
            return file.read()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _check.InputError(f"`rows`: {_check.shown(path)} cannot be read: {reason}") from None


def _parsed(content: bytes) -> Array:
    if content.startswith(b"\x93NUMPY"):
        return np.atleast_2d(np.asarray(np.load(io.BytesIO(content), allow_pickle=False), float))
    lines = content.decode("utf-8-sig").splitlines()
    numbers = lines[0 if lines and _is_number(lines[0].partition(",")[0]) else 1 :]
    if not numbers:
        raise ValueError("it has no rows")
    return np.loadtxt(numbers, delimiter=",", ndmin=2)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
