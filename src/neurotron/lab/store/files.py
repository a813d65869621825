"""Safe reading and writing of files in a folder of results.

Files are written completely or not at all, never through a link, and only our own are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from neurotron._check import InputError
from neurotron._extras import require
from neurotron._files import is_old, read, replace

TEMPORARY = re.compile(
    r"\.((?P<locked>[0-9]+\.parquet|manifest\.json|\w+\.npy)|(claims|written|audit)\.json|"
    r"(report|audit)\.html|[^/]+\.(png|pdf))\.[0-9]{1,9}\.tmp"
)
"""The temporary name of a file until it is complete: `.<name>.<process>.tmp`."""


class StorageError(OSError):
    """A folder cannot be written to; the message says what is kept and what to do."""


@contextlib.contextmanager
def storing(root: Path) -> Iterator[None]:
    """Turn errors of the file system into messages that say what is kept and what to do."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if (root / "shards").is_dir():
            kept = "Finished units are kept: fix the cause"
        else:
            kept = (
                "The folder holds no results now: if you moved them, put them back; otherwise fix "
                "the cause"
            )
        raise StorageError(
            f"cannot write into {str(root)!r}: {error.strerror or error}. {kept}, then run the "
            "same command again to resume"
        ) from error


def place(root: Path, name: str) -> Path:
    """Return the path of a file of ours; refuse links among the folders that contain it."""
    path = root / name
    for folder in list(Path(name).parents)[:-1]:
        _refuse_link(root / folder, "folder")
    return path


def write(root: Path, name: str, data: bytes) -> None:
    """Write a file completely or not at all. A link with its name is replaced, not followed."""
    path = place(root, name)
    with storing(root):
        if path.parent != root:  # which may have been moved away, and is not made anew
            path.parent.mkdir(exist_ok=True)
        replace(path, data)


def append(root: Path, name: str, line: str) -> None:
    """Append a line to a file, on a new line if the last one is incomplete."""
    with storing(root), _opened(root, name) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = "\n" + line  # a run was killed while it wrote a line
        file.write(line.encode() + b"\n")


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases even if this process is killed."""
    path = place(root, "lock")
    _refuse_link(path, "file")
    filelock = require("filelock")
    lock = filelock.FileLock(path, blocking=False)
    with storing(root):
        try:
            lock.acquire()
        except filelock.Timeout:
            raise InputError(
                f"another run is writing into {str(root)!r}: wait for it to end, or stop it"
            ) from None
    try:
        yield
    finally:
        lock.release()


def remove(root: Path, name: str, digest: str) -> None:
    """Remove a file if its content still has this SHA-256 and it is not a link."""
    path = place(root, name)
    with storing(root):
        if _digest(path) == digest:
            path.unlink(missing_ok=True)


def make_room(root: Path, name: str, digests: Iterable[str]) -> Path | None:
    """Rename an existing file of this name, unless its content has one of these SHA-256.

    Return its new path, or None if nothing was renamed.
    """
    path = place(root, name)
    with storing(root):
        if not os.path.lexists(path) or _digest(path) in digests:
            return None
        names = (path.with_name(f"{path.stem}-kept-{i}{path.suffix}") for i in itertools.count(1))
        kept = next(name for name in names if not os.path.lexists(name))
        os.rename(path, kept)
        return kept


def remove_leftovers(root: Path, folders: Iterable[str]) -> None:
    """Remove unfinished files of ours from these folders, whose lock this process holds.

    Pages and figures are written without the lock, so only old ones are removed.
    """
    for folder in (root / name for name in folders):
        if folder.is_symlink() or not folder.is_dir():
            continue
        for path in folder.iterdir():
            found = TEMPORARY.fullmatch(path.name)
            if found and path.is_file() and (found["locked"] or is_old(path)):
                path.unlink(missing_ok=True)


def is_temporary(name: str) -> bool:
    """Return whether a name is that of an unfinished file of ours."""
    return TEMPORARY.fullmatch(name) is not None


def _digest(path: Path) -> str:
    """Return the SHA-256 of the content of a file; "" if it is a link, empty or not a file."""
    content = read(path) if path.is_file() and not path.is_symlink() else b""
    return hashlib.sha256(content).hexdigest() if content else ""


def _opened(root: Path, name: str) -> BinaryIO:
    """Open a file for appending, but not through a link."""
    path = place(root, name)
    _refuse_link(path, "file")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o666), "ab+")


def _refuse_link(path: Path, kind: str) -> None:
    if path.is_symlink():
        raise StorageError(
            f"{str(path)!r} is a link, and nothing is written or removed through links: replace it "
            f"by a {kind}, then run the same command again"
        )
