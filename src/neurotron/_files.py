"""Reads regular files only, and writes files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from neurotron._check import InputError

MOST_BYTES = 10**9
"""Largest size of a file that is read, about twice the largest shard of a study."""
OLD = 3600.0
"""A file that was unfinished for so many seconds is never finished: to write one takes seconds."""


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file, or no bytes if it has more than `most`.

    Pipes and devices, which a forged folder may contain, are refused without waiting for them.
    """
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{str(path)!r} is not a regular file")
        return file.read(most) if found.st_size <= most else b""


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be written, if it cannot."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{str(path)!r} cannot be written: {error.strerror}; choose another place"
        ) from None


def replace(path: Path, data: bytes) -> None:
    """Write a file completely or not at all: under another name, to disk, then rename it.

    A link with the file's name is replaced, and its target is not changed.
    """
    _write(path, data, os.replace)


def create(path: Path, data: bytes) -> None:
    """Write a file like `replace`, unless there is one of this name, even since a moment ago."""
    _write(path, data, _rename_to_new)


def _write(path: Path, data: bytes, rename: Callable[[Path, Path], None]) -> None:
    # the process is in the name because two processes may write the same file at the same time
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fresh.unlink(missing_ok=True)
        with open(fresh, "xb") as file:  # "x" creates a new file, so never follows a link
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        rename(fresh, path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
    _sync_folder(path.parent)


def _rename_to_new(fresh: Path, path: Path) -> None:
    """Rename a file; raise FileExistsError if there is one with the new name."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # this file system has no hard links, so that we can only look before
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.replace(fresh, path)
    else:
        fresh.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left of this file, `.<name>.<process>.tmp`, when it is old."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9]{{1,9}}\.tmp")
    with contextlib.suppress(OSError):  # they do no harm
        for other in path.parent.iterdir():
            if ours.fullmatch(other.name) and is_old(other):
                other.unlink(missing_ok=True)


def is_old(path: Path) -> bool:
    """Return whether this is a regular file that was left by a process that ended: see `OLD`."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and time.time() - found.st_mtime > OLD


def _sync_folder(path: Path) -> None:
    """Write the names of a folder's files to disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
