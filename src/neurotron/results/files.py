"""Files in a folder of results: whole or not at all, never through a link, only our own removed."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "StorageError", "append", "is_temporary", "lock", "make_room", "place", "read", "remove",
    "remove_leftovers", "storing", "write",
]  # fmt: skip

TEMPORARY = re.compile(
    r"\.(?P<name>[0-9]+\.parquet|(manifest|claims|written)\.json|report\.html|[^/]+\.(png|pdf))"
    r"\.(?P<pid>[0-9]{1,9})\.tmp"
)
"""What a file of ours is called until it is whole: `.<name>.<process>.tmp`."""

MOST_BYTES = 10**9
"""Of a file: the largest study has shards of about half of it."""


class StorageError(OSError):
    """The folder cannot be written; the message says what is kept and what to do."""


@contextlib.contextmanager
def storing(root: Path) -> Iterator[None]:
    """Say what is kept and what to do when a folder cannot be written."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        if (root / "shards").is_dir():
            kept = "what is finished is kept: remove the cause"
        else:
            kept = (
                "no results are there now: if you moved them, put them back; else remove the cause"
            )
        raise StorageError(
            f"cannot write into {str(root)!r}: {error.strerror or error}; {kept}, then run the "
            "same command again to go on"
        ) from error


def place(root: Path, name: str) -> Path:
    """Return where a file of ours is; refuse a folder on the way to it that is a link."""
    path = root / name
    for folder in list(Path(name).parents)[:-1]:
        _refuse_link(root / folder, "folder")
    return path


def read(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; nothing if it has more than `most` bytes: not ours.

    What a forged folder may have in its place, a pipe or a device, is refused and not waited for.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{str(path)!r} is no regular file")
        return file.read(most) if found.st_size <= most else b""


def write(root: Path, name: str, data: bytes) -> None:
    """Write a file whole or not at all: under another name, to disk, then renamed.

    A link in its place is replaced, and what it leads to stays as it is.
    """
    path = place(root, name)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # two may write a report at once
    with storing(root):
        path.parent.mkdir(exist_ok=True)  # but not its parent: the folder may have been moved
        try:
            fresh.unlink(missing_ok=True)
            with open(fresh, "xb") as file:  # a new file, and so never through a link
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, path)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
        _sync_folder(path.parent)


def append(root: Path, name: str, line: str) -> None:
    """Append a line to a file, after the end of one that was cut short."""
    with storing(root), _opened(root, name) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = "\n" + line  # a run was killed within its line
        file.write(line.encode() + b"\n")


def lock(root: Path) -> BinaryIO:
    """Return the open file that is held by who writes."""
    with storing(root):
        return _opened(root, "lock")


def remove(root: Path, name: str, digest: str) -> None:
    """Remove a file if its content still has this SHA-256, and it is no link."""
    path = place(root, name)
    with storing(root):
        if _digest(path) == digest:
            path.unlink(missing_ok=True)


def make_room(root: Path, name: str, digests: Iterable[str]) -> Path | None:
    """Rename what is in the place of a file, unless its content has one of these SHA-256.

    Return where it is now, None if nothing was renamed.
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
    """Remove, from these folders, unfinished files of ours whose process has ended."""
    for folder in (root / name for name in folders):
        if folder.is_symlink() or not folder.is_dir():
            continue
        for path in folder.iterdir():
            found = TEMPORARY.fullmatch(path.name)
            if found and path.is_file() and not _is_alive(int(found["pid"])):
                path.unlink(missing_ok=True)


def is_temporary(name: str) -> bool:
    """Tell whether a name is that of an unfinished file of ours."""
    return TEMPORARY.fullmatch(name) is not None


def _digest(path: Path) -> str:
    """Return the SHA-256 of the content of a file; "" if it is a link, empty or not a file."""
    content = read(path) if path.is_file() and not path.is_symlink() else b""
    return hashlib.sha256(content).hexdigest() if content else ""


def _opened(root: Path, name: str) -> BinaryIO:
    """Open a file to append to it, but not through a link."""
    path = place(root, name)
    _refuse_link(path, "file")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o666), "ab+")


def _refuse_link(path: Path, kind: str) -> None:
    if path.is_symlink():
        raise StorageError(
            f"{str(path)!r} is a link, and nothing is written or removed through links: put a "
            f"{kind} in its place, then run the same command again"
        )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it is somebody else's
    return True


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
