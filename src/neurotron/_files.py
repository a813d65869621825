"""Reads regular files only, and writes files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["MOST_BYTES", "create", "is_alive", "read", "remove_leftovers", "replace"]

MOST_BYTES = 10**9
"""Largest size of a file that is read, about twice the largest shard of a study."""


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file, or no bytes if it has more than `most`.

    Pipes and devices, which a forged folder may contain, are refused without waiting for them.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{str(path)!r} is not a regular file")
        return file.read(most) if found.st_size <= most else b""


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
    """Remove what is left of earlier attempts to write this file, if their processes have ended.

    A process that is killed while it writes leaves `.<name>.<process>.tmp`.
    """
    ours = re.compile(rf"\.{re.escape(path.name)}\.([0-9]{{1,9}})\.tmp")
    with contextlib.suppress(OSError):  # they do no harm
        for other in path.parent.iterdir():
            found = ours.fullmatch(other.name)
            if found and stat.S_ISREG(other.lstat().st_mode) and not is_alive(int(found[1])):
                other.unlink(missing_ok=True)


def is_alive(process: int) -> bool:
    """Return whether there is a process with this number."""
    try:
        os.kill(process, 0)  # signal 0 only checks that the process exists
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it belongs to another user
    return True


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
