"""A folder of results: what is in it is whole, and belongs to one study.

    manifest.json                        what is studied, by which arms, with which versions
    runs.jsonl                           what happened when and where, one line per event
    shards/<cohort>/<replicate>.parquet  what came out
    claims.json, report.html, figures/   what they say, made from them again at any time
    set-aside/                           shards that were found damaged
    lock                                 held by the process that writes

Only one process writes, and a file appears under its name when it is complete and on disk: whoever
is killed leaves a folder to go on with.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurotron import _check
from neurotron._extras import require
from neurotron.results import shard
from neurotron.results.shard import Identity, Row

__all__ = ["Folder", "StorageError", "manifest_of"]

FORMAT = 1
WORDS = ("title", "description")
NEEDED = ("format", "study", "spec", "arms", "environment", "seal")


class StorageError(OSError):
    """The folder cannot be written; the message says what is kept and what to do."""


def manifest_of(
    spec: dict[str, Any], arms: dict[str, list[Row]], environment: dict[str, str]
) -> dict[str, Any]:
    """Return the content of a manifest."""
    manifest = {
        "format": FORMAT,
        "study": _hash(_without_words(spec))[:16],
        "spec": spec,
        "arms": arms,
        "environment": environment,
    }
    return manifest | {"seal": _hash(manifest)}


@dataclass(frozen=True)
class Folder:
    """A folder of results and its manifest."""

    path: Path
    manifest: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Folder:
        """Return a folder that exists."""
        path = _check.path("path", path)
        file = path / "manifest.json"
        if not file.is_file():
            there = "holds no results (no manifest.json)" if path.is_dir() else "is not a folder"
            raise _check.InputError(f"{str(path)!r} {there if path.exists() else 'does not exist'}")
        try:
            manifest = dict(json.loads(file.read_text("utf-8")))
            missing = [name for name in NEEDED if name not in manifest]
        except (ValueError, TypeError, RecursionError):
            missing = ["JSON"]
        if missing:
            raise _check.InputError(f"{file}: not a manifest of ours ({missing[0]} is missing)")
        if manifest["format"] != FORMAT:
            raise _check.InputError(
                f"{file}: format {manifest['format']!r} is not known here, only {FORMAT}"
            )
        if manifest["seal"] != _hash(manifest):
            raise _check.InputError(
                f"{file}: it was changed after it was written, so what the results mean is not "
                "known: put it back, or take another folder"
            )
        return cls(path, manifest)

    @classmethod
    @contextlib.contextmanager
    def written(cls, path: str | Path, manifest: dict[str, Any], mixed: bool) -> Iterator[Folder]:
        """Hold a folder for writing results of a study: a new one, or an old one of the same.

        One computed elsewhere, with other versions or on another kind of processor, is refused
        unless `mixed`.
        """
        path = Path(path)
        _require_ours(path)
        require("polars")  # now, and not while Ctrl-C may cut its import short
        with storing(path):
            (path / "shards").mkdir(parents=True, exist_ok=True)
            lock = open(path / "lock", "a")  # noqa: SIM115 — held until the end
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _check.InputError(
                    f"another run is writing into {str(path)!r}: wait for it, or stop it"
                ) from None
            if (path / "manifest.json").is_file():
                folder = cls.read(path)
                folder._require_same(manifest, mixed)
            else:
                folder = cls(path, manifest)
                text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
                folder.write("manifest.json", text.encode())
            for leftover in path.rglob(".*.tmp"):
                leftover.unlink(missing_ok=True)
            yield folder

    def shard_path(self, cohort: str, replicate: int) -> Path:
        """Return where the shard of a unit is."""
        return self.path / "shards" / cohort / f"{replicate}.parquet"

    def units(self) -> Iterator[tuple[str, int]]:
        """Yield the units there are shards of, in order."""
        for cohort in self.manifest["arms"]:
            names = (self.path / "shards" / cohort).glob("*.parquet")
            numbers = sorted({int(name.stem) for name in names if name.stem.isdecimal()})
            yield from ((cohort, i) for i in numbers if self.shard_path(cohort, i).is_file())

    def load(self, cohort: str, replicate: int) -> bytes:
        """Return the bytes of a shard that is whole and belongs here, or raise `Damaged`."""
        data = self.shard_path(cohort, replicate).read_bytes()
        shard.verify(data, self.identity(cohort, replicate))
        return data

    def content_hashes(self) -> dict[tuple[str, int], str]:
        """Return the hash of the content of every unit."""
        return {
            unit: shard.verify(self.shard_path(*unit).read_bytes(), self.identity(*unit))
            for unit in self.units()
        }

    def save(self, cohort: str, replicate: int, rows: list[Row]) -> None:
        """Keep the rows of a unit."""
        data = shard.encode(rows, self.identity(cohort, replicate))
        self.write(str(self.shard_path(cohort, replicate).relative_to(self.path)), data)

    def set_aside(self, cohort: str, replicate: int, reason: str) -> Path:
        """Move a damaged shard out of the way; return where it is now."""
        folder = self.path / "set-aside"
        with storing(self.path):
            folder.mkdir(exist_ok=True)
            names = (folder / f"{cohort}-{replicate}-{i}.parquet" for i in itertools.count())
            place = next(name for name in names if not name.exists())
            os.replace(self.shard_path(cohort, replicate), place)
        self.record("set aside", cohort=cohort, replicate=replicate, reason=reason)
        return place

    def identity(self, cohort: str, replicate: int) -> Identity:
        """Return what a shard of this folder says of itself."""
        return Identity(self.manifest["study"], cohort, replicate)

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all: under another name, to disk, then renamed."""
        path = self.path / name
        fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # two may write a report at once
        with storing(self.path):
            path.parent.mkdir(exist_ok=True)  # but not its parent: the folder may have been moved
            try:
                with open(fresh, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(fresh, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    fresh.unlink()
                raise
            _sync_folder(path.parent)

    def record(self, event: str, **details: Any) -> None:
        """Append an event to runs.jsonl."""
        line = json.dumps({"time": _now(), "event": event, **details})
        with storing(self.path), open(self.path / "runs.jsonl", "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = "\n" + line  # a run was killed within its line
            file.write(line.encode() + b"\n")

    def events(self) -> list[dict[str, Any]]:
        """Return what happened so far, leaving out lines that a killed run did not finish."""
        path, events = self.path / "runs.jsonl", []
        for line in path.read_text("utf-8", "replace").splitlines() if path.is_file() else ():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict):
                    events.append(event)
        return events

    def _require_same(self, manifest: dict[str, Any], mixed: bool) -> None:
        """Refuse another study, or another place to compute unless that is wanted."""
        specs = (_without_words(one["spec"]) for one in (self.manifest, manifest))
        changes = _differences(*specs)
        if changes:
            more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
            raise _check.InputError(
                f"{str(self.path)!r} holds results of another study: {'; '.join(changes[:5])}"
                f"{more}; take another folder"
            )
        self.require_environment(manifest["environment"], mixed)

    def require_environment(self, environment: dict[str, str], mixed: bool) -> None:
        """Refuse what was computed elsewhere, unless that is wanted."""
        places = _differences(self.manifest["environment"], environment)
        if places and not mixed:
            raise _check.InputError(
                f"{str(self.path)!r} was computed with other versions or elsewhere "
                f"({'; '.join(places)}), where last digits can differ: take another folder, or "
                "say --mixed"
            )


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """Say what is kept and what to do when a folder cannot be written."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"cannot write into {str(path)!r}: {error.strerror or error}; what is finished is "
            "kept: mend that, then run the same command again to go on"
        ) from error


def _hash(content: dict[str, Any]) -> str:
    """Return the hash of JSON content, its seal aside."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _require_ours(path: Path) -> None:
    """Refuse a folder of somebody else's files."""
    if path.is_dir():
        names = {entry.name for entry in path.iterdir()}
        others = [name for name in names - {"lock", "shards"} if not name.endswith(".tmp")]
        if others and "manifest.json" not in names:
            raise _check.InputError(
                f"{str(path)!r} holds other files, and no results: take another folder"
            )
    elif path.exists():
        raise _check.InputError(f"{str(path)!r} is a file, not a folder")


def _without_words(spec: Any) -> Any:
    """Return a study without titles and descriptions, which change nothing that is computed."""
    if isinstance(spec, dict):
        kept = {name: value for name, value in spec.items() if name not in WORDS}
        return {name: _without_words(value) for name, value in kept.items()}
    return [_without_words(value) for value in spec] if isinstance(spec, list) else spec


def _differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Return where two JSON values differ, one phrase each."""
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        changes = []
        for key in [*old, *(key for key in new if key not in old)]:
            inside = f"{place}.{key}" if place else str(key)
            if key in old and key in new:
                changes += _differences(old[key], new[key], inside)
            else:
                changes.append(f"{inside} is {'gone' if key in old else 'new'}")
        return changes
    if old == new:
        return []
    was, now = (_check.shorten(json.dumps(value, ensure_ascii=False)) for value in (old, new))
    return [f"{place} was {was}, is {now}"]


def _by_name(value: Any) -> Any:
    """Return a list of tables as a table: by their names, else by their numbers."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    return {item.get("name", i): item for i, item in enumerate(value)}


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
